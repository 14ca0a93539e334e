//! Title, unit, definition and digits of each column that this crate derives or prints.

/// Digits with which a table shows a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// A fixed number of decimals.
    Decimals(u8),
    /// A number of significant digits, without an exponent.
    Significant(u8),
    /// A fraction shown in percent, with this many decimals.
    Percent(u8),
}

/// One metric column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Name of the column in tables, CSV, JSON and Parquet.
    pub name: &'static str,
    /// Short heading on a terminal.
    pub title: &'static str,
    /// Unit of the stored value.
    pub unit: &'static str,
    /// Definition in one sentence.
    pub definition: &'static str,
    /// Digits in a terminal table.
    pub digits: Digits,
}

impl Metric {
    /// Returns the unit of the value as a terminal shows it.
    pub fn shown_unit(&self) -> &'static str {
        match self.digits {
            Digits::Percent(_) => "%",
            _ => self.unit,
        }
    }
}

/// Columns that a comparison shows for every run, in order, after the IPC and its ratio.
pub const COMPARED: [&str; 9] = [
    "row_hit_rate",
    "row_locality",
    "blp",
    "divergence_mean",
    "in_mc_fraction",
    "latency_mean",
    "latency_p99",
    "bandwidth_utilization",
    "dram_efficiency",
];

/// Every metric of this crate.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "ipc_thread",
        title: "thread IPC",
        unit: "1/cycle",
        definition: "Thread instructions (active lanes) per core cycle.",
        digits: Digits::Significant(4),
    },
    Metric {
        name: "ipc_warp",
        title: "warp IPC",
        unit: "1/cycle",
        definition: "Warp instructions per core cycle.",
        digits: Digits::Significant(4),
    },
    Metric {
        name: "ipc_ratio",
        title: "IPC ratio",
        unit: "×",
        definition: "ipc_thread divided by that of the baseline run of the same trace and machine.",
        digits: Digits::Decimals(3),
    },
    Metric {
        name: "cycles",
        title: "cycles",
        unit: "core cycles",
        definition: "Core cycles from the first CTA's launch to the last CTA's completion.",
        digits: Digits::Decimals(0),
    },
    Metric {
        name: "row_hit_rate",
        title: "row hits",
        unit: "fraction",
        definition: "Column accesses to an already open row, as a fraction of all column accesses.",
        digits: Digits::Percent(1),
    },
    Metric {
        name: "row_locality",
        title: "row locality",
        unit: "acc/act",
        definition: "Column accesses per row activation.",
        digits: Digits::Decimals(2),
    },
    Metric {
        name: "blp",
        title: "BLP",
        unit: "banks",
        definition: "Mean number of banks with an outstanding request, over the cycles in which at least one bank has one.",
        digits: Digits::Decimals(2),
    },
    Metric {
        name: "divergence_mean",
        title: "divergence",
        unit: "cycles",
        definition: "Mean over loads with two or more off-chip requests of the slowest minus the fastest turnaround, in core cycles.",
        digits: Digits::Decimals(0),
    },
    Metric {
        name: "in_mc_fraction",
        title: "in MC",
        unit: "fraction",
        definition: "Fraction of the divergence that arises inside the memory controller, between a load's slowest and fastest request.",
        digits: Digits::Percent(1),
    },
    Metric {
        name: "latency_mean",
        title: "latency mean",
        unit: "cycles",
        definition: "Mean latency of memory requests, in core cycles.",
        digits: Digits::Decimals(0),
    },
    Metric {
        name: "latency_p99",
        title: "latency p99",
        unit: "cycles",
        definition: "99th percentile of the latency of memory requests, in core cycles.",
        digits: Digits::Decimals(0),
    },
    Metric {
        name: "bandwidth_utilization",
        title: "bus used",
        unit: "fraction",
        definition: "Data-bus busy cycles as a fraction of all DRAM cycles.",
        digits: Digits::Percent(1),
    },
    Metric {
        name: "dram_efficiency",
        title: "DRAM eff.",
        unit: "fraction",
        definition: "Data-bus busy cycles as a fraction of the cycles in which the channel has requests pending.",
        digits: Digits::Percent(1),
    },
];

/// Relation of a value to the baseline's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `COLUMN_ratio`: the value divided by the baseline's.
    Ratio,
    /// `COLUMN_reduction`: the fraction of the baseline's value by which the value is below it.
    Reduction,
}

/// Splits the name of a relative metric into its column and relation: `l1_read_misses_reduction`.
pub fn relative(name: &str) -> Option<(&str, Relation)> {
    let ratio = name.strip_suffix("_ratio").map(|column| (column, Relation::Ratio));
    let reduction = || name.strip_suffix("_reduction").map(|c| (c, Relation::Reduction));
    ratio.or_else(reduction)
}

/// Returns the digits with which tables show a column, if known.
pub fn digits(name: &str) -> Option<Digits> {
    let of_relation = |relation| match relation {
        Relation::Ratio => Digits::Decimals(3),
        Relation::Reduction => Digits::Percent(1),
    };
    let known = metric(name).map(|metric| metric.digits);
    known.or_else(|| relative(name).map(|(_, relation)| of_relation(relation)))
}

/// Returns the metric of a column.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_compared_metric_is_described_and_every_name_once() {
        assert!(COMPARED.iter().all(|name| metric(name).is_some()));
        for (index, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..index].iter().all(|other| other.name != metric.name));
        }
    }
}
