//! Kernel attributes, of which only cluster attributes have an effect, and cluster occupancy.

use crate::context;
use crate::host;
use crate::runtime::launch::LaunchConfig;
use crate::status::Status;

#[unsafe(no_mangle)]
extern "C" fn cudaFuncSetAttribute(function: usize, number: u32, value: i32) -> Status {
    context::run_and_note(|engine, registry| {
        let kernel = engine.kernel_at(function, registry)?;
        engine.set_cluster_attribute(kernel, number, value)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaOccupancyMaxActiveClusters(
    to: *mut u32,
    function: usize,
    config: *const LaunchConfig,
) -> Status {
    context::run_and_note(|engine, registry| {
        let kernel = engine.kernel_at(function, registry)?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let shape = host::get(config)?.shape()?;
            host::put(to, engine.active_clusters(kernel, &shape)?)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaOccupancyMaxPotentialClusterSize(
    to: *mut u32,
    function: usize,
    config: *const LaunchConfig,
) -> Status {
    context::run_and_note(|engine, registry| {
        let kernel = engine.kernel_at(function, registry)?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let shape = host::get(config)?.shape()?;
            host::put(to, engine.potential_cluster_size(kernel, &shape)?)
        }
    })
}
