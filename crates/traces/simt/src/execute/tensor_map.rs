//! Tensor maps in memory: read by copies, and changed by `tensormap.replace` and `tensormap.cp_fenceproxy`,
//! which are recorded as the instructions that ptxas (12.8, sm_90a) emits for them, at its field offsets.

use warpmem_ptx::{Cache, Space, TensorMapField};
use warpmem_trace::{Kind, OpClass};

use super::bulk::in_one_allocation;
use super::memory::{read_lane, write_lane};
use super::record::several;
use super::request::record;
use super::spaces::{Group, addresses, groups};
use super::{ExecutionContext, Outcome, Trap};
use crate::lanes::{Lanes, WARP, alike, lanes_of};
use crate::program::Step;
use crate::tensor::{TENSOR_MAP_BYTES, WORDS, replace};
use crate::warp::Warp;

/// Alignment of a map, bytes (CUDA Driver API, `cuTensorMapEncodeTiled`).
const MAP_ALIGN: u64 = 64;
const WORD: u64 = 8;

/// Reads the words of the map at an address.
pub(super) fn read_map(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    name: &str,
    lane: usize,
    (space, address): (Space, u64),
) -> Result<[u64; WORDS], Trap> {
    check_place(name, lane, address)?;
    let mut words = [0; WORDS];
    for (at, word) in (0..).step_by(WORD as usize).zip(&mut words) {
        *word = read_lane(warp, ctx, space, lane, address.wrapping_add(at), WORD)?;
    }
    Ok(words)
}

fn check_place(name: &str, lane: usize, address: u64) -> Outcome {
    match address.is_multiple_of(MAP_ALIGN) {
        true => Ok(()),
        false => {
            let reason = format!(
                "`{name}` with a map at {address:#x}, which is not a multiple of {MAP_ALIGN}"
            );
            Err(Trap::new(lane, reason))
        }
    }
}

/// Executes `tensormap.replace`, lane by lane.
pub(super) fn replace_field(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    field: TensorMapField,
    (space, offset): (Space, i64),
) -> Outcome {
    let values = warp.wide(step.sources[1]);
    for group in groups(warp, step.sources[0], offset, space, mask) {
        record_replacement(warp, ctx, step, field, &group);
        for lane in lanes_of(group.lanes) {
            let place = (group.space, group.addresses[lane]);
            replace_one(warp, ctx, lane, place, field, values[lane])?;
        }
    }
    Ok(())
}

fn replace_one(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    (space, address): (Space, u64),
    field: TensorMapField,
    value: u64,
) -> Outcome {
    const NAME: &str = "tensormap.replace";
    if !matches!(space, Space::Global | Space::Shared) {
        let reason =
            format!("`{NAME}` in {} memory; a map is in global or shared memory", space.name());
        return Err(Trap::new(lane, reason));
    }
    let old = read_map(warp, ctx, NAME, lane, (space, address))?;
    let mut new = old;
    replace(&mut new, field, value).map_err(|error| {
        Trap::new(lane, format!("`{NAME}` of the map at {address:#x}: {error}"))
    })?;
    for (at, (old, new)) in (0..).step_by(WORD as usize).zip(old.into_iter().zip(new)) {
        if old != new {
            write_lane(warp, ctx, space, lane, address + at, WORD, new)?;
        }
    }
    Ok(())
}

/// Accesses that ptxas emits to replace a field.
struct Accesses {
    /// Offset of a 4-byte word shared with other fields, which is read, modified and written.
    shared_word: Option<u64>,
    /// Offset and size of the bytes that belong to the field alone, which are only written.
    own: Option<(u64, u64)>,
    /// Integer instructions that compute the written value.
    integers: u32,
}

fn accesses_of(field: TensorMapField) -> Accesses {
    use TensorMapField::*;
    let (shared_word, own, integers) = match field {
        GlobalAddress => (None, Some((0, 8)), 0),
        GlobalStride(number) => (Some(0x1c), Some((0xc + 4 * u64::from(number), 4)), 3),
        GlobalDim(dimension) => (None, Some((0x20 + 4 * u64::from(dimension), 4)), 1),
        BoxDim(0) | ElementStride(_) => (Some(0x34), None, 3),
        BoxDim(_) => (Some(0x38), None, 3),
        Rank | ElementType | InterleaveLayout | SwizzleMode | SwizzleAtomicity | FillMode => {
            (Some(0x8), None, 2)
        }
    };
    Accesses { shared_word, own, integers }
}

fn record_replacement(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    field: TensorMapField,
    maps: &Group,
) {
    let Accesses { shared_word, own, integers } = accesses_of(field);
    let shared_word = shared_word.map(|at| (at, 4));
    record_part(warp, ctx, step, Kind::Load, maps, shared_word);
    several(warp, step, OpClass::Integer, integers, maps.lanes);
    record_part(warp, ctx, step, Kind::Store, maps, own);
    record_part(warp, ctx, step, Kind::Store, maps, shared_word);
}

/// Records an access to a part of the maps: offset and bytes.
fn record_part(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    kind: Kind,
    maps: &Group,
    part: Option<(u64, u64)>,
) {
    let Some((at, bytes)) = part else { return };
    let addresses = maps.addresses.map(|address| address.wrapping_add(at));
    let group = Group { space: maps.space, lanes: maps.lanes, addresses };
    record(warp, ctx, step, kind, Cache::Default, bytes, &group);
}

/// Executes `tensormap.cp_fenceproxy`: the lanes copy a map together, a 4-byte word each. ptxas emits a load
/// from shared memory, an atomic exchange, and a branch around them for warps that do not execute it.
pub(super) fn publish(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    offsets: [i64; 2],
) -> Outcome {
    const NAME: &str = "tensormap.cp_fenceproxy";
    const LANE: usize = 0;
    if mask == 0 {
        return Ok(());
    }
    let [to, from] = [0, 1].map(|at| addresses(warp, step.sources[at], offsets[at]));
    check_warp(NAME, mask, &to, &from)?;
    record_copy(warp, ctx, step, to[LANE], from[LANE]);
    check_place(NAME, LANE, to[LANE])?;
    in_one_allocation(ctx, LANE, to[LANE], TENSOR_MAP_BYTES as u64)?;
    let words = read_map(warp, ctx, NAME, LANE, (Space::Shared, from[LANE]))?;
    for (at, word) in (0..).step_by(WORD as usize).zip(words) {
        write_lane(warp, ctx, Space::Global, LANE, to[LANE] + at, WORD, word)?;
    }
    Ok(())
}

/// Refuses a copy that is not executed by all lanes (`.sync.aligned`), or whose lanes name different maps.
fn check_warp(name: &str, mask: u32, to: &Lanes<u64>, from: &Lanes<u64>) -> Outcome {
    if mask != u32::MAX {
        let reason = format!("`{name}` by lanes {mask:#x} of a warp; all must execute it");
        return Err(Trap::new(mask.trailing_zeros() as usize % WARP, reason));
    }
    match alike(mask, |lane| (to[lane], from[lane]))[..] {
        [_, other, ..] => {
            let reason = format!("`{name}` with addresses that differ from lane 0's");
            Err(Trap::new(other.trailing_zeros() as usize % WARP, reason))
        }
        _ => Ok(()),
    }
}

fn record_copy(warp: &mut Warp, ctx: &ExecutionContext<'_>, step: &Step, to: u64, from: u64) {
    const WIDTH: u64 = (TENSOR_MAP_BYTES / WARP) as u64;
    /// Lane number and two addresses.
    const INTEGERS: u32 = 4;
    let group = |space: Space, first: u64| Group {
        space,
        lanes: u32::MAX,
        addresses: std::array::from_fn(|lane| first.wrapping_add(WIDTH * lane as u64)),
    };
    several(warp, step, OpClass::Integer, INTEGERS, u32::MAX);
    let cache = Cache::Default;
    record(warp, ctx, step, Kind::Load, cache, WIDTH, &group(Space::Shared, from));
    record(warp, ctx, step, Kind::Atomic, cache, WIDTH, &group(Space::Global, to));
}
