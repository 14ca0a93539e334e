//! Table logic, byte permutation, and bit fields.

use warpmem_ptx::{Logic, PermuteMode, Type};

use super::operand::map3;
use crate::lanes::{Lanes, mask_of};
use crate::program::Step;
use crate::warp::Warp;

/// Executes `bfi`.
pub(super) fn insert(warp: &mut Warp, step: &Step, mask: u32, ty: Type) {
    let field = |start: u32, length: u32, bits: u32| {
        let (start, length) = (start & 0xff, length & 0xff);
        let ones = if length >= 64 { u64::MAX } else { (1 << length) - 1 };
        let ones = if start >= bits { 0 } else { ones << start };
        (ones, start.min(63))
    };
    let start = warp.narrow(step.sources[2]);
    let length = warp.narrow(step.sources[3]);
    if ty.bits() == 64 {
        let (a, b) = (warp.wide(step.sources[0]), warp.wide(step.sources[1]));
        let d: Lanes<u64> = std::array::from_fn(|lane| {
            let (ones, shift) = field(start[lane], length[lane], 64);
            b[lane] & !ones | a[lane] << shift & ones
        });
        return warp.set_wide(step.dests[0], &d, mask);
    }
    let (a, b) = (warp.narrow(step.sources[0]), warp.narrow(step.sources[1]));
    let d: Lanes<u32> = std::array::from_fn(|lane| {
        let (ones, shift) = field(start[lane], length[lane], 32);
        (u64::from(b[lane]) & !ones | u64::from(a[lane]) << shift & ones) as u32
    });
    warp.set_narrow(step.dests[0], &d, mask);
}

/// Executes `lop3`. With `combine`, the second destination is whether the result is not 0, combined with the
/// predicate of the fourth source.
pub(super) fn lop3(warp: &mut Warp, step: &Step, mask: u32, table: u8, combine: Option<Logic>) {
    let Some(combine) = combine else {
        return map3(warp, step, mask, |a: u32, b: u32, c: u32| looked_up(table, [a, b, c]));
    };
    let [a, b, c] = [0, 1, 2].map(|source| warp.narrow(step.sources[source]));
    let d: Lanes<u32> = std::array::from_fn(|lane| looked_up(table, [a[lane], b[lane], c[lane]]));
    let holds = mask_of(|lane| d[lane] != 0);
    let holds = combine.of(holds, warp.predicate_of(step.sources[3]));
    warp.set_narrow(step.dests[0], &d, mask);
    warp.set_predicate(step.dests[1], holds, mask);
}

/// Looks up each bit triple: bit n of the table is the result for the bits a, b, c of n.
fn looked_up(table: u8, [a, b, c]: [u32; 3]) -> u32 {
    (0..8u32).filter(|&n| table >> n & 1 == 1).fold(0, |result, n| {
        let pick = |value: u32, bit: u32| if n >> bit & 1 == 1 { value } else { !value };
        result | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

/// Executes `prmt`: selects four bytes out of the eight of a and b.
pub(super) fn permute(warp: &mut Warp, step: &Step, mask: u32, mode: PermuteMode) {
    map3(warp, step, mask, |a: u32, b: u32, c: u32| permuted(a, b, c, mode));
}

fn permuted(a: u32, b: u32, c: u32, mode: PermuteMode) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let chosen: [u8; 4] = std::array::from_fn(|at| {
        let (n, at) = (c as usize & 3, at);
        let selected = match mode {
            PermuteMode::Generic => {
                let nibble = c >> (4 * at) & 0xf;
                let byte = bytes[nibble as usize & 7];
                // The high bit of the selector replicates the sign.
                return if nibble & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
            }
            PermuteMode::F4e => n + at,
            PermuteMode::B4e => (8 + n - at) % 8,
            PermuteMode::Rc8 => n,
            PermuteMode::Ecl => at.max(n),
            PermuteMode::Ecr => at.min(n),
            PermuteMode::Rc16 => (n & 1) * 2 + at % 2,
        };
        bytes[selected]
    });
    u32::from_le_bytes(chosen)
}

/// Executes `shf`: shifts b:a.
pub(super) fn funnel(warp: &mut Warp, step: &Step, mask: u32, left: bool, clamp: bool) {
    map3(warp, step, mask, |a: u32, b: u32, by: u32| {
        let by = if clamp { by.min(32) } else { by & 31 };
        let both = u64::from(b) << 32 | u64::from(a);
        if left { (both << by >> 32) as u32 } else { (both >> by) as u32 }
    });
}
