//! Merge sort of key-value pairs: tiles are sorted in shared memory, then pairs of sorted runs are
//! merged, round by round. Binary search finds the rank of an element in the other run. To balance
//! the CTAs, every 128th element of both runs cuts a merge: the samples' ranks in the other run are
//! searched, then the ranks of both runs are merged; between two cuts there are at most 128
//! elements of each run, which one CTA merges in shared memory.
//!
//! ```cuda
//! // How many of the n sorted keys are below key, or not above it (inclusive); n <= first, a power of two.
//! template <bool INCLUSIVE>
//! __device__ unsigned rank(unsigned key, const unsigned *keys, unsigned n, unsigned first) {
//!     unsigned rank = 0;
//!     for (unsigned step = first; step > 0; step >>= 1) {
//!         unsigned next = min(rank + step, n);
//!         unsigned other = keys[next - 1];
//!         if (INCLUSIVE ? other <= key : other < key) rank = next;
//!     }
//!     return rank;
//! }
//! __global__ void sortTiles(unsigned *keys, unsigned *values) {                   // blockDim.x is half a tile
//!     __shared__ unsigned tileKeys[TILE], tileValues[TILE];
//!     unsigned thread = threadIdx.x, i = blockIdx.x * TILE + thread;
//!     tileKeys[thread] = keys[i];                         tileValues[thread] = values[i];
//!     tileKeys[thread + TILE / 2] = keys[i + TILE / 2];   tileValues[thread + TILE / 2] = values[i + TILE / 2];
//!     for (unsigned run = 1; run < TILE; run <<= 1) {
//!         unsigned at = thread & (run - 1), base = 2 * (thread - at);
//!         __syncthreads();
//!         unsigned keyA = tileKeys[base + at], valueA = tileValues[base + at];
//!         unsigned keyB = tileKeys[base + at + run], valueB = tileValues[base + at + run];
//!         unsigned placeA = base + at + rank<false>(keyA, &tileKeys[base + run], run, run);
//!         unsigned placeB = base + at + rank<true>(keyB, &tileKeys[base], run, run);
//!         __syncthreads();
//!         tileKeys[placeA] = keyA;  tileValues[placeA] = valueA;
//!         tileKeys[placeB] = keyB;  tileValues[placeB] = valueB;
//!     }
//!     __syncthreads();
//!     keys[i] = tileKeys[thread];                         values[i] = tileValues[thread];
//!     keys[i + TILE / 2] = tileKeys[thread + TILE / 2];   values[i + TILE / 2] = tileValues[thread + TILE / 2];
//! }
//! // A thread per pair of samples, one of each run.
//! __global__ void rankSamples(const unsigned *keys, unsigned *ranksA, unsigned *ranksB, unsigned run, unsigned n) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x, samples = run / SAMPLE;
//!     if (i >= n) return;
//!     unsigned at = i & (samples - 1), first = 2 * (i - at), start = first * SAMPLE;
//!     ranksA[first + at] = at * SAMPLE;
//!     ranksB[first + at] = rank<false>(keys[start + at * SAMPLE], &keys[start + run], run, run);
//!     ranksB[first + at + samples] = at * SAMPLE;
//!     ranksA[first + at + samples] = rank<true>(keys[start + run + at * SAMPLE], &keys[start], run, run);
//! }
//! // Called for the ranks in A and for those in B.
//! __global__ void mergeRanks(const unsigned *ranks, unsigned *cuts, unsigned samples, unsigned n) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     unsigned at = i & (samples - 1), first = 2 * (i - at);
//!     unsigned a = ranks[first + at];
//!     cuts[first + at + rank<false>(a, &ranks[first + samples], samples, samples)] = a;
//!     unsigned b = ranks[first + at + samples];
//!     cuts[first + at + rank<true>(b, &ranks[first], samples, samples)] = b;
//! }
//! __global__ void mergeIntervals(const unsigned *keys, const unsigned *values, const unsigned *cutsA,
//!                                const unsigned *cutsB, unsigned *outKeys, unsigned *outValues, unsigned run) {
//!     __shared__ unsigned ownKeys[2 * SAMPLE], ownValues[2 * SAMPLE], bounds[4];
//!     unsigned thread = threadIdx.x, cta = blockIdx.x, at = cta & (2 * run / SAMPLE - 1);
//!     unsigned start = (cta - at) * SAMPLE;
//!     if (thread == 0) {
//!         bool isLast = at + 1 == 2 * run / SAMPLE;
//!         bounds[0] = cutsA[cta];  bounds[1] = isLast ? run : cutsA[cta + 1];
//!         bounds[2] = cutsB[cta];  bounds[3] = isLast ? run : cutsB[cta + 1];
//!     }
//!     __syncthreads();
//!     unsigned a = bounds[0], lenA = bounds[1] - a, b = bounds[2], lenB = bounds[3] - b, keyA, valueA, keyB, valueB;
//!     if (thread < lenA) {
//!         ownKeys[thread] = keyA = keys[start + a + thread];
//!         valueA = values[start + a + thread];
//!     }
//!     if (thread < lenB) {
//!         ownKeys[SAMPLE + thread] = keyB = keys[start + run + b + thread];
//!         valueB = values[start + run + b + thread];
//!     }
//!     __syncthreads();
//!     unsigned placeA = thread + rank<false>(keyA, &ownKeys[SAMPLE], lenB, SAMPLE);     // if thread < lenA
//!     unsigned placeB = thread + rank<true>(keyB, ownKeys, lenA, SAMPLE);               // if thread < lenB
//!     __syncthreads();
//!     if (thread < lenA) { ownKeys[placeA] = keyA;  ownValues[placeA] = valueA; }
//!     if (thread < lenB) { ownKeys[placeB] = keyB;  ownValues[placeB] = valueB; }
//!     __syncthreads();
//!     for (unsigned i = thread; i < lenA + lenB; i += SAMPLE) {
//!         outKeys[start + a + b + i] = ownKeys[i];
//!         outValues[start + a + b + i] = ownValues[i];
//!     }
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "merge-sort",
    summary: "merge sort: tiles in shared memory, then merge rounds, balanced by sampled ranks",
    source: "CUDA samples, mergeSort; Satish et al., IPDPS 2009",
    parameters: &[&[
        Parameter::count("n", 1 << 18, (32, 1 << 26), "pairs", "Pairs to sort, a power of two"),
        Parameter::count(
            "tile",
            1 << 10,
            (32, 1 << 11),
            "pairs",
            "Pairs sorted by a CTA in shared memory, a power of two",
        ),
        Parameter::count(
            "sample",
            128,
            (4, 1 << 10),
            "pairs",
            "Sample distance of the merge cuts, and threads per merging CTA, a power of two",
        ),
    ]],
    run: |gpu, arguments, random| {
        let [n, tile, sample] = ["n", "tile", "sample"].map(|name| arguments.count32(name));
        for (name, value) in [("n", n), ("tile", tile), ("sample", sample)] {
            check_power_of_two(name, value.into())?;
        }
        check_not_above(("sample", sample), ("tile", tile))?;
        check_not_above(("tile", tile), ("n", n))?;
        let keys: Vec<u32> = (0..n).map(|_| random.bits() as u32).collect();
        merge_sort(gpu, &keys, Shape { tile, sample }).map(drop)
    },
};

fn check_not_above(
    (name, value): (&str, u32),
    (other, most): (&str, u32),
) -> Result<(), WorkloadError> {
    if value <= most {
        return Ok(());
    }
    let (value, most) = (show_count(value.into()), show_count(most.into()));
    let message = format!("--{name} {value} is more than --{other} {most}");
    Err(WorkloadError::Inconsistent { message })
}

/// Threads per CTA of the kernels that process samples.
const RANK_BLOCK: u32 = 256;

/// Sizes of tiles and samples.
#[derive(Clone, Copy)]
struct Shape {
    tile: u32,
    sample: u32,
}

/// Keys and their values.
#[derive(Clone, Copy)]
struct Pairs {
    keys: Array<u32>,
    values: Array<u32>,
}

impl Pairs {
    fn load<'w>(&self, i: Lanes<'w, u32>) -> (Lanes<'w, u32>, Lanes<'w, u32>) {
        (self.keys.load(i), self.values.load(i))
    }

    fn store<'w>(&self, i: Lanes<'w, u32>, (key, value): (Lanes<'w, u32>, Lanes<'w, u32>)) {
        self.keys.store(i, key);
        self.values.store(i, value);
    }
}

/// The pairs of a CTA in shared memory.
#[derive(Clone, Copy)]
struct SharedPairs {
    keys: Shared<u32>,
    values: Shared<u32>,
}

impl SharedPairs {
    fn new(w: &Warp, len: u32) -> SharedPairs {
        SharedPairs { keys: w.shared(len), values: w.shared(len) }
    }

    fn load<'w>(&self, i: Lanes<'w, u32>) -> (Lanes<'w, u32>, Lanes<'w, u32>) {
        (self.keys.at(i).load(), self.values.at(i).load())
    }

    fn store<'w>(&self, i: Lanes<'w, u32>, (key, value): (Lanes<'w, u32>, Lanes<'w, u32>)) {
        self.keys.at(i).store(key);
        self.values.at(i).store(value);
    }
}

/// The keys counted by a rank.
#[derive(Clone, Copy, PartialEq)]
enum Rank {
    /// Keys below the element, for elements of the first run.
    Exclusive,
    /// Keys not above the element, for elements of the second run, so that equal keys keep their
    /// order.
    Inclusive,
}

impl Rank {
    /// Returns the number of `n` sorted keys that count; `before(i)` returns key `i` - 1, and
    /// `first` is a power of two not below `n`.
    fn of<'w>(
        self,
        key: Lanes<'w, u32>,
        n: impl Operand<u32>,
        first: impl Operand<u32>,
        before: impl Fn(Lanes<'w, u32>) -> Pointer<'w, u32>,
    ) -> Lanes<'w, u32> {
        let w = key.warp();
        let (rank, step) = (w.var(0), w.var(0));
        step.set(first);
        w.while_loop(
            || step.get().gt(0),
            || {
                let next = (rank.get() + &step).min(n);
                let other = before(next).load();
                let counts = match self {
                    Rank::Exclusive => other.lt(key),
                    Rank::Inclusive => other.le(key),
                };
                rank.set(counts.select(next, &rank));
                step.set(step.get() >> 1);
            },
        );
        rank.get()
    }
}

/// Returns the pairs sorted by key; the value of a key is its original position.
fn merge_sort(gpu: &mut Gpu, keys: &[u32], shape: Shape) -> Result<Pairs, WorkloadError> {
    let n = keys.len() as u32;
    let values: Vec<u32> = (0..n).collect();
    let mut pairs = Pairs { keys: gpu.upload(keys), values: gpu.upload(&values) };
    let mut merged = Pairs { keys: gpu.zeros(n.into()), values: gpu.zeros(n.into()) };
    let Shape { tile, sample } = shape;
    let launch = grid_of("sortTiles", n / tile, tile / 2, 20);
    let launch = Launch { shared_bytes: 8 * tile, ..launch };
    gpu.launch(&launch, async |w| sort_tiles(w, pairs, tile).await)?;
    let cuts = Cuts::new(gpu, n / sample);
    let rounds = (0..).map(|round| tile << round).take_while(|&run| run < n);
    for run in rounds {
        cuts.find(gpu, pairs.keys, run, sample)?;
        let launch = grid_of("mergeIntervals", n / sample, sample, 26);
        let launch = Launch { shared_bytes: 16 * sample + 16, ..launch };
        gpu.launch(&launch, async |w| {
            cuts.merge_intervals(w, pairs, merged, run, sample).await;
        })?;
        std::mem::swap(&mut pairs, &mut merged);
    }
    Ok(pairs)
}

async fn sort_tiles(w: &Warp, pairs: Pairs, tile: u32) {
    let own = SharedPairs::new(w, tile);
    let thread = w.thread_x();
    let i = w.block_x().mad(tile, thread);
    let halves = [thread, thread + tile / 2].into_iter().zip([i, i + tile / 2]);
    halves.clone().for_each(|(at, i)| own.store(at, pairs.load(i)));
    let run = w.var(1);
    w.do_while_in_step(async || {
        let at = thread & (run.get() - 1);
        let base = (thread - at) << 1;
        let (first, second) = (base + at, base + at + &run);
        w.barrier().await;
        let (a, b) = (own.load(first), own.load(second));
        let other = base + &run;
        let before = |next| own.keys.at(other + next).before(1);
        let place_a = first + Rank::Exclusive.of(a.0, &run, &run, before);
        let before = |next| own.keys.at(base + next).before(1);
        let place_b = first + Rank::Inclusive.of(b.0, &run, &run, before);
        w.barrier().await;
        own.store(place_a, a);
        own.store(place_b, b);
        run.set(run.get() << 1);
        run.get().lt(tile)
    })
    .await;
    w.barrier().await;
    halves.for_each(|(at, i)| pairs.store(i, own.load(at)));
}

/// The cuts of a merge in both runs.
struct Cuts {
    /// Ranks of the samples in the first run and in the second; the first run's samples come first.
    ranks: [Array<u32>; 2],
    /// The same in ascending order.
    places: [Array<u32>; 2],
}

impl Cuts {
    fn new(gpu: &mut Gpu, samples: u32) -> Cuts {
        let mut array = || gpu.zeros(samples.into());
        Cuts { ranks: [array(), array()], places: [array(), array()] }
    }

    fn find(
        &self,
        gpu: &mut Gpu,
        keys: Array<u32>,
        run: u32,
        sample: u32,
    ) -> Result<(), WorkloadError> {
        let pairs = self.ranks[0].len() as u32 / 2;
        let launch_of = |name, registers| launch(name, pairs, RANK_BLOCK, registers);
        gpu.launch(&launch_of("rankSamples", 22), async |w| {
            self.rank_samples(w, keys, run, sample);
        })?;
        for (ranks, places) in self.ranks.iter().zip(&self.places) {
            let launch = launch_of("mergeRanks", 18);
            gpu.launch(&launch, async |w| merge_ranks(w, *ranks, *places, run / sample))?;
        }
        Ok(())
    }

    fn rank_samples(&self, w: &Warp, keys: Array<u32>, run: u32, sample: u32) {
        let ([ranks_a, ranks_b], samples) = (self.ranks, run / sample);
        let i = w.global_x();
        w.exit_unless(i.lt(ranks_a.len() as u32 / 2));
        let at = i & (samples - 1);
        let first = (i - at) << 1;
        let (own, start) = (first + at, first * sample);
        let place = at * sample;
        ranks_a.store(own, place);
        let (a, second) = (keys.load(start + place), start + run);
        let before = |next| keys.at(second + next).before(1);
        ranks_b.store(own, Rank::Exclusive.of(a, run, run, before));
        let own = own + samples;
        ranks_b.store(own, place);
        let b = keys.load(second + place);
        let before = |next| keys.at(start + next).before(1);
        ranks_a.store(own, Rank::Inclusive.of(b, run, run, before));
    }

    async fn merge_intervals(&self, w: &Warp, from: Pairs, to: Pairs, run: u32, sample: u32) {
        let own = SharedPairs::new(w, 2 * sample);
        let bounds = w.shared::<u32>(4);
        let (thread, cta) = (w.thread_x(), w.block_x());
        let at = cta & (2 * run / sample - 1);
        let start = (cta - at) * sample;
        w.when(thread.eq(0), || {
            let is_last = (at + 1).eq(2 * run / sample);
            for (index, places) in (0..).zip(self.places) {
                let (cut, end) = (places.at(cta), w.var(run));
                bounds.first(w).offset(2 * index).store(cut.load());
                w.when(!is_last, || end.set(cut.offset(1).load()));
                bounds.first(w).offset(2 * index + 1).store(&end);
            }
        });
        w.barrier().await;
        let bound = |index| bounds.first(w).offset(index).load();
        let (a, b) = (bound(0), bound(2));
        let (len_a, len_b) = (bound(1) - a, bound(3) - b);
        let shares = [(a, len_a, 0, 0), (b, len_b, run, sample)].map(|(cut, len, run, base)| {
            let (key, value) = (w.var(0), w.var(0));
            w.when(thread.lt(len), || {
                let i = start + cut + (thread + run);
                key.set(from.keys.load(i));
                own.keys.at(thread).offset(base).store(&key);
                value.set(from.values.load(i));
            });
            (key, value, len)
        });
        w.barrier().await;
        let [(key_a, ..), (key_b, ..)] = &shares;
        let place = |rank: Rank, key: &Var<'_, u32>, len, other: Lanes<'_, u32>, base| {
            let place = w.var(0);
            w.when(thread.lt(len), || {
                let first = other.gt(0).select(sample, 0);
                let before = |next| own.keys.at(next).offset(base).before(1);
                place.set(thread + rank.of(key.get(), other, first, before));
            });
            place
        };
        let places = [
            place(Rank::Exclusive, key_a, len_a, len_b, sample),
            place(Rank::Inclusive, key_b, len_b, len_a, 0),
        ];
        w.barrier().await;
        for ((key, value, len), place) in shares.iter().zip(&places) {
            w.when(thread.lt(*len), || own.store(place.get(), (key.get(), value.get())));
        }
        w.barrier().await;
        let target = start + a + b;
        w.range(thread, len_a + len_b, sample, |i| to.store(target + i, own.load(i)));
    }
}

/// Merges the ranks of both runs' `samples` samples.
fn merge_ranks(w: &Warp, ranks: Array<u32>, places: Array<u32>, samples: u32) {
    let i = w.global_x();
    w.exit_unless(i.lt(ranks.len() as u32 / 2));
    let at = i & (samples - 1);
    let first = (i - at) << 1;
    let (own, second) = (first + at, first + samples);
    let a = ranks.load(own);
    let before = |next| ranks.at(second + next).before(1);
    places.store(own + Rank::Exclusive.of(a, samples, samples, before), a);
    let b = ranks.at(own).offset(samples).load();
    let before = |next| ranks.at(first + next).before(1);
    places.store(own + Rank::Inclusive.of(b, samples, samples, before), b);
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn sorted(keys: &[u32], shape: Shape) -> Run<[Vec<u32>; 2]> {
        run(|gpu| {
            let pairs = merge_sort(gpu, keys, shape)?;
            Ok([gpu.download(pairs.keys), gpu.download(pairs.values)])
        })
    }

    fn shape(tile: u32, sample: u32) -> Shape {
        Shape { tile, sample }
    }

    /// Values are original positions, so equal keys show whether they kept their order.
    #[test]
    fn sorting_is_stable() {
        let shapes = [(32, 32, 4), (64, 64, 32), (256, 64, 32), (512, 64, 64), (512, 32, 4)];
        for (n, tile, sample) in shapes {
            for bound in [1, 7, u32::MAX] {
                let mut random = Random::new(3);
                let keys: Vec<u32> = (0..n).map(|_| random.index(bound)).collect();
                let mut expected: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
                expected.sort_unstable();
                let [keys, values] = sorted(&keys, shape(tile, sample)).result;
                let found: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
                assert_eq!(found, expected, "{n} in tiles of {tile}, keys below {bound}");
            }
        }
    }

    #[test]
    fn sorted_and_reversed_keys_are_sorted() {
        let ascending: Vec<u32> = (0..256).collect();
        let descending: Vec<u32> = (0..256).rev().collect();
        for keys in [&ascending, &descending] {
            assert_eq!(sorted(keys, shape(64, 32)).result[0], ascending);
        }
    }

    #[test]
    fn every_round_merges_pairs_of_runs() {
        let keys: Vec<u32> = (0..512).map(|i| i * 7 % 512).collect();
        let run = sorted(&keys, shape(128, 32));
        let kernels = run.trace().kernels();
        let names: Vec<&str> = kernels.iter().map(|k| k.info.name.as_str()).collect();
        let round = ["rankSamples", "mergeRanks", "mergeRanks", "mergeIntervals"];
        assert_eq!(names, [["sortTiles"].as_slice(), &round, &round].concat());
        assert_eq!((kernels[0].ctas, kernels[4].ctas), (4, 16));
        // A pair is stored when its tile is sorted, and in each round.
        let mut stored = [0; 2];
        visit_records(run.trace(), |kernel, _, instruction, record| {
            if instruction.kind == Kind::Store && instruction.space == Space::Global {
                match names[kernel] {
                    "sortTiles" => stored[0] += record.active_addresses().len(),
                    "mergeIntervals" => stored[1] += record.active_addresses().len(),
                    _ => {}
                }
            }
        });
        assert_eq!(stored, [2 * 512, 2 * 2 * 512]);
    }

    /// All keys of one run are below those of the other, so each interval has elements of one run
    /// only.
    #[test]
    fn a_cta_merges_the_interval_between_two_cuts() {
        let keys: Vec<u32> = (0..128).collect();
        let run = sorted(&keys, shape(64, 32));
        let mut loads = Vec::new();
        visit_records(run.trace(), |kernel, _, instruction, record| {
            let is_load = instruction.kind == Kind::Load && instruction.space == Space::Global;
            if kernel == 4 && is_load && record.mask == u32::MAX {
                loads.push(record.active_addresses()[0]);
            }
        });
        assert_eq!(loads.len(), 2 * 4, "keys and values of 32 pairs for each of four CTAs");
    }
}
