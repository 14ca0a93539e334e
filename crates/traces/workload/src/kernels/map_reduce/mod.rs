//! Common parts of MapReduce programs, after Mars (He et al., PACT 2008). Kernels could not
//! allocate memory, so the map runs twice: first every task counts the pairs and key bytes that it
//! will emit, prefix sums of the counts assign output positions, then the map runs again and
//! writes. A directory has an entry for each pair and is sorted by key; keys and values stay in
//! place. Adjacent entries with equal keys form a group.
//!
//! ```cuda
//! struct pair { unsigned hash, key, length, value; };                        // uint4; where key and value are
//!
//! __global__ void map_count() {
//!     unsigned task = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (task >= tasks) return;
//!     unsigned pairs = 0, bytes = 0;
//!     /* the map: bytes++ for each byte of a key, pairs++ at the end of a pair */
//!     pairsOf[task] = pairs;
//!     bytesOf[task] = bytes;
//! }
//! // Then firstPair and firstByte, the exclusive prefix sums of pairsOf and bytesOf.
//! __global__ void map() {
//!     unsigned task = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (task >= tasks) return;
//!     unsigned at = firstPair[task], byte = firstByte[task];
//!     /* the map: at the beginning of a key start = byte, hash = FNV_START; for each byte of it */
//!         { keys[byte++] = c; hash = (hash ^ c) * FNV_PRIME; }
//!     /* and at the end of a pair */
//!         { values[at] = value; pairs[at] = {hash >> 1, start, byte - start, at}; at++; }
//! }
//! __device__ bool isAfter(pair a, pair b) {
//!     if (a.hash != b.hash) return a.hash > b.hash;
//!     if (a.hash == NO_PAIR) return false;
//!     if (a.length != b.length) return a.length > b.length;
//!     unsigned char x = 0, y = 0;
//!     for (unsigned i = 0; x == y && i < a.length; i++) { x = keys[a.key + i]; y = keys[b.key + i]; }
//!     return x > y;
//! }
//! // Bitonic sort (Batcher 1968) of n pairs, a power of two: each thread compares two, distance apart.
//! __device__ void exchange(pair *low, pair *high, bool ascending) {
//!     pair a = *low, b = *high;
//!     if (isAfter(a, b) == ascending) { *low = b; *high = a; }
//! }
//! // All that can be done within CHUNK pairs, from runs of `from` / 2 pairs to runs of `to`.
//! __global__ void sortChunks(unsigned from, unsigned to) {
//!     __shared__ pair own[CHUNK];
//!     unsigned thread = threadIdx.x, first = blockIdx.x * CHUNK + thread;
//!     own[thread] = pairs[first];  own[thread + CHUNK / 2] = pairs[first + CHUNK / 2];
//!     for (unsigned run = from; run <= to; run <<= 1)
//!         for (unsigned distance = min(run, CHUNK) / 2; distance > 0; distance >>= 1) {
//!             __syncthreads();
//!             unsigned at = 2 * thread - (thread & distance - 1);
//!             exchange(&own[at], &own[at + distance], (blockIdx.x * CHUNK + at & run) == 0);
//!         }
//!     __syncthreads();
//!     pairs[first] = own[thread];  pairs[first + CHUNK / 2] = own[thread + CHUNK / 2];
//! }
//! __global__ void sortStep(unsigned run, unsigned distance) {
//!     unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, at = 2 * thread - (thread & distance - 1);
//!     exchange(&pairs[at], &pairs[at + distance], (at & run) == 0);
//! }
//! __global__ void markGroups(unsigned n) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     unsigned isFirst = 1;
//!     if (i > 0) isFirst = isAfter(pairs[i], pairs[i - 1]);
//!     first[i] = isFirst;
//! }
//! // Then group, the exclusive prefix sum of first.
//! __global__ void findGroups(unsigned n, unsigned groups) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     if (first[i]) starts[group[i]] = i;
//!     if (i == n - 1) starts[groups] = n;
//! }
//! ```
//!
//! Mars leaves hashing to the program's comparison; here it is part of the map, and the hash
//! replaces the length of the value in the entry, since that is always four.

pub mod inverted_index;
pub mod page_view_count;
mod text;

use super::prelude::*;
use super::scan::exclusive_scan;

/// Pairs sorted in shared memory by a CTA of `CHUNK` / 2 threads.
const CHUNK: u32 = 512;
const SORT_BLOCK: u32 = CHUNK / 2;
/// Hash of an entry without a pair, above all others, which have 31 bits.
const NO_PAIR: u32 = u32::MAX;
/// FNV-1a of 32 bits.
const FNV_START: u32 = 0x811c_9dc5;
const FNV_PRIME: u32 = 0x0100_0193;

/// Hash, start of the key, its length, and position of the value.
type Pair = [u32; 4];

/// The pairs that all tasks emit.
#[derive(Clone, Copy)]
struct Pairs {
    /// The directory: a power of two of entries; the first `len` are pairs.
    directory: Array<Pair>,
    len: u32,
    keys: Array<u8>,
    values: Array<u32>,
}

/// Output positions of each task.
#[derive(Clone, Copy)]
struct Places {
    pair: Array<u32>,
    byte: Array<u32>,
}

impl Places {
    fn new(gpu: &mut Gpu, tasks: u32) -> Places {
        Places { pair: gpu.zeros(tasks.into()), byte: gpu.zeros(tasks.into()) }
    }
}

/// Emits the pairs of a task: counts them, or writes them.
struct Emitter<'w> {
    output: Option<Pairs>,
    pairs: Var<'w, u32>,
    bytes: Var<'w, u32>,
    start: Var<'w, u32>,
    hash: Var<'w, u32>,
}

impl<'w> Emitter<'w> {
    fn counting(w: &'w Warp) -> Emitter<'w> {
        let (pairs, bytes) = (w.var(0), w.var(0));
        Emitter { output: None, pairs, bytes, start: w.var(0), hash: w.var(0) }
    }

    fn writing(task: Lanes<'w, u32>, output: Pairs, places: Places) -> Emitter<'w> {
        let w = task.warp();
        let pairs = w.var(places.pair.load(task));
        let bytes = w.var(places.byte.load(task));
        Emitter { output: Some(output), pairs, bytes, start: w.var(0), hash: w.var(0) }
    }

    /// Begins a key.
    fn begin(&self) {
        if self.output.is_some() {
            self.start.set(&self.bytes);
            self.hash.set(FNV_START);
        }
    }

    /// Appends a byte to the key.
    fn push(&self, byte: Lanes<'w, u8>) {
        if let Some(output) = &self.output {
            output.keys.store(self.bytes.get(), byte);
            self.hash.set((self.hash.get() ^ byte.to_u32()) * FNV_PRIME);
        }
        self.bytes.set(self.bytes.get() + 1);
    }

    /// Ends the key and emits the pair with this value.
    fn end(&self, value: impl Operand<u32>) {
        if let Some(output) = &self.output {
            let at = self.pairs.get();
            output.values.store(at, value);
            let hash = self.hash.get() >> 1;
            let length = self.bytes.get() - &self.start;
            output.directory.at(at).store_parts([hash, self.start.get(), length, at]);
        }
        self.pairs.set(self.pairs.get() + 1);
    }

    fn count(&self, task: Lanes<'w, u32>, places: Places) {
        places.pair.store(task, &self.pairs);
        places.byte.store(task, &self.bytes);
    }
}

/// Runs the map in two passes, one thread per task.
fn map_tasks(
    gpu: &mut Gpu,
    tasks: u32,
    block: u32,
    map: impl for<'w> Fn(Lanes<'w, u32>, &Emitter<'w>),
) -> Result<Pairs, WorkloadError> {
    let counts = Places::new(gpu, tasks);
    gpu.launch(&launch("map_count", tasks, block, 20), async |w| {
        let task = w.global_x();
        w.exit_unless(task.lt(tasks));
        let emitter = Emitter::counting(w);
        map(task, &emitter);
        emitter.count(task, counts);
    })?;
    let places = Places::new(gpu, tasks);
    let len = exclusive_scan(gpu, counts.pair, places.pair)?;
    let bytes = exclusive_scan(gpu, counts.byte, places.byte)?;
    let entries = len.next_power_of_two().max(CHUNK);
    let output = Pairs {
        // cudaMemset(0xff)
        directory: gpu.upload(&vec![[NO_PAIR; 4]; entries as usize]),
        len,
        keys: gpu.zeros(bytes.into()),
        values: gpu.zeros(len.into()),
    };
    gpu.launch(&launch("map", tasks, block, 28), async |w| {
        let task = w.global_x();
        w.exit_unless(task.lt(tasks));
        map(task, &Emitter::writing(task, output, places));
    })?;
    Ok(output)
}

/// Groups of adjacent pairs with equal keys in the directory.
struct Groups {
    len: u32,
    /// Start of each group, and the end of the last.
    starts: Array<u32>,
}

impl Pairs {
    /// Sorts the directory by hash, length, and bytes of the keys.
    fn sort(&self, gpu: &mut Gpu) -> Result<(), WorkloadError> {
        let n = self.directory.len() as u32;
        self.sort_chunks(gpu, (2, CHUNK))?;
        let runs = std::iter::successors(Some(2 * CHUNK), |run| run.checked_mul(2));
        for run in runs.take_while(|&run| run <= n) {
            let distances = std::iter::successors(Some(run / 2), |distance| Some(distance / 2));
            for distance in distances.take_while(|&distance| distance >= CHUNK) {
                gpu.launch(&launch("sortStep", n / 2, SORT_BLOCK, 30), async |w| {
                    let at = lower(w.global_x(), distance - 1);
                    let low = self.directory.at(at);
                    self.exchange(low, low.offset(distance), (at & run).eq(0));
                })?;
            }
            self.sort_chunks(gpu, (run, run))?;
        }
        Ok(())
    }

    fn sort_chunks(&self, gpu: &mut Gpu, (from, to): (u32, u32)) -> Result<(), WorkloadError> {
        let chunks = self.directory.len() as u32 / CHUNK;
        let launch = grid_of("sortChunks", chunks, SORT_BLOCK, 32);
        gpu.launch(&Launch { shared_bytes: 16 * CHUNK, ..launch }, async |w| {
            self.sort_chunk(w, from, to).await;
        })
    }

    async fn sort_chunk(&self, w: &Warp, from: u32, to: u32) {
        let own = w.shared::<Pair>(CHUNK);
        let (thread, cta) = (w.thread_x(), w.block_x());
        let halves = [0, SORT_BLOCK];
        let first = cta.mad(CHUNK, thread);
        let (there, here) = (self.directory.at(first), own.at(thread));
        halves.iter().for_each(|&half| here.offset(half).store(there.offset(half).load()));
        let run = w.var(from);
        w.do_while_in_step(async || {
            let distance = w.var(run.get().min(CHUNK) >> 1);
            w.do_while_in_step(async || {
                w.barrier().await;
                let at = lower(thread, distance.get() - 1);
                let ascending = (cta.mad(CHUNK, at) & &run).eq(0);
                self.exchange(own.at(at), own.at(at + &distance), ascending);
                distance.set(distance.get() >> 1);
                distance.get().gt(0)
            })
            .await;
            run.set(run.get() << 1);
            run.get().le(to)
        })
        .await;
        w.barrier().await;
        halves.iter().for_each(|&half| there.offset(half).store(here.offset(half).load()));
    }

    /// Puts two pairs in order.
    fn exchange<'w>(
        &self,
        low: Pointer<'w, Pair>,
        high: Pointer<'w, Pair>,
        ascending: Predicate<'w>,
    ) {
        let (a, b) = (low.load(), high.load());
        let w = a.warp();
        let is_after = self.is_after(a, b).get();
        w.when(is_after.eq(ascending.select(1, 0)), || {
            low.store(b);
            high.store(a);
        });
    }

    /// Returns 1 if `a` sorts after `b`, else 0.
    fn is_after<'w>(&self, a: Lanes<'w, Pair>, b: Lanes<'w, Pair>) -> Var<'w, u32> {
        let w = a.warp();
        let [hash_a, start_a, length_a, _] = [0, 1, 2, 3].map(|part| a.part(part));
        let [hash_b, start_b, length_b, _] = [0, 1, 2, 3].map(|part| b.part(part));
        let after = w.var(0);
        after.set(hash_a.gt(hash_b).select(1, 0));
        w.when(hash_a.eq(hash_b) & hash_a.ne(NO_PAIR), || {
            after.set(length_a.gt(length_b).select(1, 0));
            w.when(length_a.eq(length_b), || {
                let (x, y, i) = (w.var(0u8), w.var(0u8), w.var(0));
                w.while_loop(
                    || x.get().eq(&y) & i.get().lt(length_a),
                    || {
                        x.set(self.keys.load(start_a + &i));
                        y.set(self.keys.load(start_b + &i));
                        i.set(i.get() + 1);
                    },
                );
                after.set(x.get().gt(&y).select(1, 0));
            });
        });
        after
    }

    /// Returns the groups of the sorted pairs.
    fn group(&self, gpu: &mut Gpu, block: u32) -> Result<Groups, WorkloadError> {
        let n = self.len;
        let (first, number) = (gpu.zeros(n.into()), gpu.zeros(n.into()));
        gpu.launch(&launch("markGroups", n, block, 28), async |w| {
            let i = w.global_x();
            w.exit_unless(i.lt(n));
            let is_first = w.var(1);
            w.when(i.gt(0), || {
                let pair = self.directory.at(i);
                is_first.set(&self.is_after(pair.load(), pair.before(1).load()));
            });
            first.store(i, &is_first);
        })?;
        let groups = exclusive_scan(gpu, first, number)?;
        let starts = gpu.zeros(u64::from(groups) + 1);
        gpu.launch(&launch("findGroups", n, block, 12), async |w| {
            let i = w.global_x();
            w.exit_unless(i.lt(n));
            w.when(first.load(i).ne(0), || starts.store(number.load(i), i));
            w.when(i.eq(n - 1), || starts.first(w).offset(groups).store(n));
        })?;
        Ok(Groups { len: groups, starts })
    }

    /// Returns keys and values in directory order.
    #[cfg(test)]
    fn download(&self, gpu: &Gpu) -> Vec<(Vec<u8>, u32)> {
        let (keys, values) = (gpu.download(self.keys), gpu.download(self.values));
        let mut directory = gpu.download(self.directory);
        directory.truncate(self.len as usize);
        let pair = |[_, start, length, value]: Pair| {
            let key = keys[start as usize..(start + length) as usize].to_vec();
            (key, values[value as usize])
        };
        directory.into_iter().map(pair).collect()
    }
}

/// Returns the lower of the two entries that a thread compares; `mask` is their distance minus one.
fn lower<'w>(thread: Lanes<'w, u32>, mask: impl Operand<u32>) -> Lanes<'w, u32> {
    (thread << 1) - (thread & mask)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Returns pairs with these keys and the same hash.
    fn colliding(gpu: &mut Gpu, keys: &[Vec<u8>]) -> Pairs {
        let mut start = 0;
        let pair = |(value, key): (u32, &Vec<u8>)| {
            let pair = [5, start, key.len() as u32, value];
            start += key.len() as u32;
            pair
        };
        let mut directory: Vec<Pair> = (0..).zip(keys).map(pair).collect();
        directory.resize(keys.len().next_power_of_two().max(CHUNK as usize), [NO_PAIR; 4]);
        let values: Vec<u32> = (0..keys.len() as u32).collect();
        Pairs {
            directory: gpu.upload(&directory),
            len: keys.len() as u32,
            keys: gpu.upload(&keys.concat()),
            values: gpu.upload(&values),
        }
    }

    #[test]
    fn colliding_keys_are_sorted_by_length_and_bytes() {
        for n in [1, 100, 600, 1500] {
            let mut random = Random::new(7);
            let mut keys: Vec<Vec<u8>> = (0..n)
                .map(|_| (0..=random.index(3)).map(|_| random.index(4) as u8).collect())
                .collect();
            let run = run(|gpu| {
                let pairs = colliding(gpu, &keys);
                pairs.sort(gpu)?;
                let groups = pairs.group(gpu, 64)?;
                Ok((pairs.download(gpu), gpu.download(groups.starts)))
            });
            let (pairs, starts) = run.result;
            assert!(pairs.iter().all(|(key, value)| *key == keys[*value as usize]));
            keys.sort_by_key(|key| (key.len(), key.clone()));
            let found: Vec<&Vec<u8>> = pairs.iter().map(|(key, _)| key).collect();
            assert_eq!(found, keys.iter().collect::<Vec<_>>(), "{n} pairs");
            let differs = |&i: &u32| i == 0 || keys[i as usize] != keys[i as usize - 1];
            let expected: Vec<u32> = (0..n).filter(differs).chain([n]).collect();
            assert_eq!(starts, expected, "{n} pairs");
        }
    }

    /// A task's number modulo 4 is its number of pairs and the length of their keys.
    #[test]
    fn tasks_write_consecutively() {
        let run = run(|gpu| {
            let letter = gpu.upload(b"x");
            let pairs = map_tasks(gpu, 70, 32, |task, emitter| {
                let w = task.warp();
                let n = task & 3;
                w.range(0, n, 1, |_| {
                    emitter.begin();
                    w.range(0, n, 1, |_| emitter.push(letter.first(w).load()));
                    emitter.end(task);
                });
            })?;
            Ok(pairs.download(gpu))
        });
        let expected = (0..70u32).flat_map(|task| {
            let n = task as usize % 4;
            vec![(vec![b'x'; n], task); n]
        });
        assert_eq!(run.result, expected.collect::<Vec<_>>());
    }
}
