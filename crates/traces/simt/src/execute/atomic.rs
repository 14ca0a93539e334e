//! Atomic operations on memory.

use half::{bf16, f16};
use warpmem_ptx::{Atomic, AtomicOp, Binary, Cache, Modes, Type};
use warpmem_trace::Kind;

use super::float::{Float, binary_value};
use super::memory::{check_alignment, read_lane, write_lane};
use super::request::record;
use super::spaces::groups;
use super::{ExecutionContext, Outcome};
use crate::lanes::{Lanes, WARP, lanes_of};
use crate::program::{Dest, Step};
use crate::warp::Warp;

/// Maximum elements of a vector.
const MAX_ELEMENTS: usize = 8;

/// Executes `atom` and `red`, lane by lane.
pub(super) fn atomic(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    atomic: Atomic,
    returns: bool,
) -> Outcome {
    let width = u64::from(atomic.ty.bytes());
    let elements = usize::from(atomic.elements);
    let total = width * elements as u64;
    // Assemblers emit a reduction if nothing reads the old value and one exists.
    let returns = returns && step.dests.iter().any(|dest| *dest != Dest::Sink);
    let is_reduction =
        !matches!(atomic.op, AtomicOp::Exchange | AtomicOp::CompareAndSwap) && !returns;
    let kind = if is_reduction { Kind::Reduction } else { Kind::Atomic };
    let operands: Vec<Lanes<u64>> =
        step.sources[1..].iter().map(|&source| warp.wide(source)).collect();
    let (b, c) = operands.split_at(elements);
    for group in groups(warp, step.sources[0], atomic.offset, atomic.space, mask) {
        record(warp, ctx, step, kind, Cache::Default, total, &group);
        check_alignment(&group, total)?;
        let mut olds = [[0; WARP]; MAX_ELEMENTS];
        for lane in lanes_of(group.lanes) {
            let place = |at: usize| group.addresses[lane] + width * at as u64;
            for (at, old) in olds.iter_mut().enumerate().take(elements) {
                old[lane] = read_lane(warp, ctx, group.space, lane, place(at), width)?;
            }
            if atomic.op == AtomicOp::CompareAndSwap
                && (0..elements).any(|at| differ(atomic.ty, olds[at][lane], b[at][lane]))
            {
                continue;
            }
            for at in 0..elements {
                let c = c.get(at).map_or(0, |c| c[lane]);
                let new = modified(atomic, olds[at][lane], b[at][lane], c);
                write_lane(warp, ctx, group.space, lane, place(at), width, new)?;
            }
        }
        for (&dest, olds) in step.dests.iter().zip(&olds).filter(|_| returns) {
            warp.set_wide(dest, olds, group.lanes);
        }
    }
    Ok(())
}

/// Returns whether the bits of two values of a type differ.
fn differ(ty: Type, a: u64, b: u64) -> bool {
    (a ^ b) << (u64::BITS - ty.bits()) != 0
}

/// Returns the value that an atomic operation writes to an element.
pub(super) fn modified(atomic: Atomic, old: u64, b: u64, c: u64) -> u64 {
    let half = match atomic.ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    };
    if let Some(ty) = half {
        let each = Atomic { ty, ..atomic };
        let of = |shift: u32| modified(each, old >> shift, b >> shift, c >> shift) << shift;
        return of(0) | of(16);
    }
    let bits = atomic.ty.bits();
    let low = |value: u64| value & (u64::MAX >> (u64::BITS - bits));
    let (old, b, c) = (low(old), low(b), low(c));
    let signed = |value: u64| (value as i64) << (u64::BITS - bits) >> (u64::BITS - bits);
    let value = match atomic.op {
        AtomicOp::And => old & b,
        AtomicOp::Or => old | b,
        AtomicOp::Xor => old ^ b,
        AtomicOp::Exchange => b,
        // The comparison covers all elements.
        AtomicOp::CompareAndSwap => c,
        AtomicOp::Increment => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Decrement => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        AtomicOp::Min if atomic.ty.is_float() => extreme(Binary::Min, atomic.ty, old, b),
        AtomicOp::Max if atomic.ty.is_float() => extreme(Binary::Max, atomic.ty, old, b),
        AtomicOp::Min if atomic.ty.is_signed() => signed(old).min(signed(b)) as u64,
        AtomicOp::Max if atomic.ty.is_signed() => signed(old).max(signed(b)) as u64,
        AtomicOp::Min => old.min(b),
        AtomicOp::Max => old.max(b),
        AtomicOp::Add => added(atomic, old, b),
    };
    low(value)
}

/// Returns the smaller or larger of two 16-bit numbers.
fn extreme(f: Binary, ty: Type, old: u64, b: u64) -> u64 {
    fn of<T: Float>(f: Binary, [old, b]: [T; 2]) -> T {
        binary_value(old, b, f, Modes::default())
    }
    let bits = [old, b].map(|bits| bits as u16);
    match ty {
        Type::F16 => of(f, bits.map(f16::from_bits)).to_bits().into(),
        _ => of(f, bits.map(bf16::from_bits)).to_bits().into(),
    }
}

fn added(atomic: Atomic, old: u64, b: u64) -> u64 {
    let half = |old: u64, b: u64| {
        u64::from((f16::from_bits(old as u16) + f16::from_bits(b as u16)).canonical().to_bits())
    };
    let brain = |old: u64, b: u64| {
        u64::from((bf16::from_bits(old as u16) + bf16::from_bits(b as u16)).canonical().to_bits())
    };
    match atomic.ty {
        Type::F32 => {
            let [old, b] = [old, b].map(|bits| f32::from_bits(bits as u32));
            let flush = |value: f32| if atomic.ftz { value.flushed() } else { value };
            flush(flush(old) + flush(b)).canonical().to_bits().into()
        }
        Type::F64 => (f64::from_bits(old) + f64::from_bits(b)).canonical().to_bits(),
        Type::F16 => half(old, b),
        Type::Bf16 => brain(old, b),
        _ => old.wrapping_add(b),
    }
}
