//! Values of parameters and names of policies, as given in a plan.

use serde::Deserialize;
use std::fmt;
use toml::Value;

/// Maximum number of values in one range; more is likely a mistake.
const MOST_VALUES: u32 = 100_000;

/// A value of a machine parameter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Scalar(String);

impl Scalar {
    pub fn new(value: impl fmt::Display) -> Scalar {
        Scalar(value.to_string())
    }
}

/// Formats the value as accepted by `--set`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<Value> for Scalar {
    type Error = String;

    fn try_from(value: Value) -> Result<Scalar, String> {
        match value {
            Value::String(text) if text.trim().is_empty() => Err("a value is empty".to_owned()),
            Value::String(text) => Ok(Scalar(text)),
            Value::Table(_) => Err("expected a value, not a table".to_owned()),
            Value::Datetime(_) => Err("expected a value, not a date".to_owned()),
            other => Ok(Scalar(other.to_string())),
        }
    }
}

/// Values of a parameter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub enum Values {
    List(Vec<Scalar>),
    /// Any number of the interval, for a design that samples.
    Interval(Interval),
}

/// An interval of numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub from: f64,
    pub to: f64,
    pub scale: Scale,
    /// Whether numbers are rounded to integers.
    pub whole: bool,
}

/// Spacing of numbers in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Log,
}

impl Interval {
    /// Returns the number at a fraction of the interval.
    pub fn at(&self, fraction: f64) -> Scalar {
        let Interval { from, to, .. } = *self;
        let number = match self.scale {
            Scale::Linear => from + (to - from) * fraction,
            // libm gives the same result on every platform.
            Scale::Log => from * libm::pow(to / from, fraction),
        };
        let number = number.clamp(from.min(to), from.max(to));
        if self.whole { Scalar::new(number.round() as i64) } else { Scalar::new(number) }
    }
}

/// Range `{ from, to }` with `step`, with `count` and `scale`, or with neither, to sample from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: Number,
    to: Number,
    step: Option<Number>,
    count: Option<u64>,
    #[serde(default)]
    scale: Scale,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "expected a number")]
enum Number {
    Whole(i64),
    Decimal(f64),
}

impl Number {
    fn value(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Decimal(number) => number,
        }
    }

    fn is_whole(self) -> bool {
        matches!(self, Number::Whole(_))
    }
}

impl TryFrom<Value> for Values {
    type Error = String;

    fn try_from(value: Value) -> Result<Values, String> {
        match value {
            Value::Array(values) if values.is_empty() => Err("a list of no values".to_owned()),
            Value::Array(values) => {
                let values = values.into_iter().map(Scalar::try_from);
                distinct(values.collect::<Result<_, _>>()?).map(Values::List)
            }
            Value::Table(table) => {
                let range: Range = table.try_into().map_err(|e: toml::de::Error| {
                    format!(
                        "{}; a range is {{ from, to }} with step, or with count and scale; a key with dots needs quotes",
                        e.message()
                    )
                })?;
                range.values()
            }
            one => Ok(Values::List(vec![Scalar::try_from(one)?])),
        }
    }
}

fn distinct(values: Vec<Scalar>) -> Result<Vec<Scalar>, String> {
    match (1..values.len()).find(|&at| values[..at].contains(&values[at])) {
        Some(at) => Err(format!("`{}` is given twice", values[at])),
        None => Ok(values),
    }
}

impl Range {
    fn values(&self) -> Result<Values, String> {
        let (from, to) = (self.from.value(), self.to.value());
        if !(from.is_finite() && to.is_finite() && from <= to) {
            return Err("`from` must not be above `to`".to_owned());
        }
        if self.scale == Scale::Log && from <= 0.0 {
            return Err("a logarithmic range begins above 0".to_owned());
        }
        let whole = self.from.is_whole() && self.to.is_whole();
        let interval = Interval { from, to, scale: self.scale, whole };
        match (self.step, self.count) {
            (Some(_), Some(_)) => Err("give `step` or `count`, not both".to_owned()),
            (Some(_), None) if self.scale == Scale::Log => {
                Err("a logarithmic range needs a `count`, not a `step`".to_owned())
            }
            (Some(step), None) => stepped(&interval, step).map(Values::List),
            (None, Some(count)) => counted(&interval, count).map(Values::List),
            (None, None) => Ok(Values::Interval(interval)),
        }
    }
}

fn stepped(interval: &Interval, step: Number) -> Result<Vec<Scalar>, String> {
    let size = step.value();
    if !(size.is_finite() && size > 0.0) {
        return Err("`step` must be above 0".to_owned());
    }
    // The last step may miss `to` because decimals are rounded.
    let steps = ((interval.to - interval.from) / size + 1e-9).floor();
    check_count(steps + 1.0)?;
    let whole = interval.whole && step.is_whole();
    let value = |step: u64| {
        let number = interval.from + size * step as f64;
        if whole { Scalar::new(number as i64) } else { Scalar::new(number) }
    };
    Ok((0..=steps as u64).map(value).collect())
}

fn counted(interval: &Interval, count: u64) -> Result<Vec<Scalar>, String> {
    check_count(count as f64)?;
    if count == 1 && interval.from < interval.to {
        return Err("a `count` of 1 cannot include both `from` and `to`".to_owned());
    }
    let last = (count - 1).max(1) as f64;
    let mut values: Vec<Scalar> = (0..count).map(|at| interval.at(at as f64 / last)).collect();
    // Integers close together round to the same value.
    values.dedup();
    Ok(values)
}

/// Refuses counts of a wide range that exceed an integer.
fn check_count(count: f64) -> Result<(), String> {
    if (1.0..=f64::from(MOST_VALUES)).contains(&count) {
        return Ok(());
    }
    Err(format!("a range has 1 to {MOST_VALUES} values, not {count}"))
}

/// Policies of a slot as given: a name or a list of names; `all` stands for all others of the slot.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub struct PolicyNames(pub Vec<String>);

impl TryFrom<Value> for PolicyNames {
    type Error = String;

    fn try_from(value: Value) -> Result<PolicyNames, String> {
        let wrong = || "expected the name of a policy, or a list of names".to_owned();
        let values = match value {
            Value::Array(values) if !values.is_empty() => values,
            name @ Value::String(_) => vec![name],
            _ => return Err(wrong()),
        };
        let names = values.into_iter().map(|value| match value {
            Value::String(name) if !name.trim().is_empty() => Ok(name.trim().to_owned()),
            _ => Err(wrong()),
        });
        let names: Vec<String> = names.collect::<Result<_, _>>()?;
        match (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            Some(at) => Err(format!("`{}` is given twice", names[at])),
            None => Ok(PolicyNames(names)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Values, String> {
        Values::try_from(text.parse::<Value>().unwrap())
    }

    fn list(text: &str) -> Vec<String> {
        match read(text) {
            Ok(Values::List(values)) => values.iter().map(Scalar::to_string).collect(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn lists_and_single_values_are_taken_as_they_are() {
        assert_eq!(list("[16, 32]"), ["16", "32"]);
        assert_eq!(list("[true, false]"), ["true", "false"]);
        assert_eq!(list("['hbm2', 'hbm3']"), ["hbm2", "hbm3"]);
        assert_eq!(list("[[1, 2], [3]]"), ["[1, 2]", "[3]"]);
        assert_eq!(list("7"), ["7"]);
    }

    #[test]
    fn steps_reach_the_end_where_they_meet_it() {
        assert_eq!(list("{ from = 0, to = 100, step = 20 }"), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(list("{ from = 1, to = 6, step = 2 }"), ["1", "3", "5"]);
        assert_eq!(list("{ from = 0.0, to = 0.3, step = 0.1 }").len(), 4);
    }

    #[test]
    fn counts_take_both_ends_and_whole_numbers_once() {
        assert_eq!(list("{ from = 0, to = 10, count = 3 }"), ["0", "5", "10"]);
        assert_eq!(list("{ from = 1, to = 3, count = 9 }"), ["1", "2", "3"]);
        let log = list("{ from = 8, to = 128, count = 5, scale = 'log' }");
        assert_eq!(log, ["8", "16", "32", "64", "128"]);
        assert_eq!(list("{ from = 0.5, to = 1.5, count = 3 }"), ["0.5", "1", "1.5"]);
    }

    #[test]
    fn an_interval_is_kept_for_designs_that_draw() {
        let Ok(Values::Interval(interval)) = read("{ from = 10, to = 20 }") else {
            panic!("it is an interval");
        };
        let at = |fraction| interval.at(fraction).to_string();
        assert_eq!([at(0.0), at(0.26), at(1.0)], ["10", "13", "20"]);
    }

    #[test]
    fn ranges_that_make_no_sense_are_refused() {
        let refusals = [
            ("[]", "no values"),
            ("[1, 1]", "`1` is given twice"),
            ("{ from = 2, to = 1, step = 1 }", "must not be above"),
            ("{ from = 1, to = 2, step = 0 }", "above 0"),
            ("{ from = 1, to = 2, step = 1, count = 2 }", "not both"),
            ("{ from = 0, to = 2, count = 2, scale = 'log' }", "begins above 0"),
            ("{ from = 0, to = 2, count = 0 }", "1 to 100000"),
            ("{ from = 0, to = 2, count = 1 }", "cannot include both"),
            ("{ from = 0, to = 1000000, step = 1 }", "not 1000001"),
            ("{ from = 0, to = 1e30, step = 1 }", "values, not 1000000000000000"),
            ("{ from = -1e308, to = 1e308, step = 1 }", "values, not inf"),
            ("{ from = 0, too = 2 }", "unknown field `too`"),
            ("{ from = 'a', to = 2 }", "expected a number"),
            ("1979-05-27", "not a date"),
        ];
        for (text, message) in refusals {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(message), "{text}: {refused}");
        }
    }

    #[test]
    fn policies_are_a_name_or_a_list() {
        let read = |text: &str| PolicyNames::try_from(text.parse::<Value>().unwrap());
        assert_eq!(read("'all'").unwrap().0, ["all"]);
        assert_eq!(read("['fcfs', 'fr-fcfs(a=1,b=2)']").unwrap().0, ["fcfs", "fr-fcfs(a=1,b=2)"]);
        for text in ["[]", "3", "['']", "['a', 'a']", "[1]"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
