//! Memory instructions.

use warpmem_ptx::{Access, Cache, Space, Type};
use warpmem_trace::Kind;

use super::request::record;
use super::spaces::{Group, addresses, generic_address, groups};
use super::{ExecutionContext, Outcome, Trap, peer};
use crate::error::TrapKind;
use crate::global::Global;
use crate::lanes::{Lanes, WARP, lanes_of};
use crate::program::{Dest, Source, Step};
use crate::warp::Warp;

pub(super) fn load(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    access: Access,
) -> Outcome {
    let width = u64::from(access.ty.bytes());
    let total = width * u64::from(access.elements);
    for group in groups(warp, step.sources[0], access.offset, access.space, mask) {
        record(warp, ctx, step, Kind::Load, access.cache, total, &group);
        check_alignment(&group, total)?;
        for (at, &dest) in (0..).zip(&step.dests) {
            let values = read(warp, ctx, &group, at * width, width)?;
            put(warp, dest, &values, access.ty, group.lanes);
        }
    }
    Ok(())
}

/// Writes loaded values to a register that may be wider.
fn put(warp: &mut Warp, dest: Dest, values: &Lanes<u64>, ty: Type, lanes: u32) {
    let spare = u64::BITS - ty.bits();
    if ty.is_signed() && spare > 0 {
        let extended = values.map(|value| ((value as i64) << spare >> spare) as u64);
        warp.set_wide(dest, &extended, lanes);
    } else {
        warp.set_wide(dest, values, lanes);
    }
}

pub(super) fn store(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    access: Access,
) -> Outcome {
    let width = u64::from(access.ty.bytes());
    let total = width * u64::from(access.elements);
    for group in groups(warp, step.sources[0], access.offset, access.space, mask) {
        record(warp, ctx, step, Kind::Store, access.cache, total, &group);
        check_alignment(&group, total)?;
        for (at, &source) in (0..).zip(&step.sources[1..]) {
            let values = warp.wide(source);
            write(warp, ctx, &group, at * width, width, &values)?;
        }
    }
    Ok(())
}

pub(super) fn check_alignment(group: &Group, bytes: u64) -> Outcome {
    // Widths are powers of two.
    let below = bytes.wrapping_sub(1);
    let is_off = |&lane: &usize| group.addresses[lane] & below != 0;
    let low = lanes_of(group.lanes).fold(0, |bits, lane| bits | group.addresses[lane]);
    match lanes_of(group.lanes).filter(|_| low & below != 0).find(is_off) {
        None => Ok(()),
        Some(lane) => {
            let address = group.addresses[lane];
            let reason = format!("access of {bytes} bytes at the misaligned address {address:#x}");
            Err(Trap::new(lane, reason))
        }
    }
}

/// Reads up to 8 bytes per lane, `at` bytes after its address.
pub(super) fn read(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    group: &Group,
    at: u64,
    width: u64,
) -> Result<Lanes<u64>, Trap> {
    let mut values = [0; WARP];
    if group.lanes == 0 {
        return Ok(values);
    }
    let address = |lane: usize| group.addresses[lane] + at;
    if let (Global::View(memory, view), true) = (&mut ctx.global, is_device(group.space)) {
        let elsewhere = view.gather(memory, group.lanes, address, width as usize, &mut values);
        read_lanes(warp, ctx, group, elsewhere, at, width, &mut values)?;
        return Ok(values);
    }
    let first = group.lanes.trailing_zeros() as usize;
    let (base, bytes): (u64, &[u8]) = match group.space {
        Space::Shared => (ctx.shared_base, ctx.shared),
        space if is_device(space) => ctx.global.around(group.addresses[first]),
        _ => (0, &[]),
    };
    let start = at.wrapping_sub(base);
    let elsewhere = match width {
        4 => gather(bytes, group, start, &mut values, |bytes| u32::from_le_bytes(bytes).into()),
        8 => gather(bytes, group, start, &mut values, u64::from_le_bytes),
        2 => gather(bytes, group, start, &mut values, |bytes| u16::from_le_bytes(bytes).into()),
        _ => gather(bytes, group, start, &mut values, |[byte]: [u8; 1]| byte.into()),
    };
    read_lanes(warp, ctx, group, elsewhere, at, width, &mut values)?;
    Ok(values)
}

/// Returns whether a space lies in device memory.
fn is_device(space: Space) -> bool {
    matches!(space, Space::Global | Space::Constant | Space::Generic)
}

/// Reads as [`read`] does, lane by lane.
fn read_lanes(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    group: &Group,
    lanes: u32,
    at: u64,
    width: u64,
    values: &mut Lanes<u64>,
) -> Outcome {
    for lane in lanes_of(lanes) {
        values[lane] = lane_value(warp, ctx, group.space, lane, group.addresses[lane] + at, width)?;
    }
    Ok(())
}

/// Reads the lanes whose addresses, plus `start`, are valid offsets into `bytes`; returns the other lanes.
#[inline(always)]
fn gather<const N: usize>(
    bytes: &[u8],
    group: &Group,
    start: u64,
    values: &mut Lanes<u64>,
    value: impl Fn([u8; N]) -> u64,
) -> u32 {
    let mut elsewhere = 0;
    for lane in lanes_of(group.lanes) {
        let offset = group.addresses[lane].wrapping_add(start) as usize;
        match bytes.get(offset..).and_then(|bytes| bytes.first_chunk()) {
            Some(&bytes) => values[lane] = value(bytes),
            None => elsewhere |= 1 << lane,
        }
    }
    elsewhere
}

/// Writes up to 8 bytes per lane, `at` bytes after its address.
pub(super) fn write(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    group: &Group,
    at: u64,
    width: u64,
    values: &Lanes<u64>,
) -> Outcome {
    if group.lanes == 0 {
        return Ok(());
    }
    let address = |lane: usize| group.addresses[lane] + at;
    let elsewhere = match (&mut ctx.global, is_device(group.space)) {
        (Global::View(memory, view), true) => {
            view.scatter(memory, group.lanes, address, width as usize, values)
        }
        _ => write_at_once(ctx, group, at, width, values),
    };
    for lane in lanes_of(elsewhere) {
        write_lane(warp, ctx, group.space, lane, address(lane), width, values[lane])?;
    }
    Ok(())
}

/// Writes the lanes whose destination is in shared memory or in the first lane's allocation; returns the
/// others.
fn write_at_once(
    ctx: &mut ExecutionContext<'_>,
    group: &Group,
    at: u64,
    width: u64,
    values: &Lanes<u64>,
) -> u32 {
    let first = group.lanes.trailing_zeros() as usize;
    let (base, bytes): (u64, &mut [u8]) = match group.space {
        Space::Shared => (ctx.shared_base, &mut *ctx.shared),
        Space::Global => ctx.global.around_mut(group.addresses[first]),
        _ => (0, &mut []),
    };
    let start = at.wrapping_sub(base);
    match width {
        4 => scatter(bytes, group, start, values, |value| (value as u32).to_le_bytes()),
        8 => scatter(bytes, group, start, values, u64::to_le_bytes),
        2 => scatter(bytes, group, start, values, |value| (value as u16).to_le_bytes()),
        _ => scatter(bytes, group, start, values, |value| [value as u8]),
    }
}

/// Writes what [`gather`] reads.
#[inline(always)]
fn scatter<const N: usize>(
    bytes: &mut [u8],
    group: &Group,
    start: u64,
    values: &Lanes<u64>,
    value: impl Fn(u64) -> [u8; N],
) -> u32 {
    let mut elsewhere = 0;
    for lane in lanes_of(group.lanes) {
        let offset = group.addresses[lane].wrapping_add(start) as usize;
        match bytes.get_mut(offset..).and_then(|bytes| bytes.first_chunk_mut()) {
            Some(place) => *place = value(values[lane]),
            None => elsewhere |= 1 << lane,
        }
    }
    elsewhere
}

/// Returns the little-endian number of up to 8 bytes at an offset.
#[inline(always)]
fn value_at(bytes: &[u8], offset: u64, width: u64) -> Option<u64> {
    let bytes = bytes.get(offset as usize..)?;
    Some(match width {
        4 => u32::from_le_bytes(*bytes.first_chunk()?).into(),
        8 => u64::from_le_bytes(*bytes.first_chunk()?),
        2 => u16::from_le_bytes(*bytes.first_chunk()?).into(),
        _ => u64::from(*bytes.first()?),
    })
}

pub(super) fn read_lane(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    space: Space,
    lane: usize,
    address: u64,
    width: u64,
) -> Result<u64, Trap> {
    lane_value(warp, ctx, space, lane, address, width)
}

#[inline(always)]
fn lane_value(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    space: Space,
    lane: usize,
    address: u64,
    width: u64,
) -> Result<u64, Trap> {
    let value = match space {
        Space::Shared => value_at(ctx.shared, address.wrapping_sub(ctx.shared_base), width),
        Space::Cluster => return peer::read(ctx, lane, address, width),
        Space::Local => {
            warp.local.holds(address, width).then(|| warp.local.read(lane, address, width))
        }
        Space::Param if address < warp.params.first => value_at(ctx.params, address, width),
        Space::Param => {
            warp.params.holds(address, width).then(|| warp.params.read(lane, address, width))
        }
        _ => ctx.global.read(address, width),
    };
    value.ok_or_else(|| outside(ctx, space, lane, address, width))
}

/// Reads up to 8 bytes at a lane's generic address.
pub(super) fn read_generic(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    address: u64,
    width: u64,
) -> Result<u64, Trap> {
    let (space, address) = generic_address(address);
    read_lane(warp, ctx, space, lane, address, width)
}

pub(super) fn write_lane(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    space: Space,
    lane: usize,
    address: u64,
    width: u64,
    value: u64,
) -> Outcome {
    let written = match space {
        Space::Shared => {
            write_shared(ctx.shared, address.wrapping_sub(ctx.shared_base), width, value)
        }
        Space::Cluster => return peer::write(ctx, lane, address, width, value),
        Space::Local => {
            warp.local.holds(address, width).then(|| warp.local.write(lane, address, width, value))
        }
        Space::Param => (address >= warp.params.first && warp.params.holds(address, width))
            .then(|| warp.params.write(lane, address, width, value)),
        _ => ctx.global.write(address, width, value),
    };
    written.ok_or_else(|| outside(ctx, space, lane, address, width))
}

fn write_shared(shared: &mut [u8], address: u64, width: u64, value: u64) -> Option<()> {
    let place = shared.get_mut(address as usize..)?.get_mut(..width as usize)?;
    place.copy_from_slice(&value.to_le_bytes()[..width as usize]);
    Some(())
}

pub(super) fn outside(
    ctx: &ExecutionContext<'_>,
    space: Space,
    lane: usize,
    address: u64,
    width: u64,
) -> Trap {
    let shown = match space {
        Space::Shared => address.wrapping_sub(ctx.shared_base),
        _ => address,
    };
    let near = match space {
        Space::Shared => format!("shared memory has {} bytes", ctx.shared.len()),
        Space::Local | Space::Param => format!("{} memory ends before", space.name()),
        _ => match ctx.global.memory().nearest(address) {
            Some((base, bytes)) => format!("the nearest allocation has {bytes} bytes at {base:#x}"),
            None => "nothing is allocated".into(),
        },
    };
    let reason = format!(
        "access of {width} bytes at {shown:#x} of {} memory is out of bounds: {near}",
        space.name()
    );
    Trap { lane, reason, kind: TrapKind::Memory }
}

pub(super) fn prefetch(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    space: Space,
    offset: i64,
) {
    for group in groups(warp, step.sources[0], offset, space, mask) {
        record(warp, ctx, step, Kind::Prefetch, Cache::Default, 4, &group);
    }
}

/// Executes `cp.async`: copies from global to shared memory immediately; bytes that are not read from the
/// source are 0.
pub(super) fn copy_async(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    bypass: bool,
    to_offset: i64,
    from_offset: i64,
) -> Outcome {
    let to = addresses(warp, step.sources[0], to_offset);
    let bytes = warp.wide(step.sources[2])[0];
    let read_bytes = match step.sources[3] {
        // The source is ignored where the predicate holds.
        source @ Source::Predicate { .. } => {
            let ignored = warp.predicate_of(source);
            std::array::from_fn(|lane| if ignored >> lane & 1 == 1 { 0 } else { bytes as u32 })
        }
        source => warp.narrow(source),
    };
    let cache = if bypass { Cache::Global } else { Cache::All };
    for group in groups(warp, step.sources[1], from_offset, Space::Global, mask) {
        // A copy that reads nothing makes no request.
        let reading = lanes_of(group.lanes)
            .filter(|&lane| read_bytes[lane] > 0)
            .fold(0, |mask, lane| mask | 1 << lane);
        let read_group = Group { lanes: reading, ..group };
        record(warp, ctx, step, Kind::AsyncCopy, cache, bytes, &read_group);
        warp.copies.issue();
        check_alignment(&read_group, bytes)?;
        for lane in lanes_of(group.lanes) {
            for at in 0..bytes {
                let value = match at < u64::from(read_bytes[lane]) {
                    true => read_lane(
                        warp,
                        ctx,
                        Space::Global,
                        lane,
                        read_group.addresses[lane] + at,
                        1,
                    )?,
                    false => 0,
                };
                write_lane(warp, ctx, Space::Shared, lane, to[lane] + at, 1, value)?;
            }
        }
    }
    Ok(())
}
