//! CTAs that repeatedly read tiles of rows: consecutive CTAs own parts of the same DRAM rows, and
//! the warps of a CTA reuse its tile.
//!
//! ```cuda
//! struct alignas(64) Line { float words[16]; };
//!
//! __global__ void row_share(const Line *data, Line *copy, float *out, int tiles) {
//!     int warp = threadIdx.x / 32, word = threadIdx.x % 32 / 2, group = blockIdx.x / SHARERS;
//!     float sum = 0;
//!     for (int tile = 0; tile < tiles; tile++)
//!         for (int pass = 0; pass < REUSE; pass++)
//!             #pragma unroll
//!             for (int n = warp; n < TILE; n += WARPS) {
//!                 int row = (tile * PARTS + n / PART) * PITCH + group;
//!                 int slot = (blockIdx.x ^ n / PART / 2) % SHARERS;
//!                 int line = row * ROW + slot * PART + n % PART;
//!                 sum += data[line].words[word];
//!                 for (int i = 1; i < COMPUTE; i++) sum += sum;
//!                 if (STORES) copy[line].words[word] = sum;
//!             }
//!     out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
//! }
//! ```
//!
//! PITCH is at least gridDim.x / SHARERS. In lines: TILE is the reuse set of a CTA, PART its part of a
//! row, ROW a row; PARTS = TILE / PART. All of them, SHARERS and WARPS are powers of two, so that the
//! unrolled loop adds constants to one address for each slot.

use super::computed::check_power_of_two;
use super::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub const GENERATOR: Generator = Generator {
    name: "row-share",
    summary: "tiles of rows shared by consecutive CTAs and reused by the warps of each CTA",
    source: "the regimes of OWL (ASPLOS 2013): reuse within CTAs, and DRAM rows of consecutive CTAs",
    parameters: &[&[
        Parameter::count("ctas", 448, (1, 1 << 14), "CTAs", "CTAs, a multiple of `sharers`"),
        Parameter::count("warps", 8, (1, 32), "warps", "Warps per CTA"),
        Parameter::count("sharers", 4, (1, 32), "CTAs", "Consecutive CTAs that share rows"),
        Parameter::count("row", 1 << 11, (1 << 9, 1 << 16), "bytes", "Row pitch"),
        Parameter::count("used", 1 << 11, (64, 1 << 16), "bytes", "Bytes read of each row"),
        Parameter::choice::<Pitch>(
            "pitch",
            "odd",
            "Distance between a CTA's consecutive rows, at least one row per group",
        ),
        Parameter::count("tile", 1 << 11, (64, 1 << 16), "bytes", "Reuse set of a CTA"),
        Parameter::count("tiles", 12, (1, 1 << 10), "tiles", "Tiles per CTA"),
        Parameter::count("reuse", 1, (1, 64), "times", "Reads of each tile"),
        Parameter::count(
            "compute",
            2,
            (1, 256),
            "instructions",
            "Compute instructions after a load",
        ),
        Parameter::choice::<Stores>(
            "stores",
            "none",
            "Whether each line is also written to a copy",
        ),
    ]],
    run: |gpu, arguments, _| {
        for name in ["warps", "sharers", "row", "used", "tile"] {
            check_power_of_two(name, arguments.count(name))?;
        }
        let shape = Shape {
            ctas: arguments.count32("ctas"),
            warps: arguments.count32("warps"),
            sharers: arguments.count32("sharers"),
            pitch: arguments.choice("pitch"),
            row: (arguments.count("row") / LINE) as u32,
            part: (arguments.count("used") / LINE / arguments.count("sharers")) as u32,
            tile: (arguments.count("tile") / LINE) as u32,
            tiles: arguments.count32("tiles"),
            reuse: arguments.count("reuse"),
            compute: arguments.count("compute"),
            stores: arguments.choice("stores"),
        };
        shape.check(arguments.count("used"))?;
        row_share(gpu, &shape)
    },
};

const LINE: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stores {
    None,
    Copy,
}

impl Choice for Stores {
    const NAMES: &'static [(&'static str, Stores)] =
        &[("none", Stores::None), ("copy", Stores::Copy)];
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Pitch {
    /// Uses all sets, channels and banks.
    Odd,
    /// Places a CTA's rows in the same bank, as in matrices of power-of-two width.
    PowerOfTwo,
}

impl Choice for Pitch {
    const NAMES: &'static [(&'static str, Pitch)] =
        &[("odd", Pitch::Odd), ("power-of-two", Pitch::PowerOfTwo)];
}

/// Sizes in lines.
#[derive(Clone, Copy)]
struct Shape {
    ctas: u32,
    warps: u32,
    sharers: u32,
    pitch: Pitch,
    row: u32,
    /// Part of a row owned by a CTA.
    part: u32,
    tile: u32,
    tiles: u32,
    reuse: u64,
    compute: u64,
    stores: Stores,
}

impl Shape {
    fn check(&self, used: u64) -> Result<(), WorkloadError> {
        check_multiple("ctas", self.ctas.into(), self.sharers.into())?;
        let refuse = |message| Err(WorkloadError::Inconsistent { message });
        let (tile, row) = (u64::from(self.tile) * LINE, u64::from(self.row) * LINE);
        if used > row {
            return refuse(format!(
                "--used {} is more than --row {}",
                show_count(used),
                show_count(row)
            ));
        }
        if self.part == 0 {
            let sharers = self.sharers;
            return refuse(format!(
                "--used {} is less than a line for each of {sharers} CTAs",
                show_count(used)
            ));
        }
        if self.tile < self.part || self.tile < self.warps {
            let least = LINE * u64::from(self.part.max(self.warps));
            return refuse(format!(
                "--tile {} is less than a CTA's part of a row, or a line for each warp; valid: from {}",
                show_count(tile),
                show_count(least)
            ));
        }
        if self.lines() > 1 << 26 {
            return refuse(format!("{} lines are more than 2^26", show_count(self.lines())));
        }
        Ok(())
    }

    /// Returns the distance between consecutive parts of a tile.
    fn pitch(&self) -> u32 {
        let groups = self.ctas / self.sharers;
        let rows = match self.pitch {
            Pitch::Odd => groups | 1,
            Pitch::PowerOfTwo => groups.next_power_of_two(),
        };
        rows * self.row
    }

    fn parts(&self) -> u32 {
        self.tile / self.part
    }

    fn lines(&self) -> u64 {
        u64::from(self.tiles) * u64::from(self.parts()) * u64::from(self.pitch())
    }

    /// Returns the slot order of each part of a tile: two rows per slot, one even and one odd.
    fn turn(&self, part: u32) -> u32 {
        part / 2 % self.sharers
    }

    /// Returns, for each load of a warp from a tile, the constant part of its line's number in the
    /// tile.
    fn steps(&self) -> impl Iterator<Item = u32> {
        (0..self.tile).step_by(self.warps as usize)
    }
}

fn row_share(gpu: &mut Gpu, shape: &Shape) -> Result<(), WorkloadError> {
    let &Shape { ctas, warps, sharers, row, part, tiles, reuse, compute, .. } = shape;
    let data = gpu.zeros::<f32>(16 * shape.lines());
    let has_copy = shape.stores == Stores::Copy;
    let copy = gpu.zeros::<f32>(if has_copy { data.len() } else { 0 });
    let out = gpu.zeros::<f32>(u64::from(ctas * warps * 32));
    gpu.launch(&grid_of("row_share", ctas, 32 * warps, 32), async |w| {
        let (cta, x) = (w.block_x(), w.thread_x());
        let (warp, word) = (x >> 5, (x & 31) >> 1);
        // A warp's line n of a tile is its first one plus a constant without carries, as all are
        // powers of two.
        let (its_part, within) = (warp.quotient(part), warp.remainder(part));
        let line = its_part.mad(shape.pitch(), cta.quotient(sharers) * row) + within;
        let (first, turned) = (line.mad(16, word), cta ^ (its_part >> 1));
        let turns: BTreeSet<u32> = shape.steps().map(|first| shape.turn(first / part)).collect();
        let slot = |turn: &u32| (turned ^ *turn).remainder(sharers).mad(16 * part, first);
        let slots: BTreeMap<u32, _> = turns.iter().map(|turn| (*turn, w.var(slot(turn)))).collect();
        let sum = w.var(0.0);
        w.range(0, tiles, 1, |_| {
            let pointers = |start| (data.at(start), has_copy.then(|| copy.at(start)));
            let tile: BTreeMap<u32, _> =
                slots.iter().map(|(turn, slot)| (*turn, pointers(slot.get()))).collect();
            w.range(0, reuse as u32, 1, |_| {
                for first in shape.steps() {
                    let (its_part, within) = (first / part, first % part);
                    let distance = 16 * (its_part * shape.pitch() + within);
                    let (from, to) = tile[&shape.turn(its_part)];
                    sum.set(from.offset(distance).load() + &sum);
                    (1..compute).for_each(|_| sum.set(sum.get() + &sum));
                    if let Some(to) = to {
                        to.offset(distance).store(&sum);
                    }
                }
            });
            slots
                .values()
                .for_each(|slot| slot.set(slot.get() + 16 * shape.parts() * shape.pitch()));
        });
        out.store(cta.mad(32 * warps, x), &sum);
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const SMALL: Shape = Shape {
        ctas: 8,
        warps: 2,
        sharers: 4,
        pitch: Pitch::Odd,
        row: 32,
        part: 8,
        tile: 16,
        tiles: 2,
        reuse: 3,
        compute: 2,
        stores: Stores::None,
    };

    /// Returns the lines that each warp of each CTA accesses, relative to the start of the data or
    /// the copy, without its sums.
    fn lines(shape: &Shape, kind: Kind) -> Vec<Vec<u64>> {
        let run = run(|gpu| row_share(gpu, shape));
        let warps: Vec<Vec<u64>> = (0..(shape.ctas * shape.warps) as usize)
            .map(|warp| {
                let executed = run.warp(warp);
                let chosen = executed.iter().filter(|(i, _)| i.kind == kind);
                let addresses: Vec<_> =
                    chosen.map(|(_, record)| record.active_addresses()).collect();
                let sums = usize::from(kind == Kind::Store);
                let of_lines = addresses[..addresses.len() - sums].iter().map(|addresses| {
                    let lines: BTreeSet<u64> = addresses.iter().map(|a| a / LINE).collect();
                    assert_eq!(lines.len(), 1);
                    addresses[0] / LINE
                });
                of_lines.collect()
            })
            .collect();
        let first = warps.iter().flatten().min().copied().unwrap();
        warps.iter().map(|lines| lines.iter().map(|line| line - first).collect()).collect()
    }

    /// Computes the lines as in the CUDA original.
    fn plain(shape: &Shape, cta: u32, warp: u32) -> Vec<u64> {
        let mut lines = Vec::new();
        for tile in 0..shape.tiles {
            for _ in 0..shape.reuse {
                for n in (warp..shape.tile).step_by(shape.warps as usize) {
                    let part = n / shape.part;
                    let pitch = match shape.pitch {
                        Pitch::Odd => {
                            [0, 1, 3, 3, 5, 5, 7, 7, 9][(shape.ctas / shape.sharers) as usize]
                        }
                        Pitch::PowerOfTwo => {
                            [0, 1, 2, 4, 4, 8, 8, 8, 8][(shape.ctas / shape.sharers) as usize]
                        }
                    };
                    let row =
                        (tile * (shape.tile / shape.part) + part) * pitch + cta / shape.sharers;
                    let slot = (cta ^ (part / 2)) % shape.sharers;
                    let line = row * shape.row + slot * shape.part + n % shape.part;
                    lines.push(u64::from(line));
                }
            }
        }
        lines
    }

    #[test]
    fn constant_offsets_give_the_addresses_of_the_original() {
        let shapes = [
            SMALL,
            Shape { warps: 16, ..SMALL },
            Shape { ctas: 12, pitch: Pitch::PowerOfTwo, ..SMALL },
            Shape { sharers: 1, part: 32, tile: 64, ..SMALL },
            Shape { ctas: 16, sharers: 16, part: 2, warps: 8, tile: 64, ..SMALL },
            Shape { part: 2, ..SMALL },
        ];
        for shape in shapes {
            let lines = lines(&shape, Kind::Load);
            for (index, lines) in (0..).zip(&lines) {
                let expected = plain(&shape, index / shape.warps, index % shape.warps);
                assert_eq!(*lines, expected, "{index} of {} warps", shape.warps);
            }
        }
    }

    #[test]
    fn each_line_is_read_reuse_times_by_one_warp() {
        for (part, used) in [(8, 32), (2, 8)] {
            let shape = Shape { part, ..SMALL };
            let mut count = BTreeMap::new();
            lines(&shape, Kind::Load)
                .iter()
                .flatten()
                .for_each(|l| *count.entry(*l).or_insert(0) += 1);
            assert!(count.values().all(|&n| n == 3));
            assert!(count.keys().all(|line| line % 32 < used));
            // Two tiles for each of eight CTAs.
            assert_eq!(count.len(), 2 * 8 * 16);
        }
    }

    #[test]
    fn sharers_consecutive_ctas_share_a_row() {
        for sharers in [1, 2, 8] {
            let shape = Shape { sharers, part: 32 / sharers, tile: 32, ..SMALL };
            let mut ctas: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
            for (warp, lines) in (0..).zip(lines(&shape, Kind::Load)) {
                for line in lines {
                    ctas.entry(line / 32).or_default().insert(warp / 2);
                }
            }
            for sharing in ctas.values() {
                let first = *sharing.first().unwrap();
                assert_eq!(first % sharers, 0);
                assert_eq!(*sharing, (first..first + sharers).collect());
            }
        }
    }

    #[test]
    fn with_stores_each_line_read_is_written_to_the_copy() {
        let shape = Shape { stores: Stores::Copy, ..SMALL };
        let [loads, stores] = [Kind::Load, Kind::Store].map(|kind| lines(&shape, kind));
        assert_eq!(loads, stores);
        let executed = run(|gpu| row_share(gpu, &SMALL)).warp(0);
        assert_eq!(executed.iter().filter(|(i, _)| i.kind == Kind::Store).count(), 1, "the sums");
    }

    #[test]
    fn inconsistent_sizes_are_refused() {
        let refusal = |shape: Shape, used| shape.check(used).unwrap_err().to_string();
        let cases = [
            (Shape { ctas: 6, ..SMALL }, 2048, "--ctas 6 is not a multiple of 4"),
            (SMALL, 4096, "--used 2^12 is more than --row 2^11"),
            (Shape { part: 0, ..SMALL }, 64, "--used 64 is less than a line for each of 4 CTAs"),
            (
                Shape { tile: 4, ..SMALL },
                2048,
                "--tile 256 is less than a CTA's part of a row, or a line for each warp; valid: from 512",
            ),
            (Shape { ctas: 4, tiles: 1 << 25, ..SMALL }, 2048, "2^31 lines are more than 2^26"),
        ];
        for (shape, used, message) in cases {
            assert_eq!(refusal(shape, used), message);
        }
        SMALL.check(2048).unwrap();
    }
}
