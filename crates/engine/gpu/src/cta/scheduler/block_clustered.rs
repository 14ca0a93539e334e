//! Blocks of neighbouring CTAs.

use super::{CtaEntry, CtaScheduler, DispatchView, Turns};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::SmId;

const INFO: PolicyInfo = PolicyInfo {
    name: "block-clustered",
    summary: "blocks of consecutive CTAs of a kernel to one SM, the SMs in round-robin order",
    source: "block CTA scheduling (BCS) of Lee et al., HPCA 2014: blocks of 2",
    params: Options::params,
};

pub(super) const ENTRY: CtaEntry = CtaEntry {
    info: INFO,
    build: |_, params| {
        let Options { ctas } = params.read();
        Ok(Box::new(BlockClustered { ctas, turns: Turns::default(), begun: Vec::new() }))
    },
};

params! {
    struct Options {
        /// CTAs of a block; fewer if an empty SM holds fewer, or the kernel has no more
        ctas: u32 = 2, in 1.., unit "CTAs";
    }
}

/// A block some of whose CTAs have started and some have not.
struct Block {
    kernel: u32,
    sm: SmId,
    left: u32,
}

struct BlockClustered {
    ctas: u32,
    turns: Turns,
    /// At most one of each kernel that runs.
    begun: Vec<Block>,
}

impl BlockClustered {
    /// The next CTA of a block goes where the first went, even if in a later cycle.
    fn go_on(&mut self, at: usize, view: &DispatchView) -> Option<SmId> {
        let block = &mut self.begun[at];
        let sm = block.sm;
        if !view.may_start(sm) {
            return None;
        }
        block.left -= 1;
        if block.left == 0 {
            self.begun.swap_remove(at);
        }
        Some(sm)
    }

    /// The first CTA of a block goes to an SM that has room for all of it.
    fn begin(&mut self, view: &DispatchView) -> Option<SmId> {
        let size = self.ctas.min(view.per_sm).min(view.ctas - view.cta);
        let holds = |sm| view.may_start(sm) && view.has_room_for(sm, size);
        let sm = self.turns.take(view.sms(), holds)?;
        if size > 1 {
            self.begun.push(Block { kernel: view.kernel, sm, left: size - 1 });
        }
        Some(sm)
    }
}

impl CtaScheduler for BlockClustered {
    fn pick(&mut self, view: &DispatchView) -> Option<SmId> {
        match self.begun.iter().position(|block| block.kernel == view.kernel) {
            Some(at) => self.go_on(at, view),
            None => self.begin(view),
        }
    }
}
