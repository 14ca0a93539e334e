//! `medic`: requests of warps that hit in the L2 go first.

use super::{BankView, Family, Scheduler, SchedulerContext, Slot};
use warpmem_params::{Complexity, Entry, PolicyInfo, Shape, bits, params};
use warpmem_sim::{Needs, WarpTypes};

const INFO: PolicyInfo = PolicyInfo {
    name: "medic",
    summary: "requests of warps that mostly hit in the L2 first; warps that mostly miss bypass the L2",
    source: "Ausavarungnirun et al., PACT 2015",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |_, params| {
        let options: Options = params.read();
        let Options { mostly_hit, mostly_miss, .. } = options;
        let valid = format!("above `mostly_miss` = {mostly_miss}");
        INFO.require(mostly_miss < mostly_hit, "mostly_hit", mostly_hit, valid)?;
        Ok(Box::new(options))
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// L2 hit ratio from which a warp is mostly-hit; above `mostly_miss`
        mostly_hit: f64 = 0.7, in 0.0..=1.0, unit "share of reads";
        /// L2 hit ratio up to which a warp is mostly-miss
        mostly_miss: f64 = 0.2, in 0.0..=1.0, unit "share of reads";
        /// reads of a warp at the L2 over which its hit ratio is sampled
        warm_up: u32 = 100, in 1.., unit "reads";
        /// time for which a warp keeps its type
        resample: u64 = 10_000, in 1.., unit "L2 cycles";
        /// whether reads of mostly-miss and all-miss warps bypass the L2; `false` changes the DRAM
        /// scheduler alone
        bypass: bool = true;
    }
}

impl Family for Options {
    fn scheduler(&self, _: usize) -> Box<dyn Scheduler> {
        Box::new(Medic)
    }

    fn share_state(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        let Options { mostly_hit, mostly_miss, warm_up, resample, bypass } = *self;
        let types = WarpTypes { mostly_hit, mostly_miss, warm_up, resample, bypass };
        Needs { warp_types: Some(types), ..Needs::default() }
    }

    /// Returns the cost. Stored per warp of the machine: two counters of a sample, the warp's type,
    /// one of five, and the type's age.
    fn shared_complexity(&self, shape: &Shape) -> Complexity {
        let sample = 2 * bits(u64::from(self.warm_up) + 1);
        let warp = sample + bits(5) + bits(self.resample + 1);
        Complexity { stored: shape.sms * shape.warps * warp, compared: 0 }
    }
}

/// Two queues per bank, FR-FCFS in each.
struct Medic;

impl Scheduler for Medic {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        bank.oldest_of_lowest(|_, queued, hit| (!queued.request.hit_prone, !hit))
    }

    /// Returns the cost: one bit per request, stored and compared, which selects its queue.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        Some(Complexity { stored: shape.queue, compared: shape.row_search() + shape.queue })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DramRequest;
    use crate::scheduler::SCHEDULERS;
    use crate::tests::harness::*;

    fn prone(id: u32, row: u32) -> DramRequest {
        DramRequest { hit_prone: true, ..read(id, 0, row) }
    }

    #[test]
    fn hit_prone_warps_go_before_older_requests() {
        let requests = [read(0, 0, 1), prone(1, 2)];
        assert_eq!(order_unlike_fr_fcfs("medic", &requests), [1, 0]);
    }

    #[test]
    fn hit_prone_warps_go_before_row_hits() {
        let requests = [prone(0, 1), read(1, 0, 1), prone(2, 2)];
        assert_eq!(order_unlike_fr_fcfs("medic", &requests), [0, 2, 1]);
    }

    #[test]
    fn each_queue_is_fr_fcfs() {
        let requests =
            [read(0, 0, 1), read(1, 0, 2), prone(2, 3), prone(3, 2), prone(4, 3), read(5, 0, 1)];
        // Rows 3, 3, 2 of the first queue, then row 2, open, and row 1.
        assert_eq!(order_unlike_fr_fcfs("medic", &requests), [2, 4, 3, 1, 0, 5]);
    }

    /// No bound: a request that is not hit-prone waits as long as hit-prone requests arrive, row
    /// hits or not.
    #[test]
    fn other_requests_starve_while_hit_prone_ones_come() {
        let mut requests: Vec<_> = (0..60).map(|id| prone(id, id % 3)).collect();
        requests[0] = read(0, 0, 7);
        assert_eq!(run(&gddr5(), "medic", &requests).order().last(), Some(&0));
    }

    #[test]
    fn the_l2_receives_the_warp_types() {
        let needs = |text: &str| SCHEDULERS.build(text, &context(&gddr5())).unwrap().needs();
        let default = WarpTypes {
            mostly_hit: 0.7,
            mostly_miss: 0.2,
            warm_up: 100,
            resample: 10_000,
            bypass: true,
        };
        assert_eq!(needs("medic"), Needs { warp_types: Some(default), ..Needs::default() });
        let other = WarpTypes {
            mostly_hit: 0.8,
            mostly_miss: 0.1,
            warm_up: 50,
            resample: 500,
            bypass: false,
        };
        let text = "medic(mostly_hit=0.8,mostly_miss=0.1,warm_up=50,resample=500,bypass=false)";
        assert_eq!(needs(text).warp_types, Some(other));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert_refused(&[
            "medic(mostly_hit=0.2)",
            "medic(mostly_hit=1.1)",
            "medic(mostly_miss=-0.1)",
            "medic(warm_up=0)",
            "medic(resample=0)",
            "medic(x=1)",
        ]);
    }
}
