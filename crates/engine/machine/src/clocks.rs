//! Exact time. The unit is 1 / lcm of the four frequencies, so the period of every domain is a
//! whole number of units and clocks never drift.

use super::Clocks;
use warpmem_params::Invalid;
use warpmem_sim::{Clock, Domain};

/// Periods of the clock domains, in time units; their greatest common divisor is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Periods {
    pub core: u64,
    pub network: u64,
    pub l2: u64,
    pub dram: u64,
}

/// Most time units per microsecond. At this limit 64 bits hold more than 16 simulated seconds.
const MAX_UNITS_PER_MICROSECOND: u64 = 1 << 40;

impl Clocks {
    /// Returns the period of each domain, in time units.
    ///
    /// # Panics
    /// If `validate` would refuse the frequencies.
    pub fn periods(&self) -> Periods {
        let units = self.units_per_microsecond();
        let period = |mhz: u32| units / u64::from(mhz);
        Periods {
            core: period(self.core_mhz),
            network: period(self.network_mhz),
            l2: period(self.l2_mhz),
            dram: period(self.dram_mhz),
        }
    }

    /// Returns the clock of each domain.
    ///
    /// # Panics
    /// If `validate` would refuse the frequencies.
    pub fn by_domain(&self) -> [Clock; Domain::COUNT] {
        let Periods { core, network, l2, dram } = self.periods();
        [dram, l2, network, core].map(Clock::new)
    }

    /// Returns the time units per microsecond: the lcm of the frequencies.
    ///
    /// # Panics
    /// If `validate` would refuse the frequencies.
    pub fn units_per_microsecond(&self) -> u64 {
        self.lcm().expect("frequencies were validated")
    }

    /// Refuses frequencies without a usable common unit.
    pub(super) fn validate(&self) -> Result<(), Invalid> {
        match self.lcm() {
            Some(_) => Ok(()),
            None => Err(Invalid {
                key: "clocks".to_owned(),
                value: format!("{:?} MHz", self.mhz()),
                valid: "frequencies above 0 whose least common multiple is at most 2^40; \
                        round one of them to share factors with the others"
                    .to_owned(),
            }),
        }
    }

    fn mhz(&self) -> [u32; 4] {
        [self.core_mhz, self.network_mhz, self.l2_mhz, self.dram_mhz]
    }

    /// Returns the least common multiple of the frequencies; `None` if one of them is 0 or the result
    /// exceeds [`MAX_UNITS_PER_MICROSECOND`].
    fn lcm(&self) -> Option<u64> {
        self.mhz().into_iter().try_fold(1u64, |lcm, mhz| {
            let mhz = u64::from(mhz);
            let next = (lcm / gcd(lcm, mhz)).checked_mul(mhz)?;
            (1..=MAX_UNITS_PER_MICROSECOND).contains(&next).then_some(next)
        })
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(core: u32, network: u32, l2: u32, dram: u32) -> Clocks {
        Clocks { core_mhz: core, network_mhz: network, l2_mhz: l2, dram_mhz: dram }
    }

    #[test]
    fn periods_of_the_presets() {
        let cases = [
            (clocks(1400, 1400, 700, 924), Periods { core: 33, network: 33, l2: 66, dram: 50 }),
            (
                clocks(1905, 1905, 1905, 3500),
                Periods { core: 700, network: 700, l2: 700, dram: 381 },
            ),
            (
                clocks(1132, 1132, 1132, 850),
                Periods { core: 425, network: 425, l2: 425, dram: 566 },
            ),
            (clocks(1000, 1000, 1000, 1000), Periods { core: 1, network: 1, l2: 1, dram: 1 }),
        ];
        for (clocks, periods) in cases {
            assert_eq!(clocks.periods(), periods, "{clocks:?}");
        }
    }

    #[test]
    fn unusable_frequencies_are_refused() {
        assert!(clocks(0, 1, 1, 1).validate().is_err());
        assert!(clocks(1, 1, 1, 0).validate().is_err());
        assert!(clocks(99_991, 99_989, 99_971, 99_961).validate().is_err());
        assert!(clocks(u32::MAX, u32::MAX - 1, u32::MAX - 2, u32::MAX - 4).validate().is_err());
    }

    proptest::proptest! {
        #[test]
        fn equal_wall_time_is_equal_units(
            core in 1u32..3000, network in 1u32..3000, l2 in 1u32..3000, dram in 1u32..3000,
        ) {
            let clocks = clocks(core, network, l2, dram);
            if clocks.validate().is_ok() {
                let p = clocks.periods();
                // A microsecond holds `mhz` cycles of each domain.
                let units = clocks.units_per_microsecond();
                proptest::prop_assert_eq!(p.core * u64::from(core), units);
                proptest::prop_assert_eq!(p.network * u64::from(network), units);
                proptest::prop_assert_eq!(p.l2 * u64::from(l2), units);
                proptest::prop_assert_eq!(p.dram * u64::from(dram), units);
                proptest::prop_assert_eq!(gcd(gcd(p.core, p.network), gcd(p.l2, p.dram)), 1);
            }
        }
    }
}
