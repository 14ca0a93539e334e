//! Moves of 8 × 8 matrices of 16-bit elements: lane l holds the elements 2 (l % 4) and 2 (l % 4) + 1 of row l
//! / 4.

use warpmem_ptx::{Cache, Matrices, Space};
use warpmem_trace::Kind;

use super::fragment::place;
use super::memory::{check_alignment, read_lane, write_lane};
use super::request::record;
use super::spaces::{Group, addresses, generic_address};
use super::{ExecutionContext, Outcome, Trap};
use crate::error::TrapKind;
use crate::lanes::{Lanes, WARP, lanes_of};
use crate::program::Step;
use crate::warp::Warp;

/// Rows of a matrix in memory, and bytes per row.
const ROWS: usize = 8;
const ROW_BYTES: u64 = 16;

/// Returns the rows of the matrices in the CTA's shared memory: lane l has the address of row l % 8 of matrix
/// l / 8.
fn rows(warp: &Warp, step: &Step, matrices: Matrices) -> Result<Group, Trap> {
    let lanes = u32::MAX >> (WARP - ROWS * usize::from(matrices.count));
    let mut addresses = addresses(warp, step.sources[0], matrices.offset);
    if matrices.space == Space::Generic {
        for lane in lanes_of(lanes) {
            let (space, address) = generic_address(addresses[lane]);
            if space != Space::Shared {
                let reason = format!(
                    "a matrix row at {address:#x} of {} memory: rows must be in shared memory",
                    space.name()
                );
                return Err(Trap { lane, reason, kind: TrapKind::Memory });
            }
            addresses[lane] = address;
        }
    }
    Ok(Group { space: Space::Shared, lanes, addresses })
}

/// Returns row and column of a lane's two elements of a matrix.
fn pair(lane: usize, transposed: bool) -> [(usize, usize); 2] {
    let (group, thread) = place(lane);
    let both = [2 * thread, 2 * thread + 1];
    both.map(|at| if transposed { (at, group) } else { (group, at) })
}

/// Executes `ldmatrix`.
pub(super) fn load(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    matrices: Matrices,
) -> Outcome {
    let group = rows(warp, step, matrices)?;
    record(warp, ctx, step, Kind::Load, Cache::Default, ROW_BYTES, &group);
    check_alignment(&group, ROW_BYTES)?;
    for (matrix, &dest) in step.dests.iter().enumerate() {
        let mut values = [0u32; WARP];
        for (lane, value) in values.iter_mut().enumerate() {
            for (half, (row, column)) in pair(lane, matrices.transposed).into_iter().enumerate() {
                let address = group.addresses[matrix * ROWS + row] + 2 * column as u64;
                let element = read_lane(warp, ctx, Space::Shared, lane, address, 2)?;
                *value |= (element as u32) << (16 * half);
            }
        }
        warp.set_narrow(dest, &values, mask);
    }
    Ok(())
}

/// Executes `stmatrix`.
pub(super) fn store(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    matrices: Matrices,
) -> Outcome {
    let group = rows(warp, step, matrices)?;
    record(warp, ctx, step, Kind::Store, Cache::Default, ROW_BYTES, &group);
    check_alignment(&group, ROW_BYTES)?;
    for (matrix, &source) in step.sources[1..].iter().enumerate() {
        let values = warp.narrow(source);
        for (lane, &value) in values.iter().enumerate() {
            for (half, (row, column)) in pair(lane, matrices.transposed).into_iter().enumerate() {
                let address = group.addresses[matrix * ROWS + row] + 2 * column as u64;
                let element = u64::from(value >> (16 * half) & 0xffff);
                write_lane(warp, ctx, Space::Shared, lane, address, 2, element)?;
            }
        }
    }
    Ok(())
}

/// Executes `movmatrix`.
pub(super) fn transpose(warp: &mut Warp, step: &Step, mask: u32) {
    let values = warp.narrow(step.sources[0]);
    warp.set_narrow(step.dests[0], &transposed(&values), mask);
}

/// Returns the transposed matrix.
pub(super) fn transposed(values: &Lanes<u32>) -> Lanes<u32> {
    let element =
        |row: usize, column: usize| values[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
    std::array::from_fn(|lane| {
        let [(row, first), (_, second)] = pair(lane, false);
        element(first, row) | element(second, row) << 16
    })
}
