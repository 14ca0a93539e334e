//! Modules and their kernels.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};

use warpmem_ptx::fatbin::{self, FatBinaryError};
use warpmem_ptx::{Function, VariableId};
use warpmem_simt::{AccessWindow, Image, Launch, Params, Programs, Run, WORKSPACE};
use warpmem_trace::KernelInfo;

use crate::status::{Failure, Outcome, Status};

use super::clusters::ClusterAttributes;
use super::device::{SHARED_UNIT, occupancy};
use super::engine::Engine;
use super::registry::{FatBinaryId, Registry};
use super::relayed::warn;

/// A module that is loaded.
pub type ModuleId = usize;

/// A kernel, by the handle that programs have: its place in the table and more than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelId(pub usize);

/// Handles of kernels begin here; a function of the host does not lie so low.
const FIRST_HANDLE: usize = 0x100;

struct Loaded {
    image: Image,
    programs: Programs,
    /// Registers of a thread, of kernels for which they are known exactly.
    registers: BTreeMap<String, u32>,
}

#[derive(Clone)]
struct Kernel {
    module: ModuleId,
    name: String,
    /// The name as programs of C read it.
    c_name: CString,
    cluster: ClusterAttributes,
}

/// All modules that are loaded.
#[derive(Default)]
pub struct Kernels {
    /// `None`: unloaded.
    modules: Vec<Option<Loaded>>,
    of_binaries: BTreeMap<FatBinaryId, ModuleId>,
    kernels: Vec<Kernel>,
    by_name: BTreeMap<(ModuleId, String), KernelId>,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug)]
pub struct LaunchShape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// CTAs of a cluster, if the launch says them.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Handle.
    pub stream: u64,
    /// CTAs may wait for each other.
    pub is_cooperative: bool,
    /// What it says of accesses to some of global memory; `None`: as its stream.
    pub window: Option<AccessWindow>,
}

impl Kernels {
    /// As if nothing had been loaded.
    pub fn forget(&mut self) {
        self.of_binaries.clear();
        self.modules.iter_mut().for_each(|module| *module = None);
        self.by_name.clear();
    }

    fn loaded(&self, id: ModuleId) -> Outcome<&Loaded> {
        self.modules.get(id).and_then(Option::as_ref).ok_or(Status::INVALID_HANDLE.into())
    }
}

impl Engine {
    /// Loads containers, or PTX; several are linked.
    ///
    /// # Errors
    /// When it holds no PTX, or PTX that is none.
    pub fn load(&mut self, containers: &[Vec<u8>]) -> Outcome<ModuleId> {
        let mut texts = Vec::new();
        for container in containers {
            texts.push(self.ptx_of(container)?);
        }
        // Several are linked device code: one after the other they are one module.
        let text = texts.join("\n");
        let module = warpmem_ptx::parse(&text)
            .map_err(|error| Failure::new(Status::INVALID_PTX, error.to_string()))?;
        let image = Image::load(module, &mut self.memory)?;
        let registers = self.relayed.module(&text);
        self.kernels.modules.push(Some(Loaded { image, programs: Programs::default(), registers }));
        Ok(self.kernels.modules.len() - 1)
    }

    /// The PTX of a container for the highest architecture not above the device's; if all is above
    /// it, for the lowest.
    fn ptx_of(&mut self, container: &[u8]) -> Outcome<String> {
        let highest = self.architecture();
        let refused = |error: FatBinaryError| {
            let status = match error {
                FatBinaryError::NoPtx { .. } => Status::NO_BINARY,
                _ => Status::INVALID_IMAGE,
            };
            Failure::new(status, format!("a module of the program: {error}"))
        };
        match fatbin::ptx(container, highest) {
            Err(FatBinaryError::TooNew { architectures, .. }) => {
                let lowest = architectures.into_iter().min().unwrap_or_default();
                self.relayed.note(&format!(
                    "the program has PTX for sm_{lowest} and above only, the device is of \
                     sm_{highest}: its kernels are executed all the same"
                ));
                fatbin::ptx(container, lowest).map_err(refused)
            }
            found => found.map_err(refused),
        }
    }

    /// # Errors
    /// When no such module is loaded.
    pub fn unload(&mut self, id: ModuleId) -> Outcome<()> {
        self.kernels.loaded(id)?;
        self.kernels.modules[id] = None;
        Ok(())
    }

    /// The module of a registered fat binary, which is loaded if it was not.
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn module_of(&mut self, binary: FatBinaryId, registry: &Registry) -> Outcome<ModuleId> {
        if let Some(&id) = self.kernels.of_binaries.get(&binary) {
            return Ok(id);
        }
        let containers = registry.binary(binary).ok_or(Status::INVALID_HANDLE)?;
        let id = self.load(containers)?;
        self.kernels.of_binaries.insert(binary, id);
        Ok(id)
    }

    /// Managed variables of a fat binary: where the host is to have their addresses, and those.
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn managed(
        &mut self,
        binary: FatBinaryId,
        registry: &Registry,
    ) -> Outcome<Vec<(usize, u64)>> {
        let module = self.module_of(binary, registry)?;
        let address = |(pointer, name)| Ok((pointer, self.symbol(module, name)?.0));
        registry.managed(binary).map(address).collect()
    }

    /// The handle of a kernel of a module.
    ///
    /// # Errors
    /// When it has no such kernel.
    pub fn kernel(&mut self, module: ModuleId, name: &str) -> Outcome<KernelId> {
        let loaded = self.kernels.loaded(module)?;
        let key = (module, name.to_owned());
        if let Some(&id) = self.kernels.by_name.get(&key) {
            return Ok(id);
        }
        if loaded.image.module().kernel(name).is_none() {
            return Err(Failure::new(Status::NOT_FOUND, format!("there is no kernel `{name}`")));
        }
        let c_name = CString::new(name).map_err(|_| Status::NOT_FOUND)?;
        let (name, cluster) = (name.to_owned(), ClusterAttributes::default());
        self.kernels.kernels.push(Kernel { module, name, c_name, cluster });
        let id = KernelId(FIRST_HANDLE + self.kernels.kernels.len() - 1);
        self.kernels.by_name.insert(key, id);
        Ok(id)
    }

    /// The names of a module's kernels, in their order.
    ///
    /// # Errors
    /// When no such module is loaded.
    pub fn kernel_names(&self, module: ModuleId) -> Outcome<Vec<String>> {
        let module = self.kernels.loaded(module)?.image.module();
        Ok(module.kernels().map(|kernel| kernel.name.clone()).collect())
    }

    fn kernel_of(&self, id: KernelId) -> Outcome<&Kernel> {
        let at = id.0.checked_sub(FIRST_HANDLE);
        at.and_then(|at| self.kernels.kernels.get(at)).ok_or(Status::INVALID_DEVICE_FUNCTION.into())
    }

    pub(super) fn cluster_attributes(&self, id: KernelId) -> Outcome<&ClusterAttributes> {
        Ok(&self.kernel_of(id)?.cluster)
    }

    pub(super) fn cluster_attributes_mut(
        &mut self,
        id: KernelId,
    ) -> Outcome<&mut ClusterAttributes> {
        let at = id.0.checked_sub(FIRST_HANDLE);
        let kernel = at.and_then(|at| self.kernels.kernels.get_mut(at));
        Ok(&mut kernel.ok_or(Status::INVALID_DEVICE_FUNCTION)?.cluster)
    }

    /// A kernel's code.
    pub(super) fn function(&self, id: KernelId) -> Outcome<&Function> {
        let kernel = self.kernel_of(id)?;
        let module = self.kernels.loaded(kernel.module)?.image.module();
        let found = module.kernel(&kernel.name).ok_or(Status::INVALID_DEVICE_FUNCTION)?;
        Ok(module.function(found))
    }

    /// # Errors
    /// When there is no such kernel.
    pub fn kernel_name(&self, id: KernelId) -> Outcome<&CStr> {
        Ok(&self.kernel_of(id)?.c_name)
    }

    /// # Errors
    /// When there is no such kernel.
    pub fn module_of_kernel(&self, id: KernelId) -> Outcome<ModuleId> {
        Ok(self.kernel_of(id)?.module)
    }

    /// The kernel that a function of the host stands for, or a handle.
    ///
    /// # Errors
    /// When it stands for none, or its module cannot be loaded.
    pub fn kernel_at(&mut self, function: usize, registry: &Registry) -> Outcome<KernelId> {
        let Some((binary, name)) = registry.kernel(function) else {
            return self.kernel_of(KernelId(function)).map(|_| KernelId(function));
        };
        let module = self.module_of(*binary, registry)?;
        self.kernel(module, name)
    }

    /// The address and size of the device's variable that one of the host stands for.
    ///
    /// # Errors
    /// When it stands for none, or its module cannot be loaded.
    pub fn symbol_at(&mut self, variable: usize, registry: &Registry) -> Outcome<(u64, u64)> {
        let symbol = registry.symbol(variable).ok_or(Status::INVALID_SYMBOL)?;
        let module = self.module_of(symbol.binary, registry)?;
        self.symbol(module, &symbol.name)
    }

    /// The address and size of a variable of a module.
    ///
    /// # Errors
    /// When there is none of the name.
    pub fn symbol(&self, module: ModuleId, name: &str) -> Outcome<(u64, u64)> {
        let found = self.kernels.loaded(module)?.image.symbol(name);
        found.ok_or_else(|| {
            Failure::new(Status::INVALID_SYMBOL, format!("there is no device variable `{name}`"))
        })
    }

    /// Lets a texture reference of a module stand for a texture.
    ///
    /// # Errors
    /// When there is no such reference.
    pub(super) fn bind(&mut self, module: ModuleId, name: &str, handle: u64) -> Outcome<()> {
        let loaded = self.kernels.modules.get(module).and_then(Option::as_ref);
        let loaded = loaded.ok_or(Status::INVALID_HANDLE)?;
        loaded
            .image
            .bind(name, &mut self.memory, handle)
            .map_err(|error| Failure::new(Status::INVALID_TEXTURE, error.to_string()))
    }

    /// Bytes and alignment of a kernel's parameters, in their order.
    ///
    /// # Errors
    /// When there is no such kernel.
    pub fn params(&self, id: KernelId) -> Outcome<Vec<(usize, usize)>> {
        let module = self.kernels.loaded(self.kernel_of(id)?.module)?.image.module();
        let size = |id: &VariableId| {
            let variable = module.variable(*id);
            (variable.bytes as usize, variable.align.max(1) as usize)
        };
        Ok(self.function(id)?.params.iter().map(size).collect())
    }

    /// Executes a kernel with arguments of the sizes that its parameters have.
    ///
    /// # Errors
    /// When it cannot be launched, or fails.
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
                    // The program's own mistake, which it is told of as by a GPU.
                    Status::INVALID_CONFIGURATION | Status::INVALID_CLUSTER_SIZE => warn(why),
                    _ => relayed.failed(&launch.kernel, why),
                }
                // The user is told; the status says the rest.
                if failure.status.is_sticky() {
                    self.failed(failure.status, None);
                }
                Err(failure.status.into())
            }
        }
    }

    /// Registers of a thread and bytes of static shared memory of a kernel.
    ///
    /// # Errors
    /// When there is no such kernel.
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
}

impl Engine {
    /// CTAs of a kernel that an SM has room for.
    ///
    /// # Errors
    /// When there is no such kernel.
    pub fn occupancy(&self, id: KernelId, threads: u32, shared: usize) -> Outcome<u32> {
        let (registers, of_kernel) = self.needs(id)?;
        let shared = of_kernel.saturating_add(u32::try_from(shared).unwrap_or(u32::MAX));
        Ok(occupancy(self.device(), threads, registers, shared))
    }

    /// Bytes of dynamic shared memory that each CTA can have if an SM holds `ctas` of them.
    ///
    /// # Errors
    /// When there is no such kernel, or an SM has no room for them.
    pub fn shared_left(&self, id: KernelId, ctas: u32, threads: u32) -> Outcome<u32> {
        let (_, of_kernel) = self.needs(id)?;
        if ctas == 0 || self.occupancy(id, threads, 0)? < ctas {
            return Err(Status::INVALID_VALUE.into());
        }
        let of_each = self.device().shared_bytes / ctas / SHARED_UNIT * SHARED_UNIT;
        Ok(of_each.saturating_sub(of_kernel))
    }
}
