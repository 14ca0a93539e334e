//! Texture fetches.

use warpmem_ptx::{TextureShape, Type};
use warpmem_trace::{CacheOp, Kind, MemoryOp, Space};

use super::operand::Operand;
use super::record::with_registers;
use super::{ExecutionContext, Outcome, Trap};
use crate::global::Global;
use crate::lanes::{Lanes, WARP, lanes_of};
use crate::memory::DeviceMemory;
use crate::program::{Source, Step};
use crate::texture::{Coordinate, MAX_BYTES, Pick, Texture};
use crate::warp::Warp;

/// Texels that a lane reads.
type Picks = [Option<Pick>; 4];

/// Executes `tex.1d` and `tex.2d`: one request for each texture that lanes name.
pub(super) fn fetch(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    shape: TextureShape,
    coordinates: Type,
) -> Outcome {
    let handles = warp.wide(step.sources[0]);
    let x = axis(warp, step.sources[1], coordinates);
    let y = match shape {
        TextureShape::OneD => [Coordinate::Texel(0); WARP],
        _ => axis(warp, step.sources[2], coordinates),
    };
    let mut rest = mask;
    while rest != 0 {
        let first = rest.trailing_zeros() as usize;
        let same = lanes_of(rest).filter(|&lane| handles[lane] == handles[first]);
        let lanes = same.fold(0, |mask, lane| mask | 1 << lane);
        rest &= !lanes;
        let texture = texture_of(ctx.global.memory(), handles[first])
            .map_err(|reason| Trap::new(first, reason))?;
        let picks = std::array::from_fn(|lane| texture.picks(x[lane], y[lane]));
        fetch_from(warp, ctx, step, lanes, &texture, &picks)?;
    }
    Ok(())
}

/// Resolves an operand to its texture: a handle, or the address of a texture reference that holds one (ISA,
/// "Texture Instructions", indirect and named access).
fn texture_of(memory: &DeviceMemory, operand: u64) -> Result<Texture, String> {
    if let Some(texture) = memory.texture(operand) {
        return Ok(*texture);
    }
    let Some(word) = memory.bytes(operand, 8).and_then(|bytes| bytes.first_chunk()) else {
        return Err(format!("there is no texture with handle {operand:#x}"));
    };
    let handle = u64::from_le_bytes(*word);
    memory.texture(handle).copied().ok_or_else(|| match handle {
        0 => format!("the texture reference at {operand:#x} is not bound to a texture"),
        handle => format!(
            "the texture reference at {operand:#x} holds {handle:#x}, which is not a handle"
        ),
    })
}

fn fetch_from(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    lanes: u32,
    texture: &Texture,
    picks: &Lanes<Picks>,
) -> Outcome {
    record(warp, ctx, step, lanes, texture, picks);
    let mut values = [[0; WARP]; 4];
    for lane in lanes_of(lanes) {
        let channels = channels(&mut ctx.global, texture, &picks[lane])
            .map_err(|reason| Trap::new(lane, reason))?;
        for (values, channel) in values.iter_mut().zip(channels) {
            values[lane] = channel;
        }
    }
    for (&dest, values) in step.dests.iter().zip(&values) {
        warp.set_narrow(dest, values, lanes);
    }
    Ok(())
}

/// Reads the coordinates of one axis.
fn axis(warp: &Warp, source: Source, ty: Type) -> Lanes<Coordinate> {
    match ty {
        Type::F32 => f32::read(warp, source).map(Coordinate::Float),
        _ => i32::read(warp, source).map(Coordinate::Texel),
    }
}

/// Returns the four channels of a fetch.
fn channels(global: &mut Global<'_>, texture: &Texture, picks: &Picks) -> Result<[u32; 4], String> {
    let mut texels: Vec<(Pick, [u8; MAX_BYTES])> = Vec::with_capacity(picks.len());
    for pick in picks.iter().flatten() {
        let address = texture.address_of(pick);
        let bytes = texel(global, address, texture.format.bytes());
        let gone = || format!("the texel at {address:#x} is no longer allocated");
        texels.push((*pick, bytes.ok_or_else(gone)?));
    }
    Ok([0, 1, 2, 3].map(|channel| texture.value(channel, &texels)))
}

/// Returns the bytes of a texel, zero-extended.
fn texel(global: &mut Global<'_>, address: u64, bytes: u64) -> Option<[u8; MAX_BYTES]> {
    let mut texel = [0; MAX_BYTES];
    for (at, part) in (0..bytes).step_by(8).zip(texel.chunks_exact_mut(8)) {
        part.copy_from_slice(&global.read(address + at, (bytes - at).min(8))?.to_le_bytes());
    }
    Some(texel)
}

/// Records one memory instruction with the address of each lane's first texel: hardware fetches the two or
/// four texels of linear filtering in one request. Lanes outside the texture request nothing.
fn record(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    lanes: u32,
    texture: &Texture,
    picks: &Lanes<Picks>,
) {
    let (mut addresses, mut count, mut mask) = ([0; WARP], 0, 0);
    for lane in lanes_of(lanes) {
        let Some(pick) = picks[lane].iter().flatten().next() else { continue };
        addresses[count] = texture.address_of(pick);
        count += 1;
        mask |= 1 << lane;
    }
    let op = MemoryOp {
        kind: Kind::Load,
        space: Space::Texture,
        width: texture.format.bytes() as u32,
        cache_op: CacheOp::Default,
    };
    with_registers(warp, step, |records, registers| {
        records.memory(ctx.pc, op, mask, registers, &addresses[..count]);
    });
}
