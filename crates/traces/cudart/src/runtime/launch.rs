//! Launches.

use std::cell::RefCell;

use crate::context::{self, Engine, KernelId, LaunchShape};
use crate::host;
use crate::runtime::{Address, LaunchAttribute, LaunchAttributes};
use crate::status::{Outcome, Status};

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

impl From<Dim3> for [u32; 3] {
    fn from(Dim3 { x, y, z }: Dim3) -> [u32; 3] {
        [x, y, z]
    }
}

/// `cudaLaunchConfig_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfig {
    grid: Dim3,
    block: Dim3,
    shared: usize,
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

thread_local! {
    /// Launch configurations between `<<<…>>>` and the call of the host function.
    static PUSHED: RefCell<Vec<LaunchShape>> = const { RefCell::new(Vec::new()) };
}

fn shape(grid: Dim3, block: Dim3, shared: usize, stream: Address) -> LaunchShape {
    let shared = u32::try_from(shared).unwrap_or(u32::MAX);
    let (grid, block) = (grid.into(), block.into());
    let (cluster, window, is_cooperative) = (None, None, false);
    LaunchShape { grid, block, cluster, shared, stream, is_cooperative, window }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Address,
) -> u32 {
    PUSHED.with_borrow_mut(|pushed| pushed.push(shape(grid, block, shared, stream)));
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared: *mut usize,
    stream: *mut Address,
) -> Status {
    let Some(shape) = PUSHED.with_borrow_mut(Vec::pop) else {
        return Status::INVALID_CONFIGURATION;
    };
    let dim3 = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
    let put = || -> Outcome<()> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            host::put(grid, dim3(shape.grid))?;
            host::put(block, dim3(shape.block))?;
            host::put(shared, shape.shared as usize)?;
            host::put(stream, shape.stream)
        }
    };
    put().map_or_else(|failure| failure.status, |()| Status::SUCCESS)
}

/// Reads the arguments of a kernel, each through its pointer.
///
/// # Safety
/// `arguments` is null or has a pointer to each argument.
pub unsafe fn arguments(
    engine: &Engine,
    kernel: KernelId,
    arguments: *const *const u8,
) -> Outcome<Vec<Vec<u8>>> {
    let sizes = engine.params(kernel)?;
    // SAFETY: the caller guarantees a pointer for each parameter, to bytes of its size.
    let argument =
        |(at, (size, _))| unsafe { host::bytes(host::get(arguments.wrapping_add(at))?, size) };
    sizes.into_iter().enumerate().map(argument).collect()
}

/// Launches a kernel.
///
/// # Safety
/// As [`arguments`].
unsafe fn launch(function: usize, shape: LaunchShape, given: *const *const u8) -> Status {
    context::run_and_note(|engine, registry| {
        let kernel = engine.kernel_at(function, registry)?;
        // SAFETY: guaranteed by the caller.
        let arguments = unsafe { arguments(engine, kernel, given) }?;
        engine.launch(kernel, shape, arguments)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaLaunchKernel(
    function: usize,
    grid: Dim3,
    block: Dim3,
    given: *const *const u8,
    shared: usize,
    stream: Address,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { launch(function, shape(grid, block, shared, stream), given) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaLaunchKernel_ptsz(
    function: usize,
    grid: Dim3,
    block: Dim3,
    given: *const *const u8,
    shared: usize,
    stream: Address,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { launch(function, shape(grid, block, shared, stream), given) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaLaunchKernel(
    kernel: usize,
    grid: Dim3,
    block: Dim3,
    given: *const *const u8,
    shared: usize,
    stream: Address,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { launch(kernel, shape(grid, block, shared, stream), given) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaLaunchCooperativeKernel(
    function: usize,
    grid: Dim3,
    block: Dim3,
    given: *const *const u8,
    shared: usize,
    stream: Address,
) -> Status {
    let shape = LaunchShape { is_cooperative: true, ..shape(grid, block, shared, stream) };
    // SAFETY: guaranteed by the caller.
    unsafe { launch(function, shape, given) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaLaunchKernelExC(
    config: *const LaunchConfig,
    function: usize,
    given: *const *const u8,
) -> Status {
    context::run_and_note(|engine, registry| {
        // SAFETY: guaranteed by the caller.
        let shape = unsafe { host::get(config)?.shape() }?;
        let kernel = engine.kernel_at(function, registry)?;
        // SAFETY: guaranteed by the caller.
        let arguments = unsafe { arguments(engine, kernel, given) }?;
        engine.launch(kernel, shape, arguments)
    })
}

/// Writes a kernel's handle.
///
/// # Safety
/// `to` is null or valid for writes.
unsafe fn handle(to: *mut usize, function: usize) -> Status {
    context::run_and_note(|engine, registry| {
        let kernel = engine.kernel_at(function, registry)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, kernel.0) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaGetKernel(to: *mut usize, function: usize) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { handle(to, function) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetKernel(to: *mut usize, function: usize) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { handle(to, function) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetFuncBySymbol(to: *mut usize, function: usize) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { handle(to, function) }
}

/// Kernel attributes for programs (`cudaFuncAttributes`, the fields common to all releases).
#[repr(C)]
pub struct FunctionAttributes {
    pub shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    pub most_threads: u32,
    pub registers: u32,
    pub ptx_version: u32,
    binary_version: u32,
    cache_mode: u32,
    pub most_dynamic_shared: u32,
    pub carveout: i32,
}

impl FunctionAttributes {
    /// Collects the attributes of a kernel.
    ///
    /// # Errors
    /// When the kernel does not exist.
    pub fn of(engine: &Engine, kernel: KernelId) -> Outcome<FunctionAttributes> {
        let (registers, shared) = engine.needs(kernel)?;
        let version = engine.architecture();
        Ok(FunctionAttributes {
            shared_bytes: shared as usize,
            constant_bytes: 0,
            local_bytes: 0,
            most_threads: 1024,
            registers,
            ptx_version: version,
            binary_version: version,
            cache_mode: 0,
            most_dynamic_shared: engine.device().shared_bytes.saturating_sub(shared),
            carveout: -1,
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaFuncGetAttributes(to: *mut FunctionAttributes, function: usize) -> Status {
    context::run_and_note(|engine, registry| {
        let kernel = engine.kernel_at(function, registry)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, FunctionAttributes::of(engine, kernel)?) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    to: *mut u32,
    function: usize,
    threads: u32,
    shared: usize,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, function, threads, shared, 0)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    to: *mut u32,
    function: usize,
    threads: u32,
    shared: usize,
    _flags: u32,
) -> Status {
    context::run_and_note(|engine, registry| {
        let kernel = engine.kernel_at(function, registry)?;
        let room = engine.occupancy(kernel, threads, shared)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, room) }
    })
}
