//! DRAM times given in nanoseconds, and times given for another clock.

use super::Machine;
use std::collections::BTreeMap;
use toml::Value;
use warpmem_dram::{Dram, GivenTime};

/// The section of DRAM times.
pub(super) const TIMING: &str = "dram.timing.";

/// The alternative to a number of cycles, for messages.
pub(super) const AS_TIME: &str = "a time as in \"13.75ns\"";

/// Times that devices count in cycles at every clock (JESD79-4 and JESD235 state them in nCK).
const CYCLES_AT_ANY_CLOCK: [&str; 6] = ["tccds", "tccdl", "tccdr", "trtw", "trtw_gap", "tppd"];

/// Most decimals of a time in nanoseconds: times are whole picoseconds.
const DECIMALS: usize = 3;

/// Most digits before the decimal point of a time in nanoseconds.
const DIGITS: usize = 9;

/// Returns the name of the DRAM time that `key` sets, if it sets one.
pub(super) fn timing_key(key: &str) -> Option<&str> {
    key.strip_prefix(TIMING)
}

/// Parses a value such as `"13.75ns"` to picoseconds.
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

/// Rounds a time up to whole cycles, unless it exceeds a whole number by less than 2.6 % of a
/// cycle, as JEDEC rounds the times of an SPD (JESD21-C, Annex L).
pub(super) fn cycles(picoseconds: u64, mhz: u32) -> u32 {
    const GUARD: u128 = 974;
    let thousandths = u128::from(picoseconds) * u128::from(mhz) / 1000;
    u32::try_from((thousandths + GUARD) / 1000).unwrap_or(u32::MAX)
}

impl Machine {
    /// Returns warnings of DRAM times in cycles of another clock than the machine's, as the clock
    /// was changed without them.
    pub fn clock_warnings(&self) -> Vec<String> {
        clock_warnings(&self.dram, self.clocks.dram_mhz)
    }

    /// Returns the machine as a complete TOML file with DRAM times as given: times in nanoseconds
    /// with their cycles in a comment, and times in cycles of another clock with that clock.
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

    /// Returns the line of a time if it holds more than its cycles.
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

/// Returns the warnings of [`Machine::clock_warnings`] for channels with a clock of `mhz`.
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

/// Returns the warning of times in cycles of `other` MHz on a machine with `mhz`.
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

/// Formats nanoseconds without trailing zeros.
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
    fn times_are_parsed_to_picoseconds() {
        assert_eq!(read("13.75ns"), Some(13_750));
        assert_eq!(read("7800 ns"), Some(7_800_000));
        assert_eq!(read("0.625ns"), Some(625));
        for text in ["13.75", "ns", ".5ns", "5.ns", "-1ns", "1e3ns", "1.0001ns", "1us", "1.2.3ns"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("9999999999ns"), None, "more digits than a time may have");
        assert_eq!(picoseconds(&Value::Integer(13)), None);
    }

    /// 13.75 ns are 11.6875 cycles at 850 MHz; 15 ns are 13.995 cycles at 933 MHz.
    #[test]
    fn times_round_up_to_cycles_except_within_the_guard_band() {
        assert_eq!(cycles(13_750, 850), 12);
        assert_eq!(cycles(15_000, 933), 14);
        assert_eq!(cycles(10_000, 1000), 10, "whole cycles stay");
        assert_eq!(cycles(10_025, 1000), 10, "2.5 % of a cycle too long");
        assert_eq!(cycles(10_026, 1000), 11);
        assert_eq!((cycles(0, 1000), cycles(1, 1000)), (0, 0));
        assert_eq!(cycles(u64::MAX, u32::MAX), u32::MAX);
    }

    #[test]
    fn nanoseconds_have_no_trailing_zeros() {
        assert_eq!(nanoseconds(13_750), "13.75");
        assert_eq!(nanoseconds(14_000), "14");
        assert_eq!(nanoseconds(5), "0.005");
    }
}
