//! Block CTA scheduling: consecutive CTAs share an SM.

use super::{CtaEntry, CtaScheduler, DispatchView, RoundRobinPointer};
use warpmem_params::{PolicyInfo, params};
use warpmem_sim::SmId;

const INFO: PolicyInfo = PolicyInfo {
    name: "block-clustered",
    summary: "each block of consecutive CTAs of a kernel goes to one SM, the SMs in round-robin order",
    source: "block CTA scheduling (BCS) of Lee et al., HPCA 2014: blocks of 2",
    params: Options::params,
};

pub(super) const ENTRY: CtaEntry = CtaEntry {
    info: INFO,
    build: |_, params| {
        let Options { ctas } = params.read();
        let pointer = RoundRobinPointer::default();
        Ok(Box::new(BlockClustered { ctas, pointer, begun: Vec::new() }))
    },
};

params! {
    struct Options {
        /// CTAs of a block; fewer if an empty SM holds fewer or the kernel has fewer left
        ctas: u32 = 2, in 1.., unit "CTAs";
    }
}

/// A partly started block.
struct Block {
    kernel: u32,
    sm: SmId,
    left: u32,
}

struct BlockClustered {
    ctas: u32,
    pointer: RoundRobinPointer,
    /// At most one per running kernel.
    begun: Vec<Block>,
}

impl BlockClustered {
    /// Starts the next CTA of a block on the SM of the first, in a later cycle if necessary.
    fn continue_block(&mut self, at: usize, view: &DispatchView) -> Option<SmId> {
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

    /// Starts the first CTA of a block on an SM with room for the whole block.
    fn begin_block(&mut self, view: &DispatchView) -> Option<SmId> {
        let size = self.ctas.min(view.per_sm).min(view.ctas - view.cta);
        let holds = |sm| view.may_start(sm) && view.has_room_for(sm, size);
        let sm = self.pointer.pick(view, holds)?;
        if size > 1 {
            self.begun.push(Block { kernel: view.kernel, sm, left: size - 1 });
        }
        Some(sm)
    }
}

impl CtaScheduler for BlockClustered {
    fn pick(&mut self, view: &DispatchView) -> Option<SmId> {
        match self.begun.iter().position(|block| block.kernel == view.kernel) {
            Some(at) => self.continue_block(at, view),
            None => self.begin_block(view),
        }
    }
}
