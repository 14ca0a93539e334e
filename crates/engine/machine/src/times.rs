//! DRAM times in nanoseconds, and times that were meant for another clock.

use super::Machine;
use std::collections::BTreeMap;
use toml::Value;
use warpmem_dram::{Dram, GivenTime};

/// The table of a machine that holds times.
pub(super) const TIMING: &str = "dram.timing.";

/// What a time may be given as, beside a number of cycles.
pub(super) const AS_TIME: &str = "a time as in \"13.75ns\"";

/// Times that devices count in cycles whatever the clock (JESD79-4 and JESD235 state them in nCK).
const CYCLES_AT_ANY_CLOCK: [&str; 6] = ["tccds", "tccdl", "tccdr", "trtw", "trtw_gap", "tppd"];

/// Decimals of a nanosecond: a time is a whole number of picoseconds.
const DECIMALS: usize = 3;

/// Longest time, in digits of whole nanoseconds.
const DIGITS: usize = 9;

/// The name of a time, of a machine's key for one.
pub(super) fn timing_key(key: &str) -> Option<&str> {
    key.strip_prefix(TIMING)
}

/// The picoseconds of a value such as `"13.75ns"`.
pub(super) fn picoseconds(value: &Value) -> Option<u64> {
    let number = value.as_str()?.strip_suffix("ns")?.trim_end();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let fits = whole.len() <= DIGITS && decimals.len() <= DECIMALS;
    if !fits || !is_number(whole) || !is_number(decimals) {
        return None;
    }
    format!("{whole}{decimals:0<DECIMALS$}").parse().ok()
}

/// Whole cycles that last as long: rounded up, but for what is less than 2.6 % of a cycle beyond
/// one, as JEDEC rounds the times of an SPD (JESD21-C, Annex L).
pub(super) fn cycles(picoseconds: u64, mhz: u32) -> u32 {
    const GUARD: u128 = 974;
    let thousandths = u128::from(picoseconds) * u128::from(mhz) / 1000;
    u32::try_from((thousandths + GUARD) / 1000).unwrap_or(u32::MAX)
}

impl Machine {
    /// Says which DRAM times are cycles of another clock than the machine has, as the clock was
    /// changed without them.
    pub fn clock_warnings(&self) -> Vec<String> {
        clock_warnings(&self.dram, self.clocks.dram_mhz)
    }

    /// The machine as a complete TOML file, with DRAM times as they were given: those in
    /// nanoseconds with their cycles beside them, and of those in cycles of another clock, which.
    pub fn to_toml_as_given(&self) -> String {
        let mut text = String::new();
        let mut table = "";
        for line in self.to_toml().lines() {
            table = line.strip_prefix('[').unwrap_or(table);
            let time = line.split_once(" = ").filter(|_| table == "dram.timing]");
            match time.and_then(|(key, cycles)| self.line_as_given(key, cycles)) {
                Some(given) => text.push_str(&given),
                None => text.push_str(line),
            }
            text.push('\n');
        }
        text
    }

    /// The line of a time, where it says more than its cycles.
    fn line_as_given(&self, key: &str, cycles: &str) -> Option<String> {
        let mhz = self.clocks.dram_mhz;
        match self.dram.given.get(key)? {
            GivenTime::Picoseconds(ps) => {
                Some(format!("{key} = \"{}ns\" # {cycles} cycles of {mhz} MHz", nanoseconds(ps)))
            }
            GivenTime::CyclesOf(other) if other != mhz => {
                Some(format!("{key} = {cycles} # given for {other} MHz"))
            }
            GivenTime::CyclesOf(_) => None,
        }
    }
}

/// As [`Machine::clock_warnings`], of channels with a clock of `mhz`.
pub fn clock_warnings(dram: &Dram, mhz: u32) -> Vec<String> {
    let times = toml::Table::try_from(&dram.timing).expect("numbers are TOML");
    let mut of_clock: BTreeMap<u32, Vec<(String, u64)>> = BTreeMap::new();
    for (key, value) in times {
        let cycles = value.as_integer().and_then(|cycles| u64::try_from(cycles).ok()).unwrap_or(0);
        let is_time = cycles > 0 && !CYCLES_AT_ANY_CLOCK.contains(&key.as_str());
        if let (true, Some(GivenTime::CyclesOf(other))) = (is_time, dram.given.get(&key))
            && other != mhz
        {
            of_clock.entry(other).or_default().push((key, cycles));
        }
    }
    of_clock.into_iter().map(|(other, times)| warning(mhz, other, &times)).collect()
}

/// Of some times in cycles of `other` MHz on a machine with `mhz`.
fn warning(mhz: u32, other: u32, times: &[(String, u64)]) -> String {
    const SHOWN: usize = 5;
    let names: Vec<&str> = times.iter().take(SHOWN).map(|(key, _)| key.as_str()).collect();
    let more = times.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (key, cycles) = &times[0];
    let as_time = nanoseconds(1_000_000 * cycles / u64::from(other));
    let factor = f64::from(other) / f64::from(mhz);
    format!(
        "`clocks.dram_mhz` = {mhz}, but times of `{}` are cycles of {other} MHz ({}{more}) and now last {factor:.2} \
         times as long; give them in ns, as in `{TIMING}{key}={as_time}ns`, or in cycles of {mhz} MHz",
        TIMING.trim_end_matches('.'),
        names.join(", ")
    )
}

/// Nanoseconds with as many decimals as there are.
fn nanoseconds(picoseconds: u64) -> String {
    let text = format!("{}.{:0DECIMALS$}", picoseconds / 1000, picoseconds % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<u64> {
        picoseconds(&Value::String(text.to_owned()))
    }

    #[test]
    fn times_are_read_in_picoseconds() {
        assert_eq!(read("13.75ns"), Some(13_750));
        assert_eq!(read("7800 ns"), Some(7_800_000));
        assert_eq!(read("0.625ns"), Some(625));
        for text in ["13.75", "ns", ".5ns", "5.ns", "-1ns", "1e3ns", "1.0001ns", "1us", "1.2.3ns"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("9999999999ns"), None, "longer than any time");
        assert_eq!(picoseconds(&Value::Integer(13)), None);
    }

    /// By hand: 13.75 ns are 11.6875 cycles of 850 MHz; of 933 MHz, 15 ns are 13.995.
    #[test]
    fn times_are_rounded_up_to_cycles_but_for_a_guard_band() {
        assert_eq!(cycles(13_750, 850), 12);
        assert_eq!(cycles(15_000, 933), 14);
        assert_eq!(cycles(10_000, 1000), 10, "whole cycles are whole");
        assert_eq!(cycles(10_025, 1000), 10, "2.5 % of a cycle too long");
        assert_eq!(cycles(10_026, 1000), 11);
        assert_eq!((cycles(0, 1000), cycles(1, 1000)), (0, 0));
        assert_eq!(cycles(u64::MAX, u32::MAX), u32::MAX);
    }

    #[test]
    fn nanoseconds_have_the_decimals_that_they_need() {
        assert_eq!(nanoseconds(13_750), "13.75");
        assert_eq!(nanoseconds(14_000), "14");
        assert_eq!(nanoseconds(5), "0.005");
    }
}
