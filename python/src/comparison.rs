//! Policies compared on the same traces and machines.

use crate::error::{Error, OrRaise};
use crate::frame::Frame;
use crate::machine::Machine;
use crate::runs::{Planned, Policy, Recording, run_all, slot};
use crate::scheduler::Schedulers;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use warpmem::record::run_columns;
use warpmem::slots::{Baseline, List, PolicyChoice, combinations};
use warpmem::study::bound::Bounds;
use warpmem::study::sweep::Repeat;
use warpmem::study::traces::NamedTrace;
use warpmem::study::variants::Variant;
use warpmem_analysis::polars::prelude::{DataFrame, IntoLazy, LazyFrame};
use warpmem_analysis::{self as analysis, CompareOptions};

/// Runs relative to those of a baseline.
#[pyclass(frozen, module = "warpmem")]
pub struct Comparison {
    comparison: analysis::Comparison,
    tables: BTreeMap<&'static str, DataFrame>,
}

#[pymethods]
impl Comparison {
    /// Returns one row per run.
    fn rows(&self) -> Frame {
        Frame(self.comparison.rows().clone())
    }

    /// Returns one row per workload and policy, averaged over repeats.
    fn workloads(&self) -> Frame {
        Frame(self.comparison.workloads().clone())
    }

    /// Returns one row for every two policies of a machine.
    fn pairs(&self) -> PyResult<Frame> {
        self.comparison.pairs().or_raise().map(Frame)
    }

    /// Returns one row per machine and workload on how much the compared policies can matter.
    fn leverage(&self) -> PyResult<Frame> {
        self.comparison.leverage().or_raise().map(Frame)
    }

    /// Returns whether the compared policies can matter, and which are best, in sentences.
    fn findings(&self) -> Vec<String> {
        self.comparison.findings()
    }

    /// Returns three rows per machine and policy: arithmetic, geometric and harmonic means.
    fn means(&self) -> Frame {
        Frame(self.comparison.means().clone())
    }

    #[getter]
    fn baseline(&self) -> &str {
        self.comparison.baseline()
    }

    /// Returns the names of the tables of the runs.
    fn tables(&self) -> Vec<&'static str> {
        self.tables.keys().copied().collect()
    }

    fn table(&self, name: &str) -> Option<Frame> {
        self.tables.get(name).cloned().map(Frame)
    }

    /// Formats the comparison as `warpmem compare` does.
    fn to_text(&self, width: usize) -> String {
        self.comparison.to_text(width)
    }
}

impl Comparison {
    pub fn of(
        runs: LazyFrame,
        mut options: CompareOptions,
        metrics: Option<Vec<String>>,
        tables: BTreeMap<&'static str, DataFrame>,
    ) -> PyResult<Comparison> {
        options.units = run_columns().into_iter().map(|c| (c.name, c.unit.to_owned())).collect();
        if let Some(metrics) = metrics {
            options.metrics = metrics;
        }
        let comparison = analysis::compare(runs, &options).or_raise()?;
        Ok(Comparison { comparison, tables })
    }
}

/// Repeats and bounds of a comparison.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Repeats {
    /// Number of variants of each machine, itself included.
    variants: u32,
    /// Whether each workload runs once more under the ideal mode of the compared slot.
    bound: bool,
}

/// Runs every trace on every machine under every combination of policies, in every variant.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    traces: Vec<PathBuf>,
    machines: Vec<Py<Machine>>,
    policies: Vec<(String, Vec<Policy>)>,
    baseline: Option<String>,
    repeats: Repeats,
    metrics: Option<Vec<String>>,
    recording: Recording,
    jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Comparison> {
    let most = Repeat::try_from(repeats.variants).map_err(Error::new_err)?;
    let traces = NamedTrace::open_all(&traces).or_raise()?;
    let machines: Vec<Machine> = machines.iter().map(|machine| machine.get().clone()).collect();
    let lists = policies.iter().map(|(name, given)| {
        let slot = slot(name)?;
        let given = List(given.iter().map(Policy::name).collect()).of(slot);
        Ok(PolicyChoice { slot, given })
    });
    let lists = lists.collect::<PyResult<Vec<_>>>()?;
    let own = policies
        .into_iter()
        .flat_map(|(slot, given)| given.into_iter().map(move |policy| (slot.clone(), policy)));
    let owns = Schedulers::of(own)?.0;
    let plain: Vec<_> = machines.iter().map(|machine| machine.machine.clone()).collect();
    let baseline = Baseline::choose(baseline.as_deref(), &lists, &plain).or_raise()?;
    let combinations = combinations(&lists);
    let mut planned = Vec::new();
    for machine in &machines {
        let variants = Variant::first(&machine.machine, most.0, []);
        for trace in &traces {
            for policies in &combinations {
                for variant in &variants {
                    planned.push(Planned::new(trace, machine, variant, policies, &owns)?);
                }
            }
        }
    }
    let is_own = |choice: &&PolicyChoice<String>| owns.iter().any(|own| own.name == choice.given);
    let bounds = Bounds { lists: &lists, baseline: &baseline, combinations: &combinations };
    let bounds = match repeats.bound {
        // A Python scheduler keeps no machine from its ideal mode, which has no scheduler.
        true => bounds.cells(&plain, &traces, |choice| !is_own(&choice)),
        false => Vec::new(),
    };
    let tables = run_all(py, planned, &bounds, &recording, jobs, progress)?;
    let mut options = CompareOptions::new(baseline.name());
    options.slots = baseline.columns();
    let table = |name| tables.get(name).cloned().unwrap_or_default().lazy();
    let runs = table("runs");
    options.launches = analysis::launches(runs.clone(), table("kernels")).or_raise()?;
    Comparison::of(runs, options, metrics, tables)
}
