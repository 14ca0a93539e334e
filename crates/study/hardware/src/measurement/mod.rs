//! The built-in measurements: one file and one registry line each.

mod bandwidth_dram;
mod bandwidth_l2;
mod chase;
mod kernels;
mod l2_lines;
mod latency_dram;
mod latency_l1;
mod latency_l2;
mod stream_copy;
mod stream_read;
mod stream_triad;

use warpmem_params::nearest;

use crate::device::DeviceInfo;
use crate::error::HardwareError;
use crate::work::{Parameters, Program, Work};

/// A built-in measurement.
pub struct Measurement {
    pub name: &'static str,
    pub summary: &'static str,
    /// Sizes that suit a device.
    pub parameters: fn(&DeviceInfo) -> Parameters,
    parts: WorkSource,
}

/// Source of a measurement's work.
enum WorkSource {
    /// Programs and figures built from parameters.
    Sized(fn(&Parameters) -> Result<Work, String>),
    /// A kernel of the project: its launch file and PTX.
    Kernel { launch_file: &'static str, ptx: &'static str },
}

/// All measurements, in execution order.
pub const MEASUREMENTS: &[Measurement] = &[
    latency_l1::MEASUREMENT,
    latency_l2::MEASUREMENT,
    l2_lines::MEASUREMENT,
    latency_dram::MEASUREMENT,
    bandwidth_l2::MEASUREMENT,
    stream_read::MEASUREMENT,
    stream_copy::MEASUREMENT,
    stream_triad::MEASUREMENT,
    kernels::GATHER,
    kernels::GEMM,
    kernels::GESUMMV,
    kernels::HASH_TABLE,
    kernels::HISTOGRAM,
    kernels::LAYER_NORM,
    kernels::REDUCTION,
    kernels::SPMV,
    kernels::STENCIL2D,
    kernels::TRANSPOSE,
];

/// Returns the measurement `name`.
///
/// # Errors
/// When there is none.
pub fn measurement(name: &str) -> Result<&'static Measurement, HardwareError> {
    let found = MEASUREMENTS.iter().find(|measurement| measurement.name == name);
    let names = || MEASUREMENTS.iter().map(|measurement| measurement.name);
    found.ok_or_else(|| HardwareError::NoMeasurement {
        name: name.to_owned(),
        nearest: nearest(name, names()),
        valid: names().collect::<Vec<_>>().join(", "),
    })
}

impl Measurement {
    /// Builds the work for these sizes.
    ///
    /// # Errors
    /// When a size is missing or the sizes are inconsistent.
    pub fn work(&self, parameters: &Parameters) -> Result<Work, HardwareError> {
        let work = match self.parts {
            WorkSource::Sized(of) => of(parameters),
            WorkSource::Kernel { launch_file, ptx } => {
                Program::of_text(launch_file, ptx).map(|one| Work::of_launches(self.name, one))
            }
        };
        work.map_err(|what| HardwareError::BuiltIn { name: self.name.to_owned(), what })
    }
}

/// Returns the size `name`.
fn size(parameters: &Parameters, name: &str) -> Result<u64, String> {
    let found = parameters.get(name).copied().filter(|&size| size > 0);
    found.ok_or_else(|| format!("the parameter `{name}` is missing or 0"))
}

/// Builds the table of sizes by name.
fn sizes<const N: usize>(sizes: [(&str, u64); N]) -> Parameters {
    sizes.map(|(name, size)| (name.to_owned(), size)).into()
}

/// Returns the largest power of two that is not above `number`.
fn power_of_two_below(number: u64) -> u64 {
    1 << number.max(1).ilog2()
}
