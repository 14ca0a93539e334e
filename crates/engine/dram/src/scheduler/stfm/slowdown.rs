//! How much longer each source waits for memory than it would alone.

use warpmem_sim::DramCycle;

/// Of one source.
#[derive(Clone, Copy, Default)]
struct Stall {
    /// Requests in any channel, and since when there are any.
    outstanding: u32,
    since: DramCycle,
    /// Cycles with requests outstanding, but for those since `since`.
    shared: u64,
    /// How many of these others have caused.
    delay: f64,
    /// Banks that have waiting requests, and that serve one.
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

    /// A request has come; it may be the first of its source that waits for the bank.
    pub fn arrive(&mut self, source: usize, first_in_bank: bool, now: DramCycle) {
        self.advance(now);
        let stall = &mut self.sources[source];
        if stall.outstanding == 0 {
            stall.since = now;
        }
        stall.outstanding += 1;
        stall.waiting_banks += u32::from(first_in_bank);
    }

    /// A bank begins to serve a request; it may be the last of its source that waited for the bank.
    pub fn begin(&mut self, source: usize, last_in_bank: bool, now: DramCycle) {
        self.advance(now);
        let stall = &mut self.sources[source];
        stall.waiting_banks -= u32::from(last_in_bank);
        stall.serving_banks += 1;
    }

    /// A request has been served.
    pub fn end(&mut self, source: usize, now: DramCycle) {
        self.advance(now);
        let stall = &mut self.sources[source];
        stall.serving_banks -= 1;
        stall.outstanding -= 1;
        if stall.outstanding == 0 {
            stall.shared += now.since(stall.since);
        }
    }

    /// Others have held up a source for so many cycles; less than none where they helped it.
    pub fn delay(&mut self, source: usize, cycles: f64) {
        self.sources[source].delay += cycles;
    }

    /// Banks of all channels in which requests of the source wait.
    pub fn waiting_banks(&self, source: usize) -> u32 {
        self.sources[source].waiting_banks
    }

    /// Banks of all channels that serve the source.
    pub fn serving_banks(&self, source: usize) -> u32 {
        self.sources[source].serving_banks
    }

    /// Time with requests outstanding over that time if the source were alone, which is at least a
    /// cycle; 1 where nothing was outstanding.
    pub fn slowdown(&self, source: usize, now: DramCycle) -> f64 {
        let stall = &self.sources[source];
        let open = if stall.outstanding > 0 { now.since(stall.since) } else { 0 };
        match stall.shared + open {
            0 => 1.0,
            shared => shared as f64 / (shared as f64 - stall.delay).max(1.0),
        }
    }

    /// Forgets what was measured in intervals that are over.
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

    /// Outstanding from 10 to 60, of which 30 are others' doing, and from 100 on.
    #[test]
    fn slowdown_is_time_shared_over_time_alone() {
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
    fn at_least_a_cycle_is_the_sources_own_and_help_lowers_its_slowdown() {
        let mut slowdowns = Slowdowns::new(1, 1000);
        slowdowns.arrive(0, true, DramCycle::ZERO);
        slowdowns.delay(0, 70.0);
        assert_eq!(slowdowns.slowdown(0, at(50)), 50.0);
        slowdowns.delay(0, -120.0);
        assert_eq!(slowdowns.slowdown(0, at(50)), 0.5);
    }

    #[test]
    fn every_interval_is_measured_on_its_own() {
        let mut slowdowns = Slowdowns::new(1, 100);
        slowdowns.arrive(0, true, at(10));
        slowdowns.delay(0, 60.0);
        slowdowns.begin(0, true, at(350));
        assert_eq!(slowdowns.slowdown(0, at(350)), 1.0);
        slowdowns.delay(0, 25.0);
        assert_eq!(slowdowns.slowdown(0, at(350)), 2.0);
    }
}
