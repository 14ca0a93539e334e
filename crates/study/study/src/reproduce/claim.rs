//! Published results of a paper, and the rules for comparing ours with them.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A published result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub what: String,
    /// Place in the paper.
    pub source: String,
    /// Published number as displayed: a change in %, a share in %, a multiple, or a value.
    #[serde(default)]
    pub published: Option<f64>,
    /// Text in place of the number, if the paper gives only a range, a rule or a direction.
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub shown: Shown,
    /// Unit of values.
    #[serde(default)]
    pub unit: String,
    #[serde(default)]
    pub direction: Direction,
    /// Reason why the two quantities are not exactly the same.
    #[serde(default)]
    pub note: Option<String>,
    pub ours: Ours,
}

/// Display form of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// A ratio as its distance from 1, %.
    #[default]
    Change,
    /// A fraction or a ratio, %.
    Percent,
    /// A ratio.
    Times,
    /// The value itself.
    Value,
}

impl Shown {
    /// Converts a computed value to the displayed unit.
    pub fn scaled(self, value: f64) -> f64 {
        match self {
            Shown::Change => 100.0 * (value - 1.0),
            Shown::Percent => 100.0 * value,
            Shown::Times | Shown::Value => value,
        }
    }
}

/// Rule for agreement of our number with the published one, both as displayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// A change of the same sign. Values that are not changes are not judged, because other
    /// workloads have other values.
    #[default]
    Sign,
    /// A change upwards or downwards, regardless of the number; for a share in % or a multiple,
    /// above or below 1.
    Up,
    Down,
    /// No change downwards.
    NotDown,
    AtLeast(f64),
    AtMost(f64),
    /// At most this many % away from the published number: for the same experiment, not a similar
    /// one.
    Within(f64),
}

/// Rule for computing our number.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ours {
    Runs(Runs),
    Best(Best),
    /// Number of workloads in each class, by their measured runs.
    Classes(Vec<String>),
    /// DRAM efficiency of a stand-alone channel.
    Stream(Streamed),
    Bits(Bits),
    /// Reason why it cannot be computed.
    Nothing(String),
}

/// Mean over workloads of a metric of runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// Configuration that provides the metric.
    pub of: String,
    /// Configuration that it is divided by, on the same workload.
    #[serde(default)]
    pub over: Option<String>,
    /// Other configurations of the same workload, by their names in `value`.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
    /// SQL expression over the columns of `runs`, and over `counter_NAME`, sums of
    /// `policy_counters`.
    #[serde(default = "ipc")]
    pub metric: String,
    /// SQL expression over `own` and `base`, the metrics of `of` and `over`, those of `with` by
    /// their names, and columns of `runs`: those of `of` under their own names, others prefixed by
    /// `base_` or their name and `_`. By default `own / base`, or `own`.
    #[serde(default)]
    pub value: Option<String>,
    /// Classes of workloads; all if empty.
    #[serde(default)]
    pub classes: Vec<String>,
    #[serde(default)]
    pub mean: Mean,
}

fn ipc() -> String {
    "ipc_thread".to_owned()
}

/// Best value of a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// Swept setting; `*` stands for its values in the configurations.
    pub setting: String,
    /// Runs whose mean is maximized.
    pub runs: Runs,
    /// Configuration in place of `of`, relative to whose mean the best one is stated; without one,
    /// our result is the best value itself.
    #[serde(default)]
    pub against: Option<String>,
}

/// Average over workloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mean {
    #[default]
    Arithmetic,
    Harmonic,
    Geometric,
    /// Sum of `own` over sum of `base`, for counts that are almost zero for some workloads.
    OfSums,
    Least,
    Greatest,
}

impl Mean {
    pub fn name(self) -> &'static str {
        match self {
            Mean::Arithmetic => "arithmetic",
            Mean::Harmonic => "harmonic",
            Mean::Geometric => "geometric",
            Mean::OfSums => "of sums",
            Mean::Least => "least",
            Mean::Greatest => "greatest",
        }
    }
}

/// Reads of one channel, with `locality` successive accesses to each row visited.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streamed {
    /// Name of a pattern of [`standalone::dram`](warpmem_standalone::dram).
    pub pattern: String,
    pub locality: u32,
    pub requests: u64,
    /// Bytes per request.
    pub bytes: u32,
    /// Overrides of the paper's machine.
    #[serde(default)]
    pub set: Vec<String>,
}

/// Bits that a DRAM scheduler and an arbiter compare per cycle, over the whole machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bits {
    pub of: String,
}

impl Ours {
    /// Returns the configurations of the claim's runs; `swept` returns the values of a setting.
    pub(super) fn references<'a>(&self, swept: impl Fn(&str) -> &'a [String]) -> Vec<String> {
        match self {
            Ours::Runs(runs) => runs.references().map(str::to_owned).collect(),
            Ours::Best(best) => best.references(swept(&best.setting)),
            Ours::Classes(_) | Ours::Stream(_) | Ours::Bits(_) | Ours::Nothing(_) => Vec::new(),
        }
    }

    /// Returns the classes of workloads that count; all if empty.
    pub fn classes(&self) -> &[String] {
        match self {
            Ours::Runs(runs) => &runs.classes,
            Ours::Best(best) => &best.runs.classes,
            _ => &[],
        }
    }
}

impl Runs {
    pub fn references(&self) -> impl Iterator<Item = &str> {
        let others = self.over.iter().chain(self.with.values());
        [&self.of].into_iter().chain(others).map(String::as_str)
    }

    /// Substitutes `value` for every `*`.
    pub fn at(&self, value: &str) -> Runs {
        let fill = |text: &String| text.replace('*', value);
        Runs {
            of: fill(&self.of),
            over: self.over.as_ref().map(fill),
            with: self.with.iter().map(|(name, text)| (name.clone(), fill(text))).collect(),
            ..self.clone()
        }
    }

    /// Substitutes each of the `values` of a swept setting.
    pub fn swept<'a>(&'a self, values: &'a [String]) -> impl Iterator<Item = (&'a str, Runs)> {
        values.iter().map(|value| (value.as_str(), self.at(value)))
    }
}

impl Best {
    /// Returns the runs of the comparison.
    pub fn against(&self) -> Option<Runs> {
        let of = self.against.clone()?;
        Some(Runs { of, ..self.runs.clone() })
    }

    fn references(&self, values: &[String]) -> Vec<String> {
        let swept = self.runs.swept(values).map(|(_, runs)| runs);
        let all: Vec<Runs> = swept.chain(self.against()).collect();
        all.iter().flat_map(Runs::references).map(str::to_owned).collect()
    }
}
