//! The columns of a chart as text and numbers.

use super::axis::Axis;
use super::scale::Scale;
use anyhow::{Context, anyhow};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use warpmem_analysis::polars::prelude::{Column, DataFrame, DataType};
use warpmem_params::nearest;

/// Distinct texts of a column in order of first appearance, and the index of each row's text.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    pub names: Vec<String>,
    pub of: Vec<usize>,
}

impl Keys {
    /// Collects the keys of a column; null is `none`.
    pub fn of(frame: &DataFrame, name: &str) -> anyhow::Result<Keys> {
        let texts = column(frame, name)?.cast(&DataType::String)?;
        let mut keys = Keys::default();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for text in texts.str()?.iter() {
            let text = text.unwrap_or("none");
            let number = *known.entry(text).or_insert(keys.names.len());
            if number == keys.names.len() {
                keys.names.push(text.to_owned());
            }
            keys.of.push(number);
        }
        Ok(keys)
    }

    /// Collects the keys of a column, or a single unnamed key for all rows.
    pub fn of_any(frame: &DataFrame, name: Option<&str>) -> anyhow::Result<Keys> {
        match name {
            Some(name) => Keys::of(frame, name),
            None => Ok(Keys { names: vec![String::new()], of: vec![0; frame.height()] }),
        }
    }

    /// Collects the keys of a column, with numbers sorted.
    pub fn sorted(frame: &DataFrame, name: &str) -> anyhow::Result<Keys> {
        let mut keys = Keys::of(frame, name)?;
        if column(frame, name)?.dtype().is_primitive_numeric() {
            let number = |key: &usize| keys.names[*key].parse().unwrap_or(f64::INFINITY);
            let mut order: Vec<usize> = (0..keys.names.len()).collect();
            order.sort_by(|a, b| number(a).total_cmp(&number(b)));
            keys.reorder(&order);
        }
        Ok(keys)
    }

    /// Moves the keys in `first` to the start, in that order, and returns their number.
    pub fn move_to_start(&mut self, first: &[String]) -> usize {
        let place = |name: &String| first.iter().position(|other| other == name);
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by_key(|&key| place(&self.names[key]).unwrap_or(first.len()));
        self.reorder(&order);
        self.names.iter().filter(|name| first.contains(name)).count()
    }

    /// Reorders the keys; `order` lists their old indices.
    pub fn reorder(&mut self, order: &[usize]) {
        let mut places = vec![0; order.len()];
        for (place, &key) in order.iter().enumerate() {
            places[key] = place;
        }
        self.names = order.iter().map(|&key| self.names[key].clone()).collect();
        self.of.iter_mut().for_each(|key| *key = places[*key]);
    }
}

/// Returns, for each first key, the second keys that share a row with it, in order.
pub fn pairs(first: &Keys, second: &Keys) -> Vec<Vec<usize>> {
    let mut pairs = vec![BTreeSet::new(); first.names.len()];
    for (&one, &other) in first.of.iter().zip(&second.of) {
        pairs[one].insert(other);
    }
    pairs.into_iter().map(|of| of.into_iter().collect()).collect()
}

/// Returns the values of a column as `axis` shows them; none for values that cannot be drawn.
pub fn values(frame: &DataFrame, name: &str, axis: &Axis) -> anyhow::Result<Vec<Option<f64>>> {
    let column = column(frame, name)?;
    let is_number = column.dtype().is_primitive_numeric() || *column.dtype() == DataType::Null;
    if !is_number {
        return Err(anyhow!("column `{name}` holds no numbers but {}", column.dtype()));
    }
    let numbers = column.cast(&DataType::Float64)?;
    let is_drawn = |value: &f64| value.is_finite() && (axis.scale == Scale::Linear || *value > 0.0);
    let shown = |value: Option<f64>| value.map(|value| axis.factor * value).filter(is_drawn);
    Ok(numbers.f64()?.iter().map(shown).collect())
}

/// Returns the ends of each row's interval as `axis` shows them; none without columns, and for rows
/// that lack an end.
pub fn ends(
    frame: &DataFrame,
    columns: Option<&[String; 2]>,
    axis: &Axis,
) -> anyhow::Result<Vec<Option<[f64; 2]>>> {
    let Some([low, high]) = columns else { return Ok(vec![None; frame.height()]) };
    let [low, high] = [values(frame, low, axis)?, values(frame, high, axis)?];
    Ok(low.into_iter().zip(high).map(|(low, high)| Some([low?, high?])).collect())
}

/// Returns the texts of a column, none where null; all none without a column.
pub fn texts(frame: &DataFrame, name: Option<&str>) -> anyhow::Result<Vec<Option<String>>> {
    let Some(name) = name else { return Ok(vec![None; frame.height()]) };
    let texts = column(frame, name)?.cast(&DataType::String)?;
    Ok(texts.str()?.iter().map(|text| text.map(str::to_owned)).collect())
}

fn column<'a>(frame: &'a DataFrame, name: &str) -> anyhow::Result<&'a Column> {
    frame.column(name).ok().with_context(|| {
        let columns: Vec<&str> = frame.columns().iter().map(|c| c.name().as_str()).collect();
        let mut message = format!("the data have no column `{name}`");
        if let Some(near) = nearest(name, columns.iter().copied()) {
            let _ = write!(message, " (did you mean `{near}`?)");
        }
        let _ = write!(message, "; columns: {}", columns.join(", "));
        message
    })
}

/// Composes the note under a chart with missing values on these axes.
pub fn note(missing: usize, all: usize, axes: &[&Axis]) -> Option<String> {
    match axes.iter().any(|axis| axis.scale == Scale::Log) {
        true => note_of(missing, all, "missing or not above 0"),
        false => note_of(missing, all, "missing"),
    }
}

/// Composes the note under a chart if `lacking` of `all` values are `what`.
pub fn note_of(lacking: usize, all: usize, what: &str) -> Option<String> {
    let are = if lacking == 1 { "is" } else { "are" };
    (lacking > 0).then(|| format!("{lacking} of {all} values {are} {what}"))
}
