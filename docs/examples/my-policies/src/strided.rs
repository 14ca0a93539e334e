//! `strided`: round robin with a stride.

use warpmem::policy::warp::{Entry, WarpScheduler, WarpSlot, WarpView, first_from};
use warpmem::policy::{PolicyInfo, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "strided",
    summary: "round robin that advances by a stride after each issue",
    source: "an example",
    params: Params::params,
};

params! {
    struct Params {
        /// distance from the last issued warp to the first candidate
        stride: u32 = 2, in 1..=63, unit "warp slots";
    }
}

pub const ENTRY: Entry = Entry {
    info: INFO,
    build: |context, params| {
        let Params { stride } = params.read();
        let next = vec![WarpSlot(0); context.schedulers()];
        Ok(Box::new(Strided { stride: stride as usize, next }))
    },
};

struct Strided {
    stride: usize,
    /// First slot of the search, by scheduler.
    next: Vec<WarpSlot>,
}

impl WarpScheduler for Strided {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let next = &mut self.next[view.scheduler.index()];
        let pick = first_from(candidates, *next);
        *next = WarpSlot::new((pick.index() + self.stride) % 64);
        Some(pick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem::machine::load;
    use warpmem::policy::Registry;
    use warpmem::policy::warp::{SmContext, SmId};

    /// Returns the slots picked one after another by `policy` from the first five.
    fn picks(policy: &str) -> Vec<WarpSlot> {
        let context = SmContext::of(&load("li2015", &[]).unwrap(), SmId(0));
        let registry = Registry::new("warp_scheduler", &[ENTRY]);
        let mut scheduler = registry.build(policy, &context).unwrap();
        let view = WarpView::default();
        (0..4).filter_map(|_| scheduler.pick(0b1_1111, &view)).collect()
    }

    #[test]
    fn advances_by_the_stride() {
        assert_eq!(picks("strided"), [0, 2, 4, 0].map(WarpSlot));
        assert_eq!(picks("strided(stride=3)"), [0, 3, 0, 3].map(WarpSlot));
    }
}
