//! Comparisons of runs in a frame; [`warpmem_comparison`] makes them.

use polars::prelude::*;
use warpmem_comparison as plain;
use warpmem_comparison::{CompareOptions, Launches, RUN_ID, Table, Values};

use crate::error::Result;
use crate::frame::require_numeric;

/// Runs compared with a baseline, and their means over workloads.
#[derive(Clone, Debug)]
pub struct Comparison {
    comparison: plain::Comparison,
    rows: DataFrame,
    workloads: DataFrame,
    means: DataFrame,
}

impl Comparison {
    /// Returns one row per run: `machine`, `trace`, `overrides`, the policy slots, `seed` and `variant` if
    /// there are repeats, `ipc_thread`, `ipc_ratio` and the metrics. Machines, overrides, traces and
    /// policies appear in the order of their first appearance. If runs are [mixed](Comparison::mixed), the
    /// column `mixed` states how a run differs from its baseline apart from policies.
    pub fn rows(&self) -> &DataFrame {
        &self.rows
    }

    /// Returns one row per machine, workload, overrides and policy, averaged over repeats, with intervals
    /// and verdicts, as [`warpmem_comparison::Comparison::workloads`].
    pub fn workloads(&self) -> &DataFrame {
        &self.workloads
    }

    /// Returns three rows per machine, overrides and policy, one for each of
    /// [`MEANS`](crate::MEANS) in the column `mean`, as [`warpmem_comparison::Comparison::means`].
    pub fn means(&self) -> &DataFrame {
        &self.means
    }

    /// Returns a row for every two policies of a machine and overrides, as
    /// [`warpmem_comparison::Comparison::pairs`].
    ///
    /// # Errors
    /// If the dataframe engine fails.
    pub fn pairs(&self) -> Result<DataFrame> {
        to_frame(&self.comparison.pairs())
    }

    /// Returns a row for each machine and workload on how much the compared policies can matter, as
    /// [`warpmem_comparison::Comparison::leverage`].
    ///
    /// # Errors
    /// If the dataframe engine fails.
    pub fn leverage(&self) -> Result<DataFrame> {
        to_frame(&self.comparison.leverage())
    }

    /// Returns sentences: for each machine, whether the compared slots can matter, then which policies
    /// are best; none is named among policies that are equal within noise.
    pub fn findings(&self) -> Vec<String> {
        self.comparison.findings()
    }

    /// Returns sentences on whether the compared slots can matter, one for each machine and slot.
    pub fn leverage_findings(&self) -> Vec<String> {
        self.comparison.leverage_findings()
    }

    /// Returns whether some workload has several seeds or variants.
    pub fn has_repeats(&self) -> bool {
        self.comparison.has_repeats()
    }

    /// Returns whether an interval covers the errors of sampled runs.
    pub fn is_sampled(&self) -> bool {
        self.comparison.is_sampled()
    }

    /// Returns the workloads, then the means, as one table: `mean` and `workloads` are null in the former,
    /// `trace`, `repeats` and `ipc_thread` in the means.
    ///
    /// # Errors
    /// If the dataframe engine fails.
    pub fn table(&self) -> Result<DataFrame> {
        to_frame(&self.comparison.table())
    }

    /// Formats the findings, a block of lines per workload, then one per machine with the means, for a
    /// terminal of `width` columns.
    pub fn to_text(&self, width: usize) -> String {
        self.comparison.to_text(width)
    }

    /// Returns the slots in which the runs differ.
    pub fn slots(&self) -> &[String] {
        self.comparison.slots()
    }

    /// Returns the unexpected differences between the runs; empty unless
    /// [allowed](CompareOptions::allow_mixed).
    pub fn mixed(&self) -> &[String] {
        self.comparison.mixed()
    }

    /// Returns the number of runs without a baseline run to compare with; 0 unless
    /// [allowed](CompareOptions::allow_unmatched).
    pub fn unmatched(&self) -> usize {
        self.comparison.unmatched()
    }

    /// Returns the slots that the baseline names, each with its policy; runs are compared with a
    /// run that is equal in all other slots.
    pub fn baseline_slots(&self) -> &[(String, String)] {
        self.comparison.baseline_slots()
    }

    /// Returns the names of the baseline's policies, separated by slashes.
    pub fn baseline(&self) -> &str {
        self.comparison.baseline()
    }
}

/// Compares the runs of each trace, machine and overrides with the run of the baseline policy, as
/// [`warpmem_comparison::compare`] defines.
///
/// ```
/// use warpmem_analysis::{CompareOptions, compare, polars::{df, prelude::IntoLazy}};
///
/// let runs = df!(
///     "trace" => ["bfs", "bfs"], "machine" => ["li2015", "li2015"],
///     "dram_scheduler" => ["fcfs", "fr-fcfs"], "ipc_thread" => [2.0, 4.0],
/// )?;
/// let options = CompareOptions { metrics: Vec::new(), ..CompareOptions::new("fr-fcfs") };
/// let comparison = compare(runs.lazy(), &options)?;
/// assert_eq!(comparison.rows().column("ipc_ratio")?.f64()?.get(0), Some(0.5));
/// # Ok::<(), warpmem_analysis::Error>(())
/// ```
///
/// # Errors
/// If a column is missing or not numeric, if the baseline is unknown, ambiguous or missing for a
/// workload, if a workload has several runs with the same policies, or if runs are mixed.
pub fn compare(mut runs: LazyFrame, options: &CompareOptions) -> Result<Comparison> {
    let schema = runs.collect_schema()?;
    let names: Vec<&str> = schema.iter_names().map(PlSmallStr::as_str).collect();
    let read = options.columns_read(&names)?;
    for name in &read.numbers {
        require_numeric(&schema, "the `runs` table", name)?;
    }
    let texts = read.texts.iter().map(|name| col(name).cast(DataType::String));
    let numbers = read.numbers.iter().map(|name| col(name).cast(DataType::Float64));
    let runs = runs.select(texts.chain(numbers).collect::<Vec<_>>()).collect()?;
    let comparison = plain::compare(&to_table(&runs)?, options)?;
    let (rows, means) = (to_frame(&comparison.rows())?, to_frame(&comparison.means())?);
    let workloads = to_frame(&comparison.workloads())?;
    Ok(Comparison { comparison, rows, workloads, means })
}

/// Returns the launches of the table `kernels` that sampled runs among `runs` simulated; none if no run was
/// sampled, or the tables are of a version without samples.
///
/// # Errors
/// If the dataframe engine fails.
pub fn launches(mut runs: LazyFrame, mut kernels: LazyFrame) -> Result<Launches> {
    const SAMPLED: &str = "cycles_interval";
    let lacks = |schema: &Schema, names: &[&str]| names.iter().any(|name| !schema.contains(name));
    if lacks(&*runs.collect_schema()?, &[SAMPLED, RUN_ID])
        || lacks(&*kernels.collect_schema()?, &[&[RUN_ID], &Launches::COLUMNS[..]].concat())
    {
        return Ok(Launches::default());
    }
    let sampled = runs.filter(col(SAMPLED).is_not_null()).group_by([col(RUN_ID)]).agg([]);
    let keys = [col(RUN_ID)];
    let numbers = Launches::COLUMNS.iter().map(|name| col(*name).cast(DataType::Float64));
    let columns = [col(RUN_ID).cast(DataType::String)].into_iter().chain(numbers);
    let mut join = JoinArgs::new(JoinType::Inner);
    join.maintain_order = MaintainOrderJoin::Left;
    let launches = kernels.join(sampled, &keys, &keys, join);
    Ok(Launches::of(&to_table(&launches.select(columns.collect::<Vec<_>>()).collect()?)?))
}

/// Converts a frame of text and float columns.
fn to_table(frame: &DataFrame) -> Result<Table> {
    let column = |column: &Column| {
        let values = match column.dtype() {
            DataType::Float64 => Values::Float(column.f64()?.iter().collect()),
            _ => {
                let texts = column.str()?.iter().map(|text| text.map(str::to_owned));
                Values::Text(texts.collect())
            }
        };
        Ok((column.name().to_string(), values))
    };
    Ok(Table::new(frame.columns().iter().map(column).collect::<Result<_>>()?))
}

fn to_frame(table: &Table) -> Result<DataFrame> {
    let height = table.height();
    let column = |(name, values): &(String, Values)| match values {
        Values::Text(values) => Column::new(name.into(), values),
        Values::Count(values) if ["seed", "variant"].contains(&name.as_str()) => {
            Column::new(name.into(), values)
        }
        Values::Count(values) => {
            // Numbers of rows have the type that the dataframe engine counts rows with.
            let counts = values.iter().map(|count| count.and_then(|count| count.try_into().ok()));
            Column::new(name.into(), counts.collect::<Vec<Option<IdxSize>>>())
        }
        Values::Float(values) => Column::new(name.into(), values),
    };
    Ok(DataFrame::new(height, table.columns().iter().map(column).collect())?)
}
