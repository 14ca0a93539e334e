//! The use of the units of a machine in a run.

use crate::metric::Digits;
use crate::table::Table;

/// A measure of the use of a unit.
pub(crate) struct Measure {
    /// Name of its column.
    pub(crate) name: &'static str,
    /// Lines of its heading, the unit last.
    pub(crate) heading: [&'static str; 3],
    pub(crate) digits: Digits,
    /// Column of `runs` with the value.
    of: &'static str,
    /// Column of `runs` with its divisor.
    over: Option<&'static str>,
}

/// Every measure, in order.
pub(crate) const MEASURES: [Measure; 6] = [
    Measure {
        name: "bus_used",
        heading: ["DRAM bus", "used", "%"],
        digits: Digits::Percent(1),
        of: "bandwidth_utilization",
        over: None,
    },
    Measure {
        name: "queue_length",
        heading: ["DRAM", "queue", "requests"],
        digits: Digits::Decimals(2),
        of: "queue_occupancy_mean",
        over: None,
    },
    Measure {
        name: "l2_queue_length",
        heading: ["L2", "queue", "requests"],
        digits: Digits::Decimals(2),
        of: "queue_length_mean",
        over: None,
    },
    Measure {
        name: "walk_queue_length",
        heading: ["walk", "queue", "walks"],
        digits: Digits::Decimals(2),
        of: "walk_queue_length_mean",
        over: None,
    },
    Measure {
        name: "ready_warps",
        heading: ["ready", "warps", "per SM"],
        digits: Digits::Decimals(2),
        of: "schedulable_warps",
        over: None,
    },
    Measure {
        name: "idle_share",
        heading: ["idle SM", "cycles", "%"],
        digits: Digits::Percent(1),
        of: "inactive_cycles",
        over: Some("cycles"),
    },
];

/// Positions of measures.
pub(crate) const BUS: usize = 0;
pub(crate) const QUEUE: usize = 1;
pub(crate) const READY_WARPS: usize = 4;
pub(crate) const IDLE: usize = 5;

/// Values of [`MEASURES`].
pub(crate) type Load = [Option<f64>; MEASURES.len()];

/// Returns the columns of `runs` that the measures are computed from.
pub(crate) fn columns() -> impl Iterator<Item = &'static str> {
    MEASURES.iter().flat_map(|measure| [measure.of].into_iter().chain(measure.over))
}

/// The columns of the measures; those that a table lacks are empty.
pub(crate) struct LoadColumns([[Vec<Option<f64>>; 2]; MEASURES.len()]);

impl LoadColumns {
    pub(crate) fn of(table: &Table) -> LoadColumns {
        let column =
            |name: Option<&str>| name.map_or_else(Vec::new, |name| table.numbers_or_none(name));
        LoadColumns(MEASURES.each_ref().map(|measure| [Some(measure.of), measure.over].map(column)))
    }

    pub(crate) fn at(&self, row: usize) -> Load {
        let value = |column: &Vec<Option<f64>>| column.get(row).copied().flatten();
        let value = |at: usize| {
            let [of, over] = self.0[at].each_ref().map(value);
            match MEASURES[at].over {
                None => of,
                Some(_) => Some(of? / over.filter(|&over| over > 0.0)?),
            }
        };
        std::array::from_fn(|at| value(at).filter(|value| value.is_finite()))
    }
}
