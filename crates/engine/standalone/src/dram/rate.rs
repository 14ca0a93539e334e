//! Rates of requests, exact, without floating point.

use std::fmt;
use warpmem_dram::standard::Clock;
use warpmem_sim::DramCycle;

/// The length of a command clock cycle: `picoseconds / per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    picoseconds: u64,
    per: u64,
}

impl Period {
    /// Returns the period of a clock with this many MHz, above 0.
    pub fn of_mhz(mhz: u32) -> Period {
        Period { picoseconds: 1_000_000, per: mhz.into() }
    }

    /// Returns the period of the clock of a standard.
    pub fn of_clock(clock: Clock) -> Period {
        Period { picoseconds: clock.tck_ps.into(), per: clock.ticks_per_clock.into() }
    }

    /// Returns the length in nanoseconds, for tables.
    pub fn nanoseconds(self) -> f64 {
        self.picoseconds as f64 / self.per as f64 / 1000.0
    }
}

/// Requests of one channel per cycle: `requests / cycles`, both above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    requests: u128,
    cycles: u128,
}

/// A rate as the user writes it: `0.25` requests per command clock cycle, or `20GB/s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateText {
    value: Decimal,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    PerCycle,
    GigabytesPerSecond,
}

const GIGABYTES: &str = "GB/s";

impl RateText {
    /// Parses `0.25` or `20GB/s`; an error states the valid forms.
    pub fn parse(text: &str) -> Result<RateText, String> {
        let (number, unit) = match text.strip_suffix(GIGABYTES) {
            Some(number) => (number.trim_end(), Unit::GigabytesPerSecond),
            None => (text, Unit::PerCycle),
        };
        let value = Decimal::parse(number).filter(|value| value.mantissa > 0);
        let value = value.ok_or_else(|| {
            format!("expected requests per cycle above 0, as in `0.25`, or bytes per second, as in `20{GIGABYTES}`")
        })?;
        Ok(RateText { value, unit })
    }

    /// Returns the rate of requests of this many bytes each.
    pub fn rate(self, bytes: u32, period: Period) -> Rate {
        let Decimal { mantissa, scale } = self.value;
        match self.unit {
            Unit::PerCycle => Rate { requests: mantissa, cycles: scale },
            // x 10^9 bytes in 10^12 picoseconds.
            Unit::GigabytesPerSecond => Rate {
                requests: mantissa * u128::from(period.picoseconds),
                cycles: scale * 1000 * u128::from(period.per) * u128::from(bytes),
            },
        }
    }
}

impl fmt::Display for RateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decimal { mantissa, scale } = self.value;
        let digits = scale.ilog10() as usize;
        let whole = mantissa / scale;
        match digits {
            0 => write!(f, "{whole}")?,
            _ => write!(f, "{whole}.{:0digits$}", mantissa % scale)?,
        }
        match self.unit {
            Unit::PerCycle => Ok(()),
            Unit::GigabytesPerSecond => f.write_str(GIGABYTES),
        }
    }
}

impl Rate {
    /// Returns the first cycle in which the request with this number, from 0, may arrive.
    pub fn due(self, number: u64) -> DramCycle {
        let cycles = (u128::from(number) * self.cycles).div_ceil(self.requests);
        u64::try_from(cycles).map_or(DramCycle::NEVER, DramCycle::new)
    }
}

/// `mantissa / scale`, the scale a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    mantissa: u128,
    scale: u128,
}

/// Most digits of a number: products with times and sizes then fit in 128 bits.
const DIGITS: usize = 12;

impl Decimal {
    fn parse(text: &str) -> Option<Decimal> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = [whole, fraction].concat();
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !plain || digits.len() > DIGITS {
            return None;
        }
        Some(Decimal { mantissa: digits.parse().ok()?, scale: 10u128.pow(fraction.len() as u32) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str, bytes: u32, period: Period) -> Rate {
        RateText::parse(text).unwrap().rate(bytes, period)
    }

    fn half_ticks(tck_ps: u32) -> Period {
        Period::of_clock(Clock { tck_ps, ticks_per_clock: 2 })
    }

    fn dues(rate: Rate, count: u64) -> Vec<u64> {
        (0..count).map(|number| rate.due(number).number()).collect()
    }

    #[test]
    fn requests_are_due_at_the_first_cycle_that_keeps_the_rate() {
        let period = Period::of_mhz(1000);
        assert_eq!(dues(rate("0.25", 64, period), 4), [0, 4, 8, 12]);
        assert_eq!(dues(rate("0.3", 64, period), 5), [0, 4, 7, 10, 14]);
        assert_eq!(dues(rate("2", 64, period), 5), [0, 1, 1, 2, 2]);
        assert_eq!(dues(rate(".5", 64, period), 3), [0, 2, 4]);
    }

    #[test]
    fn bytes_per_second_count_the_bytes_of_a_request_and_the_clock() {
        // 16 GB/s = 16 bytes per nanosecond: 64 bytes in 4 ns.
        assert_eq!(dues(rate("16GB/s", 64, Period::of_mhz(1000)), 3), [0, 4, 8]);
        assert_eq!(dues(rate("16 GB/s", 64, Period::of_mhz(500)), 3), [0, 2, 4]);
        assert_eq!(dues(rate("16GB/s", 128, Period::of_mhz(1000)), 3), [0, 8, 16]);
        assert_eq!(dues(rate("16GB/s", 64, half_ticks(1000)), 3), [0, 8, 16]);
        // A clock whose period is no whole number of picoseconds: 924 MHz x 1 s are 924 M cycles.
        assert_eq!(rate("0.064GB/s", 64, Period::of_mhz(924)).due(1_000_000).number(), 924_000_000);
    }

    #[test]
    fn invalid_rates_are_refused() {
        let texts = ["", ".", "0", "0.0", "-1", "1e3", "1,5", "fast", "GB/s", "20MB/s", "1.2.3"];
        for text in texts.into_iter().chain(["1234567890123"]) {
            let error = RateText::parse(text).unwrap_err();
            assert!(error.contains("20GB/s"), "{text}: {error}");
        }
    }

    #[test]
    fn a_rate_is_shown_as_it_is_written() {
        for text in ["0.25", "2", "20GB/s", "0.05GB/s"] {
            assert_eq!(RateText::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_cycle_has_its_length() {
        assert_eq!(Period::of_mhz(1000).nanoseconds(), 1.0);
        assert_eq!(half_ticks(1334).nanoseconds(), 0.667);
    }
}
