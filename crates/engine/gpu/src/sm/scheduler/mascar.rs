//! Memory-aware scheduling: one warp owns the memory system while it is saturated.

use super::gto::{Gto, oldest};
use super::{Needs, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::{Counter, PolicyInfo, params};
use warpmem_sim::WarpSlot;

const INFO: PolicyInfo = PolicyInfo {
    name: "mascar",
    summary: "lets a single warp issue memory instructions while L1 has no room for misses; otherwise gto",
    source: "Sethia et al., HPCA 2015",
    params: Options::params,
};

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        Ok(Box::new(Mascar::new(options.headroom, context.schedulers())) as _)
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// memory is saturated while at most this many MSHR entries are free, or while L1 stalls
        headroom: u32 = 2, in 0.., unit "MSHR entries";
    }
}

struct Mascar {
    headroom: usize,
    gto: Gto,
    /// Warp that issued the last memory instruction since memory became saturated.
    owner: Option<WarpSlot>,
    /// Changes of the owner, and instructions issued while memory was saturated.
    owners: u64,
    saturated: u64,
}

impl Mascar {
    fn new(headroom: u32, schedulers: usize) -> Mascar {
        Mascar {
            headroom: headroom as usize,
            gto: Gto::new(schedulers),
            owner: None,
            owners: 0,
            saturated: 0,
        }
    }

    /// Returns the owner of the memory system: the current owner until it waits for data or at a
    /// barrier or retires, then the oldest warp whose next instruction is a memory instruction.
    fn owner(&self, view: &WarpView) -> Option<WarpSlot> {
        let runs = view.present & !(view.waiting | view.at_barrier | view.at_end);
        let next = || Some(view.memory & runs).filter(|&warps| warps != 0);
        self.owner
            .filter(|owner| owner.is_in(runs))
            .or_else(|| next().map(|warps| oldest(warps, view.ages)))
    }
}

impl WarpScheduler for Mascar {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        if view.miss_room > self.headroom {
            self.owner = None;
            return Some(self.gto.choose(candidates, view));
        }
        let owner = self.owner(view);
        let memory = candidates & view.memory & owner.map_or(0, WarpSlot::bit);
        let compute = candidates & !view.memory;
        if memory | compute == 0 {
            return None;
        }
        if memory != 0 {
            self.owners += u64::from(self.owner != owner);
            self.owner = owner;
        }
        self.saturated += 1;
        Some(self.gto.choose(if memory != 0 { memory } else { compute }, view))
    }

    fn retired(&mut self, slot: WarpSlot) {
        self.gto.forget(slot);
        self.owner = self.owner.filter(|&owner| owner != slot);
    }

    fn needs(&self) -> Needs {
        Needs { miss_room: true, ..Needs::default() }
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter { name: "owners", value: self.owners },
            Counter { name: "saturated_issues", value: self.saturated },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::SchedulerId;
    use super::super::plain::{pick, retire};
    use super::*;

    const ALL: u64 = 0b1111;
    /// Oldest first: slots 2, 0, 3, 1.
    const AGES: &[u64] = &[11, 13, 10, 12];

    /// View with saturated memory and four warps, each with a memory instruction next.
    fn saturated() -> WarpView<'static> {
        WarpView { ages: AGES, present: ALL, memory: ALL, miss_room: 2, ..WarpView::default() }
    }

    #[test]
    fn unsaturated_memory_leaves_greedy_then_oldest_order() {
        let mut mascar = Mascar::new(2, 1);
        let view = WarpView { miss_room: 3, ..saturated() };
        let mut pick = |candidates| pick(&mut mascar, candidates, &view);
        assert_eq!([pick(0b1011), pick(ALL), pick(0b1010)], [Some(0), Some(0), Some(3)]);
        assert_eq!(
            (mascar.saturated, mascar.owner(&view)),
            (0, Some(WarpSlot(2))),
            "no owner is stored"
        );
    }

    #[test]
    fn the_oldest_warp_owns_saturated_memory_until_it_waits() {
        let mut mascar = Mascar::new(2, 1);
        let mut pick = |candidates, waiting| {
            pick(&mut mascar, candidates, &WarpView { waiting, ..saturated() })
        };
        assert_eq!(pick(0b1011, 0), None, "the oldest warp waits for operands");
        assert_eq!(pick(ALL, 0), Some(2));
        assert_eq!(pick(0b1011, 0), None, "it still owns memory");
        assert_eq!(pick(0b1011, 0b0100), Some(0), "the owner waits for its data");
        assert_eq!(pick(ALL, 0), Some(0), "the owner stays although an older warp is ready");
        assert_eq!(pick(0b1110, 0b0001), Some(2));
        assert_eq!((mascar.owners, mascar.saturated), (3, 4));
    }

    #[test]
    fn barriers_and_trace_ends_end_the_ownership() {
        let mut mascar = Mascar::new(2, 1);
        assert_eq!(pick(&mut mascar, ALL, &saturated()), Some(2));
        let barrier = WarpView { at_barrier: 0b0100, ..saturated() };
        assert_eq!(pick(&mut mascar, 0b1011, &barrier), Some(0));
        let at_end = WarpView { at_end: 0b0001, waiting: 0b0100, ..saturated() };
        assert_eq!(pick(&mut mascar, 0b1010, &at_end), Some(3));
        retire(&mut mascar, 3);
        let ended = WarpView { present: 0b0011, memory: 0b0010, ..saturated() };
        assert_eq!(pick(&mut mascar, 0b0010, &ended), Some(1));
    }

    #[test]
    fn an_owner_keeps_memory_while_it_computes() {
        let mut mascar = Mascar::new(2, 1);
        assert_eq!(pick(&mut mascar, ALL, &saturated()), Some(2));
        let computes = WarpView { memory: 0b1011, ..saturated() };
        assert_eq!(pick(&mut mascar, 0b1011, &computes), None);
        assert_eq!(pick(&mut mascar, ALL, &computes), Some(2));
        assert_eq!(pick(&mut mascar, ALL, &saturated()), Some(2));
    }

    #[test]
    fn compute_instructions_issue_after_the_owners_memory_instructions() {
        let mut mascar = Mascar::new(2, 1);
        let view = WarpView { memory: 0b0110, ..saturated() };
        assert_eq!(
            pick(&mut mascar, 0b1011, &view),
            Some(0),
            "the oldest warp with a compute instruction"
        );
        assert_eq!(pick(&mut mascar, 0b1111, &view), Some(2), "the owner comes first");
        assert_eq!(
            pick(&mut mascar, 0b1010, &view),
            Some(3),
            "warp 1 has a memory instruction and is not the owner"
        );
    }

    #[test]
    fn ownership_spans_all_schedulers() {
        let mut mascar = Mascar::new(2, 2);
        let view = |scheduler| WarpView { scheduler: SchedulerId(scheduler), ..saturated() };
        assert_eq!(pick(&mut mascar, 0b1010, &view(1)), None);
        assert_eq!(pick(&mut mascar, 0b0101, &view(0)), Some(2));
        assert_eq!(pick(&mut mascar, 0b1010, &view(1)), None);
    }

    #[test]
    fn room_for_misses_ends_the_ownership() {
        let mut mascar = Mascar::new(2, 1);
        let free = WarpView { miss_room: 3, ..saturated() };
        assert_eq!(pick(&mut mascar, 0b0010, &saturated()), None);
        assert_eq!(pick(&mut mascar, 0b0010, &free), Some(1), "unsaturated");
        assert_eq!(pick(&mut mascar, ALL, &saturated()), Some(2));
        pick(&mut mascar, 0b1000, &free);
        let waits = WarpView { waiting: 0b0100, ..saturated() };
        assert_eq!(pick(&mut mascar, 0b1011, &waits), Some(0));
    }
}
