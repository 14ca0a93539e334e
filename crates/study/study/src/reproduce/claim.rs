//! Published results of a paper, and the rules for comparing ours with them.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A published result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub what: String,
    /// Place in the paper; by default that of the first of the results.
    #[serde(default)]
    pub source: String,
    /// Entries of the list of [published results](super::published); none for an ablation.
    #[serde(default, rename = "result", deserialize_with = "one_or_more")]
    pub results: Vec<String>,
    /// Published number as displayed: a change in %, a share in %, a multiple, or a value.
    #[serde(default)]
    pub published: Option<f64>,
    /// Published range, in place of the number.
    #[serde(default)]
    pub range: Option<[f64; 2]>,
    /// Text shown in place of the number, if the paper gives only a range, a rule or a direction.
    #[serde(default)]
    pub text: Option<String>,
    /// Whether the paper's abstract or conclusion states the result.
    #[serde(default)]
    pub headline: bool,
    /// Experiment that several claims are about, and that counts once; by default the claim's own.
    #[serde(default)]
    pub experiment: Option<String>,
    /// The paper's name of the only program that the claim is about.
    #[serde(default)]
    pub workload: Option<String>,
    /// Programs with a claim each, which differ in nothing else, or in the published number.
    #[serde(default)]
    pub each: Option<Each>,
    /// Whether only the files have a row for the claim, and not the printed table.
    #[serde(default)]
    pub detail: bool,
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

/// Programs, or published numbers by program.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Each {
    Programs(Vec<String>),
    Numbers(BTreeMap<String, f64>),
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

/// Direction, bound or margin of the published result, in the displayed unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// A change has the sign and the size of the published number; another quantity has its size.
    #[default]
    Sign,
    /// An effect upwards or downwards: of a value from 0, of a share in % or a multiple from 1.
    /// Its size is that of the published number or range, if there is one.
    Up,
    Down,
    /// At most this far from the published number, or from no change.
    Similar(f64),
    AtLeast(f64),
    AtMost(f64),
    /// At most this many % away from the published number: for an exact number such as a count.
    Within(f64),
}

/// Rule for computing our number.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ours {
    Runs(Runs),
    /// The same for each workload, all of which the claim is about.
    Every(Runs),
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
    /// Classes whose mean the result is divided by; all workloads if empty.
    #[serde(default)]
    pub than: Option<Vec<String>>,
    #[serde(default)]
    pub mean: Mean,
}

fn ipc() -> String {
    "ipc_thread".to_owned()
}

/// Deserializes a string, or a list of them.
fn one_or_more<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Strings {
        One(String),
        More(Vec<String>),
    }
    Ok(match Strings::deserialize(from)? {
        Strings::One(text) => vec![text],
        Strings::More(texts) => texts,
    })
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

/// Average over workloads. An extreme is none: with the noise of its programs, a policy without
/// effect has a greatest gain far above zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Mean {
    #[default]
    Arithmetic,
    Harmonic,
    Geometric,
    /// Sum of `own` over sum of `base`, for counts that are almost zero for some workloads.
    OfSums,
}

/// A mean that is refused.
#[derive(Debug, thiserror::Error)]
pub enum MeanError {
    #[error(
        "no verdict is possible on an extreme (`{0}`): name the paper's program with `workload`, or use `ours.every`"
    )]
    Extreme(String),
    #[error("no mean `{0}`; there are arithmetic, harmonic, geometric, of-sums")]
    Unknown(String),
}

impl TryFrom<String> for Mean {
    type Error = MeanError;

    fn try_from(name: String) -> Result<Mean, MeanError> {
        Ok(match name.as_str() {
            "arithmetic" => Mean::Arithmetic,
            "harmonic" => Mean::Harmonic,
            "geometric" => Mean::Geometric,
            "of-sums" => Mean::OfSums,
            "least" | "greatest" => return Err(MeanError::Extreme(name)),
            _ => return Err(MeanError::Unknown(name)),
        })
    }
}

impl Mean {
    pub fn name(self) -> &'static str {
        match self {
            Mean::Arithmetic => "arithmetic",
            Mean::Harmonic => "harmonic",
            Mean::Geometric => "geometric",
            Mean::OfSums => "of sums",
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

/// Hardware cost of a DRAM scheduler and an arbiter, over the whole machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bits {
    pub of: String,
    #[serde(default)]
    pub count: Counted,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Bits compared per cycle.
    #[default]
    Compared,
    Stored,
}

impl Claim {
    /// Returns whether the claim is about a variation of an experiment that no paper publishes.
    pub fn is_ablation(&self) -> bool {
        self.results.is_empty()
    }

    /// Returns a claim for each of the programs in `each`, as parts of one experiment; the claim
    /// itself without them.
    pub(super) fn expanded(self) -> Vec<Claim> {
        let of_each: Vec<(String, Option<f64>)> = match &self.each {
            None => return vec![self],
            Some(Each::Programs(names)) => {
                names.iter().map(|name| (name.clone(), self.published)).collect()
            }
            Some(Each::Numbers(numbers)) => {
                numbers.iter().map(|(name, number)| (name.clone(), Some(*number))).collect()
            }
        };
        let of_program = |(program, published): (String, Option<f64>)| Claim {
            what: format!("{}, {program}", self.what),
            experiment: Some(self.experiment().to_owned()),
            workload: Some(program),
            published,
            each: None,
            ..self.clone()
        };
        of_each.into_iter().map(of_program).collect()
    }

    /// Returns the experiment that the claim is about.
    pub fn experiment(&self) -> &str {
        self.experiment.as_deref().unwrap_or(&self.what)
    }

    /// Returns the value of no change, as displayed.
    pub fn unchanged(&self) -> f64 {
        match self.shown {
            Shown::Change | Shown::Value => 0.0,
            Shown::Percent => 100.0,
            Shown::Times => 1.0,
        }
    }

    /// Returns the range of the published number; both ends are equal if there is only one number.
    pub fn published_range(&self) -> Option<[f64; 2]> {
        self.range.or(self.published.map(|number| [number; 2]))
    }

    /// Returns whether the claim is about a change of a known direction.
    pub fn is_effect(&self) -> bool {
        match self.direction {
            Direction::Up | Direction::Down => true,
            Direction::Sign => self.shown == Shown::Change,
            _ => false,
        }
    }

    /// Returns whether the claim is about the size of a quantity, which has no direction.
    pub fn is_size(&self) -> bool {
        self.direction == Direction::Sign && self.shown != Shown::Change
    }

    /// Returns the contradiction in the claim, if there is one.
    pub(super) fn contradiction(&self) -> Option<&'static str> {
        let range = self.published_range();
        let above = |number: f64| number - self.unchanged();
        let is_one_sided = |[low, high]: [f64; 2]| above(low) * above(high) > 0.0;
        let points = |is_right: fn(f64) -> bool| {
            range.is_none_or(|of| of.map(above).map(is_right) == [true; 2])
        };
        if self.published.is_some() && self.range.is_some() {
            return Some("`published` and `range` exclude each other");
        }
        if self.range.is_some_and(|[low, high]| low >= high) {
            return Some("the `range` does not rise");
        }
        if self.is_effect() && !range.is_none_or(is_one_sided) {
            return Some("no change, or changes of both signs, need `direction.similar`");
        }
        if self.is_size() && range.is_some_and(|[low, high]| low * high <= 0.0) {
            return Some("a size of zero needs `direction.similar`");
        }
        match self.direction {
            Direction::Up if !points(|above| above > 0.0) => {
                return Some("the published change is not upwards");
            }
            Direction::Down if !points(|above| above < 0.0) => {
                return Some("the published change is not downwards");
            }
            _ => {}
        }
        let is_of_mean = matches!(self.ours, Ours::Runs(_)) && self.ours.classes().is_empty();
        if self.workload.is_some() && !is_of_mean {
            return Some("`workload` needs `ours.runs` without classes");
        }
        let states_a_side = matches!(
            self.direction,
            Direction::Up | Direction::Down | Direction::AtLeast(_) | Direction::AtMost(_)
        );
        if matches!(self.ours, Ours::Every(_)) && !states_a_side {
            return Some("`ours.every` needs a direction or a bound");
        }
        None
    }
}

impl Ours {
    /// Returns the configurations of the claim's runs; `swept` returns the values of a setting.
    pub(super) fn references<'a>(&self, swept: impl Fn(&str) -> &'a [String]) -> Vec<String> {
        match self {
            Ours::Runs(runs) | Ours::Every(runs) => runs.references().map(str::to_owned).collect(),
            Ours::Best(best) => best.references(swept(&best.setting)),
            Ours::Classes(_) | Ours::Stream(_) | Ours::Bits(_) | Ours::Nothing(_) => Vec::new(),
        }
    }

    /// Returns the classes of workloads that count; all if empty.
    pub fn classes(&self) -> &[String] {
        match self {
            Ours::Runs(runs) | Ours::Every(runs) => &runs.classes,
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
