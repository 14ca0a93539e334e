//! Policies scored one after another against the same baseline, whose runs are made once.

use crate::comparison::Comparison;
use crate::error::{Error, OrRaise};
use crate::frame::joined;
use crate::machine::Machine;
use crate::runs::{Planned, Policy, Recording, run_all, slot};
use crate::scheduler::Schedulers;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use warpmem::gpu::complexity::{of_scheduler, shape_of};
use warpmem::slots::{PolicyChoice, PolicyChoices};
use warpmem::study::sweep::Repeat;
use warpmem::study::traces::NamedTrace;
use warpmem::study::variants::Variant;
use warpmem_analysis::polars::prelude::{DataFrame, IntoLazy};
use warpmem_analysis::{self as analysis, CompareOptions};

/// Tables of runs, by name.
type Tables = BTreeMap<&'static str, DataFrame>;

/// Tables that a comparison reads.
const READ: [&str; 2] = ["runs", "kernels"];

/// Traces on a machine in several variants, and a baseline.
#[pyclass(frozen, module = "warpmem")]
pub struct Evaluator {
    traces: Vec<NamedTrace>,
    machine: Machine,
    variants: Vec<Variant>,
    slot: String,
    baseline: String,
    /// Runs of the baseline; none before the first evaluation.
    before: Mutex<Option<Tables>>,
}

#[pymethods]
impl Evaluator {
    #[new]
    fn new(
        traces: Vec<PathBuf>,
        machine: &Machine,
        slot: String,
        baseline: String,
        variants: u32,
    ) -> PyResult<Evaluator> {
        let most = Repeat::try_from(variants).map_err(Error::new_err)?;
        let traces = NamedTrace::open_all(&traces).or_raise()?;
        let machine = machine.clone();
        let variants = Variant::first(&machine.machine, most.0, []);
        Ok(Evaluator { traces, machine, variants, slot, baseline, before: Mutex::default() })
    }

    /// Compares a policy with the baseline.
    fn compare(
        &self,
        py: Python<'_>,
        policy: Policy,
        metrics: Vec<String>,
        jobs: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Comparison> {
        let before = self.before(py, jobs, progress.as_ref().map(|call| call.clone_ref(py)))?;
        let is_baseline = policy.name() == self.baseline;
        let after = match is_baseline {
            true => Tables::new(),
            false => self.runs(py, policy, jobs, progress)?,
        };
        let both = |name: &'static str| {
            let parts =
                [&before, &after].into_iter().filter_map(|tables| tables.get(name).cloned());
            joined(parts.collect())
        };
        let tables: Tables =
            READ.into_iter().map(|name| Ok((name, both(name)?))).collect::<PyResult<_>>()?;
        let mut options = CompareOptions::new(self.baseline.clone());
        options.slots = vec![self.slot.clone()];
        let lazy = |name| tables.get(name).cloned().unwrap_or_default().lazy();
        options.launches = analysis::launches(lazy("runs"), lazy("kernels")).or_raise()?;
        Comparison::of(lazy("runs"), options, Some(metrics), tables.clone())
    }
}

impl Evaluator {
    /// Returns the runs of the baseline, made by the first call.
    fn before(&self, py: Python<'_>, jobs: usize, progress: Option<Py<PyAny>>) -> PyResult<Tables> {
        let known = || self.before.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tables) = known().as_ref() {
            return Ok(tables.clone());
        }
        // Another thread may do the same meanwhile, with the same result.
        let tables = self.runs(py, Policy::Named(self.baseline.clone()), jobs, progress)?;
        Ok(known().insert(tables).clone())
    }

    /// Runs all traces in all variants under a policy.
    fn runs(
        &self,
        py: Python<'_>,
        policy: Policy,
        jobs: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Tables> {
        let choice = PolicyChoice { slot: slot(&self.slot)?, given: policy.name() };
        let choices = PolicyChoices::new(vec![choice]);
        let owns = Schedulers::of([(self.slot.clone(), policy)].into_iter())?.0;
        let cells = self
            .traces
            .iter()
            .flat_map(|trace| self.variants.iter().map(move |variant| (trace, variant)));
        let planned = cells
            .map(|(trace, variant)| Planned::new(trace, &self.machine, variant, &choices, &owns));
        let planned = planned.collect::<PyResult<Vec<_>>>()?;
        let mut tables = run_all(py, planned, &[], &Recording::none(), jobs, progress)?;
        tables.retain(|name, _| READ.contains(name));
        Ok(tables)
    }
}

/// Returns the bits that a DRAM scheduler stores and compares on a machine; none if it states no cost.
#[pyfunction]
pub fn complexity(policy: &str, machine: &Machine) -> PyResult<Option<(u64, u64)>> {
    let shape = shape_of(&machine.machine).or_raise()?;
    let cost = of_scheduler(policy, &machine.machine, &shape).or_raise()?;
    Ok(cost.map(|cost| (cost.stored, cost.compared)))
}
