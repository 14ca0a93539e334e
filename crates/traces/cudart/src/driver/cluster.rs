//! Kernel attributes, of which only cluster attributes have an effect, and cluster occupancy.

use std::ffi::c_int;

use crate::context::KernelId;
use crate::driver::functions;
use crate::driver::launch::LaunchConfig;
use crate::host;

functions! { in_context:
    fn cuFuncSetAttribute(kernel: usize, number: u32, value: c_int) |engine| {
        engine.set_cluster_attribute(KernelId(kernel), number, value)
    }

    fn cuKernelSetAttribute(
        number: u32,
        value: c_int,
        kernel: usize,
        _device: c_int,
    ) |engine| {
        engine.set_cluster_attribute(KernelId(kernel), number, value)
    }

    fn cuOccupancyMaxActiveClusters(
        to: *mut u32,
        kernel: usize,
        config: *const LaunchConfig,
    ) |engine| {
        let shape = host::get(config)?.shape()?;
        host::put(to, engine.active_clusters(KernelId(kernel), &shape)?)
    }

    fn cuOccupancyMaxPotentialClusterSize(
        to: *mut u32,
        kernel: usize,
        config: *const LaunchConfig,
    ) |engine| {
        let shape = host::get(config)?.shape()?;
        host::put(to, engine.potential_cluster_size(KernelId(kernel), &shape)?)
    }
}
