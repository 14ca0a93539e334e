//! Units of figures, and their values in a run.

use warpmem_machine::Machine;
use warpmem_params::{did_you_mean, nearest};

/// Unit of a figure. All but cycles relate the time of a run to its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Core cycles.
    Cycles,
    /// Core cycles per load; the work is a number of loads.
    CyclesPerLoad,
    /// 10^9 bytes per second; the work is a number of bytes.
    GigabytesPerSecond,
    /// Bytes per core cycle.
    BytesPerCycle,
    /// Bytes per second over the peak of the DRAM data buses.
    ShareOfPeak,
}

impl Unit {
    const NAMES: [(&'static str, Unit); 5] = [
        ("cycles", Unit::Cycles),
        ("cycles/load", Unit::CyclesPerLoad),
        ("GB/s", Unit::GigabytesPerSecond),
        ("bytes/cycle", Unit::BytesPerCycle),
        ("share of peak", Unit::ShareOfPeak),
    ];

    /// Returns the unit named `text`, or a message with the valid ones.
    pub fn parse(text: &str) -> Result<Unit, String> {
        let names = || Unit::NAMES.iter().map(|(name, _)| *name);
        let found = Unit::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, unit)| *unit).ok_or_else(|| {
            let meant = did_you_mean(nearest(text, names()));
            let valid = names().collect::<Vec<_>>().join(", ");
            format!("`{text}` is not a unit{meant}; valid: {valid}")
        })
    }

    pub fn name(self) -> &'static str {
        let found = Unit::NAMES.iter().find(|(_, unit)| *unit == self);
        found.map(|(name, _)| *name).expect("every unit has a name")
    }

    /// Returns whether figures of this unit need the work of the run.
    pub fn needs_work(self) -> bool {
        self != Unit::Cycles
    }

    /// Returns the figure of a run that does `work` in `cycles` core cycles.
    pub fn of(self, cycles: f64, work: f64, machine: &Machine) -> f64 {
        let seconds = cycles / (f64::from(machine.clocks.core_mhz) * 1e6);
        match self {
            Unit::Cycles => cycles,
            Unit::CyclesPerLoad => cycles / work,
            Unit::GigabytesPerSecond => work / seconds / 1e9,
            Unit::BytesPerCycle => work / cycles,
            Unit::ShareOfPeak => work / seconds / machine.peak_bytes_per_second() as f64,
        }
    }

    /// Formats a value with the digits that its unit deserves.
    pub fn shown(self, value: f64) -> String {
        match self {
            Unit::Cycles | Unit::GigabytesPerSecond => format!("{value:.0}"),
            Unit::CyclesPerLoad | Unit::BytesPerCycle => format!("{value:.2}"),
            Unit::ShareOfPeak => format!("{value:.3}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    #[test]
    fn figures_relate_work_to_time_and_peak() {
        let mut machine = machine(&[]);
        machine.clocks.core_mhz = 1000;
        let of = |unit: Unit| unit.of(2000.0, 8000.0, &machine);
        assert_eq!(of(Unit::Cycles), 2000.0);
        assert_eq!(of(Unit::CyclesPerLoad), 0.25);
        assert_eq!(of(Unit::BytesPerCycle), 4.0);
        assert_eq!(of(Unit::GigabytesPerSecond), 4.0);
        let peak = machine.peak_bytes_per_second() as f64;
        assert_eq!(of(Unit::ShareOfPeak), 4e9 / peak);
    }

    #[test]
    fn unknown_units_are_refused_with_the_nearest() {
        let refused = Unit::parse("GBs").unwrap_err();
        assert!(refused.starts_with("`GBs` is not a unit (did you mean `GB/s`?)"), "{refused}");
        for (name, unit) in Unit::NAMES {
            assert_eq!((Unit::parse(name), unit.name()), (Ok(unit), name));
        }
    }
}
