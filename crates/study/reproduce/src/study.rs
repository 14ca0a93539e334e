//! Runs of a paper's experiments, as a dataframe on which expressions are evaluated.

use crate::classes::Classes;
use crate::distributions::distributions;
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use warpmem_analysis::polars::df;
use warpmem_analysis::polars::prelude::{
    DataFrame, DataType, Expr, IntoLazy, JoinArgs, JoinType, LazyFrame, MaintainOrderJoin, NULL,
    PlSmallStr, col, lit, when,
};
use warpmem_analysis::{Results, with_expression};
use warpmem_study::reproduce::{Mean, Runs};

/// Columns that identify a run.
const WORKLOAD: &str = "workload";
const CONFIGURATION: &str = "configuration";
/// Temporary name of a metric column, before it is named after its configuration.
const METRIC: &str = "the metric";

/// A run of the experiments.
#[derive(Clone, Debug)]
pub struct Planned {
    pub workload: String,
    pub configuration: String,
    pub run_id: String,
}

/// Every run, with its numbers.
pub struct Study {
    runs: DataFrame,
    /// Workloads in the order of the plan.
    workloads: Vec<String>,
    classes: Classes,
    /// Metrics evaluated so far, by expression.
    metrics: Mutex<HashMap<String, Arc<Metric>>>,
}

/// A metric of every run, by configuration: workloads in the order of the plan, none for a null.
type Metric = HashMap<String, Vec<(String, Option<f64>)>>;

/// Value of an expression for one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub workload: String,
    /// Metric of the configuration, and of the configuration that it is divided by.
    pub own: f64,
    pub base: Option<f64>,
    /// Value; none for a ratio with denominator 0, which still counts in a ratio of sums.
    pub value: Option<f64>,
}

impl Study {
    /// Opens the planned runs among `results`.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub(crate) fn open(results: &Results, planned: &[Planned]) -> Result<Study> {
        let of = |text: fn(&Planned) -> &str| planned.iter().map(text).collect::<Vec<_>>();
        let plan = df!(
            "run_id" => of(|run| &run.run_id),
            WORKLOAD => of(|run| &run.workload),
            CONFIGURATION => of(|run| &run.configuration),
        )?;
        let others = [counters(results)?, efficiency(results)?, distributions(results)?];
        let runs = numbers(results.runs()?)?;
        let key = [col("run_id")];
        let mut join = JoinArgs::new(JoinType::Inner);
        join.maintain_order = MaintainOrderJoin::Left;
        let mut runs = plan.lazy().join(runs, &key, &key, join.clone());
        join.how = JoinType::Left;
        for other in others {
            runs = runs.join(other, &key, &key, join.clone());
        }
        Study::new(runs.collect()?)
    }

    /// Makes a study of a frame with a row per run: `workload`, `configuration`, and numbers.
    pub(crate) fn new(runs: DataFrame) -> Result<Study> {
        let mut workloads: Vec<String> = Vec::new();
        for name in runs.column(WORKLOAD)?.str()?.iter().flatten() {
            if !workloads.iter().any(|known| known == name) {
                workloads.push(name.to_owned());
            }
        }
        Ok(Study { runs, workloads, classes: Classes::default(), metrics: Mutex::default() })
    }

    /// Adds the classes of the workloads.
    pub(crate) fn classified(self, classes: Classes) -> Study {
        Study { classes, ..self }
    }

    pub fn workloads(&self) -> &[String] {
        &self.workloads
    }

    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Evaluates the expression `runs` for each workload of its classes, in the order of the plan.
    /// Workloads without a value are absent.
    ///
    /// # Errors
    /// If an expression cannot be parsed, or refers to something that does not exist.
    pub fn values(&self, runs: &Runs) -> Result<Vec<Value>> {
        let values = match runs.value.is_none() && runs.with.is_empty() {
            true => self.ratios(runs)?,
            false => self.evaluated(runs)?,
        };
        let is_counted = |value: &Value| match runs.mean {
            Mean::OfSums => value.base.is_some(),
            _ => value.value.is_some(),
        };
        let wanted =
            |value: &Value| is_counted(value) && self.classes.holds(&runs.classes, &value.workload);
        Ok(values.into_iter().filter(wanted).collect())
    }

    /// Divides the metric of a configuration by that of another, if there is one.
    fn ratios(&self, runs: &Runs) -> Result<Vec<Value>> {
        let metric = self.of_all(&runs.metric)?;
        let of = |configuration: &str| metric.get(configuration).map_or(&[][..], Vec::as_slice);
        let base = runs.over.as_deref().map(|over| {
            of(over).iter().map(|(workload, base)| (workload, *base)).collect::<HashMap<_, _>>()
        });
        let value = |(workload, own): &(String, Option<f64>)| {
            let (base, value) = match &base {
                None => (None, *own),
                Some(base) => {
                    let base = *base.get(workload)?;
                    (base, own.zip(base).map(|(own, base)| own / base))
                }
            };
            let [own, base, value] = [*own, base, value].map(finite);
            Some(Value { workload: workload.clone(), own: own?, base, value })
        };
        Ok(of(&runs.of).iter().filter_map(value).collect())
    }

    /// Evaluates an expression over the runs of several configurations.
    fn evaluated(&self, runs: &Runs) -> Result<Vec<Value>> {
        let mut frame = self.own(&runs.of, &runs.metric)?;
        let base = runs.over.iter().map(|over| ("base", over));
        let others = base.chain(runs.with.iter().map(|(name, other)| (name.as_str(), other)));
        for (name, configuration) in others {
            let other = self.other(name, configuration, &runs.metric)?;
            let mut join = JoinArgs::new(JoinType::Inner);
            join.maintain_order = MaintainOrderJoin::Left;
            frame = frame.join(other, [col(WORKLOAD)], [col(WORKLOAD)], join);
        }
        let default = if runs.over.is_some() { "own / base" } else { "own" };
        let frame = with(frame, runs.value.as_deref().unwrap_or(default), "value")?;
        let base = if runs.over.is_some() { col("base") } else { lit(NULL) };
        let failed = |source| Error::Metric { metric: runs.metric.clone(), source };
        let frame = frame.select([
            col(WORKLOAD),
            col("own"),
            base.cast(DataType::Float64).alias("base"),
            col("value"),
        ]);
        rows(&frame.collect().map_err(failed)?)
    }

    /// Returns a metric of each workload under a configuration; workloads without it are absent.
    pub fn metric(&self, configuration: &str, metric: &str) -> Result<HashMap<String, f64>> {
        let of_all = self.of_all(metric)?;
        let of = of_all.get(configuration).into_iter().flatten();
        Ok(of.filter_map(|(workload, value)| Some((workload.clone(), finite(*value)?))).collect())
    }

    /// Evaluates a metric, an expression over the columns of one run, for all runs at once: a frame for each
    /// configuration takes longer than the runs of a small study.
    fn of_all(&self, metric: &str) -> Result<Arc<Metric>> {
        let mut metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = metrics.get(metric) {
            return Ok(Arc::clone(known));
        }
        let frame = with(self.runs.clone().lazy(), metric, "own")?;
        let frame = frame.select([col(CONFIGURATION), col(WORKLOAD), col("own")]).collect();
        let frame = frame.map_err(|source| Error::Metric { metric: metric.to_owned(), source })?;
        let names = |name: &str| Ok::<_, Error>(frame.column(name)?.str()?);
        let (configurations, workloads) = (names(CONFIGURATION)?, names(WORKLOAD)?);
        let values = frame.column("own")?.f64()?;
        let mut of_all = Metric::new();
        for ((configuration, workload), value) in
            configurations.iter().zip(workloads.iter()).zip(values.iter())
        {
            if let (Some(configuration), Some(workload)) = (configuration, workload) {
                of_all
                    .entry(configuration.to_owned())
                    .or_default()
                    .push((workload.to_owned(), value));
            }
        }
        Ok(Arc::clone(metrics.entry(metric.to_owned()).or_insert(Arc::new(of_all))))
    }

    /// Returns the runs of a configuration, with a metric as `own`.
    fn own(&self, configuration: &str, metric: &str) -> Result<LazyFrame> {
        with(self.under(configuration), metric, "own")
    }

    /// Returns the runs of a configuration, with a metric as `name`, and other columns prefixed by
    /// `name_`.
    fn other(&self, name: &str, configuration: &str, metric: &str) -> Result<LazyFrame> {
        let is_number =
            |column: &&PlSmallStr| ![WORKLOAD, CONFIGURATION].contains(&column.as_str());
        let columns = self.runs.get_column_names().into_iter().filter(is_number);
        let columns = columns.map(|column| col(column.clone()).alias(format!("{name}_{column}")));
        let columns = [col(WORKLOAD), col(METRIC).alias(name)].into_iter().chain(columns);
        Ok(with(self.under(configuration), metric, METRIC)?.select(columns.collect::<Vec<_>>()))
    }

    fn under(&self, configuration: &str) -> LazyFrame {
        self.runs.clone().lazy().filter(col(CONFIGURATION).eq(lit(configuration)))
    }
}

/// Adds the value of an expression over the frame's columns.
fn with(frame: LazyFrame, text: &str, name: &str) -> Result<LazyFrame> {
    with_expression(frame, text, name)
        .map_err(|source| Error::Expression { text: text.to_owned(), source: Box::new(source) })
}

/// Selects the run's identifier and all its numbers, as floats.
fn numbers(mut runs: LazyFrame) -> Result<LazyFrame> {
    let schema = runs.collect_schema()?;
    let numeric = schema.iter().filter(|(_, dtype)| dtype.is_primitive_numeric());
    let numeric = numeric.map(|(name, _)| col(name.clone()).cast(DataType::Float64));
    Ok(runs.select([col("run_id")].into_iter().chain(numeric).collect::<Vec<_>>()))
}

/// Makes a column `counter_NAME` for each policy counter: its sum over the units of the run.
fn counters(results: &Results) -> Result<LazyFrame> {
    let table = results.table("policy_counters")?.collect()?;
    let names = table.column("counter")?.unique()?;
    let names: Vec<&str> = names.str()?.iter().flatten().collect();
    let sum = |name: &&str| {
        let is_it = col("counter").eq(lit(*name));
        let sum = col("value").filter(is_it.clone()).sum().cast(DataType::Float64);
        when(is_it.any(true)).then(sum).otherwise(lit(NULL)).alias(format!("counter_{name}"))
    };
    let sums: Vec<Expr> = names.iter().map(sum).collect();
    Ok(table.lazy().group_by_stable([col("run_id")]).agg(sums))
}

/// Computes Yuan's mean over controllers, `dram_efficiency_mean`; the run's own `dram_efficiency`
/// is a ratio of sums.
fn efficiency(results: &Results) -> Result<LazyFrame> {
    let mean = col("dram_efficiency").mean().alias("dram_efficiency_mean");
    Ok(results.table("channels")?.group_by_stable([col("run_id")]).agg([mean]))
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// Returns the rows whose metric is a number.
fn rows(frame: &DataFrame) -> Result<Vec<Value>> {
    let number = |name: &str| -> Result<Vec<Option<f64>>> {
        Ok(frame.column(name)?.f64()?.iter().map(finite).collect())
    };
    let workloads = frame.column(WORKLOAD)?.str()?;
    let (own, base, value) = (number("own")?, number("base")?, number("value")?);
    let row = |(at, workload): (usize, Option<&str>)| {
        let (workload, base) = (workload?.to_owned(), base[at]);
        Some(Value { workload, own: own[at]?, base, value: value[at] })
    };
    Ok(workloads.iter().enumerate().filter_map(row).collect())
}

/// Averages the values of several workloads; none without values.
pub fn mean(values: &[Value], mean: Mean) -> Option<f64> {
    let each = || values.iter().filter_map(|value| value.value);
    let arithmetic = |values: &mut dyn Iterator<Item = f64>| -> Option<f64> {
        let (count, sum) = values.fold((0.0, 0.0), |(n, sum), value| (n + 1.0, sum + value));
        (count > 0.0).then(|| sum / count)
    };
    let found = match mean {
        Mean::Arithmetic => arithmetic(&mut each()),
        Mean::Harmonic => arithmetic(&mut each().map(f64::recip)).map(f64::recip),
        Mean::Geometric => arithmetic(&mut each().map(f64::ln)).map(f64::exp),
        Mean::OfSums => {
            let own: f64 = values.iter().map(|value| value.own).sum();
            Some(own / values.iter().filter_map(|value| value.base).sum::<f64>())
        }
    };
    found.filter(|mean| mean.is_finite())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Makes two workloads under two configurations, and a third that lacks one configuration.
    pub fn study() -> Study {
        let runs = df!(
            WORKLOAD => ["a", "b", "c", "a", "b"],
            CONFIGURATION => ["X", "X", "X", "Y", "Y"],
            "ipc_thread" => [2.0, 9.0, 5.0, 1.0, 3.0],
            "cycles" => [10.0, 20.0, 30.0, 40.0, 50.0],
            "counter_held" => [Some(4.0), None, None, None, None],
        );
        Study::new(runs.unwrap()).unwrap()
    }

    /// Makes IPCs of a workload under X with several values of `n`.
    pub fn swept(ipc: &[(&str, f64)]) -> Study {
        let names: Vec<String> = ipc.iter().map(|(value, _)| format!("X @ n={value}")).collect();
        let ipc: Vec<f64> = ipc.iter().map(|(_, ipc)| *ipc).collect();
        let runs =
            df!(WORKLOAD => vec!["a"; ipc.len()], CONFIGURATION => names, "ipc_thread" => ipc);
        Study::new(runs.unwrap()).unwrap()
    }

    /// Makes IPCs of a workload under X and Y, unmodified and in the variants of a quick run.
    pub fn varied() -> Study {
        let names = |scheme: &str| {
            let varied = [1, 3, 5].map(|number| format!("{scheme}, variant {number}"));
            [scheme.to_owned()].into_iter().chain(varied).collect::<Vec<_>>()
        };
        let runs = df!(
            WORKLOAD => vec!["a"; 8],
            CONFIGURATION => [names("X"), names("Y")].concat(),
            "ipc_thread" => [2.0, 2.2, 1.8, 2.0, 1.0, 1.0, 1.0, 0.8],
        );
        Study::new(runs.unwrap()).unwrap()
    }

    fn runs(text: &str) -> Runs {
        toml::from_str(text).unwrap()
    }

    fn values(text: &str) -> Vec<(String, f64)> {
        let values = study().values(&runs(text)).unwrap();
        values.into_iter().map(|value| (value.workload, value.value.unwrap())).collect()
    }

    fn named(values: &[(&str, f64)]) -> Vec<(String, f64)> {
        values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn a_metric_is_of_a_configuration_or_over_anothers() {
        assert_eq!(values("of = 'X'"), named(&[("a", 2.0), ("b", 9.0), ("c", 5.0)]));
        assert_eq!(values("of = 'X'\nover = 'Y'"), named(&[("a", 2.0), ("b", 3.0)]));
        let cycles = "of = 'X'\nover = 'Y'\nmetric = 'cycles'";
        assert_eq!(values(cycles), named(&[("a", 0.25), ("b", 0.4)]));
    }

    #[test]
    fn expressions_know_the_columns_of_every_configuration() {
        let text = "of = 'X'\nover = 'Y'\nwith = { y = 'Y' }\nmetric = '2 * ipc_thread'\n\
            value = '(own - base) / y_cycles + cycles - base_cycles + y'";
        let expected =
            [("a", (4.0 - 2.0) / 40.0 - 30.0 + 2.0), ("b", (18.0 - 6.0) / 50.0 - 30.0 + 6.0)];
        assert_eq!(values(text), named(&expected));
    }

    #[test]
    fn non_numeric_values_are_left_out() {
        assert_eq!(values("of = 'X'\nmetric = 'counter_held'"), named(&[("a", 4.0)]));
        assert_eq!(values("of = 'X'\nmetric = 'cycles / (ipc_thread - 2)'").len(), 2);
        let case = "CASE WHEN own > 4 THEN own END";
        assert_eq!(
            values(&format!("of = 'X'\nvalue = '{case}'")),
            named(&[("b", 9.0), ("c", 5.0)])
        );
    }

    /// A workload whose metric is 0 under X has no ratio, but its metric under Y counts in the sum.
    #[test]
    fn ratio_over_zero_counts_only_in_ratios_of_sums() {
        let of = |mean: &str| {
            let text = format!(
                "of = 'Y'\nover = 'X'\nmetric = 'ipc_thread - 1'\nvalue = 'own / (base - 1)'\nmean = '{mean}'"
            );
            let values = study().values(&runs(&text)).unwrap();
            values.into_iter().map(|value| value.workload).collect::<Vec<_>>()
        };
        assert_eq!(of("arithmetic"), ["b"]);
        assert_eq!(of("of-sums"), ["a", "b"]);
    }

    #[test]
    fn expressions_with_unknown_names_are_refused() {
        assert!(study().values(&runs("of = 'X'\nmetric = 'cyclse'")).is_err());
        assert!(study().values(&runs("of = 'X'\nmetric = 'SELECT FROM'")).is_err());
    }

    #[test]
    fn means_match_their_definitions() {
        let value = |own: f64, base: f64| Value {
            workload: String::new(),
            own,
            base: Some(base),
            value: Some(own / base).filter(|ratio| ratio.is_finite()),
        };
        let values = [value(2.0, 1.0), value(8.0, 1.0), value(40.0, 10.0)];
        let of = |kind| mean(&values, kind).unwrap();
        assert!((of(Mean::Arithmetic) - 14.0 / 3.0).abs() < 1e-12);
        assert!((of(Mean::Harmonic) - 3.0 / (0.5 + 0.125 + 0.25)).abs() < 1e-12);
        assert!((of(Mean::Geometric) - 4.0).abs() < 1e-12);
        assert!((of(Mean::OfSums) - 50.0 / 12.0).abs() < 1e-12);
        for kind in [Mean::Arithmetic, Mean::Harmonic, Mean::Geometric, Mean::OfSums] {
            assert_eq!(mean(&[], kind), None, "{kind:?}");
        }
        assert_eq!(mean(&[value(1.0, 0.0)], Mean::OfSums), None);
        assert_eq!(mean(&[value(1.0, 0.0), value(3.0, 2.0)], Mean::OfSums), Some(2.0));
    }
}
