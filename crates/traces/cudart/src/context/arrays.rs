//! Operations on arrays and textures.

use warpmem_simt::{TexelFormat, Texture};

use crate::status::{Failure, Outcome, Status};

use super::engine::Engine;
use super::kernels::ModuleId;
use super::textures::{ArrayShape, TextureSampling};

/// Row alignment of arrays, bytes, as for `cudaMallocPitch`.
const PITCH: u64 = 512;

impl Engine {
    /// Allocates rows aligned to the pitch; returns address and pitch.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub fn allocate_rows(&mut self, width: u64, rows: u64) -> Outcome<(u64, u64)> {
        let pitch = width.max(1).checked_next_multiple_of(PITCH).ok_or(Status::OUT_OF_MEMORY)?;
        let bytes = pitch.checked_mul(rows.max(1)).ok_or(Status::OUT_OF_MEMORY)?;
        Ok((self.allocate(bytes)?, pitch))
    }

    /// Allocates an array; its address is its handle.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub fn create_array(
        &mut self,
        format: TexelFormat,
        [width, height, depth]: [u64; 3],
    ) -> Outcome<u64> {
        let rows = height.max(1).checked_mul(depth.max(1)).ok_or(Status::OUT_OF_MEMORY)?;
        let row = width.checked_mul(format.bytes()).ok_or(Status::OUT_OF_MEMORY)?;
        let (address, pitch) = self.allocate_rows(row, rows)?;
        self.textures.arrays.insert(address, ArrayShape { format, width, height, depth, pitch });
        Ok(address)
    }

    /// Destroys an array.
    ///
    /// # Errors
    /// When the array does not exist.
    pub fn destroy_array(&mut self, handle: u64) -> Outcome<()> {
        self.textures.arrays.remove(&handle).ok_or(Status::INVALID_HANDLE)?;
        self.free(handle)
    }

    /// Returns the shape of an array.
    ///
    /// # Errors
    /// When the array does not exist.
    pub fn array(&self, handle: u64) -> Outcome<ArrayShape> {
        self.textures.arrays.get(&handle).copied().ok_or(Status::INVALID_HANDLE.into())
    }

    /// Creates a texture over an array.
    ///
    /// # Errors
    /// When the array does not support the sampling mode.
    pub fn texture_of_array(&mut self, array: u64, request: TextureSampling) -> Outcome<u64> {
        let shape = self.array(array)?;
        if shape.depth > 0 {
            let why = "three-dimensional textures are not supported";
            return Err(Failure::new(Status::NOT_SUPPORTED, why));
        }
        let rows = [shape.width, shape.height.max(1), shape.pitch];
        self.texture(array, shape.format, rows, request)
    }

    /// Creates a texture over rows in device memory: texels per row, rows, and bytes from one row to the
    /// next.
    ///
    /// # Errors
    /// When the rows do not support the sampling mode.
    pub fn texture(
        &mut self,
        address: u64,
        format: TexelFormat,
        [width, height, pitch]: [u64; 3],
        request: TextureSampling,
    ) -> Outcome<u64> {
        let size = |size: u64| u32::try_from(size).map_err(|_| Status::INVALID_VALUE);
        let TextureSampling { filter, read, address_modes, normalised } = request;
        let texture = Texture {
            address,
            width: size(width)?,
            height: size(height)?,
            pitch,
            format,
            read,
            filter,
            address_modes,
            normalised,
        };
        Ok(self.memory.create_texture(texture)?)
    }

    /// Binds a texture reference to a texture, replacing the previous one.
    ///
    /// # Errors
    /// When there is no such reference.
    pub fn bind_texture(&mut self, module: ModuleId, name: &str, handle: u64) -> Outcome<()> {
        self.bind(module, name, handle)?;
        let before = self.textures.bound.insert((module, name.to_owned()), handle);
        before.map(|before| self.memory.destroy_texture(before));
        Ok(())
    }
}
