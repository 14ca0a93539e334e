//! Tensor-core matrix instructions, and the loads of their operands from shared memory.
//!
//! Fragments are those of `mma.sync.m16n8k16` (PTX ISA 8.0, 9.7.14). With g = lane / 4 and t = lane
//! % 4, a lane holds, of A, the pairs at rows g and g + 8, columns 2 t and 2 t + 8; of B, those at
//! rows 2 t and 2 t + 8, column g; of C and D, the elements at rows g and g + 8, columns 2 t and 2
//! t + 1.

use half::f16;
use warpmem_trace::{CacheOp, Kind, OpClass, Space, WARP_SIZE};

use super::pointer::Pointer;
use super::warp::Warp;
use super::warp::lanes::{Lanes, Operand};

/// A fragment of A: rows g and g + 8 of columns 2 t, then of columns 2 t + 8. Also 16 bytes of a
/// row.
pub type FragmentA = [[f16; 2]; 4];
/// A fragment of B: rows 2 t, and rows 2 t + 8.
pub type FragmentB = [[f16; 2]; 2];
/// A fragment of C and D: row g, then row g + 8.
pub type FragmentC = [f32; 4];

const M: usize = 16;
const N: usize = 8;
const K: usize = 16;

/// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` (`HMMA.16816.F32`): A × B + C by the whole
/// warp. Sums are in single precision, in the order of k.
pub fn multiply<'w>(
    a: Lanes<'w, FragmentA>,
    b: Lanes<'w, FragmentB>,
    c: Lanes<'w, FragmentC>,
) -> Lanes<'w, FragmentC> {
    let warp = a.warp();
    let register = warp.compute(OpClass::Tensor, &[a.register(), b.register(), c.register()]);
    let sums = match warp.active() {
        0 => [FragmentC::default(); WARP_SIZE],
        _ => products(|lane| a.lane(lane), |lane| b.lane(lane), |lane| c.lane(lane)),
    };
    Lanes::new(warp, sums, Some(register))
}

/// Computes the sums of all lanes.
fn products(
    a: impl Fn(usize) -> FragmentA,
    b: impl Fn(usize) -> FragmentB,
    c: impl Fn(usize) -> FragmentC,
) -> [FragmentC; WARP_SIZE] {
    let (mut a_rows, mut b_rows, mut sums) = ([[0.0; K]; M], [[0.0; N]; K], [[0.0; N]; M]);
    for lane in 0..WARP_SIZE {
        let (g, t) = (lane / 4, lane % 4);
        for (part, pair) in a(lane).into_iter().enumerate() {
            let (row, column) = (g + part % 2 * 8, 2 * t + part / 2 * 8);
            [a_rows[row][column], a_rows[row][column + 1]] = pair.map(f16::to_f32);
        }
        for (part, pair) in b(lane).into_iter().enumerate() {
            let row = 2 * t + part * 8;
            [b_rows[row][g], b_rows[row + 1][g]] = pair.map(f16::to_f32);
        }
        for (part, element) in c(lane).into_iter().enumerate() {
            sums[g + part / 2 * 8][2 * t + part % 2] = element;
        }
    }
    for (sums, a) in sums.iter_mut().zip(&a_rows) {
        for (a, b) in a.iter().zip(&b_rows) {
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
    }
    std::array::from_fn(|lane| {
        let (g, t) = (lane / 4, lane % 4);
        std::array::from_fn(|part| sums[g + part / 2 * 8][2 * t + part % 2])
    })
}

impl<'w> Pointer<'w, FragmentA> {
    /// `ldmatrix.x4`: loads four 8 × 8 matrices whose rows are at the addresses of lanes 0 to 7, 8
    /// to 15 and so on. A lane gets the pair at row g, columns 2 t of each; with `.trans`, the
    /// elements at rows 2 t and 2 t + 1, column g.
    pub fn load_matrices(self, is_transposed: bool) -> Lanes<'w, FragmentA> {
        assert_eq!(self.space(), Space::Shared);
        let warp = self.warp();
        let access = self.access(Kind::Load, CacheOp::Default);
        let register = warp.access::<FragmentA>(&access, &[]);
        let rows: [FragmentA; WARP_SIZE] = warp.read(Space::Shared, self.addresses());
        let element = |matrix: usize, row: usize, column: usize| {
            rows[8 * matrix + row][column / 2][column % 2]
        };
        let pair = |matrix, lane| {
            let (g, t) = (lane / 4, lane % 4);
            [0, 1].map(|i| match is_transposed {
                false => element(matrix, g, 2 * t + i),
                true => element(matrix, 2 * t + i, g),
            })
        };
        let values = std::array::from_fn(|lane| std::array::from_fn(|m| pair(m, lane)));
        Lanes::new(warp, values, register)
    }
}

impl<'w> Lanes<'w, FragmentA> {
    /// Splits four matrices into two fragments of B: no instruction.
    pub fn halves(self) -> [Lanes<'w, FragmentB>; 2] {
        [0, 1].map(|half| self.view(|[a, b, c, d]| [[a, b], [c, d]][half]))
    }

    /// Combines pairs in adjacent registers into a fragment: no instruction. It is ready with the
    /// last pair.
    pub fn of_pairs(pairs: [Lanes<'w, [f16; 2]>; 4]) -> Lanes<'w, FragmentA> {
        let [.., last] = pairs;
        let values = std::array::from_fn(|lane| pairs.map(|pair| pair.lane(lane)));
        Lanes::new(last.warp(), values, last.register())
    }
}

impl<'w> Lanes<'w, FragmentC> {
    /// Returns zeros, which take no register.
    pub fn zeros(warp: &'w Warp) -> Lanes<'w, FragmentC> {
        Lanes::new(warp, [FragmentC::default(); WARP_SIZE], None)
    }

    /// Applies an instruction of `class` to each element and its row's value, for rows g and g + 8.
    pub fn by_row(
        self,
        class: OpClass,
        rows: [Lanes<'w, f32>; 2],
        with: impl Fn(f32, f32) -> f32,
    ) -> Lanes<'w, FragmentC> {
        let warp = self.warp();
        let issue =
            |part: usize| warp.compute(class, &[self.register(), rows[part / 2].register()]);
        let register = [0, 1, 2, 3].map(issue)[3];
        let element =
            |lane: usize, part: usize| with(self.lane(lane)[part], rows[part / 2].lane(lane));
        let values = std::array::from_fn(|lane| std::array::from_fn(|part| element(lane, part)));
        Lanes::new(warp, values, Some(register))
    }

    /// Replaces an element with minus infinity where its row in `rows` (g and g + 8) is less than
    /// its column, 0 or 1, plus `column`: a comparison and a selection per element.
    pub fn masked(self, rows: [Lanes<'w, u32>; 2], column: u32) -> Lanes<'w, FragmentC> {
        let is_behind = |lane: usize, part: usize| {
            (rows[part / 2].lane(lane) as i32) < (column + part as u32 % 2) as i32
        };
        let mut register = None;
        for part in 0..4 {
            let warp = self.warp();
            let behind = warp.compute(OpClass::Integer, &[rows[part / 2].register()]);
            register = Some(warp.compute(OpClass::Integer, &[self.register(), Some(behind)]));
        }
        let element = |lane: usize, part: usize| match is_behind(lane, part) {
            true => f32::NEG_INFINITY,
            false => self.lane(lane)[part],
        };
        let values = std::array::from_fn(|lane| std::array::from_fn(|part| element(lane, part)));
        Lanes::new(self.warp(), values, register)
    }

    /// Applies an instruction of `class` to each element.
    pub fn each(self, class: OpClass, with: impl Fn(f32) -> f32) -> Lanes<'w, FragmentC> {
        let register = [0; 4].map(|_| self.warp().compute(class, &[self.register()]))[3];
        let values = std::array::from_fn(|lane| self.lane(lane).map(&with));
        Lanes::new(self.warp(), values, Some(register))
    }

    /// Converts both rows' pairs to half precision (`F2FP`).
    pub fn to_pairs(self) -> [Lanes<'w, [f16; 2]>; 2] {
        [0, 2].map(|first| self.part(first).pack(self.part(first + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::prelude::*;
    use crate::kernels::testing::{Run, run};

    /// Returns rows of A, rows of B and rows of A × B + 1, with operands loaded from shared memory
    /// by `ldmatrix`.
    fn multiplied(is_b_by_columns: bool) -> (Vec<f16>, Vec<f16>, Run<Vec<[f32; 2]>>) {
        let mut random = Random::new(3);
        let mut small = |len| -> Vec<f16> {
            (0..len).map(|_| f16::from_f32(random.index(9) as f32 - 4.0)).collect()
        };
        let (a, b) = (small(16 * 16), small(16 * 16));
        let run = run(|gpu| {
            let pieces = |halves: &[f16]| halves.as_chunks::<2>().0.as_chunks::<4>().0.to_vec();
            let (on_device_a, on_device_b) = (gpu.upload(&pieces(&a)), gpu.upload(&pieces(&b)));
            let out = gpu.zeros::<[f32; 2]>(16 * 8);
            let launch = Launch { shared_bytes: 1024, ..grid_of("test", 1, 32, 32) };
            gpu.launch(&launch, async |w| {
                let (lane, tiles) = (w.lane(), [w.shared(32), w.shared(32)]);
                tiles[0].at(lane).store(on_device_a.load(lane));
                tiles[1].at(lane).store(on_device_b.load(lane));
                w.barrier().await;
                // Rows 0 to 15 of the first piece, then of the second.
                let by_rows = (lane & 15).mad(2, lane >> 4);
                let a = tiles[0].at(by_rows).load_matrices(false);
                // Columns 0 to 7 of both pieces, then 8 to 15.
                let by_columns = ((lane >> 4).mad(8, lane & 7)).mad(2, (lane >> 3) & 1);
                let b = match is_b_by_columns {
                    true => tiles[1].at(by_columns).load_matrices(false),
                    false => tiles[1].at(by_rows).load_matrices(true),
                };
                for (n, b) in (0..).zip(b.halves()) {
                    let ones = Lanes::new(w, [[1.0; 4]; WARP_SIZE], None);
                    let sums = multiply(a, b, ones);
                    for half in [0, 1] {
                        let row = (lane >> 2) + 8 * half;
                        let pair = out.at(row.mad(8, lane & 3)).offset(4 * n);
                        let half = 2 * half as usize;
                        pair.store_parts([sums.part(half), sums.part(half + 1)]);
                    }
                }
            })?;
            Ok(gpu.download(out))
        });
        (a, b, run)
    }

    #[test]
    fn products_match_the_matrices() {
        for is_b_by_columns in [false, true] {
            let (a, b, run) = multiplied(is_b_by_columns);
            let b_at = |k: usize, n: usize| {
                if is_b_by_columns { b[n * 16 + k] } else { b[k * 16 + n] }
            };
            let element = |row: usize, column: usize| -> f32 {
                (0..16).map(|k| a[row * 16 + k].to_f32() * b_at(k, column).to_f32()).sum::<f32>()
                    + 1.0
            };
            let expected: Vec<f32> = (0..256).map(|i| element(i / 16, i % 16)).collect();
            assert_eq!(*run.result.as_flattened(), *expected, "{is_b_by_columns}");
        }
    }

    #[test]
    fn a_matrix_load_is_one_of_16_bytes_per_lane() {
        let (.., run) = multiplied(true);
        let executed = run.warp(0);
        let loads = executed
            .iter()
            .filter(|(i, _)| (i.kind, i.space, i.width) == (Kind::Load, Space::Shared, 16));
        assert_eq!(loads.count(), 2);
        let products = executed.iter().flat_map(|(i, _)| &i.compute);
        assert_eq!(products.filter(|c| c.class == OpClass::Tensor).count(), 2);
    }

    #[test]
    fn rows_have_their_own_factor() {
        let run = run(|gpu| {
            let out = gpu.zeros::<FragmentC>(32);
            gpu.launch(&grid_of("test", 1, 32, 8), async |w| {
                let lane = w.lane();
                let ones = Lanes::new(w, [[1.0; 4]; WARP_SIZE], None);
                let rows = [w.lane().to_f32(), (w.lane() + 100).to_f32()];
                out.store(lane, ones.by_row(OpClass::Fp32, rows, |x, row| x * row));
            })?;
            Ok(gpu.download(out))
        });
        assert_eq!(run.result[7], [7.0, 7.0, 107.0, 107.0]);
    }
}
