//! Arrays and textures: their shapes, formats and sampling modes.

use std::collections::BTreeMap;

use warpmem_simt::{AddressMode, Filter, ReadMode, TexelFormat, TexelKind, TextureError};

use crate::status::{Failure, Outcome, Status};

use super::kernels::ModuleId;

/// Shape of an array: texels in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayShape {
    pub format: TexelFormat,
    /// Texels per row.
    pub width: u64,
    /// Rows; 0 for a one-dimensional array.
    pub height: u64,
    /// Layers of a three-dimensional array, otherwise 0.
    pub depth: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
}

/// Sampling mode of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureSampling {
    pub filter: Filter,
    pub read: ReadMode,
    pub address_modes: [AddressMode; 2],
    pub normalised: bool,
}

/// Arrays by address, and textures by the reference they are bound to.
#[derive(Default)]
pub struct Textures {
    pub arrays: BTreeMap<u64, ArrayShape>,
    pub bound: BTreeMap<(ModuleId, String), u64>,
}

impl From<TextureError> for Failure {
    fn from(error: TextureError) -> Failure {
        Failure::new(Status::INVALID_VALUE, error.to_string())
    }
}

/// Returns the texel format of a channel description (`cudaChannelFormatDesc`): bits of x, y, z, w, and kind.
///
/// # Errors
/// When there is no such format.
pub fn texel_format([x, y, z, w, kind]: [i32; 5]) -> Outcome<TexelFormat> {
    let kind = match kind {
        0 => TexelKind::Signed,
        1 => TexelKind::Unsigned,
        2 => TexelKind::Float,
        _ => return Err(Status::INVALID_VALUE.into()),
    };
    let channels = [x, y, z, w].iter().take_while(|&&bits| bits > 0).count() as u8;
    let bits = u8::try_from(x).map_err(|_| Status::INVALID_VALUE)?;
    Ok(TexelFormat { kind, bits, channels })
}

/// Returns the address mode of a number (`cudaTextureAddressMode`).
///
/// # Errors
/// When no mode has the number.
pub fn address_mode(number: i32) -> Outcome<AddressMode> {
    match number {
        0 => Ok(AddressMode::Wrap),
        1 => Ok(AddressMode::Clamp),
        2 => Ok(AddressMode::Mirror),
        3 => Ok(AddressMode::Border),
        _ => Err(Status::INVALID_VALUE.into()),
    }
}
