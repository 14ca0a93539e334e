//! DRAM schedulers that are written in Python: the same view and the same hooks as those in Rust.
//!
//! A run under one holds Python's lock and gives it up whenever it reports its progress.

mod hooks;
mod python;
mod views;

pub use python::{Own, Schedulers};

use pyo3::prelude::*;

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<views::Request>()?;
    module.add_class::<views::Bank>()?;
    module.add_class::<views::Channel>()?;
    module.add_class::<views::Queue>()?;
    module.add_class::<views::Command>()
}
