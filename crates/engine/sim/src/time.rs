//! Time: ticks, the common unit of all clock domains, and cycles of the domains.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Sub};

/// A point in time, in ticks from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

impl Ticks {
    /// Later than any event.
    pub const NEVER: Ticks = Ticks(u64::MAX);

    /// Returns the ticks since `earlier`, which must not be later.
    #[inline]
    pub fn since(self, earlier: Ticks) -> u64 {
        debug_assert!(self >= earlier);
        self.0 - earlier.0
    }
}

/// A clock domain known at compile time.
pub trait ClockDomain: Copy {
    const DOMAIN: Domain;
}

/// The clock domains as types, for [`Cycle`] and [`Clock`].
pub mod domain {
    use super::{ClockDomain, Domain};

    macro_rules! domains {
        ($($name:ident)*) => {$(
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name;

            impl ClockDomain for $name {
                const DOMAIN: Domain = Domain::$name;
            }
        )*};
    }

    domains! { Dram L2 Network Core }

    /// A domain known at run time only.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Any;
}

/// A point in time: the number of a cycle of clock domain `D`. Durations are plain numbers of
/// cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Cycle<D>(u64, PhantomData<D>);

/// A cycle of the DRAM channels.
pub type DramCycle = Cycle<domain::Dram>;
/// A cycle of the L2 slices.
pub type L2Cycle = Cycle<domain::L2>;
/// A cycle of the networks.
pub type NetworkCycle = Cycle<domain::Network>;
/// A cycle of the SMs.
pub type CoreCycle = Cycle<domain::Core>;

impl<D: ClockDomain> Cycle<D> {
    /// The first cycle of the run.
    pub const ZERO: Cycle<D> = Cycle::new(0);
    /// Later than any event.
    pub const NEVER: Cycle<D> = Cycle::new(u64::MAX);

    #[inline]
    pub const fn new(number: u64) -> Cycle<D> {
        Cycle(number, PhantomData)
    }

    /// Returns the number of cycles before it.
    #[inline]
    pub fn number(self) -> u64 {
        self.0
    }

    /// Returns the cycles since `earlier`, which must not be later.
    #[inline]
    pub fn since(self, earlier: Cycle<D>) -> u64 {
        debug_assert!(self.0 >= earlier.0);
        self.0 - earlier.0
    }

    /// Returns the cycles since `earlier`; 0 if that is later.
    #[inline]
    pub fn saturating_since(self, earlier: Cycle<D>) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the first cycle, from this one on, whose number is a multiple of `cycles`.
    #[inline]
    pub fn next_multiple_of(self, cycles: u64) -> Cycle<D> {
        Cycle::new(self.0.next_multiple_of(cycles))
    }

    /// Returns the cycle `cycles` later, at most [`Cycle::NEVER`].
    #[inline]
    pub fn saturating_add(self, cycles: u64) -> Cycle<D> {
        Cycle::new(self.0.saturating_add(cycles))
    }

    /// Returns the cycle `cycles` earlier, at least [`Cycle::ZERO`].
    #[inline]
    pub fn saturating_sub(self, cycles: u64) -> Cycle<D> {
        Cycle::new(self.0.saturating_sub(cycles))
    }
}

/// Ordered by number. Written out because the derived order also compares the domains, which costs
/// instructions in the hot path of the channels.
impl<D: Eq> Ord for Cycle<D> {
    #[inline]
    fn cmp(&self, other: &Cycle<D>) -> Ordering {
        self.0.cmp(&other.0)
    }

    #[inline]
    fn max(self, other: Cycle<D>) -> Cycle<D> {
        Cycle(self.0.max(other.0), PhantomData)
    }

    #[inline]
    fn min(self, other: Cycle<D>) -> Cycle<D> {
        Cycle(self.0.min(other.0), PhantomData)
    }
}

impl<D: Eq> PartialOrd for Cycle<D> {
    #[inline]
    fn partial_cmp(&self, other: &Cycle<D>) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Cycle<D>) -> bool {
        self.0 < other.0
    }

    #[inline]
    fn le(&self, other: &Cycle<D>) -> bool {
        self.0 <= other.0
    }

    #[inline]
    fn gt(&self, other: &Cycle<D>) -> bool {
        self.0 > other.0
    }

    #[inline]
    fn ge(&self, other: &Cycle<D>) -> bool {
        self.0 >= other.0
    }
}

impl<D: ClockDomain> Add<u64> for Cycle<D> {
    type Output = Cycle<D>;

    #[inline]
    fn add(self, cycles: u64) -> Cycle<D> {
        Cycle::new(self.0 + cycles)
    }
}

impl<D: ClockDomain> Sub<u64> for Cycle<D> {
    type Output = Cycle<D>;

    #[inline]
    fn sub(self, cycles: u64) -> Cycle<D> {
        Cycle::new(self.0 - cycles)
    }
}

impl<D> AddAssign<u64> for Cycle<D> {
    #[inline]
    fn add_assign(&mut self, cycles: u64) {
        self.0 += cycles;
    }
}

impl<D> fmt::Display for Cycle<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Clock of domain `D`, or, without a parameter, of a domain known at run time only, whose cycles
/// are plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock<D = domain::Any> {
    period: u64,
    domain: PhantomData<D>,
}

/// The clock of the DRAM channels.
pub type DramClock = Clock<domain::Dram>;
/// The clock of the L2 slices.
pub type L2Clock = Clock<domain::L2>;
/// The clock of the networks.
pub type NetworkClock = Clock<domain::Network>;
/// The clock of the SMs.
pub type CoreClock = Clock<domain::Core>;

impl<D> Clock<D> {
    /// Creates a clock with a period of `period` ticks.
    pub fn new(period: u64) -> Clock<D> {
        assert!(period > 0);
        Clock { period, domain: PhantomData }
    }

    /// Ticks per cycle.
    #[inline]
    pub fn period(self) -> u64 {
        self.period
    }

    /// Returns the whole cycles in `ticks`. Most waits are shorter than a cycle, so the division is
    /// avoided.
    #[inline]
    pub fn cycles_in(self, ticks: u64) -> u64 {
        if ticks < self.period { 0 } else { ticks / self.period }
    }
}

impl<D: ClockDomain> Clock<D> {
    /// Returns the start of `cycle`.
    #[inline]
    pub fn at(self, cycle: Cycle<D>) -> Ticks {
        Ticks(cycle.0 * self.period)
    }

    /// Returns the first cycle that starts at or after `time`.
    #[inline]
    pub fn cycle_from(self, time: Ticks) -> Cycle<D> {
        Cycle::new(time.0.div_ceil(self.period))
    }

    /// Returns the cycle that contains `time`.
    #[inline]
    pub fn cycle_of(self, time: Ticks) -> Cycle<D> {
        Cycle::new(time.0 / self.period)
    }
}

impl Clock {
    /// Returns this clock as that of domain `D`.
    #[inline]
    pub fn of<D: ClockDomain>(self) -> Clock<D> {
        Clock::new(self.period)
    }

    /// Returns the start of `cycle`.
    #[inline]
    pub fn at(self, cycle: u64) -> Ticks {
        Ticks(cycle * self.period)
    }

    /// Returns the first cycle that starts at or after `time`.
    #[inline]
    pub fn cycle_from(self, time: Ticks) -> u64 {
        time.0.div_ceil(self.period)
    }

    /// Returns the cycle that contains `time`.
    #[inline]
    pub fn cycle_of(self, time: Ticks) -> u64 {
        time.0 / self.period
    }
}

/// The clock domains, in the stepping order for cycles that start at the same time: from DRAM up to
/// the SMs, so that a unit sees the room that the level below has just freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Domain {
    Dram,
    L2,
    Network,
    Core,
}

impl Domain {
    pub const COUNT: usize = 4;
    pub const ALL: [Domain; Domain::COUNT] =
        [Domain::Dram, Domain::L2, Domain::Network, Domain::Core];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_and_ticks_convert_both_ways() {
        let clock: Clock = Clock::new(33);
        assert_eq!(clock.at(7), Ticks(231));
        let cases = [(0, 0, 0), (1, 1, 0), (32, 1, 0), (33, 1, 1), (34, 2, 1), (66, 2, 2)];
        for (ticks, from, of) in cases {
            assert_eq!(clock.cycle_from(Ticks(ticks)), from, "first cycle from {ticks}");
            assert_eq!(clock.cycle_of(Ticks(ticks)), of, "cycle of {ticks}");
            let core = clock.of::<domain::Core>();
            assert_eq!(core.cycle_from(Ticks(ticks)), CoreCycle::new(from));
            assert_eq!(core.cycle_of(Ticks(ticks)), CoreCycle::new(of));
            assert_eq!(core.at(CoreCycle::new(from)), clock.at(from));
        }
    }

    #[test]
    fn durations_round_down_to_whole_cycles() {
        let clock: Clock = Clock::new(33);
        assert_eq!([0, 32, 33, 65, 66].map(|ticks| clock.cycles_in(ticks)), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn differences_of_cycles_are_durations() {
        let start = L2Cycle::new(5);
        assert_eq!(((start + 7).since(start), start + 7 - 7), (7, start));
        assert_eq!(start.saturating_since(start + 7), 0);
        assert_eq!(L2Cycle::NEVER.saturating_add(1), L2Cycle::NEVER);
        assert_eq!([8, 9].map(|n| L2Cycle::new(n).next_multiple_of(4).number()), [8, 12]);
        assert_eq!(L2Cycle::ZERO.saturating_sub(1), L2Cycle::ZERO);
    }

    proptest::proptest! {
        #[test]
        fn cycle_from_is_the_first_at_or_after_a_time(period in 1u64..10_000, time in 0u64..1 << 40) {
            let clock: Clock = Clock::new(period);
            let cycle = clock.cycle_from(Ticks(time));
            proptest::prop_assert!(clock.at(cycle) >= Ticks(time));
            proptest::prop_assert!(cycle == 0 || clock.at(cycle - 1) < Ticks(time));
            proptest::prop_assert_eq!(clock.cycle_of(clock.at(cycle)), cycle);
        }
    }
}
