//! The latency from a slice to the queues of its channel.

use warpmem_machine::{LatencyCount, Machine};
use warpmem_sim::{DramClock, DramCycle, Ticks};

/// Converts the departure of an item to its arrival.
#[derive(Clone, Copy)]
pub(super) struct Transit {
    clock: DramClock,
    latency: u64,
    /// Ticks per core cycle, the unit of the latency.
    core: u64,
    count: LatencyCount,
}

impl Transit {
    pub fn new(machine: &Machine, clock: DramClock) -> Transit {
        Transit {
            clock,
            latency: machine.l2.to_dram_latency.into(),
            core: machine.clocks.periods().core,
            count: machine.l2.to_dram_count,
        }
    }

    /// Returns the first cycle in which an item that is ready at `ready` may leave its slice. Under
    /// [`LatencyCount::Numbers`], DRAM is stepped before items that become ready at the same time
    /// (GPGPU-Sim, `gpgpu_sim::cycle`).
    pub fn begin(&self, ready: Ticks) -> DramCycle {
        let before = u64::from(self.count == LatencyCount::Numbers);
        self.clock.cycle_from(Ticks(ready.0 + before))
    }

    /// Returns the cycle in which an item that leaves its slice at `cycle` may enter a queue.
    #[inline]
    pub fn end(&self, cycle: DramCycle) -> DramCycle {
        let left = self.clock.at(cycle).0;
        match self.count {
            LatencyCount::Elapsed => self.clock.cycle_from(Ticks(left + self.latency * self.core)),
            // A DRAM cycle has the number of the core cycle that ends it, and numbers are compared
            // (GPGPU-Sim, `memory_partition_unit::dram_cycle`).
            LatencyCount::Numbers if self.latency == 0 => cycle,
            LatencyCount::Numbers => {
                let earlier = left.next_multiple_of(self.core) + (self.latency - 1) * self.core;
                self.clock.cycle_from(Ticks(earlier + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Bench;
    use crate::testing::machine;
    use warpmem_sim::Domain;

    fn transit(dram_mhz: u32, keys: &[&str]) -> (Transit, DramClock) {
        let dram = format!("clocks.dram_mhz={dram_mhz}");
        let machine = machine(&[&["clocks.core_mhz=1000", &dram], keys].concat());
        let bench = Bench::new(&machine, [1, 1, 0, 0]);
        let clock = bench.sim.region.fabric.clock(Domain::Dram).of();
        (Transit::new(&machine, clock), clock)
    }

    /// Arrival times, in ticks, of items that leave in the first DRAM cycles.
    fn ends(dram_mhz: u32, keys: &[&str]) -> Vec<u64> {
        let (transit, clock) = transit(dram_mhz, keys);
        (0..4).map(|cycle| clock.at(transit.end(DramCycle::new(cycle))).0).collect()
    }

    const NUMBERS: &str = "l2.to_dram_count=numbers";

    #[test]
    fn elapsed_latency_is_rounded_up_to_a_dram_cycle() {
        // DRAM cycles at 0, 4, 8, 12 ticks, core cycles every 3.
        assert_eq!(ends(750, &["l2.to_dram_latency=2"]), [8, 12, 16, 20]);
    }

    #[test]
    fn number_latency_counts_core_cycles_that_end_dram_cycles() {
        // DRAM cycles at 0, 4, 8, … are in core cycles 0, 2, 3, 4, 6, 7, 8.
        assert_eq!(ends(750, &["l2.to_dram_latency=2", NUMBERS]), [4, 12, 16, 16]);
        assert_eq!(ends(750, &["l2.to_dram_latency=3", NUMBERS]), [8, 16, 16, 20]);
    }

    #[test]
    fn an_item_ready_at_a_dram_cycle_leaves_in_it_or_in_the_next() {
        let begin = |keys: &[&str]| {
            let transit = transit(750, keys).0;
            [0, 4, 5].map(|ready| transit.begin(Ticks(ready)).number())
        };
        assert_eq!(begin(&[]), [0, 1, 2]);
        assert_eq!(begin(&[NUMBERS]), [1, 2, 2]);
    }

    #[test]
    fn number_latency_0_arrives_in_the_same_cycle() {
        assert_eq!(ends(750, &["l2.to_dram_latency=0", NUMBERS]), [0, 4, 8, 12]);
    }

    #[test]
    fn both_latency_counts_agree_on_equal_clocks() {
        let keys = ["l2.to_dram_latency=7"];
        assert_eq!(ends(1000, &keys), ends(1000, &[&keys[..], &[NUMBERS]].concat()));
    }
}
