//! A module in device memory: its variables have addresses and their first values.

use std::sync::Arc;

use warpmem_ptx::{FunctionId, Module, Reference, Space, Target, VariableId};

use crate::error::LaunchError;
use crate::memory::DeviceMemory;
use crate::texture::TextureError;

/// Addresses of functions: above every address of data.
const CODE: u64 = 0x7fff_0000_0000;
/// Bytes between the addresses of two functions.
const FUNCTION_BYTES: u64 = 0x1_0000;

/// Generic addresses of shared memory: a window, in which the memory of each CTA of a cluster has
/// 2^24 addresses.
pub(crate) const SHARED_WINDOW: std::ops::Range<u64> = 0x1000_0000..0x1_0000_0000;
/// Generic addresses of local memory: a window.
pub(crate) const LOCAL_WINDOW: std::ops::Range<u64> = 0x0200_0000..0x0300_0000;
/// Generic addresses of parameters: a window.
pub(crate) const PARAM_WINDOW: std::ops::Range<u64> = 0x0300_0000..0x0400_0000;

/// A loaded module.
#[derive(Clone, Debug)]
pub struct Image {
    pub(crate) module: Arc<Module>,
    /// By variable: its address, of those in global and constant memory.
    addresses: Vec<Option<u64>>,
}

impl Image {
    /// Puts a module's global and constant variables into device memory.
    ///
    /// # Errors
    /// When they do not fit, or one is defined elsewhere.
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
        let image = Image { module: Arc::new(module), addresses };
        image.relocate(memory);
        Ok(image)
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

    /// The address of a variable in global or constant memory.
    pub fn address(&self, id: VariableId) -> Option<u64> {
        self.addresses[id.0 as usize]
    }

    /// The address and size of the global or constant variable of a name.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        let at = self.module.variables.iter().position(|variable| variable.name == name)?;
        Some((self.addresses[at]?, self.module.variables[at].bytes))
    }

    /// Lets a texture reference of the module (`.texref`) stand for a texture: the value of the
    /// variable is its handle.
    ///
    /// # Errors
    /// When there is no such reference, or no texture with the handle.
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

    /// The address of the texture reference of a name.
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

/// The address of a function.
pub(crate) fn function_address(id: FunctionId) -> u64 {
    CODE + u64::from(id.0) * FUNCTION_BYTES
}

/// The function at an address.
pub(crate) fn function_at(address: u64) -> Option<FunctionId> {
    let offset = address.checked_sub(CODE)?;
    let id = u32::try_from(offset / FUNCTION_BYTES).ok()?;
    (offset % FUNCTION_BYTES == 0).then_some(FunctionId(id))
}
