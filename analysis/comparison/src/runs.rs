//! The runs of a comparison, with only the values that it uses.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::error::{Error, Result};
use crate::inputs::{INPUTS, Inputs, without_policies};
use crate::keys::{Keys, NONE, OVERRIDES, RUN_ID, trace_of};
use crate::load::{Load, LoadColumns};
use crate::options::{BOUND, CompareOptions, OF_REPEATS, RUNS, WORKLOAD};
use crate::repeats::{Repeat, workload_names};
use crate::sampling::Launches;
use crate::table::{Table, Values};

/// A run.
#[derive(Default)]
pub(crate) struct Run {
    /// Values of the key columns.
    pub(crate) keys: Vec<String>,
    /// Values of [`INPUTS`], the parameters without policies.
    pub(crate) inputs: Inputs,
    /// Values of the columns of numbers; all are finite.
    pub(crate) numbers: Vec<Option<f64>>,
    pub(crate) repeat: Repeat,
    /// Name of an ideal mode of the compared slot, and the IPC under it.
    pub(crate) bound: Option<(String, f64)>,
    pub(crate) load: Load,
}

/// The runs of a comparison.
pub(crate) struct Runs {
    pub(crate) keys: Keys,
    /// Names of the columns of numbers.
    pub(crate) numbers: Vec<String>,
    pub(crate) runs: Vec<Run>,
}

impl Runs {
    /// Reads the runs of a table, each once.
    pub(crate) fn of(table: &Table, options: &CompareOptions) -> Result<Runs> {
        let present = table.names();
        options.columns_read(&present)?;
        let (keys, names) = (options.keys(&present), options.numbers(&present));
        let numbers = names.iter().map(|name| numbers_of(table, name));
        let numbers = numbers.collect::<Result<Vec<_>>>()?;
        let key_columns = keys.names().iter().map(|name| {
            let absent = if name == OVERRIDES { "" } else { NONE };
            (table.column(name), absent)
        });
        let key_columns: Vec<(Option<&Values>, &str)> = key_columns.collect();
        let inputs = INPUTS.map(|name| table.column(name));
        let repeats = RepeatColumns::of(table, &options.launches);
        let loads = LoadColumns::of(table);
        let run = |row: usize| {
            let text = |column: Option<&Values>| column.and_then(|column| column.text(row));
            let key =
                |&(column, absent): &(_, &str)| text(column).unwrap_or_else(|| absent.to_owned());
            let number = |column: &Vec<Option<f64>>| column[row].filter(|value| value.is_finite());
            let keys: Vec<String> = key_columns.iter().map(key).collect();
            Ok(Run {
                repeat: repeats.at(row, trace_of(&keys)),
                bound: repeats.bound(row),
                load: loads.at(row),
                keys,
                inputs: without_policies(inputs.map(text))?,
                numbers: numbers.iter().map(number).collect(),
            })
        };
        let mut runs = distinct_rows(table).map(run).collect::<Result<Vec<Run>>>()?;
        let workloads = workload_names(runs.iter().map(|run| (trace_of(&run.keys), &run.repeat)));
        for run in &mut runs {
            run.repeat.workload.clone_from(&workloads[trace_of(&run.keys)]);
        }
        if runs.is_empty() { Err(Error::NoRuns) } else { Ok(Runs { keys, numbers: names, runs }) }
    }

    /// Returns the values of a key column; none if there is no such column.
    pub(crate) fn key(&self, name: &str) -> Option<impl Iterator<Item = &str>> {
        let position = self.keys.position(name)?;
        Some(self.runs.iter().map(move |run| run.keys[position].as_str()))
    }

    /// Orders the runs by machine, overrides if held equal, workload, trace and policy, each in order of
    /// first appearance.
    pub(crate) fn order_by_appearance(&mut self) {
        let [machine, overrides, trace, policy] = self
            .keys
            .order()
            .map(|positions| first_rows(self.runs.iter().map(|run| run.at(&positions))));
        let workload = first_rows(self.runs.iter().map(|run| run.repeat.workload.as_str()));
        let parts = [machine, overrides, workload, trace, policy];
        let rank = |row: usize| parts.each_ref().map(|first| first[row]);
        let runs = std::mem::take(&mut self.runs).into_iter().enumerate();
        let mut ranked: Vec<_> = runs.map(|(row, run)| (rank(row), run)).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        self.runs = ranked.into_iter().map(|(_, run)| run).collect();
    }
}

impl Run {
    /// Returns the values of the key columns at these positions.
    pub(crate) fn at(&self, positions: &[usize]) -> Vec<&str> {
        positions.iter().map(|&position| self.keys[position].as_str()).collect()
    }
}

/// The columns that describe runs as repeats; those that a table lacks are empty.
struct RepeatColumns<'a> {
    launches: &'a Launches,
    run_id: Option<&'a Values>,
    workload: Option<&'a Values>,
    bound: Option<&'a Values>,
    numbers: [Vec<Option<f64>>; OF_REPEATS.len()],
}

impl<'a> RepeatColumns<'a> {
    fn of(table: &'a Table, launches: &'a Launches) -> RepeatColumns<'a> {
        RepeatColumns {
            launches,
            run_id: table.column(RUN_ID),
            workload: table.column(WORKLOAD),
            bound: table.column(BOUND),
            numbers: OF_REPEATS.map(|name| table.numbers_or_none(name)),
        }
    }

    fn numbers(&self, row: usize) -> [Option<f64>; OF_REPEATS.len()] {
        self.numbers.each_ref().map(|column| column.get(row).copied().flatten())
    }

    /// Returns the repeat that a run is, with the workload as in the table.
    fn at(&self, row: usize, trace: &str) -> Repeat {
        let [seed, variant, interval, _, kernels, simulated_kernels, ctas, simulated_ctas] =
            self.numbers(row);
        let text = |column: Option<&Values>| column.and_then(|column| column.text(row));
        let (workload, run_id) = (text(self.workload), text(self.run_id));
        let whole = |number: f64| number as i64;
        let is_less = |some: Option<f64>, all| some.zip(all).is_some_and(|(some, all)| some < all);
        let is_sampled = is_less(simulated_kernels, kernels) || is_less(simulated_ctas, ctas);
        let unknown = if is_sampled { f64::INFINITY } else { 0.0 };
        Repeat {
            workload: workload.unwrap_or_else(|| trace.to_owned()),
            seed: seed.map(whole),
            variant: variant.map_or(0, whole),
            sampling: self.launches.sampling(run_id.as_deref(), interval.unwrap_or(unknown)),
        }
    }

    fn bound(&self, row: usize) -> Option<(String, f64)> {
        let ideal = self.bound?.text(row).filter(|ideal| !ideal.is_empty())?;
        Some((ideal, self.numbers(row)[3]?))
    }
}

/// Returns, for each key, the index of the first equal one.
fn first_rows<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> Vec<usize> {
    let mut first = HashMap::new();
    keys.enumerate().map(|(row, key)| *first.entry(key).or_insert(row)).collect()
}

/// Returns the rows of a table, without repetitions of a run id.
fn distinct_rows(table: &Table) -> impl Iterator<Item = usize> {
    let ids = table.column(RUN_ID);
    let mut seen = HashSet::new();
    let id = move |row| ids.and_then(|ids| ids.text(row));
    (0..table.height()).filter(move |&row| id(row).is_none_or(|id| seen.insert(id)))
}

fn numbers_of(table: &Table, name: &str) -> Result<Vec<Option<f64>>> {
    let numbers = table.column(name).and_then(Values::numbers);
    numbers.ok_or_else(|| Error::NotNumeric {
        table: RUNS.to_owned(),
        column: name.to_owned(),
        dtype: "str".to_owned(),
    })
}
