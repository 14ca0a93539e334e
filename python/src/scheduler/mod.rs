//! DRAM schedulers written in Python, with the same view and hooks as those in Rust.
//!
//! A run under one holds Python's lock and releases it at every progress report.

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
