//! Bulk copies of bytes: every active lane moves as many bytes as it says, at once.

use warpmem_ptx::{Atomic, Bulk, Cache, Space};
use warpmem_trace::{Kind, MAX_WIDTH};

use super::atomic::modified;
use super::memory::{Group, addresses, outside, read_lane, record, write_lane};
use super::{Context, Outcome, Trap, mbarrier};
use crate::lanes::{Lanes, WARP, lanes_of};
use crate::program::Step;
use crate::recorder::WarpRecorder;
use crate::warp::Warp;

/// Sizes and addresses are multiples of this (ISA, "cp.async.bulk").
const UNIT: u64 = 16;

/// What the lanes say.
struct Operands {
    to: Lanes<u64>,
    from: Lanes<u64>,
    bytes: Lanes<u64>,
    /// Of copies to shared memory.
    mbarrier: Option<Lanes<u64>>,
}

impl Operands {
    fn of<R>(warp: &Warp<R>, step: &Step, f: Bulk, offsets: [i64; 3]) -> Operands {
        let address = |at: usize| addresses(warp, step.sources[at], offsets[at]);
        let bytes = |at: usize| warp.narrow(step.sources[at]).map(u64::from);
        match f {
            Bulk::Prefetch => {
                Operands { to: address(0), from: address(0), bytes: bytes(1), mbarrier: None }
            }
            Bulk::Store | Bulk::Reduce { .. } => {
                Operands { to: address(0), from: address(1), bytes: bytes(2), mbarrier: None }
            }
            Bulk::Load => {
                let mbarrier = Some(addresses(warp, step.sources[3], offsets[2]));
                Operands { to: address(0), from: address(1), bytes: bytes(2), mbarrier }
            }
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

    /// Where the global memory of a copy is.
    fn global(&self, f: Bulk) -> &Lanes<u64> {
        match f {
            Bulk::Load | Bulk::Prefetch => &self.from,
            Bulk::Store | Bulk::Reduce { .. } => &self.to,
        }
    }
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`.
pub(super) fn execute<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &mut Context<'_>,
    step: &Step,
    mask: u32,
    f: Bulk,
    offsets: [i64; 3],
) -> Outcome {
    let operands = Operands::of(warp, step, f, offsets);
    lanes_of(mask).try_for_each(|lane| operands.check(lane))?;
    record_all(warp, ctx, step, mask, f, &operands);
    for lane in lanes_of(mask) {
        let bytes = operands.bytes[lane];
        let (to, from) = (operands.to[lane], operands.from[lane]);
        if f != Bulk::Prefetch {
            in_one_allocation(ctx, lane, operands.global(f)[lane], bytes)?;
        }
        match f {
            Bulk::Load => {
                copy(warp, ctx, lane, (Space::Shared, to), (Space::Global, from), bytes)?;
            }
            Bulk::Store => {
                copy(warp, ctx, lane, (Space::Global, to), (Space::Shared, from), bytes)?;
            }
            Bulk::Reduce { op, ty } => {
                let ftz = ty == warpmem_ptx::Type::F32;
                let atomic = Atomic { space: Space::Global, op, ty, ftz, offset: 0 };
                reduce(warp, ctx, lane, atomic, to, from, bytes)?;
            }
            Bulk::Prefetch => {}
        }
        if let Some(mbarrier) = &operands.mbarrier {
            mbarrier::complete_bytes(warp, ctx, lane, mbarrier[lane], bytes)?;
        }
    }
    Ok(())
}

/// Refuses what goes on behind the end of an allocation, where another may begin.
pub(super) fn in_one_allocation(
    ctx: &Context<'_>,
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

fn copy<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &mut Context<'_>,
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

fn reduce<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &mut Context<'_>,
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

/// Records the lanes, those of equal size and mbarrier together. What moves nothing makes no request.
fn record_all<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &Context<'_>,
    step: &Step,
    mask: u32,
    f: Bulk,
    operands: &Operands,
) {
    let mbarrier = |lane: usize| operands.mbarrier.map(|mbarrier| mbarrier[lane]);
    let mut rest = lanes_of(mask).filter(|&lane| operands.bytes[lane] > 0).fold(0, with_lane);
    if rest == 0 {
        let group = Group { space: Space::Global, lanes: 0, addresses: [0; WARP] };
        return record(warp, ctx, step, kind(f), Cache::Global, UNIT, &group);
    }
    while rest != 0 {
        let first = rest.trailing_zeros() as usize;
        let key = |lane: usize| (operands.bytes[lane], mbarrier(lane));
        let lanes = lanes_of(rest).filter(|&lane| key(lane) == key(first)).fold(0, with_lane);
        record_group(warp, ctx, step, lanes, f, operands);
        rest &= !lanes;
    }
}

fn with_lane(mask: u32, lane: usize) -> u32 {
    mask | 1 << lane
}

/// Records lanes of one size and mbarrier, in as many parts as the trace wants.
fn record_group<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &Context<'_>,
    step: &Step,
    lanes: u32,
    f: Bulk,
    operands: &Operands,
) {
    let first = lanes.trailing_zeros() as usize;
    let bytes = operands.bytes[first];
    for at in (0..bytes).step_by(MAX_WIDTH as usize) {
        let addresses = operands.global(f).map(|address| address.wrapping_add(at));
        let group = Group { space: Space::Global, lanes, addresses };
        let width = (bytes - at).min(MAX_WIDTH.into());
        record(warp, ctx, step, kind(f), Cache::Global, width, &group);
        if let Some(mbarrier) = &operands.mbarrier {
            warp.recorder.copy_completes_at(mbarrier[first]);
        }
    }
}

fn kind(f: Bulk) -> Kind {
    match f {
        Bulk::Load => Kind::AsyncCopy,
        Bulk::Store => Kind::Store,
        Bulk::Reduce { .. } => Kind::Reduction,
        Bulk::Prefetch => Kind::Prefetch,
    }
}
