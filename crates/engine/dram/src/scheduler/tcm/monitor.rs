//! The behaviour of each source in a quantum, over all channels of a machine.

use warpmem_sim::DramCycle;

/// Behaviour of one source.
#[derive(Clone, Copy, Default)]
pub struct Seen {
    /// Number of arrived requests: a proxy for the paper's misses per instruction.
    pub requests: u64,
    /// Bank cycles of service.
    pub service: u64,
    /// Requests to the row of the source's previous request to the bank.
    row_hits: u64,
    /// Cycles with a request in any channel, and the sum over these cycles of the banks with a
    /// request.
    busy_cycles: u64,
    bank_cycles: u64,
    /// Banks with a request now, and the cycle since which their number has been constant.
    banks: u32,
    since: DramCycle,
}

impl Seen {
    /// Returns the bank-level parallelism: the mean number of banks with a request of the source,
    /// over cycles with at least one.
    pub fn parallelism(&self) -> f64 {
        self.bank_cycles as f64 / self.busy_cycles.max(1) as f64
    }

    /// Returns the row hits per request if the source ran alone.
    pub fn row_locality(&self) -> f64 {
        self.row_hits as f64 / self.requests.max(1) as f64
    }

    fn count_to(&mut self, now: DramCycle) {
        let cycles = now.since(self.since);
        self.since = now;
        if self.banks > 0 {
            self.busy_cycles += cycles;
            self.bank_cycles += cycles * u64::from(self.banks);
        }
    }
}

pub struct Monitor {
    sources: Vec<Seen>,
}

impl Monitor {
    pub fn new(sources: usize) -> Monitor {
        Monitor { sources: vec![Seen::default(); sources] }
    }

    pub fn request(&mut self, source: usize, row_hit: bool) {
        let seen = &mut self.sources[source];
        seen.requests += 1;
        seen.row_hits += u64::from(row_hit);
    }

    pub fn served(&mut self, source: usize, bank_cycles: u64) {
        self.sources[source].service += bank_cycles;
    }

    /// Records that a bank received its first request of the source.
    pub fn bank_begins(&mut self, source: usize, now: DramCycle) {
        let seen = &mut self.sources[source];
        seen.count_to(now);
        seen.banks += 1;
    }

    /// Records that a bank has served its last request of the source.
    pub fn bank_ends(&mut self, source: usize, now: DramCycle) {
        let seen = &mut self.sources[source];
        seen.count_to(now);
        seen.banks -= 1;
    }

    /// Returns the counts up to `now` and resets them.
    pub fn take(&mut self, now: DramCycle) -> Vec<Seen> {
        let take = |seen: &mut Seen| {
            seen.count_to(now);
            let rest = Seen { banks: seen.banks, since: now, ..Seen::default() };
            std::mem::replace(seen, rest)
        };
        self.sources.iter_mut().map(take).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::at;

    /// One bank from 10 to 30, two from 30 to 40, one to 50; the quantum ends at 60, idle.
    #[test]
    fn parallelism_is_an_integral_over_the_cycles_with_requests() {
        let mut monitor = Monitor::new(2);
        monitor.bank_begins(1, at(10));
        monitor.bank_begins(1, at(30));
        monitor.bank_ends(1, at(40));
        monitor.bank_ends(1, at(50));
        let seen = monitor.take(at(60));
        assert_eq!(seen[1].parallelism(), 50.0 / 40.0);
        assert_eq!(seen[0].parallelism(), 0.0);
    }

    #[test]
    fn a_quantum_counts_outstanding_cycles_within_it() {
        let mut monitor = Monitor::new(1);
        monitor.bank_begins(0, at(10));
        assert_eq!(monitor.take(at(20))[0].busy_cycles, 10);
        monitor.bank_ends(0, at(25));
        let second = monitor.take(at(40))[0];
        assert_eq!((second.busy_cycles, second.bank_cycles), (5, 5));
        assert_eq!(monitor.take(at(50))[0].busy_cycles, 0);
    }

    #[test]
    fn requests_and_service_are_counted_by_quantum() {
        let mut monitor = Monitor::new(1);
        monitor.request(0, false);
        monitor.request(0, true);
        monitor.served(0, 30);
        let seen = monitor.take(at(10))[0];
        assert_eq!((seen.requests, seen.service, seen.row_locality()), (2, 30, 0.5));
        let next = monitor.take(at(20))[0];
        assert_eq!((next.requests, next.service, next.row_locality()), (0, 0, 0.0));
    }
}
