//! Memory requests in the trace: addresses, cache operators and L2 policies of recorded accesses.

use warpmem_ptx::{Cache, CachePolicy, EvictionPriority, PrimaryLines, Space};
use warpmem_trace::{CacheOp, Eviction, Kind, L2Policy, MemoryOp, Space as TraceSpace};

use super::ExecutionContext;
use super::record::with_registers;
use super::spaces::Group;
use crate::lanes::{WARP, lanes_of};
use crate::program::Step;
use crate::warp::{Place, Warp};

/// Trace address of the first warp's local memory, above device memory; further warps follow.
const LOCAL_BASE: u64 = 0x7f80_0000_0000;
/// Local memory of a thread in trace addresses, bytes.
const LOCAL_BYTES: u64 = 1 << 14;

/// Records a group of lanes. Kernel parameters are part of the instructions that use them and make no
/// request.
pub(super) fn record(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    kind: Kind,
    cache: Cache,
    width: u64,
    group: &Group,
) {
    if group.space == Space::Param || warp.records.is_none() {
        return;
    }
    let mut addresses = [0; WARP];
    let lanes = lanes_of(group.lanes);
    let place = &warp.place;
    for (to, lane) in addresses.iter_mut().zip(lanes) {
        *to = match group.space {
            Space::Local => local_address(place, lane, group.addresses[lane]),
            Space::Shared => group.addresses[lane].wrapping_sub(ctx.shared_base),
            _ => group.addresses[lane],
        };
    }
    let addresses = &addresses[..group.lanes.count_ones() as usize];
    let op = MemoryOp {
        kind,
        space: trace_space(group.space),
        width: width as u32,
        cache_op: cache_op(cache),
    };
    with_registers(warp, step, |records, registers| {
        records.memory(ctx.pc, op, group.lanes, registers, addresses);
    });
    if op.space != TraceSpace::Global {
        return;
    }
    let of_launch = || ctx.window.zip(addresses.first()).and_then(|(w, &first)| w.policy_at(first));
    let of_access = policy_bits(warp, step, group.lanes);
    let of_access =
        of_access.zip(addresses.first()).and_then(|(bits, &first)| l2_policy(bits, first));
    if let Some(policy) = of_access.or_else(of_launch) {
        warp.record(|records| records.with_l2_policy(policy));
    }
}

/// Returns the policy of the first lane: compilers give all lanes the same one.
fn policy_bits(warp: &Warp, step: &Step, lanes: u32) -> Option<u64> {
    Some(warp.wide(step.policy?)[lanes.trailing_zeros() as usize % WARP])
}

/// Returns a policy's priority for the lines of an access at `address`.
fn l2_policy(bits: u64, address: u64) -> Option<L2Policy> {
    let CachePolicy { primary, secondary_first, lines } = CachePolicy::of(bits)?;
    let primary = eviction(primary);
    let secondary = if secondary_first { Eviction::First } else { Eviction::Unchanged };
    let policy = match lines {
        PrimaryLines::Sixteenths(sixteenths) => L2Policy { primary, sixteenths, secondary },
        PrimaryLines::Blocks(blocks) if blocks.contains(address) => L2Policy::of_all(primary),
        PrimaryLines::Blocks(_) => L2Policy::of_all(secondary),
    };
    let is_default = [policy.primary, policy.secondary] == [Eviction::Unchanged; 2];
    (!is_default).then_some(policy)
}

fn eviction(priority: EvictionPriority) -> Eviction {
    match priority {
        EvictionPriority::Unchanged => Eviction::Unchanged,
        EvictionPriority::First => Eviction::First,
        EvictionPriority::Last => Eviction::Last,
        EvictionPriority::Normal => Eviction::Normal,
    }
}

/// Interleaves local memory, as hardware does: the same word of neighbouring lanes is adjacent.
fn local_address(place: &Place, lane: usize, address: u64) -> u64 {
    let threads: u32 = place.block.iter().product();
    let warps = u64::from(threads.div_ceil(WARP as u32));
    let warp = place.cta_number * warps + u64::from(place.warp_in_cta);
    let first = LOCAL_BASE + warp * LOCAL_BYTES * WARP as u64;
    first + (address / 4 * WARP as u64 + lane as u64) * 4 + address % 4
}

fn trace_space(space: Space) -> TraceSpace {
    match space {
        Space::Shared => TraceSpace::Shared,
        // Cluster addresses equal those of the trace.
        Space::Cluster => TraceSpace::Cluster,
        Space::Local => TraceSpace::Local,
        Space::Constant => TraceSpace::Constant,
        _ => TraceSpace::Global,
    }
}

fn cache_op(cache: Cache) -> CacheOp {
    match cache {
        Cache::Default => CacheOp::Default,
        Cache::All => CacheOp::All,
        Cache::Global => CacheOp::Global,
        Cache::Streaming => CacheOp::Streaming,
        Cache::LastUse => CacheOp::LastUse,
        Cache::Volatile => CacheOp::Volatile,
        Cache::ReadOnly => CacheOp::ReadOnly,
        Cache::StrongGpu => CacheOp::StrongGpu,
    }
}
