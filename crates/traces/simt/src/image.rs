//! A module in device memory: assigns addresses to its variables and writes their initial values.

use std::sync::Arc;

use warpmem_ptx::{FunctionId, Module, Reference, Space, Target, VariableId};

use crate::error::LaunchError;
use crate::machine::Generation;
use crate::memory::DeviceMemory;
use crate::texture::TextureError;

/// First function address, above all data.
const CODE: u64 = 0x7fff_0000_0000;
/// Distance between function addresses, bytes.
const FUNCTION_BYTES: u64 = 0x1_0000;

/// Window of shared memory in generic addresses; each CTA of a cluster has 2^24 addresses in it.
pub(crate) const SHARED_WINDOW: std::ops::Range<u64> = 0x1000_0000..0x1_0000_0000;
/// Window of local memory in generic addresses.
pub(crate) const LOCAL_WINDOW: std::ops::Range<u64> = 0x0200_0000..0x0300_0000;
/// Window of parameters in generic addresses.
pub(crate) const PARAM_WINDOW: std::ops::Range<u64> = 0x0300_0000..0x0400_0000;

/// A loaded module.
#[derive(Clone, Debug)]
pub struct Image {
    pub(crate) module: Arc<Module>,
    /// Address of each global or constant variable.
    addresses: Vec<Option<u64>>,
    /// Machine code of its records.
    generation: Generation,
}

impl Image {
    /// Loads a module's global and constant variables into device memory.
    ///
    /// # Errors
    /// When they do not fit, or one is defined in another module.
    pub fn load(module: Module, memory: &mut DeviceMemory) -> Result<Image, LaunchError> {
        let mut addresses = vec![None; module.variables.len()];
        for (variable, address) in module.variables.iter().zip(&mut addresses) {
            if !matches!(variable.space, Space::Global | Space::Constant) {
                continue;
            }
            if variable.external {
                return Err(LaunchError::External { name: variable.name.clone() });
            }
            let placed = memory.allocate(variable.bytes).map_err(|error| {
                LaunchError::Variable { name: variable.name.clone(), reason: Box::new(error) }
            })?;
            if let Some(bytes) = memory.bytes_mut(placed, variable.initial.len() as u64) {
                bytes.copy_from_slice(&variable.initial);
            }
            *address = Some(placed);
        }
        let generation = Generation::of(module.sm_version());
        let image = Image { module: Arc::new(module), addresses, generation };
        image.relocate(memory);
        Ok(image)
    }

    /// Selects the generation whose machine code records count, instead of the target's.
    #[must_use]
    pub fn for_generation(mut self, generation: Generation) -> Image {
        self.generation = generation;
        self
    }

    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    fn relocate(&self, memory: &mut DeviceMemory) {
        for (variable, address) in self.module.variables.iter().zip(&self.addresses) {
            let Some(address) = address else { continue };
            for relocation in &variable.relocations {
                let target = match relocation.target {
                    Target::Variable(id) => self.address(id).unwrap_or_default(),
                    Target::Function(id) => function_address(id),
                };
                let value = target.wrapping_add_signed(relocation.offset);
                let part = &(value >> relocation.shift).to_le_bytes()[..relocation.bytes as usize];
                if let Some(bytes) = memory.bytes_mut(address + relocation.at, part.len() as u64) {
                    bytes.copy_from_slice(part);
                }
            }
        }
    }

    /// Returns the address of a variable in global or constant memory.
    pub fn address(&self, id: VariableId) -> Option<u64> {
        self.addresses[id.0 as usize]
    }

    /// Returns the address and size of the global or constant variable `name`.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        let at = self.module.variables.iter().position(|variable| variable.name == name)?;
        Some((self.addresses[at]?, self.module.variables[at].bytes))
    }

    /// Binds a texture reference of the module (`.texref`) to a texture: the variable's value becomes the
    /// handle.
    ///
    /// # Errors
    /// When the reference or the texture does not exist.
    pub fn bind(
        &self,
        name: &str,
        memory: &mut DeviceMemory,
        handle: u64,
    ) -> Result<(), TextureError> {
        if memory.texture(handle).is_none() {
            return Err(TextureError::Handle(handle));
        }
        let address = self.reference(name)?;
        if let Some(bytes) = memory.bytes_mut(address, 8) {
            bytes.copy_from_slice(&handle.to_le_bytes());
        }
        Ok(())
    }

    /// Returns the address of the texture reference `name`.
    fn reference(&self, name: &str) -> Result<u64, TextureError> {
        let variables = self.module.variables.iter().zip(&self.addresses);
        let mut references = variables.filter(|(v, _)| v.reference == Some(Reference::Texture));
        let found = references.clone().find(|(variable, _)| variable.name == name);
        found.and_then(|(_, address)| *address).ok_or_else(|| {
            let names: Vec<&str> = references.by_ref().map(|(v, _)| v.name.as_str()).collect();
            let known = if names.is_empty() { "none".into() } else { names.join(", ") };
            TextureError::Reference { name: name.to_owned(), known }
        })
    }

    pub fn module(&self) -> &Module {
        &self.module
    }
}

/// Returns the address of a function.
pub(crate) fn function_address(id: FunctionId) -> u64 {
    CODE + u64::from(id.0) * FUNCTION_BYTES
}

/// Returns the function at an address.
pub(crate) fn function_at(address: u64) -> Option<FunctionId> {
    let offset = address.checked_sub(CODE)?;
    let id = u32::try_from(offset / FUNCTION_BYTES).ok()?;
    (offset % FUNCTION_BYTES == 0).then_some(FunctionId(id))
}
