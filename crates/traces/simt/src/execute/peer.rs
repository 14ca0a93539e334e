//! Access to the shared memory of the CTAs of a cluster.

use warpmem_ptx::Space;

use super::{ExecutionContext, Outcome, Trap};
use crate::error::TrapKind;
use crate::peers::{offset_of, rank_of};

/// Returns the space of a shared-memory address: the CTA's own, or the cluster's.
pub(super) fn space_of(ctx: &ExecutionContext<'_>, address: u64) -> Space {
    match rank_of(address) == rank_of(ctx.shared_base) {
        true => Space::Shared,
        false => Space::Cluster,
    }
}

/// Returns bytes of the shared memory of a CTA of the cluster.
pub(super) fn bytes<'c>(
    ctx: &'c mut ExecutionContext<'_>,
    lane: usize,
    address: u64,
    width: u64,
) -> Result<&'c mut [u8], Trap> {
    let (rank, offset) = (rank_of(address), offset_of(address));
    let trap = |why: String| {
        let reason = format!(
            "access of {width} bytes at {offset:#x} of the shared memory of CTA {rank} of the \
             cluster: {why}"
        );
        Trap { lane, reason, kind: TrapKind::Memory }
    };
    let memory = match rank == rank_of(ctx.shared_base) {
        true => &mut *ctx.shared,
        false => ctx.peers.memory(rank).map_err(trap)?,
    };
    let length = memory.len();
    let place = memory.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..width as usize));
    place.ok_or_else(|| trap(format!("it has {length} bytes")))
}

/// Reads up to 8 bytes of the shared memory of a CTA of the cluster. Never inlined, because inlining it would
/// prevent the inlining of other kernels' accesses.
#[cold]
#[inline(never)]
pub(super) fn read(
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    address: u64,
    width: u64,
) -> Result<u64, Trap> {
    let mut value = [0; 8];
    value[..width as usize].copy_from_slice(bytes(ctx, lane, address, width)?);
    Ok(u64::from_le_bytes(value))
}

/// Writes up to 8 bytes, otherwise as [`read`].
#[cold]
#[inline(never)]
pub(super) fn write(
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    address: u64,
    width: u64,
    value: u64,
) -> Outcome {
    let place = bytes(ctx, lane, address, width)?;
    place.copy_from_slice(&value.to_le_bytes()[..width as usize]);
    Ok(())
}
