//! Cluster instructions: addresses in the shared memory of other CTAs, and asynchronous stores and reductions
//! to it, which take effect immediately.

use warpmem_ptx::{Access, Atomic, Cache, ClusterOp, Space};
use warpmem_trace::{Kind, Mbarrier};

use super::atomic::modified;
use super::mbarrier::{self, complete_bytes};
use super::memory::{check_alignment, read_lane, write_lane};
use super::request::record;
use super::spaces::{Group, addresses, groups};
use super::{ExecutionContext, Outcome, Trap};
use crate::error::TrapKind;
use crate::image::SHARED_WINDOW;
use crate::lanes::{Lanes, alike, lanes_of};
use crate::peers::{address_in, offset_of, rank_of};
use crate::program::{Source, Step};
use crate::warp::Warp;

/// Highest rank that a generic address can encode; no cluster is that large.
const HIGHEST_RANK: u64 = rank_of(SHARED_WINDOW.end - SHARED_WINDOW.start) - 1;

pub(super) fn execute(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    op: ClusterOp,
) -> Outcome {
    match op {
        ClusterOp::Map(space) => map(warp, step, mask, space),
        ClusterOp::Rank(space) => rank(warp, step, mask, space),
        ClusterOp::Store { access, mbarrier } => store(warp, ctx, step, mask, access, mbarrier),
        ClusterOp::Reduce { atomic, mbarrier } => reduce(warp, ctx, step, mask, atomic, mbarrier),
    }
}

/// Executes `mapa`. An address in a CTA outside the cluster is refused when it is used.
fn map(warp: &mut Warp, step: &Step, mask: u32, space: Space) -> Outcome {
    let from = shared_addresses(warp, step.sources[0], 0, space, mask)?;
    let ranks = warp.narrow(step.sources[1]);
    let start = start_of(space);
    let mapped = std::array::from_fn(|lane| {
        start + address_in(u64::from(ranks[lane]).min(HIGHEST_RANK), offset_of(from[lane]))
    });
    warp.set_wide(step.dests[0], &mapped, mask);
    Ok(())
}

/// Executes `getctarank`.
fn rank(warp: &mut Warp, step: &Step, mask: u32, space: Space) -> Outcome {
    let of = shared_addresses(warp, step.sources[0], 0, space, mask)?;
    warp.set_narrow(step.dests[0], &of.map(|address| rank_of(address) as u32), mask);
    Ok(())
}

/// Returns the start of a space in generic addresses.
fn start_of(space: Space) -> u64 {
    if space == Space::Generic { SHARED_WINDOW.start } else { 0 }
}

/// Returns the shared-memory addresses of an operand that may be generic.
fn shared_addresses(
    warp: &Warp,
    source: Source,
    offset: i64,
    space: Space,
    mask: u32,
) -> Result<Lanes<u64>, Trap> {
    let given = addresses(warp, source, offset);
    if space != Space::Generic {
        return Ok(given);
    }
    match lanes_of(mask).find(|&lane| !SHARED_WINDOW.contains(&given[lane])) {
        None => Ok(given.map(|address| address.wrapping_sub(SHARED_WINDOW.start))),
        Some(lane) => {
            let reason = format!("{:#x} is not an address of shared memory", given[lane]);
            Err(Trap { lane, reason, kind: TrapKind::Memory })
        }
    }
}

/// Executes `st.async`.
fn store(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    access: Access,
    mbarrier: i64,
) -> Outcome {
    let width = u64::from(access.ty.bytes());
    let total = width * u64::from(access.elements);
    let elements = 1..=usize::from(access.elements);
    let mbarriers = mbarriers(warp, step, elements.end() + 1, mbarrier, access.space, mask)?;
    for group in groups(warp, step.sources[0], access.offset, access.space, mask) {
        check_target(&group, &mbarriers)?;
        record_all(warp, ctx, step, Kind::Store, total, &group, &mbarriers);
        check_alignment(&group, total)?;
        for at in elements.clone() {
            let values = warp.wide(step.sources[at]);
            for lane in lanes_of(group.lanes) {
                let address = group.addresses[lane] + (at as u64 - 1) * width;
                write_lane(warp, ctx, group.space, lane, address, width, values[lane])?;
            }
        }
        complete_all(warp, ctx, &group, &mbarriers, total)?;
    }
    Ok(())
}

/// Executes `red.async`.
fn reduce(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    atomic: Atomic,
    mbarrier: i64,
) -> Outcome {
    let width = u64::from(atomic.ty.bytes());
    let mbarriers = mbarriers(warp, step, 2, mbarrier, atomic.space, mask)?;
    let operands = warp.wide(step.sources[1]);
    for group in groups(warp, step.sources[0], atomic.offset, atomic.space, mask) {
        check_target(&group, &mbarriers)?;
        record_all(warp, ctx, step, Kind::Reduction, width, &group, &mbarriers);
        check_alignment(&group, width)?;
        for lane in lanes_of(group.lanes) {
            let address = group.addresses[lane];
            let old = read_lane(warp, ctx, group.space, lane, address, width)?;
            let new = modified(atomic, old, operands[lane], 0);
            write_lane(warp, ctx, group.space, lane, address, width, new)?;
        }
        complete_all(warp, ctx, &group, &mbarriers, width)?;
    }
    Ok(())
}

/// Records the lanes, grouped by the CTA and mbarrier where they complete. A transfer within the CTA
/// completes at once and counts as arrived when it is recorded.
fn record_all(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    kind: Kind,
    width: u64,
    group: &Group,
    mbarriers: &Lanes<u64>,
) {
    let offset = |lane: usize| offset_of(mbarriers[lane]) as u32;
    for lanes in alike(group.lanes, offset) {
        record(warp, ctx, step, kind, Cache::Default, width, &Group { lanes, ..*group });
        let offset = offset(lanes.trailing_zeros() as usize);
        if group.space == Space::Cluster {
            warp.record(|records| records.with_mbarrier(Mbarrier::Signal { offset }));
            continue;
        }
        let at = Group { lanes, space: group.space, addresses: *mbarriers };
        record(warp, ctx, step, Kind::Reduction, Cache::Default, mbarrier::BYTES, &at);
        warp.record(|records| {
            records.with_mbarrier(Mbarrier::Arrive { arrivals: 0, bytes: -(width as i32) });
        });
    }
}

/// Returns the mbarrier addresses in a source of the step.
fn mbarriers(
    warp: &Warp,
    step: &Step,
    source: usize,
    offset: i64,
    space: Space,
    mask: u32,
) -> Result<Lanes<u64>, Trap> {
    shared_addresses(warp, step.sources[source], offset, space, mask)
}

/// Checks that destination and mbarrier belong to one CTA (ISA, "st.async").
fn check_target(group: &Group, mbarriers: &Lanes<u64>) -> Outcome {
    for lane in lanes_of(group.lanes) {
        if !matches!(group.space, Space::Shared | Space::Cluster) {
            let (address, space) = (group.addresses[lane], group.space.name());
            let reason =
                format!("{address:#x} is an address of {space} memory, not of shared memory");
            return Err(Trap { lane, reason, kind: TrapKind::Memory });
        }
        check_same_cta(lane, group.addresses[lane], mbarriers[lane])?;
    }
    Ok(())
}

/// Refuses a transfer whose mbarrier belongs to another CTA than its destination.
pub(super) fn check_same_cta(lane: usize, to: u64, mbarrier: u64) -> Outcome {
    let [to, of] = [to, mbarrier].map(rank_of);
    match to == of {
        true => Ok(()),
        false => Err(Trap::new(
            lane,
            format!("a transfer to CTA {to} of the cluster with an mbarrier of CTA {of}"),
        )),
    }
}

fn complete_all(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    group: &Group,
    mbarriers: &Lanes<u64>,
    bytes: u64,
) -> Outcome {
    lanes_of(group.lanes)
        .try_for_each(|lane| complete_bytes(warp, ctx, lane, mbarriers[lane], bytes))
}
