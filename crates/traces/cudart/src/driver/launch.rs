//! Launches.

use crate::context::{Engine, KernelId, LaunchShape};
use crate::driver::functions;
use crate::host;
use crate::runtime::{Address, LaunchAttribute, LaunchAttributes, arguments};
use crate::status::{Outcome, Status};

/// Keys of the list of extra parameters (the manual, `cuLaunchKernel`).
const END: usize = 0;
const BUFFER: usize = 1;
const BUFFER_BYTES: usize = 2;

/// Unpacks arguments from one buffer, each at the next multiple of its alignment.
///
/// # Safety
/// The list is as the manual requires.
unsafe fn packed(engine: &Engine, kernel: KernelId, list: *const usize) -> Outcome<Vec<Vec<u8>>> {
    let (mut buffer, mut length) = (0, 0);
    for at in (0..).step_by(2) {
        // SAFETY: the caller guarantees that the list ends with an entry that is read here.
        let (key, value) = unsafe { (host::get(list.add(at))?, list.add(at + 1)) };
        match key {
            END => break,
            // SAFETY: each key but the last has a value.
            BUFFER => buffer = unsafe { host::get(value) }?,
            BUFFER_BYTES => {
                // SAFETY: as above; the value points to the length.
                length = unsafe {
                    let place = host::get(value)?;
                    host::get(std::ptr::with_exposed_provenance::<usize>(place))?
                };
            }
            _ => return Err(Status::INVALID_VALUE.into()),
        }
    }
    // SAFETY: the list guarantees `length` bytes.
    let bytes = unsafe { host::bytes(std::ptr::with_exposed_provenance(buffer), length) }?;
    let mut end = 0usize;
    let argument = |(size, align): (usize, usize)| {
        let first = end.next_multiple_of(align);
        end = first + size;
        Ok(bytes.get(first..end).ok_or(Status::INVALID_VALUE)?.to_vec())
    };
    engine.params(kernel)?.into_iter().map(argument).collect()
}

/// Launches a kernel.
///
/// # Safety
/// The pointers are null or as the manual requires.
unsafe fn launch(
    engine: &mut Engine,
    kernel: usize,
    shape: LaunchShape,
    given: *const *const u8,
    extra: *const usize,
) -> Outcome<()> {
    let kernel = KernelId(kernel);
    // SAFETY: guaranteed by the caller.
    let arguments = unsafe {
        match given.is_null() && !extra.is_null() {
            true => packed(engine, kernel, extra)?,
            false => arguments(engine, kernel, given)?,
        }
    };
    engine.launch(kernel, shape, arguments)
}

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct LaunchConfig {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Address,
    attributes: *const LaunchAttribute,
    attribute_count: u32,
}

impl LaunchConfig {
    /// Returns the launch configuration.
    ///
    /// # Safety
    /// The attribute array has the stated length.
    pub unsafe fn shape(&self) -> Outcome<LaunchShape> {
        // SAFETY: guaranteed by the caller.
        let attributes = unsafe { LaunchAttributes::of(self.attributes, self.attribute_count) }?;
        let LaunchAttributes { is_cooperative, cluster, window } = attributes;
        let shape = shape(self.grid, self.block, self.shared, self.stream);
        Ok(LaunchShape { is_cooperative, cluster, window, ..shape })
    }
}

fn shape(grid: [u32; 3], block: [u32; 3], shared: u32, stream: Address) -> LaunchShape {
    let (cluster, window, is_cooperative) = (None, None, false);
    LaunchShape { grid, block, cluster, shared, stream, is_cooperative, window }
}

functions! { in_context:
    fn cuLaunchKernel(
        kernel: usize,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: Address,
        given: *const *const u8,
        extra: *const usize,
    ) |engine| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = shape(grid, block, shared, stream);
        launch(engine, kernel, shape, given, extra)
    }

    fn cuLaunchCooperativeKernel(
        kernel: usize,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: Address,
        given: *const *const u8,
    ) |engine| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = LaunchShape { is_cooperative: true, ..shape(grid, block, shared, stream) };
        launch(engine, kernel, shape, given, std::ptr::null())
    }

    fn cuLaunchKernelEx(
        config: *const LaunchConfig,
        kernel: usize,
        given: *const *const u8,
        extra: *const usize,
    ) |engine| {
        launch(engine, kernel, host::get(config)?.shape()?, given, extra)
    }
}
