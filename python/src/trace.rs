//! Traces and their contents.

use crate::error::OrRaise;
use crate::frame::Frame;
use pyo3::prelude::*;
use std::path::PathBuf;
use warpmem::trace;
use warpmem::workload::Seeded;
use warpmem_analysis::polars::df;

/// A trace in a file.
#[pyclass(frozen, module = "warpmem")]
pub struct Trace {
    path: PathBuf,
    trace: trace::Trace,
}

#[pymethods]
impl Trace {
    #[new]
    fn new(path: PathBuf) -> PyResult<Trace> {
        let trace = trace::Trace::open(&path).or_raise()?;
        Ok(Trace { path, trace })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Returns the hash of the content, 16 hexadecimal digits.
    #[getter]
    fn content_hash(&self) -> String {
        format!("{:016x}", self.trace.header().content_hash)
    }

    /// Returns the workload that the trace is a repeat of, which traces of one generator with other seeds
    /// share; the hash of the content if no generator made it.
    #[getter]
    fn workload(&self) -> String {
        let seeded = Seeded::of(&self.trace.header().provenance);
        seeded.map_or_else(|| self.content_hash(), |seeded| seeded.workload)
    }

    /// Returns a row per launch.
    fn kernels(&self) -> PyResult<Frame> {
        let kernels = self.trace.kernels();
        let of = |value: fn(&trace::Kernel) -> u64| kernels.iter().map(value).collect::<Vec<u64>>();
        let dimensions = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
        let texts = |value: &dyn Fn(&trace::Kernel) -> String| -> Vec<String> {
            kernels.iter().map(value).collect()
        };
        let frame = df!(
            "name" => texts(&|kernel| kernel.info.name.clone()),
            "grid" => texts(&|kernel| dimensions(kernel.info.grid)),
            "block" => texts(&|kernel| dimensions(kernel.info.block)),
            "registers_per_thread" => of(|kernel| kernel.info.registers_per_thread.into()),
            "shared_bytes" => of(|kernel| kernel.info.shared_bytes.into()),
            "ctas" => of(|kernel| kernel.ctas.into()),
            "warps" => of(|kernel| kernel.warps),
            "records" => of(|kernel| kernel.records),
            "warp_instructions" => of(|kernel| kernel.warp_instructions),
            "thread_instructions" => of(|kernel| kernel.thread_instructions),
        );
        frame.or_raise().map(Frame)
    }
}
