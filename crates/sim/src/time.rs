//! Time: ticks of the least common unit of all clock domains, and the domains' cycles.

/// A point in time, in ticks from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

impl Ticks {
    /// Later than anything.
    pub const NEVER: Ticks = Ticks(u64::MAX);

    /// Ticks since `earlier`, which must not lie after this point.
    #[inline]
    pub fn since(self, earlier: Ticks) -> u64 {
        debug_assert!(self >= earlier);
        self.0 - earlier.0
    }
}

/// The clock of one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    period: u64,
}

impl Clock {
    /// A clock of `period` ticks a cycle.
    pub fn new(period: u64) -> Clock {
        assert!(period > 0);
        Clock { period }
    }

    /// Ticks per cycle.
    #[inline]
    pub fn period(self) -> u64 {
        self.period
    }

    /// When `cycle` begins.
    #[inline]
    pub fn at(self, cycle: u64) -> Ticks {
        Ticks(cycle * self.period)
    }

    /// The first cycle that begins at or after `time`.
    #[inline]
    pub fn cycle_from(self, time: Ticks) -> u64 {
        time.0.div_ceil(self.period)
    }

    /// The cycle during which `time` falls.
    #[inline]
    pub fn cycle_of(self, time: Ticks) -> u64 {
        time.0 / self.period
    }
}

/// The clock domains, in the order in which they are stepped when their cycles begin at the same
/// time: from DRAM up to the SMs, so that a unit sees at once the room that the level below has
/// just made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Domain {
    Dram,
    Llc,
    Network,
    Core,
}

impl Domain {
    pub const COUNT: usize = 4;
    pub const ALL: [Domain; Domain::COUNT] =
        [Domain::Dram, Domain::Llc, Domain::Network, Domain::Core];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_and_ticks_convert_both_ways() {
        let clock = Clock::new(33);
        assert_eq!(clock.at(7), Ticks(231));
        let cases = [(0, 0, 0), (1, 1, 0), (32, 1, 0), (33, 1, 1), (34, 2, 1), (66, 2, 2)];
        for (ticks, from, of) in cases {
            assert_eq!(clock.cycle_from(Ticks(ticks)), from, "first cycle from {ticks}");
            assert_eq!(clock.cycle_of(Ticks(ticks)), of, "cycle of {ticks}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_first_cycle_from_a_time_is_the_first(period in 1u64..10_000, time in 0u64..1 << 40) {
            let clock = Clock::new(period);
            let cycle = clock.cycle_from(Ticks(time));
            proptest::prop_assert!(clock.at(cycle) >= Ticks(time));
            proptest::prop_assert!(cycle == 0 || clock.at(cycle - 1) < Ticks(time));
            proptest::prop_assert_eq!(clock.cycle_of(clock.at(cycle)), cycle);
        }
    }
}
