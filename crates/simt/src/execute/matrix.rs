//! Matrices that the lanes of a warp hold together.
//!
//! A register of a lane holds neighbouring elements of a row of A, of a column of B, or of a row of
//! C and D. Lane l is thread t = l % 4 of group g = l / 4; with e elements in a register (ISA,
//! "Matrix Fragments for mma.m16n8k16" and alike):
//!
//! ```text
//!  A, register r, element i   row g + 8 (r % 2)      column e t + i + 4 e (r / 2)
//!  B, register r, element i   row e t + i + 4 e r    column g
//!  C, element i               row g + 8 (i / 2)      column 2 t + i % 2
//! ```

use half::{bf16, f16};
use warpmem_ptx::{Cache, Element, Mma, Space, Type};
use warpmem_trace::Kind;

use super::float::Float;
use super::memory::{check_alignment, read_lane, record, write_lane};
use super::spaces::{Group, addresses};
use super::{Context, Outcome, eight_bits};
use crate::lanes::{Lanes, WARP};
use crate::program::Step;
use crate::recorder::WarpRecorder;
use crate::warp::Warp;

/// What `ldmatrix` and `stmatrix` move.
#[derive(Clone, Copy)]
pub(super) struct Matrices {
    pub count: u8,
    pub transposed: bool,
    pub offset: i64,
}

/// Rows of a matrix that is loaded or stored, and bytes of each.
const ROWS: usize = 8;
const ROW_BYTES: u64 = 16;

/// A lane's group, and its number in the group.
fn place(lane: usize) -> (usize, usize) {
    (lane / 4, lane % 4)
}

/// `mma.sync`. Products are exact and summed in double precision, then rounded once.
pub(super) fn mma<R>(warp: &mut Warp<R>, step: &Step, mask: u32, mma: Mma) {
    let [a, b, c, _] = mma.registers();
    let (m, n, k) = (usize::from(mma.m), usize::from(mma.n), usize::from(mma.k));
    let sources: Vec<Lanes<u64>> = step.sources.iter().map(|&source| warp.wide(source)).collect();
    let a = left(&sources[..a], mma.a, k);
    let b = right(&sources[sources.len() - b - c..sources.len() - c], mma.b, n);
    let c = &sources[sources.len() - c..];
    let mut d = vec![[0u64; WARP]; step.dests.len()];
    for lane in 0..WARP {
        for at in 0..m * n / WARP {
            let (row, column) = place_of_result(lane, at);
            let products = (0..k).map(|k_at| (a[row * k + k_at], b[k_at * n + column]));
            put(&mut d, mma.d, lane, at, result(mma, products, element_of(c, mma.c, lane, at)));
        }
    }
    for (&dest, values) in step.dests.iter().zip(&d) {
        warp.set_wide(dest, values, mask);
    }
}

/// A by rows.
pub(super) fn left(registers: &[Lanes<u64>], element: Element, k: usize) -> Vec<f64> {
    let each = elements(element);
    let rows = registers.len() * each * WARP / k;
    let mut matrix = vec![0.0; rows * k];
    for (number, register) in registers.iter().enumerate() {
        for (lane, &bits) in register.iter().enumerate() {
            let (group, thread) = place(lane);
            for at in 0..each {
                let row = group + 8 * (number % 2);
                let column = each * thread + at + 4 * each * (number / 2);
                matrix[row * k + column] = value(bits, element, at);
            }
        }
    }
    matrix
}

/// B by rows.
fn right(registers: &[Lanes<u64>], element: Element, n: usize) -> Vec<f64> {
    let each = elements(element);
    let mut matrix = vec![0.0; registers.len() * each * WARP];
    for (number, register) in registers.iter().enumerate() {
        for (lane, &bits) in register.iter().enumerate() {
            let (group, thread) = place(lane);
            for at in 0..each {
                let row = each * thread + at + 4 * each * number;
                matrix[row * n + group] = value(bits, element, at);
            }
        }
    }
    matrix
}

/// Elements in a register.
pub(super) fn elements(element: Element) -> usize {
    (32 / element.bits()).max(1) as usize
}

/// An element of a register; every type is exact in double precision.
#[inline(always)]
pub(super) fn value(bits: u64, element: Element, at: usize) -> f64 {
    let part = bits >> (at as u32 * element.bits());
    match element {
        Element::F16 => f16::from_bits(part as u16).to_f64(),
        Element::Bf16 => bf16::from_bits(part as u16).to_f64(),
        // The hardware ignores the low bits.
        Element::Tf32 => f32::from_bits(part as u32 & 0xffff_e000).into(),
        Element::F64 => f64::from_bits(part),
        Element::U8 => f64::from(part as u8),
        Element::S8 => f64::from(part as i8),
        Element::E4m3 => eight_bits::value_of_e4m3(part as u8),
        Element::E5m2 => eight_bits::value_of_e5m2(part as u8),
    }
}

/// Row and column of an element of C or D that a lane has, in a quarter of a warpgroup's product
/// with blocks of 8 columns.
pub(super) fn place_of_result(lane: usize, at: usize) -> (usize, usize) {
    let (group, thread) = place(lane);
    (group + at / 2 % 2 * 8, thread * 2 + at % 2 + at / 4 * 8)
}

/// An element of C.
pub(super) fn element_of(c: &[Lanes<u64>], ty: Type, lane: usize, at: usize) -> f64 {
    match ty {
        Type::F16 => f16::from_bits((c[at / 2][lane] >> (at % 2 * 16)) as u16).to_f64(),
        Type::F64 => f64::from_bits(c[at][lane]),
        Type::S32 => f64::from(c[at][lane] as i32),
        _ => f32::from_bits(c[at][lane] as u32).into(),
    }
}

/// The bits of an element of D.
fn result(mma: Mma, products: impl Iterator<Item = (f64, f64)>, c: f64) -> u64 {
    match mma.d {
        // Each product is added with one rounding.
        Type::F64 => products.fold(c, |sum, (a, b)| a.mul_add(b, sum)).canonical().to_bits(),
        ty => rounded(products.fold(c, |sum, (a, b)| sum + a * b), ty, mma.saturate),
    }
}

/// The bits of a sum of products in the type of D.
pub(super) fn rounded(sum: f64, ty: Type, saturate: bool) -> u64 {
    match ty {
        Type::S32 => {
            // Integers of this size are exact.
            let sum = sum as i64;
            let sum = if saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
            u64::from(sum as u32)
        }
        Type::F16 => f16::from_f64(sum).canonical().to_bits().into(),
        _ => (sum as f32).canonical().to_bits().into(),
    }
}

/// Puts an element of D into the registers.
pub(super) fn put(d: &mut [Lanes<u64>], ty: Type, lane: usize, at: usize, bits: u64) {
    match ty {
        Type::F16 => d[at / 2][lane] |= bits << (at % 2 * 16),
        _ => d[at][lane] = bits,
    }
}

/// The rows of the matrices: lane l has the address of row l % 8 of matrix l / 8.
fn rows<R>(warp: &Warp<R>, step: &Step, matrices: Matrices) -> Group {
    let addresses = addresses(warp, step.sources[0], matrices.offset);
    let lanes = u32::MAX >> (WARP - ROWS * usize::from(matrices.count));
    Group { space: Space::Shared, lanes, addresses }
}

/// Row and column of the first element that a lane has of a matrix, and the step to the second.
fn pair(lane: usize, transposed: bool) -> [(usize, usize); 2] {
    let (group, thread) = place(lane);
    let both = [2 * thread, 2 * thread + 1];
    both.map(|at| if transposed { (at, group) } else { (group, at) })
}

/// `ldmatrix`
pub(super) fn load<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &mut Context<'_>,
    step: &Step,
    mask: u32,
    matrices: Matrices,
) -> Outcome {
    let group = rows(warp, step, matrices);
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

/// `stmatrix`
pub(super) fn store<W: WarpRecorder>(
    warp: &mut Warp<W>,
    ctx: &mut Context<'_>,
    step: &Step,
    matrices: Matrices,
) -> Outcome {
    let group = rows(warp, step, matrices);
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

/// `movmatrix`: the transposed matrix.
pub(super) fn transpose<R>(warp: &mut Warp<R>, step: &Step, mask: u32) {
    let values = warp.narrow(step.sources[0]);
    let element =
        |row: usize, column: usize| values[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
    let transposed = std::array::from_fn(|lane| {
        let [(row, first), (_, second)] = pair(lane, false);
        element(first, row) | element(second, row) << 16
    });
    warp.set_narrow(step.dests[0], &transposed, mask);
}
