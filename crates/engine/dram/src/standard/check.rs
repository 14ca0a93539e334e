//! The rules that a channel must satisfy to be a device of its standard.

use super::{Place, Standard, StandardError};
use crate::config::{check_organisation, check_queues};
use crate::constraint::Constraint;
use crate::request::CommandKind;
use crate::request::CommandKind::{Rd, Wr};
use crate::{Dram, Power, Timing};
use std::fmt::Display;
use warpmem_params::Invalid;

type Check = Result<(), StandardError>;

fn rule(holds: bool, key: &str, value: impl Display, valid: impl Into<String>) -> Check {
    if holds {
        return Ok(());
    }
    let key = format!("dram.{key}");
    Err(Invalid { key, value: value.to_string(), valid: valid.into() }.into())
}

impl Dram {
    /// Rejects channels that the model cannot run, independent of the rest of the machine.
    ///
    /// # Errors
    /// Returns [`StandardError`] if the standard is unknown or does not allow them, or their queues
    /// are not valid.
    pub fn check(&self) -> Result<(), StandardError> {
        Standard::of(self)?.check(self)?;
        check_queues(self).map_err(StandardError::Channel)
    }
}

impl Standard {
    /// Rejects a channel whose organisation, timing or burst no device of this standard could have.
    ///
    /// # Errors
    /// Returns [`StandardError::Channel`] with the key, its value and the valid values.
    pub fn check(&self, dram: &Dram) -> Check {
        check_organisation(dram)?;
        self.check_timing(&dram.timing)?;
        self.check_data_bus(dram)?;
        self.check_refresh(dram)?;
        self.check_unused(&dram.timing)?;
        check_power(&dram.power)
    }

    /// Rejects times that contradict each other, independent of the organisation.
    pub(super) fn check_timing(&self, t: &Timing) -> Check {
        let at_least = |long: u32, long_key: &str, short: u32, short_key: &str| {
            let valid = format!("at least `dram.timing.{short_key}` = {short}");
            rule(long >= short, &format!("timing.{long_key}"), long, valid)
        };
        at_least(t.tras, "tras", t.trcd, "trcd")?;
        at_least(t.trc, "trc", t.tras, "tras")?;
        at_least(t.tccdl, "tccdl", t.tccds, "tccds")?;
        at_least(t.trrdl, "trrdl", t.trrds, "trrds")?;
        at_least(t.twtrl, "twtrl", t.twtrs, "twtrs")?;
        let row_cycle = u64::from(t.tras) + u64::from(t.trp);
        let valid = format!("at least tRAS + tRP = {} + {} = {row_cycle}", t.tras, t.trp);
        let covers = self.short_row_cycle || u64::from(t.trc) >= row_cycle;
        rule(covers, "timing.trc", t.trc, valid)
    }

    /// Rejects channels in which the data of two column commands that share only a data bus could
    /// collide.
    fn check_data_bus(&self, dram: &Dram) -> Check {
        let constraints = self.constraints(dram);
        let burst = dram.burst_cycles();
        let [read, write] = self.latencies(dram);
        let same_kind =
            [(Rd, Rd), (Wr, Wr)].map(|(from, to)| least_distance(dram, &constraints, from, to));
        let cycles = same_kind[0].min(same_kind[1]).min(dram.timing.tccds);
        let valid = format!(
            "at most {} transfers, because column commands may be {cycles} cycles apart (tCCD)",
            cycles * dram.transfers_per_clock
        );
        rule(burst <= cycles, "burst_length", dram.burst_length, valid)?;
        let distance = least_distance(dram, &constraints, Rd, Wr);
        let (key, value) = match self.uses("trtw") {
            true => ("timing.trtw", dram.timing.trtw),
            false => ("timing.twl", dram.timing.twl),
        };
        let valid = format!(
            "a value with which write data follow those of an RD {distance} cycles earlier"
        );
        rule(distance + write >= read + burst, key, value, valid)?;
        let distance = least_distance(dram, &constraints, Wr, Rd);
        let valid =
            format!("a value with which read data follow those of a WR {distance} cycles earlier");
        rule(distance + read >= write + burst, "timing.tcl", dram.timing.tcl, valid)
    }

    fn check_refresh(&self, dram: &Dram) -> Check {
        let t = &dram.timing;
        if t.trefi == 0 {
            let valid = "0 without refresh of all banks (`dram.timing.trefi` = 0)";
            rule(t.trfc == 0, "timing.trfc", t.trfc, valid)?;
        } else {
            let valid = format!("1 to below `dram.timing.trefi` = {}", t.trefi);
            rule((1..t.trefi).contains(&t.trfc), "timing.trfc", t.trfc, valid)?;
            let valid = "0 with refresh of all banks (`dram.timing.trefi` > 0)";
            rule(t.trefipb == 0, "timing.trefipb", t.trefipb, valid)?;
        }
        if t.trefipb == 0 {
            let valid = "0 without refresh of single banks (`dram.timing.trefipb` = 0)";
            rule(t.trfcpb == 0, "timing.trfcpb", t.trfcpb, valid)?;
            return rule(t.trrefd == 0, "timing.trrefd", t.trrefd, valid);
        }
        let round = u64::from(t.trefipb) * u64::from(dram.banks);
        let valid = format!("1 to below {round}, after which the bank is refreshed again");
        rule((1..round).contains(&t.trfcpb.into()), "timing.trfcpb", t.trfcpb, valid)?;
        let valid = format!("below `dram.timing.trefipb` = {}", t.trefipb);
        rule(t.trrefd < t.trefipb, "timing.trrefd", t.trrefd, valid)
    }

    /// Requires 0 for an optional time that enters no rule of the standard.
    fn check_unused(&self, t: &Timing) -> Check {
        let optional = [
            ("tfaw", t.tfaw),
            ("t32aw", t.t32aw),
            ("tccdr", t.tccdr),
            ("trtw_gap", t.trtw_gap),
            ("trtw", t.trtw),
            ("tppd", t.tppd),
            ("trfcpb", t.trfcpb),
            ("trrefd", t.trrefd),
        ];
        optional.into_iter().try_for_each(|(key, value)| {
            let valid = format!("0: standard {} has no such rule", self.name);
            rule(value == 0 || self.uses(key), &format!("timing.{key}"), value, valid)
        })
    }

    fn uses(&self, key: &str) -> bool {
        self.rules.iter().any(|rule| rule.cycles.names().contains(&key))
    }
}

/// Rejects currents that would give a command or an open row negative energy.
pub(super) fn check_power(p: &Power) -> Check {
    let at_least = |key: &str, current: u32, floor_key: &str, floor: u32| {
        let valid = format!("0 (unknown) or at least `dram.power.{floor_key}` = {floor}");
        rule(current == 0 || current >= floor, &format!("power.{key}"), current, valid)
    };
    at_least("idd3n", p.idd3n, "idd2n", p.idd2n)?;
    at_least("idd0", p.idd0, "idd3n", p.idd3n)?;
    at_least("idd4r", p.idd4r, "idd3n", p.idd3n)?;
    at_least("idd4w", p.idd4w, "idd3n", p.idd3n)?;
    at_least("idd5ab", p.idd5ab, "idd3n", p.idd3n)?;
    at_least("idd5pb", p.idd5pb, "idd3n", p.idd3n)
}

/// Returns the least distance of two commands of these kinds on one data bus, over all pairs of
/// banks.
fn least_distance(
    dram: &Dram,
    constraints: &[Constraint],
    from: CommandKind,
    to: CommandKind,
) -> u32 {
    let places: Vec<Place> = (0..dram.banks as u16).filter_map(|b| Place::of(dram, b)).collect();
    let table: Vec<&Constraint> =
        constraints.iter().filter(|c| c.from == from && c.to == to && c.window == 1).collect();
    let first = places.first();
    let distance = |a: &Place, b: &Place| {
        table.iter().filter(|c| c.holds_between(a, b)).map(|c| c.cycles).max().unwrap_or(0)
    };
    // Every bank has the same relations to the others as the first.
    first
        .into_iter()
        .flat_map(|a| places.iter().map(move |b| (a, b)))
        .filter(|(a, b)| a.pseudo_channel == b.pseudo_channel)
        .map(|(a, b)| distance(a, b))
        .min()
        .unwrap_or(0)
}
