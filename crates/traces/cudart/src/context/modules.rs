//! Operations on modules: loading, symbols, and the handles of their kernels.

use std::ffi::{CStr, CString};

use warpmem_ptx::fatbin::{self, FatBinaryError};
use warpmem_ptx::{Function, VariableId};
use warpmem_simt::{Generation, Image, Programs};

use crate::status::{Failure, Outcome, Status};

use super::engine::Engine;
use super::kernels::{ClusterAttributes, FIRST_HANDLE, Kernel, KernelId, Loaded, ModuleId};
use super::registry::{FatBinaryId, Registry};

impl Engine {
    /// Loads containers or PTX; several texts are linked into one module.
    ///
    /// # Errors
    /// When there is no PTX, or it is invalid.
    pub fn load(&mut self, containers: &[Vec<u8>]) -> Outcome<ModuleId> {
        let mut texts = Vec::new();
        for container in containers {
            texts.push(self.ptx_of(container)?);
        }
        // Linked device code: the texts, concatenated, form one module.
        let text = texts.join("\n");
        let module = warpmem_ptx::parse(&text)
            .map_err(|error| Failure::new(Status::INVALID_PTX, error.to_string()))?;
        let generation = Generation::of(self.architecture());
        let image = Image::load(module, &mut self.memory)?.for_generation(generation);
        let registers = self.relayed.module(&text);
        self.kernels.modules.push(Some(Loaded { image, programs: Programs::default(), registers }));
        Ok(self.kernels.modules.len() - 1)
    }

    /// Selects the PTX of a container: the highest architecture not above the device's, otherwise the lowest.
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
                    "the program only has PTX for sm_{lowest} and above, the device is sm_{highest}: its kernels are executed all the same"
                ));
                fatbin::ptx(container, lowest).map_err(refused)
            }
            found => found.map_err(refused),
        }
    }

    /// Unloads a module.
    ///
    /// # Errors
    /// When the module is not loaded.
    pub fn unload(&mut self, id: ModuleId) -> Outcome<()> {
        self.kernels.loaded(id)?;
        self.kernels.modules[id] = None;
        Ok(())
    }

    /// Returns the module of a registered fat binary, loading it on first use.
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

    /// Returns the managed variables of a fat binary: where the host stores each address, and the address.
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

    /// Returns the handle of a module's kernel.
    ///
    /// # Errors
    /// When the module has no such kernel.
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

    /// Returns the names of a module's kernels, in order.
    ///
    /// # Errors
    /// When the module is not loaded.
    pub fn kernel_names(&self, module: ModuleId) -> Outcome<Vec<String>> {
        let module = self.kernels.loaded(module)?.image.module();
        Ok(module.kernels().map(|kernel| kernel.name.clone()).collect())
    }

    pub(super) fn kernel_of(&self, id: KernelId) -> Outcome<&Kernel> {
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

    /// Returns a kernel's code.
    pub(super) fn function(&self, id: KernelId) -> Outcome<&Function> {
        let kernel = self.kernel_of(id)?;
        let module = self.kernels.loaded(kernel.module)?.image.module();
        let found = module.kernel(&kernel.name).ok_or(Status::INVALID_DEVICE_FUNCTION)?;
        Ok(module.function(found))
    }

    /// Returns a kernel's name.
    ///
    /// # Errors
    /// When the kernel does not exist.
    pub fn kernel_name(&self, id: KernelId) -> Outcome<&CStr> {
        Ok(&self.kernel_of(id)?.c_name)
    }

    /// Returns the module of a kernel.
    ///
    /// # Errors
    /// When the kernel does not exist.
    pub fn module_of_kernel(&self, id: KernelId) -> Outcome<ModuleId> {
        Ok(self.kernel_of(id)?.module)
    }

    /// Resolves a host function, or a handle, to its kernel.
    ///
    /// # Errors
    /// When it denotes no kernel, or the module cannot be loaded.
    pub fn kernel_at(&mut self, function: usize, registry: &Registry) -> Outcome<KernelId> {
        let Some((binary, name)) = registry.kernel(function) else {
            return self.kernel_of(KernelId(function)).map(|_| KernelId(function));
        };
        let module = self.module_of(*binary, registry)?;
        self.kernel(module, name)
    }

    /// Resolves a host variable to the address and size of its device variable.
    ///
    /// # Errors
    /// When it denotes no device variable, or the module cannot be loaded.
    pub fn symbol_at(&mut self, variable: usize, registry: &Registry) -> Outcome<(u64, u64)> {
        let symbol = registry.symbol(variable).ok_or(Status::INVALID_SYMBOL)?;
        let module = self.module_of(symbol.binary, registry)?;
        self.symbol(module, &symbol.name)
    }

    /// Returns the address and size of a module's variable.
    ///
    /// # Errors
    /// When there is no such variable.
    pub fn symbol(&self, module: ModuleId, name: &str) -> Outcome<(u64, u64)> {
        let found = self.kernels.loaded(module)?.image.symbol(name);
        found.ok_or_else(|| {
            Failure::new(Status::INVALID_SYMBOL, format!("there is no device variable `{name}`"))
        })
    }

    /// Binds a texture reference of a module to a texture.
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

    /// Returns the size and alignment, in bytes, of a kernel's parameters, in order.
    ///
    /// # Errors
    /// When the kernel does not exist.
    pub fn params(&self, id: KernelId) -> Outcome<Vec<(usize, usize)>> {
        let module = self.kernels.loaded(self.kernel_of(id)?.module)?.image.module();
        let size = |id: &VariableId| {
            let variable = module.variable(*id);
            (variable.bytes as usize, variable.align.max(1) as usize)
        };
        Ok(self.function(id)?.params.iter().map(size).collect())
    }
}
