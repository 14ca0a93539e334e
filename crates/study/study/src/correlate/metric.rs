//! The compared metrics, each with its unit and its accessor in the figures.

use super::figures::Figures;

/// Kind of a metric, which determines how its error is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number; its error is relative.
    Count,
    /// A ratio or mean; its error is relative.
    Ratio,
    /// A share, 0 to 1; its error is the difference.
    Share,
}

/// A metric reported by both sides.
pub struct Metric {
    /// Key of JSON and column of CSV.
    pub name: &'static str,
    /// Heading in tables.
    pub title: &'static str,
    pub unit: Unit,
    get: fn(&Figures) -> Option<f64>,
}

/// Values of a metric on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    pub ours: Option<f64>,
    pub reference: Option<f64>,
    /// (ours - reference) / reference; for shares, ours - reference. Zero if both are zero.
    pub error: Option<f64>,
}

const fn metric_of(
    name: &'static str,
    title: &'static str,
    unit: Unit,
    get: fn(&Figures) -> Option<f64>,
) -> Metric {
    Metric { name, title, unit, get }
}

/// Every metric, in the order of the tables.
pub static METRICS: [Metric; 11] = [
    metric_of("cycles", "cycles", Unit::Count, |f| Some(f.cycles as f64)),
    metric_of("ipc_thread", "IPC", Unit::Ratio, |f| f.ipc()),
    metric_of("l1_accesses", "L1 accesses", Unit::Count, |f| real(f.l1.accesses)),
    metric_of("l1_miss_rate", "L1 misses", Unit::Share, |f| f.l1.miss_rate()),
    metric_of("l2_accesses", "L2 accesses", Unit::Count, |f| real(f.l2.accesses)),
    metric_of("l2_miss_rate", "L2 misses", Unit::Share, |f| f.l2.miss_rate()),
    metric_of("dram_reads", "reads", Unit::Count, |f| real(f.dram_reads)),
    metric_of("dram_writes", "writes", Unit::Count, |f| real(f.dram_writes)),
    metric_of("row_locality", "acc./act.", Unit::Ratio, |f| f.row_locality),
    metric_of("bus_utilization", "bus used", Unit::Share, |f| f.bus_utilization),
    metric_of("reply_latency", "latency", Unit::Ratio, |f| f.reply_latency),
];

/// Returns the metric with this name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

fn real(count: Option<u64>) -> Option<f64> {
    count.map(|count| count as f64)
}

impl Metric {
    pub fn compare(&self, ours: &Figures, reference: &Figures) -> Compared {
        Compared::new(self.unit, (self.get)(ours), (self.get)(reference))
    }
}

impl Compared {
    pub fn new(unit: Unit, ours: Option<f64>, reference: Option<f64>) -> Compared {
        let error = ours.zip(reference).and_then(|(ours, reference)| match unit {
            Unit::Share => Some(ours - reference),
            Unit::Count | Unit::Ratio if ours == reference => Some(0.0),
            Unit::Count | Unit::Ratio => (reference != 0.0).then(|| ours / reference - 1.0),
        });
        Compared { ours, reference, error }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::CacheFigures;
    use super::*;

    #[test]
    fn errors_are_relative_and_those_of_shares_are_differences() {
        let error = |unit, ours, reference| Compared::new(unit, Some(ours), Some(reference)).error;
        assert_eq!(error(Unit::Count, 150.0, 100.0), Some(0.5));
        assert_eq!(error(Unit::Ratio, 75.0, 100.0), Some(-0.25));
        assert_eq!(error(Unit::Share, 0.75, 0.5), Some(0.25));
        assert_eq!(error(Unit::Share, 0.5, 0.0), Some(0.5));
        assert_eq!(error(Unit::Count, 0.0, 0.0), Some(0.0));
        assert_eq!(error(Unit::Count, 8.0, 0.0), None);
        assert_eq!(Compared::new(Unit::Count, Some(1.0), None).error, None);
    }

    /// Makes figures in which each metric has a distinct value.
    fn figures(factor: u64) -> Figures {
        let cache = |accesses, misses| CacheFigures {
            accesses: Some(accesses * factor),
            misses: Some(misses),
        };
        Figures {
            cycles: 10 * factor,
            thread_instructions: Some(40),
            l1: cache(2, 2),
            l2: cache(4, 1),
            dram_reads: Some(7 * factor),
            dram_writes: Some(9 * factor),
            activations: None,
            row_locality: Some(11.0 * factor as f64),
            bus_utilization: Some(0.125 * factor as f64),
            reply_latency: Some(13.0 * factor as f64),
            ..Figures::default()
        }
    }

    #[test]
    fn each_metric_reads_its_own_figure() {
        let (ours, reference) = (figures(2), figures(1));
        let of = |name| {
            let compared = metric(name).unwrap().compare(&ours, &reference);
            (compared.ours.unwrap(), compared.error.unwrap())
        };
        assert_eq!(of("cycles"), (20.0, 1.0));
        assert_eq!(of("ipc_thread"), (2.0, -0.5));
        assert_eq!(of("l1_accesses"), (4.0, 1.0));
        assert_eq!(of("l1_miss_rate"), (0.5, -0.5));
        assert_eq!(of("l2_accesses"), (8.0, 1.0));
        assert_eq!(of("l2_miss_rate"), (0.125, -0.125));
        assert_eq!(of("dram_reads"), (14.0, 1.0));
        assert_eq!(of("dram_writes"), (18.0, 1.0));
        assert_eq!(of("row_locality"), (22.0, 1.0));
        assert_eq!(of("bus_utilization"), (0.25, 0.125));
        assert_eq!(of("reply_latency"), (26.0, 1.0));
    }
}
