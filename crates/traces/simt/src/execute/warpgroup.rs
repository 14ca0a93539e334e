//! Warpgroup matrix products (ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
//!
//! Each warp owns 16 of the 64 rows of A and D, by its rank in the warpgroup. It multiplies them when it
//! executes the instruction, with the current contents of shared memory. Programs do not touch operands and D
//! until they have waited, so the time of the multiplication is not observable, with one exception: a wait
//! means that the products of all four warps are complete, after which one warp may signal for all that the
//! operands can be overwritten. Therefore a warp waits until the others have committed the groups it waits
//! for.

use warpmem_ptx::{Factor, GroupProduct, Type, Wgmma};
use warpmem_trace::OpClass;

use super::control::{Site, set_pc};
use super::descriptor::Descriptor;
use super::element::{element_of, put, rounded};
use super::fragment::Fragment;
use super::{Event, ExecutionContext, Outcome, Trap, record};
use crate::error::TrapKind;
use crate::lanes::{Lanes, WARP};
use crate::program::{Source, Step};
use crate::warp::Warp;

/// Warps of a warpgroup.
const WARPS: usize = 4;
/// Rows of A and D per warp.
const ROWS: usize = 16;

/// Executes the operations that do not wait.
pub(super) fn execute(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    f: Wgmma,
) -> Outcome {
    if mask == 0 {
        return Ok(());
    }
    check_group(warp, ctx, mask)?;
    match f {
        Wgmma::Product(product) => multiply(warp, ctx, step, product),
        Wgmma::Commit => {
            ctx.committed[warp.place.warp_in_cta as usize] += 1;
            Ok(())
        }
        Wgmma::Fence | Wgmma::Wait(_) => Ok(()),
    }
}

/// Executes `wgmma.wait_group`: repeats the instruction while more than `pending` of the warp's committed
/// groups are uncommitted in another warp of the warpgroup.
pub(super) fn wait(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    Site { pc, mask, .. }: Site,
    pending: u32,
) -> Result<Event, Trap> {
    if mask == 0 {
        set_pc(warp, pc + 1);
        return Ok(Event::None);
    }
    check_group(warp, ctx, mask)?;
    let complete = ctx.committed[warp.place.warp_in_cta as usize].saturating_sub(pending.into());
    let mut group = ctx.committed.chunks(WARPS).skip(group_of(warp)).take(1).flatten();
    if group.any(|&committed| committed < complete) {
        // The warp tries again in its next quantum: this was not an instruction.
        warp.executed -= 1;
        return Ok(Event::Yield);
    }
    record::one(warp, step, OpClass::Control, mask);
    set_pc(warp, pc + 1);
    Ok(Event::None)
}

fn group_of(warp: &Warp) -> usize {
    warp.place.warp_in_cta as usize / WARPS
}

/// Refuses an instruction that not all threads of a warpgroup can execute.
fn check_group(warp: &Warp, ctx: &ExecutionContext<'_>, mask: u32) -> Outcome {
    let warps = ctx.committed.len() - WARPS * group_of(warp);
    let reason = match (warps.min(WARPS), mask) {
        (WARPS, u32::MAX) => return Ok(()),
        (WARPS, _) => format!("`wgmma` by lanes {mask:#x} of a warp"),
        (warps, _) => format!("`wgmma` by a warpgroup of {warps} warps"),
    };
    Err(Trap::new(mask.trailing_zeros() as usize % WARP, reason))
}

fn multiply(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    product: GroupProduct,
) -> Outcome {
    let (n, k) = (usize::from(product.n), product.k() as usize);
    let sources = Sources::of(step, product);
    let a = match product.a_in_registers {
        true => of_registers(warp, sources.a, product.a, k),
        false => {
            let first = warp.place.warp_in_cta as usize % WARPS * ROWS;
            of_shared(warp, ctx, sources.a[0], product.a, first..first + ROWS, true)?
        }
    };
    let b = of_shared(warp, ctx, sources.b, product.b, 0..n, false)?;
    let is_added = sources.adds_to(warp)?;
    let mut sums = match is_added {
        true => sums_of(warp, sources.d, product.d, n),
        false => vec![0.0; ROWS * n],
    };
    add_products(&mut sums, &a, &b, k, n);
    record::product(warp, ctx, step, n / COLUMNS, u32::MAX, is_added);
    write(warp, step, product, &sums);
    Ok(())
}

/// Columns of a part of a product, recorded as one instruction.
const COLUMNS: usize = 8;

/// Sources of a product by role.
struct Sources<'s> {
    /// Registers, or a descriptor.
    a: &'s [Source],
    b: Source,
    scale_of_d: Source,
    /// Empty if D is never added.
    d: &'s [Source],
}

impl Sources<'_> {
    fn of(step: &Step, product: GroupProduct) -> Sources<'_> {
        let (a, rest) = step.sources.split_at(if product.a_in_registers { 4 } else { 1 });
        Sources { a, b: rest[0], scale_of_d: rest[1], d: &rest[2..] }
    }

    /// Returns whether D is added.
    fn adds_to(&self, warp: &Warp) -> Result<bool, Trap> {
        match warp.predicate_of(self.scale_of_d) {
            0 => Ok(false),
            u32::MAX => Ok(true),
            lanes => {
                let reason = format!("`wgmma` adds D in lanes {lanes:#x} only");
                Err(Trap::new(lanes.trailing_ones() as usize, reason))
            }
        }
    }
}

/// Reads a warp's rows of A from its registers.
fn of_registers(warp: &Warp, sources: &[Source], factor: Factor, k: usize) -> Vec<f64> {
    let registers: Vec<Lanes<u64>> = sources.iter().map(|&source| warp.wide(source)).collect();
    let fragment = Fragment::of_a(ROWS, k, factor.element.bits());
    let mut matrix = fragment.values(&registers, factor.element);
    if factor.negated {
        matrix.iter_mut().for_each(|value| *value = -*value);
    }
    matrix
}

/// Reads rows of A or columns of B from shared memory.
fn of_shared(
    warp: &Warp,
    ctx: &ExecutionContext<'_>,
    source: Source,
    factor: Factor,
    rows: std::ops::Range<usize>,
    by_row: bool,
) -> Result<Vec<f64>, Trap> {
    let bits = warp.wide(source);
    if let Some(lane) = bits.iter().position(|&other| other != bits[0]) {
        let reason = format!("`wgmma` with the descriptors {:#x} and {:#x}", bits[0], bits[lane]);
        return Err(Trap::new(lane, reason));
    }
    Descriptor::of_bits(bits[0]).read(ctx.shared, factor, rows, by_row).map_err(|place| {
        let length = ctx.shared.len();
        let reason =
            format!("`wgmma` with a matrix at {place:#x} of {length:#x} bytes of shared memory");
        Trap { lane: 0, reason, kind: TrapKind::Memory }
    })
}

/// Reads D from the registers, by rows.
fn sums_of(warp: &Warp, sources: &[Source], ty: Type, n: usize) -> Vec<f64> {
    let registers: Vec<Lanes<u64>> = sources.iter().map(|&source| warp.wide(source)).collect();
    let mut sums = vec![0.0; ROWS * n];
    let fragment = Fragment::of_c(ROWS, n);
    for at in 0..fragment.elements() {
        for (lane, index) in fragment.indices(at).into_iter().enumerate() {
            sums[index] = element_of(&registers, ty, lane, at);
        }
    }
    sums
}

/// Adds A, ordered by rows, times B, ordered by k. Each sum adds its products in the order of k, as `mma`
/// does, four k at a time so that sums are loaded and stored less often.
fn add_products(sums: &mut [f64], a: &[f64], b: &[f64], k: usize, n: usize) {
    const AT_ONCE: usize = 4;
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (sums, a) in sums.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
                for (a, b) in a.chunks_exact(AT_ONCE).zip(b.chunks_exact(AT_ONCE * n)) {
                    let (b0, rest) = b.split_at(n);
                    let (b1, rest) = rest.split_at(n);
                    let (b2, b3) = rest.split_at(n);
                    for ((((sum, b0), b1), b2), b3) in
                        sums.iter_mut().zip(b0).zip(b1).zip(b2).zip(b3)
                    {
                        *sum = *sum + a[0] * b0 + a[1] * b1 + a[2] * b2 + a[3] * b3;
                    }
                }
            }
        },
    );
}

fn write(warp: &mut Warp, step: &Step, product: GroupProduct, sums: &[f64]) {
    let n = usize::from(product.n);
    let mut d = vec![[0u64; WARP]; step.dests.len()];
    let fragment = Fragment::of_c(ROWS, n);
    for at in 0..fragment.elements() {
        for (lane, index) in fragment.indices(at).into_iter().enumerate() {
            let bits = rounded(sums[index], product.d, product.saturate);
            put(&mut d, product.d, lane, at, bits);
        }
    }
    for (&dest, values) in step.dests.iter().zip(&d) {
        warp.set_wide(dest, values, u32::MAX);
    }
}
