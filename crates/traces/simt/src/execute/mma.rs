//! Products of matrices held in the lanes of a warp: `mma`, `mma.sp` and `wmma.mma`.

use warpmem_ptx::{Mma, MmaForm};

use super::element::{Registers, element_of, put, sum};
use super::fragment::Fragment;
use super::{ExecutionContext, quad_pairs, record, sparse};
use crate::lanes::{Lanes, WARP};
use crate::program::Step;
use crate::warp::Warp;

pub(super) fn mma(warp: &mut Warp, ctx: &ExecutionContext<'_>, step: &Step, mask: u32, mma: Mma) {
    if mma.parts() > 1 {
        record::product(warp, ctx, step, mma.parts(), mask, true);
    }
    let sources: Vec<Lanes<u64>> = step.sources.iter().map(|&source| warp.wide(source)).collect();
    let [of_a, of_b, of_c, _] = mma.registers();
    let (a, rest) = sources.split_at(of_a);
    let (b, rest) = rest.split_at(of_b);
    let (c, metadata) = rest.split_at(of_c);
    let registers = Registers { a, b, c, metadata };
    let mut d = vec![[0u64; WARP]; step.dests.len()];
    match mma.form {
        MmaForm::QuadPairs { a, b } => quad_pairs::multiply(mma, [a, b], &registers, &mut d),
        _ => multiply(mma, &registers, &mut d),
    }
    for (&dest, values) in step.dests.iter().zip(&d) {
        warp.set_wide(dest, values, mask);
    }
}

fn multiply(mma: Mma, registers: &Registers<'_>, d: &mut [Lanes<u64>]) {
    let [m, n, k] = mma.shape.map(usize::from);
    let positions = match mma.form {
        MmaForm::Sparse { selector } => Some(sparse::positions(mma, selector, registers.metadata)),
        _ => None,
    };
    let stored = if positions.is_some() { k / 2 } else { k };
    // The larger side has A's layout: columns of B here, rows of A otherwise.
    let is_swapped = mma.form == MmaForm::Wmma && n > m;
    let (rows, columns) = if is_swapped { (n, m) } else { (m, n) };
    let sides = [(registers.a, mma.a), (registers.b, mma.b)];
    let [(a, of_a), (b, of_b)] = if is_swapped { [sides[1], sides[0]] } else { sides };
    let a = Fragment::of_a(rows, stored, of_a.bits()).values(a, of_a);
    let b = Fragment::of_b(columns, k, of_b.bits()).values(b, of_b);
    let of_d = Fragment::of_c(rows, columns);
    for at in 0..of_d.elements() {
        for (lane, index) in of_d.indices(at).into_iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let (a, b) = (&a[row * stored..][..stored], &b[column * k..][..k]);
            let c = element_of(registers.c, mma.c, lane, at);
            let bits = match &positions {
                None => sum(mma, a.iter().copied().zip(b.iter().copied()), c),
                Some(positions) => {
                    let positions = &positions[row * stored..][..stored];
                    sum(mma, a.iter().copied().zip(positions.iter().map(|&at| b[at])), c)
                }
            };
            put(d, mma.d, lane, at, bits);
        }
    }
}
