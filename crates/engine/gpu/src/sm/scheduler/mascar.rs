//! Memory-aware scheduling: while the path to memory is full, one warp has it to itself.

use super::gto::{Gto, oldest};
use super::{Needs, WarpEntry, WarpScheduler, WarpView};
use warpmem_params::{Counter, PolicyInfo, params};
use warpmem_sim::WarpSlot;

const INFO: PolicyInfo = PolicyInfo {
    name: "mascar",
    summary: "while L1 has no room for misses, only one warp may issue memory instructions; otherwise as gto",
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
        /// memory is saturated when no more MSHR entries than this are free, or while L1 cannot
        /// serve
        headroom: u32 = 2, in 0.., unit "MSHR entries";
    }
}

struct Mascar {
    headroom: usize,
    gto: Gto,
    /// The warp that issued the last memory instruction since memory became saturated.
    owner: Option<WarpSlot>,
    /// Warps that became the owner, and instructions issued while memory was saturated.
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

    /// The warp that has memory to itself: the one that had it, until it waits for data, at a
    /// barrier, or has ended; then the oldest that goes to memory next.
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
    /// Slot 2 is the oldest, then 0, 3, 1.
    const AGES: &[u64] = &[11, 13, 10, 12];

    /// Memory is saturated, and all of four warps have a memory instruction next.
    fn saturated() -> WarpView<'static> {
        WarpView { ages: AGES, present: ALL, memory: ALL, miss_room: 2, ..WarpView::default() }
    }

    #[test]
    fn with_room_for_misses_it_is_greedy_then_oldest() {
        let mut mascar = Mascar::new(2, 1);
        let view = WarpView { miss_room: 3, ..saturated() };
        let mut pick = |candidates| pick(&mut mascar, candidates, &view);
        assert_eq!([pick(0b1011), pick(ALL), pick(0b1010)], [Some(0), Some(0), Some(3)]);
        assert_eq!(
            (mascar.saturated, mascar.owner(&view)),
            (0, Some(WarpSlot(2))),
            "nobody owns memory"
        );
    }

    #[test]
    fn saturated_the_oldest_owns_memory_until_it_waits() {
        let mut mascar = Mascar::new(2, 1);
        let mut pick = |candidates, waiting| {
            pick(&mut mascar, candidates, &WarpView { waiting, ..saturated() })
        };
        assert_eq!(pick(0b1011, 0), None, "the oldest has not its operands yet");
        assert_eq!(pick(ALL, 0), Some(2));
        assert_eq!(pick(0b1011, 0), None, "it still owns memory");
        assert_eq!(pick(0b1011, 0b0100), Some(0), "waits for its data: the next oldest");
        assert_eq!(pick(ALL, 0), Some(0), "which keeps it, though an older one is back");
        assert_eq!(pick(0b1110, 0b0001), Some(2));
        assert_eq!((mascar.owners, mascar.saturated), (3, 4));
    }

    #[test]
    fn an_owner_at_a_barrier_or_at_its_end_is_none() {
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
    fn compute_of_all_warps_goes_on_after_the_owners_memory_instructions() {
        let mut mascar = Mascar::new(2, 1);
        let view = WarpView { memory: 0b0110, ..saturated() };
        assert_eq!(pick(&mut mascar, 0b1011, &view), Some(0), "the oldest that computes");
        assert_eq!(pick(&mut mascar, 0b1111, &view), Some(2), "the owner comes first");
        assert_eq!(pick(&mut mascar, 0b1010, &view), Some(3), "warp 1 goes to memory");
    }

    #[test]
    fn the_owner_has_memory_against_the_warps_of_other_schedulers() {
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
        assert_eq!(pick(&mut mascar, 0b0010, &free), Some(1), "free for all");
        assert_eq!(pick(&mut mascar, ALL, &saturated()), Some(2));
        pick(&mut mascar, 0b1000, &free);
        let waits = WarpView { waiting: 0b0100, ..saturated() };
        assert_eq!(pick(&mut mascar, 0b1011, &waits), Some(0));
    }
}
