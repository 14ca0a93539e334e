//! The slowdown of each source: its memory stall time relative to running alone.

use warpmem_sim::DramCycle;

/// Stall state of one source.
#[derive(Clone, Copy, Default)]
struct Stall {
    /// Requests in any channel, and the cycle since which there are any.
    outstanding: u32,
    since: DramCycle,
    /// Cycles with outstanding requests, except those since `since`.
    shared: u64,
    /// Cycles of these caused by other sources.
    delay: f64,
    /// Number of banks with waiting requests, and of banks that serve one.
    waiting_banks: u32,
    serving_banks: u32,
}

/// Slowdowns of the sources of one machine.
pub struct Slowdowns {
    interval: u64,
    interval_ends: DramCycle,
    sources: Vec<Stall>,
}

impl Slowdowns {
    pub fn new(sources: usize, interval: u64) -> Slowdowns {
        let sources = vec![Stall::default(); sources];
        Slowdowns { interval, interval_ends: DramCycle::new(interval), sources }
    }

    /// Records an arrival; `first_in_bank` if the source had no other request waiting for the bank.
    pub fn arrive(&mut self, source: usize, first_in_bank: bool, now: DramCycle) {
        self.advance(now);
        let stall = &mut self.sources[source];
        if stall.outstanding == 0 {
            stall.since = now;
        }
        stall.outstanding += 1;
        stall.waiting_banks += u32::from(first_in_bank);
    }

    /// Records the start of service; `last_in_bank` if the source has no other request waiting for
    /// the bank.
    pub fn begin(&mut self, source: usize, last_in_bank: bool, now: DramCycle) {
        self.advance(now);
        let stall = &mut self.sources[source];
        stall.waiting_banks -= u32::from(last_in_bank);
        stall.serving_banks += 1;
    }

    /// Records the end of service.
    pub fn end(&mut self, source: usize, now: DramCycle) {
        self.advance(now);
        let stall = &mut self.sources[source];
        stall.serving_banks -= 1;
        stall.outstanding -= 1;
        if stall.outstanding == 0 {
            stall.shared += now.since(stall.since);
        }
    }

    /// Adds to the cycles by which others have delayed a source; negative where they helped it.
    pub fn delay(&mut self, source: usize, cycles: f64) {
        self.sources[source].delay += cycles;
    }

    /// Returns the number of banks of all channels in which requests of the source wait.
    pub fn waiting_banks(&self, source: usize) -> u32 {
        self.sources[source].waiting_banks
    }

    /// Returns the number of banks of all channels that serve the source.
    pub fn serving_banks(&self, source: usize) -> u32 {
        self.sources[source].serving_banks
    }

    /// Returns the time with outstanding requests over the same time if the source ran alone, at
    /// least one cycle; 1 without outstanding requests.
    pub fn slowdown(&self, source: usize, now: DramCycle) -> f64 {
        let stall = &self.sources[source];
        let open = if stall.outstanding > 0 { now.since(stall.since) } else { 0 };
        match stall.shared + open {
            0 => 1.0,
            shared => shared as f64 / (shared as f64 - stall.delay).max(1.0),
        }
    }

    /// Discards the measurements of past intervals.
    fn advance(&mut self, now: DramCycle) {
        if now < self.interval_ends {
            return;
        }
        let began = now - now.number() % self.interval;
        for stall in &mut self.sources {
            (stall.shared, stall.delay) = (0, 0.0);
            stall.since = stall.since.max(began);
        }
        self.interval_ends = began + self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::at;

    /// Outstanding from 10 to 60, of which others cause 30, and from 100 on.
    #[test]
    fn slowdown_is_shared_time_over_time_alone() {
        let mut slowdowns = Slowdowns::new(2, 1000);
        assert_eq!(slowdowns.slowdown(0, at(5)), 1.0);
        slowdowns.arrive(0, true, at(10));
        slowdowns.arrive(0, false, at(20));
        slowdowns.begin(0, false, at(30));
        assert_eq!((slowdowns.waiting_banks(0), slowdowns.serving_banks(0)), (1, 1));
        slowdowns.end(0, at(40));
        slowdowns.begin(0, true, at(50));
        assert_eq!((slowdowns.waiting_banks(0), slowdowns.serving_banks(0)), (0, 1));
        slowdowns.end(0, at(60));
        slowdowns.delay(0, 30.0);
        assert_eq!(slowdowns.slowdown(0, at(80)), 50.0 / 20.0);
        slowdowns.arrive(0, true, at(100));
        assert_eq!(slowdowns.slowdown(0, at(110)), 60.0 / 30.0);
        assert_eq!(slowdowns.slowdown(1, at(110)), 1.0);
    }

    #[test]
    fn time_alone_is_at_least_a_cycle_and_gains_lower_the_slowdown() {
        let mut slowdowns = Slowdowns::new(1, 1000);
        slowdowns.arrive(0, true, DramCycle::ZERO);
        slowdowns.delay(0, 70.0);
        assert_eq!(slowdowns.slowdown(0, at(50)), 50.0);
        slowdowns.delay(0, -120.0);
        assert_eq!(slowdowns.slowdown(0, at(50)), 0.5);
    }

    #[test]
    fn intervals_are_measured_independently() {
        let mut slowdowns = Slowdowns::new(1, 100);
        slowdowns.arrive(0, true, at(10));
        slowdowns.delay(0, 60.0);
        slowdowns.begin(0, true, at(350));
        assert_eq!(slowdowns.slowdown(0, at(350)), 1.0);
        slowdowns.delay(0, 25.0);
        assert_eq!(slowdowns.slowdown(0, at(350)), 2.0);
    }
}
