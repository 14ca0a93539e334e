//! Limit of the CTAs that all SMs together start (`sm.cta_dispatch_permille`).

use warpmem_sim::CoreCycle;

/// Limit of the CTA starts of the whole GPU. Time is counted in thousandths of a start: a cycle adds
/// `permille` of them, a start takes 1,000.
pub(super) struct StartRate {
    /// Starts per 1,000 cycles; 0: unlimited.
    permille: u64,
    /// Time by whose cycle the next start is due.
    next: u64,
}

impl StartRate {
    pub fn new(permille: u32) -> StartRate {
        StartRate { permille: u64::from(permille), next: 0 }
    }

    /// Whether another CTA may start in `cycle`.
    pub fn allows(&self, cycle: CoreCycle) -> bool {
        (cycle + 1).number() * self.permille >= self.next
    }

    /// Counts a start in `cycle`. Time before this cycle that no start used is lost.
    pub fn start(&mut self, cycle: CoreCycle) {
        if self.permille == 0 {
            return;
        }
        self.next = self.next.max(cycle.number() * self.permille + 1) + 1000;
    }

    /// Returns the first cycle after `cycle` in which a CTA may start.
    pub fn next_after(&self, cycle: CoreCycle) -> CoreCycle {
        let soon = cycle + 1;
        if self.allows(soon) { soon } else { CoreCycle::new(self.next.div_ceil(self.permille) - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cycles of `count` starts, each as early as possible from `first` on.
    fn starts(permille: u32, first: u64, count: usize) -> Vec<u64> {
        let mut rate = StartRate::new(permille);
        let mut cycle = CoreCycle::new(first);
        let mut cycles = Vec::new();
        while cycles.len() < count {
            if rate.allows(cycle) {
                rate.start(cycle);
                cycles.push(cycle.number());
            } else {
                let next = rate.next_after(cycle);
                assert!(!rate.allows(CoreCycle::new(next.number() - 1)), "no earlier cycle");
                cycle = next;
            }
        }
        cycles
    }

    #[test]
    fn starts_are_evenly_spaced() {
        assert_eq!(starts(1000, 0, 4), [0, 1, 2, 3]);
        assert_eq!(starts(1000, 7, 4), [7, 8, 9, 10]);
        assert_eq!(starts(500, 7, 4), [7, 9, 11, 13]);
        assert_eq!(starts(2500, 7, 6), [7, 7, 7, 8, 8, 9]);
        for permille in [1, 430, 456, 580, 999] {
            let expected: Vec<u64> =
                (0..50).map(|n: u64| 6 + (1000 * n + 1).div_ceil(permille)).collect();
            assert_eq!(starts(permille as u32, 7, 50), expected, "{permille}");
        }
    }

    #[test]
    fn unused_time_is_lost() {
        let mut rate = StartRate::new(500);
        for cycle in [3, 100] {
            let cycle = CoreCycle::new(cycle);
            assert!(rate.allows(cycle));
            rate.start(cycle);
            assert!(!rate.allows(cycle + 1));
            assert_eq!(rate.next_after(cycle), cycle + 2);
        }
    }

    #[test]
    fn without_a_limit_every_cycle_allows_any_number_of_starts() {
        let mut rate = StartRate::new(0);
        let cycle = CoreCycle::new(5);
        (0..9).for_each(|_| rate.start(cycle));
        assert!(rate.allows(cycle));
        assert_eq!(rate.next_after(cycle), cycle + 1);
    }
}
