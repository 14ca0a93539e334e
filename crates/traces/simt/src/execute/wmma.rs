//! `wmma.load` and `wmma.store`: moves of matrices between memory and the registers of a warp.
//!
//! The ISA does not define which elements a lane holds. Here they are those of the `mma` into which ptxas
//! translates `wmma` for GPUs of compute capability 8.0 and later. Each instruction is recorded as the
//! loads or stores that it becomes there. A matrix is turned if its lines, in the sense of [`Fragment`],
//! are not contiguous in memory:
//!
//! ```text
//!  A and B in `.shared`: elements of 16 bits,
//!    or of fewer, not turned                       `ldmatrix` of up to four registers, `.trans` if turned
//!  turned elements of 16 bits, otherwise           a register of neighbours, then `movmatrix`
//!  other turned elements                           one by one
//!  all others                                      a register of neighbours, two of C and D
//! ```
//!
//! With 8 rows and 32 columns, A and B exchange layouts, and C and D are stored by columns.

use warpmem_ptx::{Cache, Layout, Space, WmmaAccess, WmmaOperand};
use warpmem_trace::Kind;

use super::fragment::Fragment;
use super::matrix::transposed;
use super::memory::{check_alignment, read, write};
use super::request::record;
use super::spaces::{Group, addresses, groups_at};
use super::{ExecutionContext, Outcome};
use crate::lanes::{Lanes, WARP};
use crate::program::Step;
use crate::warp::Warp;

/// Access pattern of an instruction.
struct Plan {
    fragment: Fragment,
    is_turned: bool,
    /// Bits of an element, and of a register.
    bits: usize,
    register_bits: usize,
    /// Elements of a lane that an access moves.
    run: usize,
    /// Accesses that one `ldmatrix` replaces.
    together: usize,
}

impl Plan {
    fn of(access: WmmaAccess) -> Plan {
        let [m, n, k] = access.shape.map(usize::from);
        let (is_wide, bits) = (n > m, access.bits.into());
        let (lines, natural) = match access.operand {
            WmmaOperand::A => (m, Layout::Row),
            WmmaOperand::B => (n, Layout::Column),
            WmmaOperand::C if is_wide => (n, Layout::Column),
            WmmaOperand::C => (m, Layout::Row),
        };
        let fragment = match access.operand {
            WmmaOperand::C => Fragment::of_c(lines, if is_wide { m } else { n }),
            operand if (operand == WmmaOperand::A) == is_wide => Fragment::of_b(lines, k, bits),
            _ => Fragment::of_a(lines, k, bits),
        };
        let (bits, is_turned) = (usize::from(access.bits), access.layout != natural);
        let run = if is_turned && bits != 16 { 1 } else { fragment.run };
        let is_matrix = access.space == Space::Shared && access.operand != WmmaOperand::C;
        let together =
            if is_matrix && bits <= 16 && run == fragment.run { MAX_MATRICES } else { 1 };
        Plan { fragment, is_turned, bits, register_bits: bits.max(32), run, together }
    }

    /// Returns the registers that hold the fragment.
    fn registers(&self) -> usize {
        self.fragment.elements() * self.bits / self.register_bits
    }

    /// Returns the elements of a register.
    fn elements(&self) -> usize {
        self.register_bits / self.bits
    }

    /// Returns the bytes of a lane's access, and of the part of a register that it moves.
    fn bytes(&self) -> [u64; 2] {
        let bits = self.run * self.bits;
        [bits, bits.min(self.register_bits)].map(|bits| bits as u64 / 8)
    }

    /// Returns whether an access loads the elements of other lanes, which `movmatrix` then moves.
    fn is_moved(&self) -> bool {
        self.is_turned && self.bits == 16
    }

    /// Returns the first elements of the accesses.
    fn accesses(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.fragment.elements()).step_by(self.run)
    }

    /// Returns the addresses of an access, from the lanes' base addresses and the strides of the matrix.
    fn addresses(&self, at: usize, base: &Lanes<u64>, strides: &Lanes<u32>) -> Lanes<u64> {
        let (line, first) = self.fragment.origin(at);
        std::array::from_fn(|lane| {
            let (lines, elements) = self.fragment.apart(lane);
            let (line, at) = match (self.is_turned, self.is_moved()) {
                (false, _) => (line + lines, first + elements),
                (_, false) => (first + elements, line + lines),
                (_, true) => (first + lines, line + elements),
            };
            let element = line as u64 * u64::from(strides[lane]) + at as u64;
            base[lane].wrapping_add(element.wrapping_mul(self.bits as u64) / 8)
        })
    }
}

/// Maximum matrices of `ldmatrix`, and rows of one.
const MAX_MATRICES: usize = 4;
const ROWS: usize = 8;
/// Bytes per row.
const ROW_BYTES: u64 = 16;

pub(super) fn load(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    access: WmmaAccess,
) -> Outcome {
    let plan = Plan::of(access);
    let base = addresses(warp, step.sources[0], access.offset);
    let strides = warp.narrow(step.sources[1]);
    let mut registers = vec![[0u64; WARP]; plan.registers()];
    let firsts: Vec<usize> = plan.accesses().collect();
    for firsts in firsts.chunks(plan.together) {
        let places: Vec<Lanes<u64>> =
            firsts.iter().map(|&at| plan.addresses(at, &base, &strides)).collect();
        let part = warp.records.is_some().then(|| part_of(step, &plan, firsts));
        let part = part.as_ref().unwrap_or(step);
        if plan.together > 1 {
            let rows = rows_of(&places, mask);
            record(warp, ctx, part, Kind::Load, Cache::Default, ROW_BYTES, &rows);
            check_alignment(&rows, ROW_BYTES)?;
        }
        for (&first, places) in firsts.iter().zip(places) {
            for group in groups_at(warp.place.rank.into(), places, access.space, mask) {
                if plan.together == 1 {
                    let [bytes, _] = plan.bytes();
                    record(warp, ctx, part, Kind::Load, Cache::Default, bytes, &group);
                    check_alignment(&group, bytes)?;
                }
                gather(warp, ctx, &plan, first, &group, &mut registers)?;
            }
        }
    }
    for (at, &dest) in step.dests.iter().enumerate() {
        // Half precision has more registers than a small fragment fills.
        let values = &registers[at % registers.len()];
        let values = if plan.is_moved() { moved(values) } else { *values };
        warp.set_wide(dest, &values, mask);
    }
    Ok(())
}

/// Writes the data of an access into the registers.
fn gather(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    plan: &Plan,
    first: usize,
    group: &Group,
    registers: &mut [Lanes<u64>],
) -> Outcome {
    let [bytes, width] = plan.bytes();
    for at in 0..bytes / width {
        let values = read(warp, ctx, group, at * width, width)?;
        let element = first + at as usize * plan.elements();
        let shift = element % plan.elements() * plan.bits;
        let register = &mut registers[element / plan.elements()];
        for (to, value) in register.iter_mut().zip(values) {
            *to |= value << shift;
        }
    }
    Ok(())
}

pub(super) fn store(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    access: WmmaAccess,
) -> Outcome {
    let plan = Plan::of(access);
    let base = addresses(warp, step.sources[0], access.offset);
    let registers = 1..step.sources.len() - 1;
    let strides = warp.narrow(step.sources[registers.end]);
    let sources = &step.sources[registers];
    let [bytes, width] = plan.bytes();
    for first in plan.accesses() {
        let places = plan.addresses(first, &base, &strides);
        for group in groups_at(warp.place.rank.into(), places, access.space, mask) {
            record(warp, ctx, step, Kind::Store, Cache::Default, bytes, &group);
            check_alignment(&group, bytes)?;
            for at in 0..bytes / width {
                let register = first / plan.elements() + at as usize;
                let values = warp.wide(sources[register]);
                let values = if plan.is_moved() { moved(&values) } else { values };
                write(warp, ctx, &group, at * width, width, &values)?;
            }
        }
    }
    Ok(())
}

/// Returns the transposed matrix of 16-bit elements.
fn moved(values: &Lanes<u64>) -> Lanes<u64> {
    transposed(&values.map(|value| value as u32)).map(u64::from)
}

/// Returns the rows that an `ldmatrix` reads for these accesses: lane l has the address of row l % 8 of
/// matrix l / 8.
fn rows_of(places: &[Lanes<u64>], mask: u32) -> Group {
    let count = places.len() * ROWS;
    let mut addresses = [0; WARP];
    for (lane, address) in addresses.iter_mut().enumerate().take(count) {
        *address = places[lane / ROWS][lane % ROWS * (WARP / ROWS)];
    }
    let lanes = if mask == 0 { 0 } else { u32::MAX >> (WARP - count) };
    Group { space: Space::Shared, lanes, addresses }
}

/// Returns the instruction restricted to the registers that some accesses write.
fn part_of(step: &Step, plan: &Plan, firsts: &[usize]) -> Step {
    let registers = plan.registers();
    let last = firsts.last().copied().unwrap_or_default() + plan.run - 1;
    let written = firsts[0] / plan.elements()..=last / plan.elements();
    let of_part =
        step.writes.iter().enumerate().filter(|(at, _)| written.contains(&(at % registers)));
    Step { writes: of_part.map(|(_, &register)| register).collect(), ..step.clone() }
}
