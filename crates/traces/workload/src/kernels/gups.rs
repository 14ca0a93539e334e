//! Random updates of a table, XORed with the random numbers that select the entries: no locality.
//!
//! ```cuda
//! #define POLY 0x7
//! __global__ void update(uint64_t *table, uint64_t mask, const uint64_t *starts, int n, int each) {
//!     int thread = blockIdx.x * blockDim.x + threadIdx.x, first = thread * each;
//!     uint64_t ran = starts[thread];
//!     for (int i = first; i < min(first + each, n); i++) {
//!         ran = (ran << 1) ^ ((int64_t)ran < 0 ? POLY : 0);
//!         atomicXor(&table[ran & mask], ran);                         // atomic
//!         table[ran & mask] ^= ran;                                   // racy
//!     }
//! }
//! ```
//!
//! The stream is the benchmark's, independent of the seed: x → 2x in GF(2)[x] modulo its
//! polynomial, from 1 on. Each thread processes a contiguous part of it; the host computes where
//! the parts start, which the benchmark does not time either.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "gups",
    summary: "random updates of a table of 64-bit words, atomic or racy",
    source: "HPC Challenge, RandomAccess (Luszczek et al., SC 2006)",
    parameters: &[&[
        Parameter::choice::<Variant>(
            "variant",
            "atomic",
            "Updates by atomics, or by a load and a store, which may lose updates",
        ),
        Parameter::count(
            "table",
            1 << 22,
            (1, 1 << 28),
            "words",
            "Length of the table, 8 bytes each, a power of two",
        ),
        Parameter::count("n", 1 << 21, (1, 1 << 28), "updates", "Updates"),
        Parameter::count("grid", 128, (1, 1 << 16), "CTAs", "CTAs of the grid"),
        BLOCK,
    ]],
    run: |gpu, arguments, _| {
        let words = arguments.count32("table");
        check_power_of_two("table", words.into())?;
        let table = gpu.upload(&(0..u64::from(words)).collect::<Vec<_>>());
        let shape = (arguments.count32("grid"), arguments.count32("block"));
        update(gpu, arguments.choice("variant"), table, arguments.count32("n"), shape)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Atomic,
    Racy,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("atomic", Variant::Atomic), ("racy", Variant::Racy)];
}

/// Remainder of x^64 modulo the benchmark's polynomial.
const POLY: u64 = 7;
/// Number before the first of the stream.
const START: u64 = 1;

fn next(ran: u64) -> u64 {
    (ran << 1) ^ if ran >> 63 == 1 { POLY } else { 0 }
}

/// Returns the number before the part of each of `threads` threads, of `each` of the first `n`
/// numbers.
fn starts(n: u32, threads: u32, each: u32) -> Vec<u64> {
    let mut starts = vec![START; threads as usize];
    let mut ran = START;
    for i in 0..n {
        if i % each == 0 {
            starts[(i / each) as usize] = ran;
        }
        ran = next(ran);
    }
    starts
}

/// Updates `table`, whose length is a power of two, with the first `n` numbers of the stream.
fn update(
    gpu: &mut Gpu,
    variant: Variant,
    table: Array<u64>,
    n: u32,
    (grid, block): (u32, u32),
) -> Result<(), WorkloadError> {
    let each = n.div_ceil(grid * block);
    let starts = gpu.upload(&starts(n, grid * block, each));
    gpu.launch(&grid_of("update", grid, block, 20), async |w| {
        let thread = w.global_x();
        let ran = w.var(starts.load(thread));
        let first = thread * each;
        let end = (first + each).min(n);
        w.range(first, end, 1, |_| {
            let overflow = ran.get().gt(u64::MAX >> 1).select(POLY, 0);
            ran.set((ran.get() << 1) ^ overflow);
            let word = table.at((ran.get() & (table.len() - 1)).to_u32());
            match variant {
                Variant::Atomic => word.xor(&ran),
                Variant::Racy => word.store(word.load() ^ &ran),
            }
        });
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Returns the table after the updates of `before`.
    fn updated(variant: Variant, before: &[u64], n: u32, shape: (u32, u32)) -> Run<Vec<u64>> {
        run(|gpu| {
            let table = gpu.upload(before);
            update(gpu, variant, table, n, shape)?;
            Ok(gpu.download(table))
        })
    }

    fn plain(mut table: Vec<u64>, n: u32) -> Vec<u64> {
        let mut ran = START;
        for _ in 0..n {
            ran = next(ran);
            let place = ran as usize & (table.len() - 1);
            table[place] ^= ran;
        }
        table
    }

    #[test]
    fn atomic_updates_are_exact_and_undone_by_the_same() {
        for (words, n, shape) in [(1, 1, (1, 1)), (256, 3000, (2, 96)), (64, 7, (3, 32))] {
            let before: Vec<u64> = (0..words).collect();
            let run = updated(Variant::Atomic, &before, n, shape);
            assert_eq!(run.result, plain(before.clone(), n), "{n} updates of {words} words");
            assert_eq!(run.accesses(Kind::Reduction).len(), n as usize);
            let again = updated(Variant::Atomic, &run.result, n, shape);
            assert_eq!(again.result, before);
        }
    }

    /// The benchmark tolerates one wrong word in a hundred.
    #[test]
    fn racy_updates_of_one_warp_are_lost_where_lanes_meet() {
        let before: Vec<u64> = (0..1 << 16).collect();
        let exact = plain(before.clone(), 1 << 14);
        let run = updated(Variant::Racy, &before, 1 << 14, (2, 128));
        let wrong = run.result.iter().zip(&exact).filter(|(a, b)| a != b).count();
        assert!((1..656).contains(&wrong), "{wrong}");
        let counts = [Kind::Load, Kind::Store].map(|kind| run.accesses(kind).len());
        assert_eq!(counts, [256 + (1 << 14), 1 << 14]);
        // All lanes read before any writes, and the last lane's word remains: numbers 63 and 64 of
        // the stream.
        assert_eq!(updated(Variant::Racy, &[0], 64, (1, 32)).result, [1 << 63 ^ 7]);
    }

    /// Numbers of HPCC's stream; the first sixty-four are powers of two.
    #[test]
    fn the_stream_matches_the_benchmark() {
        let stream: Vec<u64> =
            std::iter::successors(Some(START), |&ran| Some(next(ran))).take(67).collect();
        assert_eq!(stream[63..], [1 << 63, 7, 14, 28]);
        assert_eq!(starts(67, 5, 16), [stream[0], stream[16], stream[32], stream[48], stream[64]]);
        assert_eq!(starts(2, 3, 1)[..2], stream[..2]);
    }
}
