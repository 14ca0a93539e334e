//! Arrays, texture objects, and texture references of older programs.

use warpmem_simt::{Filter, ReadMode};

use crate::context::{self, Engine, Registry, TextureSampling, address_mode, texel_format};
use crate::host;
use crate::runtime::Address;
use crate::runtime::memory::Extent;
use crate::status::{Failure, Outcome, Status};

/// `cudaChannelFormatDesc`: bits of x, y, z, w, and kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Channels([i32; 5]);

/// `cudaResourceDesc`, in words of 8 bytes: its kind and, for memory other than an array: address, channels,
/// and size or width, height, pitch.
#[repr(C)]
#[derive(Clone, Copy)]
struct Resource {
    kind: u32,
    address: Address,
    channels: Channels,
    sizes: [usize; 3],
}

const OF_ARRAY: u32 = 0;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// `cudaTextureDesc`, up to its last used field.
#[repr(C)]
#[derive(Clone, Copy)]
struct TextureDescription {
    address_modes: [i32; 3],
    filter: i32,
    read: i32,
    srgb: i32,
    border: [f32; 4],
    normalised: i32,
}

/// `textureReference`, up to its last used field.
#[repr(C)]
#[derive(Clone, Copy)]
struct TextureReference {
    normalised: i32,
    filter: i32,
    address_modes: [i32; 3],
    channels: Channels,
}

fn request(filter: i32, read: bool, modes: [i32; 3], normalised: i32) -> Outcome<TextureSampling> {
    Ok(TextureSampling {
        filter: if filter == 1 { Filter::Linear } else { Filter::Point },
        read: if read { ReadMode::NormalisedFloat } else { ReadMode::Element },
        address_modes: [address_mode(modes[0])?, address_mode(modes[1])?],
        normalised: normalised != 0,
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: i32) -> Channels {
    Channels([x, y, z, w, kind])
}

/// Creates an array.
///
/// # Safety
/// `to` is null or valid for writes, and `channels` null or valid for reads.
unsafe fn create_array(to: *mut Address, channels: *const Channels, sizes: [u64; 3]) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        let format = texel_format(unsafe { host::get(channels) }?.0)?;
        let array = engine.create_array(format, sizes)?;
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, array) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMallocArray(
    to: *mut Address,
    channels: *const Channels,
    width: usize,
    height: usize,
    _flags: u32,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { create_array(to, channels, [width as u64, height as u64, 0]) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMalloc3DArray(
    to: *mut Address,
    channels: *const Channels,
    extent: Extent,
    _flags: u32,
) -> Status {
    let Extent { width, height, depth } = extent;
    // SAFETY: guaranteed by the caller.
    unsafe { create_array(to, channels, [width as u64, height as u64, depth as u64]) }
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeArray(array: Address) -> Status {
    context::run_and_note(|engine, _| match array {
        0 => Ok(()),
        _ => engine.destroy_array(array),
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaCreateTextureObject(
    to: *mut Address,
    resource: *const Resource,
    description: *const TextureDescription,
    _view: Address,
) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        let (resource, how) = unsafe { (host::get(resource)?, host::get(description)?) };
        let request = request(how.filter, how.read == 1, how.address_modes, how.normalised)?;
        let [first, second, third] = resource.sizes.map(|size| size as u64);
        let texture = match resource.kind {
            OF_ARRAY => engine.texture_of_array(resource.address, request)?,
            LINEAR => {
                let format = texel_format(resource.channels.0)?;
                let texels = first / format.bytes().max(1);
                engine.texture(resource.address, format, [texels, 1, first], request)?
            }
            PITCHED => {
                let format = texel_format(resource.channels.0)?;
                engine.texture(resource.address, format, [first, second, third], request)?
            }
            _ => {
                let why = "textures of mipmapped arrays are not supported";
                return Err(Failure::new(Status::NOT_SUPPORTED, why));
            }
        };
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, texture) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDestroyTextureObject(texture: Address) -> Status {
    context::run_and_note(|engine, _| match engine.memory.destroy_texture(texture) {
        true => Ok(()),
        false => Err(Status::INVALID_VALUE.into()),
    })
}

/// Binds the texture that `make` creates to the reference that a host variable denotes.
///
/// # Safety
/// `reference` is null or points to a reference.
unsafe fn bind(
    reference: *const TextureReference,
    make: impl FnOnce(&mut Engine, TextureSampling, Channels) -> Outcome<Address>,
) -> Status {
    context::run_and_note(|engine, registry: &Registry| {
        let symbol =
            registry.symbol(reference.expose_provenance()).ok_or(Status::INVALID_TEXTURE)?;
        // SAFETY: guaranteed by the caller.
        let how = unsafe { host::get(reference) }?;
        let request = request(how.filter, symbol.is_normalised, how.address_modes, how.normalised)?;
        let module = engine.module_of(symbol.binary, registry)?;
        let texture = make(engine, request, how.channels)?;
        engine.bind_texture(module, &symbol.name, texture)
    })
}

/// Returns the caller's channels, or else those of the reference.
///
/// # Safety
/// `given` is null or valid for reads.
unsafe fn channels(given: *const Channels, of_reference: Channels) -> Channels {
    // SAFETY: guaranteed by the caller.
    unsafe { host::get(given) }.unwrap_or(of_reference)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaBindTexture(
    offset: *mut usize,
    reference: *const TextureReference,
    address: Address,
    given: *const Channels,
    bytes: usize,
) -> Status {
    let make = |engine: &mut Engine, request, of_reference| {
        // SAFETY: guaranteed by the caller.
        let format = texel_format(unsafe { channels(given, of_reference) }.0)?;
        // A size beyond the allocation means all of it.
        let (base, length) = engine.memory.extent(address).ok_or(Status::INVALID_VALUE)?;
        let bytes = (bytes as u64).min(base + length - address);
        if !offset.is_null() {
            // SAFETY: guaranteed by the caller.
            unsafe { host::put(offset, 0) }?;
        }
        let texels = bytes / format.bytes().max(1);
        engine.texture(address, format, [texels, 1, bytes], request)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { bind(reference, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaBindTexture2D(
    offset: *mut usize,
    reference: *const TextureReference,
    address: Address,
    given: *const Channels,
    width: usize,
    height: usize,
    pitch: usize,
) -> Status {
    let make = |engine: &mut Engine, request, of_reference| {
        // SAFETY: guaranteed by the caller.
        let format = texel_format(unsafe { channels(given, of_reference) }.0)?;
        if !offset.is_null() {
            // SAFETY: guaranteed by the caller.
            unsafe { host::put(offset, 0) }?;
        }
        engine.texture(address, format, [width as u64, height as u64, pitch as u64], request)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { bind(reference, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaBindTextureToArray(
    reference: *const TextureReference,
    array: Address,
    _given: *const Channels,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { bind(reference, |engine, request, _| engine.texture_of_array(array, request)) }
}

/// Does nothing: a binding lasts until the next one.
#[unsafe(no_mangle)]
extern "C" fn cudaUnbindTexture(_reference: Address) -> Status {
    context::run_and_note(|_, _| Ok(()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetChannelDesc(to: *mut Channels, array: Address) -> Status {
    context::run_and_note(|engine, _| {
        let format = engine.array(array)?.format;
        let bits = |channel: u8| if channel < format.channels { format.bits.into() } else { 0 };
        let channels = Channels([bits(0), bits(1), bits(2), bits(3), format.kind as i32]);
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, channels) }
    })
}
