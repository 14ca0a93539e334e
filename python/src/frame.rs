//! Tables passed to Python without copying, through Arrow's C stream interface.

use crate::error::OrRaise;
use polars_arrow::array::{Array, StructArray};
use polars_arrow::datatypes::{ArrowDataType, Field};
use polars_arrow::ffi::export_iterator;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::BTreeMap;
use warpmem::record::{Column as Described, MemoryTable, Values};
use warpmem_analysis::polars::prelude::{
    AnyValue, Column, CompatLevel, DataFrame, DataType, IntoLazy, NamedFrom, PlSmallStr, Scalar,
    Series, UnionArgs, concat,
};

/// A table for any library that takes Arrow streams (`polars.DataFrame`, `pyarrow.table`, …).
#[pyclass(frozen, module = "warpmem")]
pub struct Frame(pub DataFrame);

#[pymethods]
impl Frame {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer ignore the requested schema.
        let _ = requested_schema;
        let mut frame = self.0.clone();
        frame.rechunk_mut();
        let fields = frame.columns().iter().map(|c| c.field().to_arrow(CompatLevel::newest()));
        let kind = ArrowDataType::Struct(fields.collect());
        let batches: Vec<_> = frame.iter_chunks(CompatLevel::newest(), false).collect();
        let of_kind = kind.clone();
        let batches = batches.into_iter().map(move |batch| {
            let (rows, arrays) = (batch.len(), batch.into_arrays());
            Ok(StructArray::new(of_kind.clone(), rows, arrays, None).boxed() as Box<dyn Array>)
        });
        let stream = export_iterator(Box::new(batches), Field::new("".into(), kind, false));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.0.height()
    }

    fn __repr__(&self) -> String {
        format!("Frame of {} rows and {} columns", self.0.height(), self.0.width())
    }
}

/// Makes a column of values.
fn column(name: &str, values: Values) -> Column {
    let name = PlSmallStr::from_str(name);
    match values {
        Values::Text(values) => Series::new(name, values).into(),
        Values::Count(values) => Series::new(name, values).into(),
        Values::Ratio(values) => Series::new(name, values).into(),
    }
}

/// Converts the table to a frame.
fn frame(table: MemoryTable) -> PyResult<DataFrame> {
    let constant = |(name, value): (String, String)| {
        let value = Scalar::new(DataType::String, AnyValue::StringOwned(value.into()));
        Column::new_scalar(name.into(), value, table.rows)
    };
    let constants = table.constants.into_iter().map(constant);
    let columns = table.columns.into_iter().map(|(name, values)| column(&name, values));
    DataFrame::new(table.rows, constants.chain(columns).collect()).or_raise()
}

/// Concatenates the tables of several runs, by name.
pub fn frames(runs: Vec<Vec<MemoryTable>>) -> PyResult<BTreeMap<&'static str, DataFrame>> {
    let mut parts: BTreeMap<&'static str, Vec<DataFrame>> = BTreeMap::new();
    for table in runs.into_iter().flatten() {
        parts.entry(table.name).or_default().push(frame(table)?);
    }
    parts.into_iter().map(|(name, frames)| Ok((name, joined(frames)?))).collect()
}

/// Concatenates frames of equal columns.
pub fn joined(mut frames: Vec<DataFrame>) -> PyResult<DataFrame> {
    if frames.len() == 1 {
        return Ok(frames.remove(0));
    }
    let frames: Vec<_> = frames.into_iter().map(IntoLazy::lazy).collect();
    concat(frames, UnionArgs::default()).and_then(|all| all.collect()).or_raise()
}

/// Makes a frame of rows described by columns.
pub fn described<R>(columns: &[Described<R>], rows: &[R]) -> PyResult<DataFrame> {
    let columns = columns.iter().map(|of| column(&of.name, of.values(rows)));
    DataFrame::new(rows.len(), columns.collect()).or_raise()
}

/// Makes a frame of text columns with the given names.
pub fn texts<const N: usize>(names: [&str; N], rows: Vec<[String; N]>) -> PyResult<DataFrame> {
    let values = |at: usize| rows.iter().map(|row| row[at].clone()).collect();
    let columns = names.iter().enumerate().map(|(at, name)| column(name, Values::Text(values(at))));
    DataFrame::new(rows.len(), columns.collect()).or_raise()
}
