//! Copies.

use crate::context::Engine;
use crate::driver::functions;
use crate::driver::pointer::DEVICE;
use crate::host;
use crate::runtime::{ANY, Address, Direction, ON_DEVICE, Rows, TO_DEVICE, TO_HOST, copy};
use crate::status::{Outcome, Status};

/// Copies consecutive bytes.
///
/// # Safety
/// As [`copy`].
unsafe fn line(
    engine: &mut Engine,
    to: Address,
    from: Address,
    bytes: usize,
    direction: Direction,
) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    unsafe { copy(engine, Rows::line(to), Rows::line(from), [bytes as u64, 1, 1], direction) }
}

/// Defines the synchronous copy functions and their stream variants.
macro_rules! copies {
    ($($name:ident, $in_stream:ident: $direction:expr;)*) => {
        functions! { in_context:
            $(
                fn $name(to: Address, from: Address, bytes: usize) |engine| {
                    line(engine, to, from, bytes, $direction)
                }

                fn $in_stream(to: Address, from: Address, bytes: usize, stream: Address) |engine| {
                    engine.clock.stream(stream)?;
                    line(engine, to, from, bytes, $direction)
                }
            )*
        }
    };
}

copies! {
    cuMemcpy, cuMemcpyAsync: ANY;
    cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2: TO_DEVICE;
    cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2: TO_HOST;
    cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2: ON_DEVICE;
}

/// One side of `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Side2d {
    x: usize,
    y: usize,
    kind: u32,
    host: Address,
    device: Address,
    array: Address,
    pitch: usize,
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy)]
struct Copy2d {
    from: Side2d,
    to: Side2d,
    width: usize,
    height: usize,
}

/// One side of `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Side3d {
    x: usize,
    y: usize,
    z: usize,
    lod: usize,
    kind: u32,
    host: Address,
    device: Address,
    array: Address,
    reserved: Address,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, Copy)]
struct Copy3d {
    from: Side3d,
    to: Side3d,
    width: usize,
    height: usize,
    depth: usize,
}

/// Returns the start of a side, and whether it is in host memory.
fn start(kind: u32, on_host: Address, on_device: Address) -> Outcome<(Address, bool)> {
    const HOST: u32 = 1;
    const UNIFIED: u32 = 4;
    match kind {
        HOST => Ok((on_host, true)),
        DEVICE | UNIFIED => Ok((on_device, false)),
        _ => Err(Status::NOT_SUPPORTED.into()),
    }
}

fn direction(to_host: bool, from_host: bool) -> Direction {
    match (to_host, from_host) {
        (false, false) => ANY,
        (false, true) => TO_DEVICE,
        (true, false) => TO_HOST,
        (true, true) => 0,
    }
}

impl Side2d {
    fn rows(&self) -> Outcome<(Rows, bool)> {
        let (first, is_host) = start(self.kind, self.host, self.device)?;
        let pitch = self.pitch as u64;
        let address = first + self.y as u64 * pitch + self.x as u64;
        Ok((Rows { pitch, ..Rows::line(address) }, is_host))
    }
}

impl Side3d {
    fn rows(&self) -> Outcome<(Rows, bool)> {
        let (first, is_host) = start(self.kind, self.host, self.device)?;
        let pitch = self.pitch as u64;
        let layer = pitch * self.height as u64;
        let address = first + self.z as u64 * layer + self.y as u64 * pitch + self.x as u64;
        Ok((Rows { address, pitch, layer }, is_host))
    }
}

/// Copies a rectangle.
///
/// # Safety
/// The pointer is null or points to a copy whose sides are readable and writable.
unsafe fn copy_2d(engine: &mut Engine, what: *const Copy2d) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Copy2d { from, to, width, height } = host::get(what)?;
        let ((from, from_host), (to, to_host)) = (from.rows()?, to.rows()?);
        let extent = [width as u64, height as u64, 1];
        copy(engine, to, from, extent, direction(to_host, from_host))
    }
}

/// Copies a box.
///
/// # Safety
/// As [`copy_2d`].
unsafe fn copy_3d(engine: &mut Engine, what: *const Copy3d) -> Outcome<()> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Copy3d { from, to, width, height, depth } = host::get(what)?;
        let ((from, from_host), (to, to_host)) = (from.rows()?, to.rows()?);
        let extent = [width as u64, height as u64, depth as u64];
        copy(engine, to, from, extent, direction(to_host, from_host))
    }
}

functions! { in_context:
    fn cuMemcpy2D_v2(what: *const Copy2d) |engine| { copy_2d(engine, what) }

    fn cuMemcpy2DUnaligned_v2(what: *const Copy2d) |engine| { copy_2d(engine, what) }

    fn cuMemcpy2DAsync_v2(what: *const Copy2d, stream: Address) |engine| {
        engine.clock.stream(stream)?;
        copy_2d(engine, what)
    }

    fn cuMemcpy3D_v2(what: *const Copy3d) |engine| { copy_3d(engine, what) }

    fn cuMemcpy3DAsync_v2(what: *const Copy3d, stream: Address) |engine| {
        engine.clock.stream(stream)?;
        copy_3d(engine, what)
    }

    fn cuMemcpyPeer(
        to: Address,
        _to_context: Address,
        from: Address,
        _from_context: Address,
        bytes: usize,
    ) |engine| {
        line(engine, to, from, bytes, ON_DEVICE)
    }

    fn cuMemcpyPeerAsync(
        to: Address,
        _to_context: Address,
        from: Address,
        _from_context: Address,
        bytes: usize,
        stream: Address,
    ) |engine| {
        engine.clock.stream(stream)?;
        line(engine, to, from, bytes, ON_DEVICE)
    }
}
