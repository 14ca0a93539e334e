//! The tables of a comparison.

use crate::averages::Means;
use crate::compare::Comparison;
use crate::interval::Estimate;
use crate::keys::{Keys, OVERRIDES};
use crate::load::MEASURES;
use crate::means::Mean;
use crate::mixed::MIXED;
use crate::row::{IPC_RATIO, RATIO};
use crate::table::{Table, Values};

/// Columns of the 95 % interval of the IPC ratio, and of its verdict.
pub(crate) const INTERVAL: [&str; 2] = ["ipc_ratio_low", "ipc_ratio_high"];
const VERDICT: &str = "verdict";
/// Column of the IPC under an ideal mode over the baseline's.
const IPC_BOUND: &str = "ipc_bound";

type NamedColumn = (String, Values);

impl Comparison {
    /// Returns one row per run: `machine`, `trace`, `overrides`, the policy slots, `ipc_thread`,
    /// `ipc_ratio` and the metrics. Machines, overrides, traces and policies appear in the order of
    /// their first appearance. If runs are [mixed](Comparison::mixed), the column `mixed` states
    /// how a run differs from its baseline apart from policies. If there are
    /// [repeats](Comparison::has_repeats), `seed` and `variant` follow the slots.
    pub fn rows(&self) -> Table {
        let keys = key_columns(&self.keys, &self.rows.iter().map(|row| row.keys.as_slice()));
        let repeats = || {
            [
                count("seed", self.rows.iter().map(|row| row.repeat.seed)),
                count("variant", self.rows.iter().map(|row| Some(row.repeat.variant))),
            ]
        };
        let repeats = self.has_repeats().then(repeats).into_iter().flatten();
        let marks = self.rows.iter().map(|row| row.mixed.clone());
        let mixed = (!self.mixed.is_empty()).then(|| text(MIXED, marks));
        let values = self.values.iter().enumerate();
        let values =
            values.map(|(at, name)| float(name, self.rows.iter().map(|row| row.values[at])));
        Table::new(keys.into_iter().chain(repeats).chain(mixed).chain(values).collect())
    }

    /// Returns one row per machine, workload, overrides and policy, averaged over repeats. `repeats` counts
    /// the pairs of runs with the baseline; without repeats the rows are those of [`Comparison::rows`].
    ///
    /// `ipc_ratio` is the geometric mean of the ratios of the repeats, and `ipc_ratio_low` and
    /// `ipc_ratio_high` are its 95 % interval, null where neither repeats nor samples tell. `verdict` is
    /// `equal` if the interval includes 1 or no table shows the difference, otherwise `above` or `below`;
    /// `baseline` for the baseline, and null where the noise is unknown. `ipc_bound` is the IPC under an
    /// ideal mode of the compared slot over the baseline's. Other values are arithmetic means.
    pub fn workloads(&self) -> Table {
        let all = &self.workloads;
        let keys = key_columns(&self.keys, &all.iter().map(|workload| workload.keys.as_slice()));
        let marks = all.iter().map(|workload| workload.mixed.clone());
        let mixed = (!self.mixed.is_empty()).then(|| text(MIXED, marks));
        let pairs = |estimate: Estimate| estimate.pairs as i64;
        let repeats = all.iter().map(|workload| Some(workload.estimate.map_or(0, pairs)));
        let [low, high] = interval(all.iter().map(|workload| workload.estimate));
        let verdict = all.iter().map(|workload| workload.verdict().map(str::to_owned));
        let mut values: Vec<NamedColumn> = self
            .values
            .iter()
            .enumerate()
            .map(|(at, name)| float(name, all.iter().map(|workload| workload.values[at])))
            .collect();
        let metrics = values.split_off(RATIO + 1);
        let bound = float(IPC_BOUND, all.iter().map(|workload| workload.bound));
        let columns = keys.into_iter().chain(mixed).chain([count("repeats", repeats)]);
        let columns = columns.chain(values).chain([low, high, text(VERDICT, verdict), bound]);
        Table::new(columns.chain(metrics).collect())
    }

    /// Returns three rows per machine, overrides and policy, one for each of
    /// [`MEANS`](crate::MEANS) in the column `mean`.
    ///
    /// All three average `ipc_ratio`, with its interval and verdict as in [`Comparison::workloads`]; the
    /// interval covers the noise of these workloads, not their choice. Metrics are averaged arithmetically,
    /// and bounds geometrically, in the first row only. Nulls are ignored. `workloads` counts the
    /// workloads with an `ipc_ratio`.
    pub fn means(&self) -> Table {
        let of_key = |(at, name): (usize, &String)| {
            let each =
                self.means.iter().flat_map(|means| [self.shared(means, at); Mean::ALL.len()]);
            text(name, each.map(|value| value.map(str::to_owned)))
        };
        let mut keys = self.keys.names().iter().enumerate();
        let machine = keys.next().map(of_key);
        let slots = keys.skip(1).map(of_key);
        let mean =
            self.means.iter().flat_map(|_| Mean::ALL.map(|mean| Some(mean.name().to_owned())));
        let workloads = self.means.iter().flat_map(|means| [Some(means.workloads as i64); 3]);
        let ratios = self.means.iter().flat_map(|means| means.ratios);
        let [low, high] = interval(self.means.iter().flat_map(|means| means.estimates));
        let verdicts = self.means.iter().flat_map(Means::verdicts);
        let first = |value: Option<f64>| [value, None, None];
        let bound = self.means.iter().flat_map(|means| first(means.bound));
        let metrics = self.metrics().iter().enumerate().map(|(at, name)| {
            float(name, self.means.iter().flat_map(|means| first(means.metrics[at])))
        });
        let counted = [text("mean", mean), count("workloads", workloads)];
        let ratio = [
            float(IPC_RATIO, ratios),
            low,
            high,
            text(VERDICT, verdicts.map(|verdict| verdict.map(str::to_owned))),
            float(IPC_BOUND, bound),
        ];
        let columns = machine.into_iter().chain(counted).chain(slots).chain(ratio);
        Table::new(columns.chain(metrics).collect())
    }

    /// Returns the [workloads](Comparison::workloads), then the means, as one table: `mean` and
    /// `workloads` are null in the former, `trace`, `repeats` and `ipc_thread` in the means.
    pub fn table(&self) -> Table {
        Table::stacked(&[self.workloads(), self.means()])
    }

    /// Returns a row for every two policies of a machine and overrides: `machine`, `overrides` unless
    /// compared, `policy` and `other` with slashes between slots, `workloads` that both ran on, `ratio`, the
    /// geometric mean of the first's IPC over the other's, paired repeat by repeat, its 95 % interval
    /// `low` and `high`, and `verdict`, as in [`Comparison::workloads`].
    pub fn pairs(&self) -> Table {
        let averaged = self.averaged();
        let pairs = averaged.pairs();
        let keys_of = |of: usize| self.workloads[self.means[of].rows[0]].keys.as_slice();
        let all = key_columns(&self.keys, &pairs.iter().map(|pair| keys_of(pair.of)));
        let places = all.into_iter().filter(|(name, _)| self.is_place(name));
        let name = |of: usize| Some(averaged.policy(of));
        let [(_, low), (_, high)] = interval(pairs.iter().map(|pair| pair.estimate));
        let ratio = pairs.iter().map(|pair| pair.estimate.map(|estimate| estimate.ratio));
        let verdict = pairs.iter().map(|pair| pair.verdict().map(|v| v.name().to_owned()));
        let columns = [
            text("policy", pairs.iter().map(|pair| name(pair.of))),
            text("other", pairs.iter().map(|pair| name(pair.other))),
            count("workloads", pairs.iter().map(|pair| Some(pair.workloads as i64))),
            float("ratio", ratio),
            ("low".to_owned(), low),
            ("high".to_owned(), high),
            text(VERDICT, verdict),
        ];
        Table::new(places.chain(columns).collect())
    }

    /// Returns a row for each machine and workload on how much the compared policies can matter, from the
    /// baseline's first run: `machine`, `trace`, `overrides` unless compared, `bus_used` (share of DRAM
    /// cycles in which the data bus is used), `queue_length` and `l2_queue_length` (mean requests in the
    /// queues of a channel and a slice), `walk_queue_length` (walks), `ready_warps` (mean per SM),
    /// `idle_share` (share of SM cycles without issue), `bound` (name of an ideal mode of the slot) and
    /// `ipc_bound` (IPC under it over the baseline's). Null where the runs lack a column.
    pub fn leverage(&self) -> Table {
        let rows = || self.leverages.iter().map(|leverage| &self.rows[leverage.row]);
        let all = key_columns(&self.keys, &rows().map(|row| row.keys.as_slice()));
        let mut places: Vec<NamedColumn> =
            all.into_iter().filter(|(name, _)| self.is_place(name)).collect();
        let workloads = rows().map(|row| Some(row.repeat.workload.clone()));
        places.insert(1, text("trace", workloads));
        let measures = MEASURES.iter().enumerate().map(|(at, measure)| {
            float(measure.name, self.leverages.iter().map(|leverage| leverage.load[at]))
        });
        let bounds = || self.leverages.iter().map(|leverage| leverage.bound.as_ref());
        let bound = [
            text("bound", bounds().map(|bound| bound.map(|(ideal, _)| ideal.clone()))),
            float(IPC_BOUND, bounds().map(|bound| bound.map(|(_, ratio)| *ratio))),
        ];
        Table::new(places.into_iter().chain(measures).chain(bound).collect())
    }

    /// Returns whether a key column is part of the place of a run: machine, and overrides if held equal.
    fn is_place(&self, name: &str) -> bool {
        let is_held = name == OVERRIDES && !self.slots().iter().any(|slot| slot == OVERRIDES);
        name == "machine" || is_held
    }

    /// Returns the value that the workloads share in a key column, if they do.
    fn shared(&self, means: &Means, at: usize) -> Option<&str> {
        let mut values = means.rows.iter().map(|&row| self.workloads[row].keys[at].as_str());
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }
}

impl Means {
    /// Returns the verdict on each mean.
    pub(crate) fn verdicts(&self) -> [Option<&'static str>; Mean::ALL.len()] {
        let verdict = |estimate: Option<Estimate>| Some(estimate?.verdict()?.name());
        match self.is_baseline {
            true => [Some(crate::workload::BASELINE); Mean::ALL.len()],
            false => self.estimates.map(verdict),
        }
    }
}

fn key_columns<'a>(
    keys: &Keys,
    rows: &(impl Iterator<Item = &'a [String]> + Clone),
) -> Vec<NamedColumn> {
    let column =
        |(at, name): (usize, &String)| text(name, rows.clone().map(|row| Some(row[at].clone())));
    keys.names().iter().enumerate().map(column).collect()
}

/// Returns the columns of the intervals of estimates; null where a bound does not exist.
fn interval(estimates: impl Iterator<Item = Option<Estimate>>) -> [NamedColumn; 2] {
    let bounds: Vec<Option<[f64; 2]>> =
        estimates.map(|estimate| estimate?.bounds().filter(|[_, high]| high.is_finite())).collect();
    [0, 1].map(|at| float(INTERVAL[at], bounds.iter().map(|bounds| bounds.map(|both| both[at]))))
}

fn text(name: &str, values: impl Iterator<Item = Option<String>>) -> NamedColumn {
    (name.to_owned(), Values::Text(values.collect()))
}

fn count(name: &str, values: impl Iterator<Item = Option<i64>>) -> NamedColumn {
    (name.to_owned(), Values::Count(values.collect()))
}

fn float(name: &str, values: impl Iterator<Item = Option<f64>>) -> NamedColumn {
    (name.to_owned(), Values::Float(values.collect()))
}
