//! Bulk byte copies: each active lane copies its own number of bytes, immediately. Identical stores and
//! prefetches of several lanes are merged, as ptxas (12.9, sm_90a) issues them once per warp; loads, whose
//! bytes mbarriers count, and reductions are issued once per lane.

use warpmem_ptx::{Atomic, Bulk, Cache, Space};
use warpmem_trace::{Kind, MAX_WIDTH};

use super::atomic::modified;
use super::destination::Destination;
use super::memory::{outside, read_lane, write_lane};
use super::request::record;
use super::spaces::{Group, addresses};
use super::{ExecutionContext, Outcome, Trap, mbarrier, peer};
use crate::lanes::{Lanes, WARP, alike, first_of_alike, lanes_of, mask_of};
use crate::program::Step;
use crate::warp::Warp;

/// Granularity of sizes and addresses, bytes (ISA, "cp.async.bulk").
const UNIT: u64 = 16;

/// Operand values of all lanes.
struct Operands {
    to: Lanes<u64>,
    from: Lanes<u64>,
    bytes: Lanes<u64>,
    /// Mbarriers of copies to shared memory.
    mbarrier: Option<Lanes<u64>>,
    /// Destination CTAs, one bit per rank, if not those of the addresses.
    multicast: Option<Lanes<u32>>,
}

impl Operands {
    fn of(warp: &Warp, step: &Step, f: Bulk, offsets: [i64; 3]) -> Operands {
        let address = |at: usize| addresses(warp, step.sources[at], offsets[at]);
        let bytes = |at: usize| warp.narrow(step.sources[at]).map(u64::from);
        if f == Bulk::Prefetch {
            let (to, from, bytes) = (address(0), address(0), bytes(1));
            return Operands { to, from, bytes, mbarrier: None, multicast: None };
        }
        let completes = matches!(f, Bulk::Load | Bulk::Multicast | Bulk::Share);
        let is_multicast = f == Bulk::Multicast;
        Operands {
            to: address(0),
            from: address(1),
            bytes: bytes(2),
            mbarrier: completes.then(|| addresses(warp, step.sources[3], offsets[2])),
            multicast: is_multicast.then(|| warp.narrow(step.sources[4]).map(|mask| mask & 0xffff)),
        }
    }

    /// Returns the destination of a lane's copy to shared memory.
    fn destination(&self, lane: usize) -> Option<Destination> {
        let mbarrier = self.mbarrier?[lane];
        let multicast = self.multicast.map(|masks| masks[lane]);
        Some(Destination { to: self.to[lane], mbarrier, multicast })
    }

    /// Returns the lanes that issue a copy, without duplicates.
    fn issued(&self, f: Bulk, mask: u32) -> u32 {
        match f {
            Bulk::Store | Bulk::Prefetch => {
                first_of_alike(mask, |lane| (self.to[lane], self.from[lane], self.bytes[lane]))
            }
            Bulk::Load | Bulk::Multicast | Bulk::Share | Bulk::Reduce { .. } => mask,
        }
    }

    fn check(&self, lane: usize) -> Outcome {
        let is_off = |value: u64| !value.is_multiple_of(UNIT);
        let (to, from, bytes) = (self.to[lane], self.from[lane], self.bytes[lane]);
        let what = match [bytes, to, from].map(is_off) {
            [true, ..] => format!("of {bytes} bytes"),
            [_, true, _] => format!("to {to:#x}"),
            [_, _, true] => format!("from {from:#x}"),
            [false, false, false] => return Ok(()),
        };
        Err(Trap::new(lane, format!("bulk copy {what}, which is not a multiple of {UNIT}")))
    }

    /// Returns the recorded addresses: in global memory, or in the other CTA.
    fn recorded(&self, f: Bulk) -> &Lanes<u64> {
        match f {
            Bulk::Load | Bulk::Multicast | Bulk::Prefetch => &self.from,
            Bulk::Store | Bulk::Share | Bulk::Reduce { .. } => &self.to,
        }
    }
}

/// Executes `cp.async.bulk` and `cp.reduce.async.bulk`.
pub(super) fn execute(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    f: Bulk,
    offsets: [i64; 3],
) -> Outcome {
    let operands = Operands::of(warp, step, f, offsets);
    let mask = operands.issued(f, mask);
    lanes_of(mask).try_for_each(|lane| {
        operands.check(lane)?;
        operands.destination(lane).map_or(Ok(()), |destination| destination.check(ctx, lane))
    })?;
    record_all(warp, ctx, step, mask, f, &operands);
    for lane in lanes_of(mask) {
        let bytes = operands.bytes[lane];
        let (to, from) = (operands.to[lane], operands.from[lane]);
        if space(f) == Space::Global && f != Bulk::Prefetch {
            in_one_allocation(ctx, lane, operands.recorded(f)[lane], bytes)?;
        }
        match f {
            Bulk::Load | Bulk::Multicast => {
                copy_to_targets(warp, ctx, lane, &operands, (Space::Global, from))?;
            }
            Bulk::Share => {
                copy_to_targets(warp, ctx, lane, &operands, (Space::Shared, from))?;
            }
            Bulk::Store => {
                copy(warp, ctx, lane, (Space::Global, to), (Space::Shared, from), bytes)?;
            }
            Bulk::Reduce { op, ty } => {
                let ftz = ty == warpmem_ptx::Type::F32;
                let atomic = Atomic { space: Space::Global, op, ty, elements: 1, ftz, offset: 0 };
                reduce(warp, ctx, lane, atomic, to, from, bytes)?;
            }
            Bulk::Prefetch => {}
        }
    }
    Ok(())
}

/// Copies to shared memory, and completes the bytes at the mbarrier.
fn copy_to_targets(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    operands: &Operands,
    from: Location,
) -> Outcome {
    let bytes = operands.bytes[lane];
    let targets = operands.destination(lane).into_iter().flat_map(Destination::targets);
    for (to, mbarrier) in targets {
        let space = peer::space_of(ctx, to);
        copy(warp, ctx, lane, (space, to), from, bytes)?;
        mbarrier::complete_bytes(warp, ctx, lane, mbarrier, bytes)?;
    }
    Ok(())
}

/// Refuses copies beyond the end of an allocation, where another one may start.
pub(super) fn in_one_allocation(
    ctx: &ExecutionContext<'_>,
    lane: usize,
    address: u64,
    bytes: u64,
) -> Outcome {
    match bytes == 0 || ctx.global.memory().place(address, bytes).is_some() {
        true => Ok(()),
        false => Err(outside(ctx, Space::Global, lane, address, bytes)),
    }
}

/// An address in a space.
type Location = (Space, u64);

fn copy(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    (to_space, to): Location,
    (from_space, from): Location,
    bytes: u64,
) -> Outcome {
    const WORD: u64 = 8;
    for at in (0..bytes).step_by(WORD as usize) {
        let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
        let value = read_lane(warp, ctx, from_space, lane, from, WORD)?;
        write_lane(warp, ctx, to_space, lane, to, WORD, value)?;
    }
    Ok(())
}

fn reduce(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    atomic: Atomic,
    to: u64,
    from: u64,
    bytes: u64,
) -> Outcome {
    let width = u64::from(atomic.ty.bytes());
    for at in (0..bytes).step_by(width as usize) {
        let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
        let old = read_lane(warp, ctx, Space::Global, lane, to, width)?;
        let operand = read_lane(warp, ctx, Space::Shared, lane, from, width)?;
        write_lane(warp, ctx, Space::Global, lane, to, width, modified(atomic, old, operand, 0))?;
    }
    Ok(())
}

/// Records the lanes, grouped by size, mbarrier and CTAs. Empty copies make no request.
fn record_all(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    f: Bulk,
    operands: &Operands,
) {
    let moving = mask & mask_of(|lane| operands.bytes[lane] > 0);
    if moving == 0 {
        let group = Group { space: space(f), lanes: 0, addresses: [0; WARP] };
        return record(warp, ctx, step, kind(f), Cache::Global, UNIT, &group);
    }
    let key = |lane: usize| {
        let place = operands.destination(lane).map(|to| (to.signal(), to.ctas()));
        (operands.bytes[lane], place)
    };
    for lanes in alike(moving, key) {
        record_group(warp, ctx, step, lanes, f, operands);
    }
}

/// Records lanes of one size, mbarrier and set of CTAs, split as the trace requires.
fn record_group(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    lanes: u32,
    f: Bulk,
    operands: &Operands,
) {
    let first = lanes.trailing_zeros() as usize;
    let bytes = operands.bytes[first];
    for at in (0..bytes).step_by(MAX_WIDTH as usize) {
        let addresses = operands.recorded(f).map(|address| address.wrapping_add(at));
        let group = Group { space: space(f), lanes, addresses };
        let width = (bytes - at).min(MAX_WIDTH.into());
        record(warp, ctx, step, kind(f), Cache::Global, width, &group);
        let Some(destination) = operands.destination(first) else { continue };
        warp.record(|records| {
            if f != Bulk::Share {
                records.copied_to(destination.recorded(ctx));
            }
            records.with_mbarrier(destination.signal());
        });
    }
}

fn kind(f: Bulk) -> Kind {
    match f {
        Bulk::Load | Bulk::Multicast | Bulk::Share => Kind::AsyncCopy,
        Bulk::Store => Kind::Store,
        Bulk::Reduce { .. } => Kind::Reduction,
        Bulk::Prefetch => Kind::Prefetch,
    }
}

/// Returns the space of the recorded addresses.
fn space(f: Bulk) -> Space {
    if f == Bulk::Share { Space::Cluster } else { Space::Global }
}
