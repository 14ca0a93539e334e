//! Launches of kernels, and the resources that they need.

use warpmem_simt::{Launch, Params, Run, WORKSPACE};
use warpmem_trace::KernelInfo;

use crate::status::{Failure, Outcome, Status};

use super::device::{SHARED_UNIT, occupancy};
use super::engine::Engine;
use super::kernels::{Kernel, KernelId, LaunchShape, Loaded};
use super::relayed::warn;

impl Engine {
    /// Executes a kernel; the arguments have the sizes of its parameters.
    ///
    /// # Errors
    /// When the kernel cannot be launched, or fails.
    pub fn launch(
        &mut self,
        id: KernelId,
        shape: LaunchShape,
        arguments: Vec<Vec<u8>>,
    ) -> Outcome<()> {
        let Kernel { module, name, .. } = self.kernel_of(id)?.clone();
        let cluster = self.cluster_of(id, shape.cluster)?;
        let stream = self.clock.stream(shape.stream)?;
        let workspace = if shape.is_cooperative { self.allocate(WORKSPACE)? } else { 0 };
        let launch = Launch {
            kernel: name,
            grid: shape.grid,
            block: shape.block,
            cluster,
            dynamic_shared: shape.shared,
            params: Params(arguments),
            workspace,
            window: shape.window.or(self.windows.get(&stream).copied()),
        };
        let Engine { memory, relayed, kernels, clock, .. } = self;
        let loaded = kernels.modules.get_mut(module).and_then(Option::as_mut);
        let Loaded { image, programs, registers } = loaded.ok_or(Status::INVALID_HANDLE)?;
        let executed = Run::again(image, &launch, programs).and_then(|run| {
            let info = KernelInfo {
                name: launch.kernel.clone(),
                stream,
                grid: launch.grid,
                block: launch.block,
                registers_per_thread: *registers.get(&launch.kernel).unwrap_or(&run.registers()),
                shared_bytes: run.shared_bytes(),
                sm_version: image.module().sm_version(),
                cluster: run.cluster(),
            };
            relayed.execute(&run, memory, info, module as u32)
        });
        if workspace != 0 {
            memory.free(workspace);
        }
        match executed {
            Ok(counts) => {
                clock.executed(counts.warp_instructions);
                Ok(())
            }
            Err(error) => {
                let failure = Failure::from(error);
                let why = failure.why.as_deref().unwrap_or_default();
                match failure.status {
                    // A mistake of the program, which the status reports as on a GPU.
                    Status::INVALID_CONFIGURATION | Status::INVALID_CLUSTER_SIZE => warn(why),
                    _ => relayed.failed(&launch.kernel, why),
                }
                // The warning tells the user why; the program only sees the status.
                if failure.status.is_sticky() {
                    self.failed(failure.status, None);
                }
                Err(failure.status.into())
            }
        }
    }

    /// Returns the registers per thread and the bytes of static shared memory of a kernel.
    ///
    /// # Errors
    /// When the kernel does not exist.
    pub fn needs(&self, id: KernelId) -> Outcome<(u32, u32)> {
        let kernel = self.kernel_of(id)?;
        let Loaded { image, registers, .. } = self.kernels.loaded(kernel.module)?;
        let module = image.module();
        let found = module.kernel(&kernel.name).ok_or(Status::INVALID_DEVICE_FUNCTION)?;
        let estimate = || warpmem_simt::estimated_registers(module, found);
        let registers = registers.get(&kernel.name).copied().unwrap_or_else(estimate);
        let body = module.function(found).body.as_ref();
        let shared = body
            .map_or(0, |body| body.shared.iter().map(|&id| module.variable(id).bytes).sum::<u64>());
        Ok((registers, shared as u32))
    }

    /// Returns the number of CTAs of a kernel that fit on an SM.
    ///
    /// # Errors
    /// When the kernel does not exist.
    pub fn occupancy(&self, id: KernelId, threads: u32, shared: usize) -> Outcome<u32> {
        let (registers, of_kernel) = self.needs(id)?;
        let shared = of_kernel.saturating_add(u32::try_from(shared).unwrap_or(u32::MAX));
        Ok(occupancy(self.device(), threads, registers, shared))
    }

    /// Returns the dynamic shared memory, in bytes, available to each of `ctas` CTAs on an SM.
    ///
    /// # Errors
    /// When the kernel does not exist, or `ctas` CTAs do not fit on an SM.
    pub fn shared_left(&self, id: KernelId, ctas: u32, threads: u32) -> Outcome<u32> {
        let (_, of_kernel) = self.needs(id)?;
        if ctas == 0 || self.occupancy(id, threads, 0)? < ctas {
            return Err(Status::INVALID_VALUE.into());
        }
        let of_each = self.device().shared_bytes / ctas / SHARED_UNIT * SHARED_UNIT;
        Ok(of_each.saturating_sub(of_kernel))
    }
}
