//! The Python module `warpmem._warpmem`, the basis of the package's Python files.
//!
//! Functions here accept and return plain values; defaults, names and user documentation are in
//! `python/warpmem/`. Long work runs in a separate thread ([`watched`]) and releases Python's lock.

// Python hands over arguments by value, and by name.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]

mod capture;
mod channels;
mod classify;
mod comparison;
mod correlate;
mod error;
mod evaluator;
mod frame;
mod generate;
mod import;
mod info;
mod lists;
mod machine;
mod network;
mod report;
mod reproduce;
mod results;
mod runs;
mod sample;
mod scheduler;
mod suites;
mod sweep;
mod trace;
mod watched;
mod writer;

use pyo3::prelude::*;
use warpmem::slots::SLOTS;

#[pymodule]
fn _warpmem(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("Fault", module.py().get_type::<error::Fault>())?;
    module.add("ENGINE_VERSION", warpmem::record::ENGINE_VERSION)?;
    module.add("DEFAULT_MACHINE", warpmem::machine::DEFAULT_MACHINE)?;
    module.add("SLOTS", SLOTS.each_ref().map(|slot| slot.name).to_vec())?;
    module.add("UNITS", info::units())?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<machine::Machine>()?;
    module.add_class::<comparison::Comparison>()?;
    module.add_class::<evaluator::Evaluator>()?;
    module.add_class::<results::Results>()?;
    module.add_class::<trace::Trace>()?;
    module.add_class::<writer::TraceWriter>()?;
    scheduler::add_to(module)?;
    module.add_function(wrap_pyfunction!(runs::run, module)?)?;
    module.add_function(wrap_pyfunction!(comparison::compare, module)?)?;
    module.add_function(wrap_pyfunction!(evaluator::complexity, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::plan_to_toml, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::deal_shards, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    module.add_function(wrap_pyfunction!(capture::capture_launches, module)?)?;
    module.add_function(wrap_pyfunction!(capture::capture_program, module)?)?;
    module.add_function(wrap_pyfunction!(import::import_accel_sim, module)?)?;
    module.add_function(wrap_pyfunction!(import::import_table, module)?)?;
    module.add_function(wrap_pyfunction!(import::import_mem_trace, module)?)?;
    module.add_function(wrap_pyfunction!(channels::dram, module)?)?;
    module.add_function(wrap_pyfunction!(network::network, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(info::info, module)?)?;
    module.add_function(wrap_pyfunction!(classify::classify, module)?)?;
    module.add_function(wrap_pyfunction!(reproduce::reproduce, module)?)?;
    module.add_function(wrap_pyfunction!(reproduce::papers, module)?)?;
    module.add_function(wrap_pyfunction!(sample::sample, module)?)?;
    module.add_function(wrap_pyfunction!(correlate::correlate, module)?)?;
    module.add_function(wrap_pyfunction!(correlate::correlate_points, module)?)?;
    module.add_function(wrap_pyfunction!(correlate::correlate_profiles, module)?)?;
    module.add_function(wrap_pyfunction!(suites::suites, module)?)?;
    module.add_function(wrap_pyfunction!(suites::suite, module)?)?;
    module.add_function(wrap_pyfunction!(lists::machines, module)?)?;
    module.add_function(wrap_pyfunction!(lists::policies, module)?)?;
    module.add_function(wrap_pyfunction!(lists::generators, module)?)?;
    module.add_function(wrap_pyfunction!(lists::metrics, module)?)
}
