//! Copies and fills.

use crate::context::{self, Engine};
use crate::host;
use crate::runtime::Address;
use crate::runtime::memory::{Extent, Pitched};
use crate::status::{Outcome, Status};

/// `cudaMemcpyKind`, as the number that a program passes.
pub type Direction = u32;

const HOST_TO_HOST: Direction = 0;
pub const TO_DEVICE: Direction = 1;
pub const TO_HOST: Direction = 2;
pub const ON_DEVICE: Direction = 3;
/// Direction determined by the addresses.
pub const ANY: Direction = 4;

/// Rows of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub address: Address,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Bytes from one layer of rows to the next.
    pub layer: u64,
}

impl Rows {
    /// Describes consecutive bytes.
    pub fn line(address: Address) -> Rows {
        Rows { address, pitch: 0, layer: 0 }
    }

    fn at(&self, row: u64, layer: u64) -> Address {
        let offset = layer.wrapping_mul(self.layer).wrapping_add(row.wrapping_mul(self.pitch));
        self.address.wrapping_add(offset)
    }
}

/// Returns the host pointer to bytes; the direction tells whether they are in device memory.
fn place(
    engine: &mut Engine,
    address: Address,
    length: u64,
    is_on_device: bool,
) -> Outcome<*mut u8> {
    match is_on_device {
        true => engine.place(address, length),
        false => Ok(std::ptr::with_exposed_provenance_mut(address as usize)),
    }
}

/// Copies `[width, height, depth]`: bytes per row, rows and layers.
///
/// # Safety
/// A side in host memory, by the direction, is readable or writable.
pub unsafe fn copy(
    engine: &mut Engine,
    to: Rows,
    from: Rows,
    [width, height, depth]: [u64; 3],
    direction: Direction,
) -> Outcome<()> {
    let on_device = match direction {
        HOST_TO_HOST => [false, false],
        TO_DEVICE => [true, false],
        TO_HOST => [false, true],
        ON_DEVICE => [true, true],
        ANY => [to, from].map(|rows| engine.is_of_device(rows.address)),
        _ => return Err(Status::INVALID_COPY_DIRECTION.into()),
    };
    for (layer, row) in (0..depth).flat_map(|layer| (0..height).map(move |row| (layer, row))) {
        let into = place(engine, to.at(row, layer), width, on_device[0])?;
        let out_of = place(engine, from.at(row, layer), width, on_device[1])?;
        // SAFETY: device memory holds the bytes, and the caller guarantees those of the host.
        unsafe { host::copy(into, out_of, width as usize) }?;
    }
    let is_from_host = on_device[0] && !on_device[1];
    engine.copied(is_from_host.then_some(to.address), width * height * depth);
    Ok(())
}

/// Copies consecutive bytes.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_line(to: Address, from: Address, bytes: usize, direction: Direction) -> Status {
    context::run_and_note(|engine, _| {
        let (to, from) = (Rows::line(to), Rows::line(from));
        // SAFETY: guaranteed by the caller.
        unsafe { copy(engine, to, from, [bytes as u64, 1, 1], direction) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpy(
    to: Address,
    from: Address,
    bytes: usize,
    direction: Direction,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { copy_line(to, from, bytes, direction) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpyAsync(
    to: Address,
    from: Address,
    bytes: usize,
    direction: Direction,
    _stream: Address,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { copy_line(to, from, bytes, direction) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpyPeer(
    to: Address,
    _to_device: i32,
    from: Address,
    _from_device: i32,
    bytes: usize,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { copy_line(to, from, bytes, ON_DEVICE) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpyPeerAsync(
    to: Address,
    _to_device: i32,
    from: Address,
    _from_device: i32,
    bytes: usize,
    _stream: Address,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { copy_line(to, from, bytes, ON_DEVICE) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpy2D(
    to: Address,
    to_pitch: usize,
    from: Address,
    from_pitch: usize,
    width: usize,
    height: usize,
    direction: Direction,
) -> Status {
    context::run_and_note(|engine, _| {
        let to = Rows { pitch: to_pitch as u64, ..Rows::line(to) };
        let from = Rows { pitch: from_pitch as u64, ..Rows::line(from) };
        // SAFETY: guaranteed by the caller.
        unsafe { copy(engine, to, from, [width as u64, height as u64, 1], direction) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpy2DAsync(
    to: Address,
    to_pitch: usize,
    from: Address,
    from_pitch: usize,
    width: usize,
    height: usize,
    direction: Direction,
    _stream: Address,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, direction) }
}

/// Returns the rows of an array from an offset: bytes along x, rows along y.
fn rows_of_array(engine: &Engine, array: Address, x: u64, y: u64, z: u64) -> Outcome<Rows> {
    let shape = engine.array(array)?;
    let layer = shape.pitch * shape.height.max(1);
    let address = array + z * layer + y * shape.pitch + x;
    Ok(Rows { address, pitch: shape.pitch, layer })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpyToArray(
    array: Address,
    x: usize,
    y: usize,
    from: Address,
    bytes: usize,
    direction: Direction,
) -> Status {
    context::run_and_note(|engine, _| {
        let shape = engine.array(array)?;
        let to = rows_of_array(engine, array, x as u64, y as u64, 0)?;
        let width = (shape.width * shape.format.bytes()).max(1);
        let (rows, rest) = (bytes as u64 / width, bytes as u64 % width);
        let from = Rows { pitch: width, ..Rows::line(from) };
        let end = |rows: Rows, at: u64| Rows { address: rows.at(at, 0), ..rows };
        // SAFETY: guaranteed by the caller.
        unsafe {
            copy(engine, to, from, [width, rows, 1], direction)?;
            copy(engine, end(to, rows), end(from, rows), [rest, 1, 1], direction)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpy2DToArray(
    array: Address,
    x: usize,
    y: usize,
    from: Address,
    pitch: usize,
    width: usize,
    height: usize,
    direction: Direction,
) -> Status {
    context::run_and_note(|engine, _| {
        let to = rows_of_array(engine, array, x as u64, y as u64, 0)?;
        let from = Rows { pitch: pitch as u64, ..Rows::line(from) };
        // SAFETY: guaranteed by the caller.
        unsafe { copy(engine, to, from, [width as u64, height as u64, 1], direction) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpy2DToArrayAsync(
    array: Address,
    x: usize,
    y: usize,
    from: Address,
    pitch: usize,
    width: usize,
    height: usize,
    direction: Direction,
    _stream: Address,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cudaMemcpy2DToArray(array, x, y, from, pitch, width, height, direction) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpy2DFromArray(
    to: Address,
    pitch: usize,
    array: Address,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    direction: Direction,
) -> Status {
    context::run_and_note(|engine, _| {
        let from = rows_of_array(engine, array, x as u64, y as u64, 0)?;
        let to = Rows { pitch: pitch as u64, ..Rows::line(to) };
        // SAFETY: guaranteed by the caller.
        unsafe { copy(engine, to, from, [width as u64, height as u64, 1], direction) }
    })
}

/// `cudaPos`
#[repr(C)]
#[derive(Clone, Copy)]
struct Position {
    x: usize,
    y: usize,
    z: usize,
}

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy)]
struct Copy3d {
    from_array: Address,
    from_position: Position,
    from: Pitched,
    to_array: Address,
    to_position: Position,
    to: Pitched,
    extent: Extent,
    direction: Direction,
}

/// Describes one side of a copy: its rows, and the bytes per element along x.
fn side(engine: &Engine, array: Address, at: Position, rows: Pitched) -> Outcome<(Rows, u64)> {
    let Position { x, y, z } = at;
    let (x, y, z) = (x as u64, y as u64, z as u64);
    if array != 0 {
        let bytes = engine.array(array)?.format.bytes();
        return Ok((rows_of_array(engine, array, x * bytes, y, z)?, bytes));
    }
    let (pitch, height) = (rows.pitch as u64, rows.height as u64);
    let layer = pitch * height;
    Ok((Rows { address: rows.address + z * layer + y * pitch + x, pitch, layer }, 1))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpy3D(parameters: *const Copy3d) -> Status {
    context::run_and_note(|engine, _| {
        // SAFETY: guaranteed by the caller.
        let p = unsafe { host::get(parameters) }?;
        let (from, from_bytes) = side(engine, p.from_array, p.from_position, p.from)?;
        let (to, to_bytes) = side(engine, p.to_array, p.to_position, p.to)?;
        let Extent { width, height, depth } = p.extent;
        // The extent is in elements if an array takes part, otherwise in bytes (the manual).
        let width = width as u64 * from_bytes.max(to_bytes);
        // SAFETY: guaranteed by the caller.
        unsafe { copy(engine, to, from, [width, height as u64, depth as u64], p.direction) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpy3DAsync(parameters: *const Copy3d, _stream: Address) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cudaMemcpy3D(parameters) }
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset(to: Address, value: i32, bytes: usize) -> Status {
    context::run_and_note(|engine, _| engine.fill(to, 0, &[value as u8], bytes as u64, 1))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemsetAsync(to: Address, value: i32, bytes: usize, _stream: Address) -> Status {
    cudaMemset(to, value, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset2D(
    to: Address,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
) -> Status {
    let (pitch, width, height) = (pitch as u64, width as u64, height as u64);
    context::run_and_note(|engine, _| engine.fill(to, pitch, &[value as u8], width, height))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset2DAsync(
    to: Address,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
    _stream: Address,
) -> Status {
    cudaMemset2D(to, pitch, value, width, height)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset3DAsync(
    to: Pitched,
    value: i32,
    extent: Extent,
    _stream: Address,
) -> Status {
    cudaMemset3D(to, value, extent)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset3D(to: Pitched, value: i32, extent: Extent) -> Status {
    let (pitch, width) = (to.pitch as u64, extent.width as u64);
    context::run_and_note(|engine, _| {
        (0..extent.depth as u64).try_for_each(|layer| {
            let address = to.address + layer * pitch * to.height as u64;
            engine.fill(address, pitch, &[value as u8], width, extent.height as u64)
        })
    })
}
