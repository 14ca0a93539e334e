//! Lists of machines, policies, generators and metrics.

use crate::frame::{Frame, texts};
use crate::runs::slot;
use pyo3::prelude::*;
use warpmem::machine::{load, preset_names};
use warpmem::params::Param;
use warpmem::record::run_columns;
use warpmem::slots::SLOTS;
use warpmem::workload;

use crate::error::OrRaise;

#[pyfunction]
pub fn machines() -> PyResult<Frame> {
    let row = |name: &str| Ok([name.to_owned(), load(name, &[]).or_raise()?.description]);
    let rows = preset_names().map(row).collect::<PyResult<_>>()?;
    texts(["machine", "description"], rows).map(Frame)
}

/// Lists the policies of a slot, or of all.
#[pyfunction]
pub fn policies(name: Option<&str>) -> PyResult<Frame> {
    let slots: Vec<_> = match name {
        Some(name) => vec![slot(name)?],
        None => SLOTS.iter().collect(),
    };
    let rows = slots.into_iter().flat_map(|slot| {
        slot.infos().into_iter().map(|info| {
            let parameters: Vec<&str> = info.params().iter().map(|p: &Param| p.name).collect();
            let texts = [slot.name, info.name, info.summary, &parameters.join(", "), info.source];
            texts.map(str::to_owned)
        })
    });
    texts(["slot", "policy", "summary", "parameters", "source"], rows.collect()).map(Frame)
}

/// Lists the generators, with a row for each of their parameters.
#[pyfunction]
pub fn generators() -> PyResult<Frame> {
    let rows = workload::generators().iter().flat_map(|generator| {
        generator.parameters().map(|parameter| {
            let (name, default) = (parameter.name(), parameter.default());
            let texts =
                [generator.name, generator.summary, name, &default, &parameter.description()];
            texts.map(str::to_owned)
        })
    });
    texts(["kernel", "summary", "parameter", "default", "meaning"], rows.collect()).map(Frame)
}

/// Lists the columns of `runs`.
#[pyfunction]
pub fn metrics() -> PyResult<Frame> {
    let row = |column: warpmem::record::Column<_>| {
        [column.name.clone(), column.unit.to_owned(), column.doc.clone()]
    };
    texts(["metric", "unit", "definition"], run_columns().into_iter().map(row).collect()).map(Frame)
}
