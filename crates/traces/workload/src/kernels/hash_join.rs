//! Hash join: the smaller relation is inserted into a table with linear probing, one
//! compare-and-swap per slot tried; each tuple of the larger one then looks up its partner, and
//! matches are appended at a shared cursor, which a warp advances once for all its lanes.
//!
//! ```cuda
//! __device__ unsigned home(unsigned key, unsigned slots) { return __umulhi(fmix32(key), slots); }
//! __device__ unsigned after(unsigned slot, unsigned slots) { return slot + 1 == slots ? 0 : slot + 1; }
//!
//! __global__ void build(const unsigned *keys, const unsigned *values, unsigned n, uint2 *table, unsigned slots) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     unsigned key = keys[i], value = values[i], slot = home(key, slots);
//!     while (atomicCAS(&table[slot].x, EMPTY, key) != EMPTY) slot = after(slot, slots);
//!     table[slot].y = value;
//! }
//! __global__ void probe(const unsigned *keys, const unsigned *values, unsigned n, const uint2 *table, unsigned slots,
//!                       uint2 *out, unsigned *cursor) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) return;
//!     unsigned key = keys[i], value = values[i], slot = home(key, slots);
//!     uint2 entry = table[slot];
//!     while (entry.x != key && entry.x != EMPTY) { slot = after(slot, slots); entry = table[slot]; }
//!     bool found = entry.x == key;
//!     unsigned matched = __ballot_sync(__activemask(), found), first = 0;
//!     if (!found) return;
//!     if (lane == __ffs(matched) - 1) first = atomicAdd(cursor, __popc(matched));
//!     first = __shfl_sync(matched, first, __ffs(matched) - 1);
//!     out[first + __popc(matched & lanemask_lt())] = make_uint2(value, entry.y);
//! }
//! ```
//!
//! `fmix32` is the finaliser of MurmurHash3.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "hash-join",
    summary: "hash join: a table with linear probing built with compare-and-swap, then probed",
    source: "no-partitioning join after Shanbhag et al., SIGMOD 2020, and Kaldewey et al., DaMoN 2012",
    parameters: &[&[
        Parameter::count(
            "build",
            1 << 16,
            (1, 1 << 24),
            "tuples",
            "Tuples in the table, 8 bytes each",
        ),
        Parameter::count("probe", 1 << 18, (1, 1 << 28), "tuples", "Probing tuples"),
        Parameter::count("fill", 50, (10, 95), "%", "Occupied slots of the table"),
        Parameter::count("match", 50, (0, 100), "%", "Probing tuples with a partner"),
        SKEW,
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let build = Relation::build(arguments.count32("build"), random);
        let (share, skew) = (arguments.count32("match"), arguments.hundredths("skew"));
        let probe = Relation::probe(&build, arguments.count32("probe"), share, skew, random);
        join(gpu, &build, &probe, arguments.count32("fill"), arguments.count32("block")).map(drop)
    },
};

/// Key of a free slot.
const EMPTY: u32 = 0;

struct Relation {
    keys: Vec<u32>,
    values: Vec<u32>,
}

impl Relation {
    /// Generates keys from 1 to `n`, in random order, and their values.
    fn build(n: u32, random: &mut Random) -> Relation {
        let mut keys: Vec<u32> = (1..=n).collect();
        random.shuffle(&mut keys);
        let values = (0..n).map(|_| random.index(1 << 20)).collect();
        Relation { keys, values }
    }

    /// Draws `n` tuples, `share` percent with a partner in `build`, chosen by popularity; the other
    /// keys are absent. Values number the tuples.
    fn probe(build: &Relation, n: u32, share: u32, skew: u64, random: &mut Random) -> Relation {
        let partners = build.keys.len() as u32;
        let zipf = Zipf::new(partners, skew);
        let mut key = || match random.index(100) < share {
            true => build.keys[zipf.draw(random) as usize],
            false => partners + 1 + random.index(partners),
        };
        Relation { keys: (0..n).map(|_| key()).collect(), values: (0..n).collect() }
    }

    fn len(&self) -> u32 {
        self.keys.len() as u32
    }
}

/// The table of slots, each a key and a value, and the results of probing.
#[derive(Clone, Copy)]
struct Join {
    table: Array<[u32; 2]>,
    /// Values of the probing tuple and its partner.
    out: Array<[u32; 2]>,
    /// Number of results.
    cursor: Array<u32>,
}

fn join(
    gpu: &mut Gpu,
    build: &Relation,
    probe: &Relation,
    fill: u32,
    block: u32,
) -> Result<Join, WorkloadError> {
    let slots = (u64::from(build.len()) * 100).div_ceil(u64::from(fill));
    let join = Join {
        table: gpu.zeros(slots),
        out: gpu.zeros(u64::from(probe.len())),
        cursor: gpu.zeros(1),
    };
    let (keys, values) = (gpu.upload(&build.keys), gpu.upload(&build.values));
    gpu.launch(&launch("build", build.len(), block, 16), async |w| join.build(w, keys, values))?;
    let (keys, values) = (gpu.upload(&probe.keys), gpu.upload(&probe.values));
    gpu.launch(&launch("probe", probe.len(), block, 20), async |w| join.probe(w, keys, values))?;
    Ok(join)
}

impl Join {
    fn slots(&self) -> u32 {
        self.table.len() as u32
    }

    /// Returns the home slot of `key`.
    fn home<'w>(&self, key: Lanes<'w, u32>) -> Lanes<'w, u32> {
        let hash = (key ^ (key >> 16)) * 0x85eb_ca6b;
        let hash = (hash ^ (hash >> 13)) * 0xc2b2_ae35;
        (hash ^ (hash >> 16)).mul_high(self.slots())
    }

    fn after<'w>(&self, slot: Lanes<'w, u32>) -> Lanes<'w, u32> {
        let next = slot + 1;
        next.eq(self.slots()).select(0, next)
    }

    fn build(&self, w: &Warp, keys: Array<u32>, values: Array<u32>) {
        let i = w.global_x();
        w.exit_unless(i.lt(keys.len() as u32));
        let (key, value) = (keys.load(i), values.load(i));
        let slot = w.var(self.home(key));
        w.while_loop(
            || self.table.at(slot.get()).part(0).compare_exchange(EMPTY, key).ne(EMPTY),
            || slot.set(self.after(slot.get())),
        );
        self.table.at(slot.get()).part(1).store(value);
    }

    fn probe(&self, w: &Warp, keys: Array<u32>, values: Array<u32>) {
        let i = w.global_x();
        w.exit_unless(i.lt(keys.len() as u32));
        let (key, value) = (keys.load(i), values.load(i));
        let slot = w.var(self.home(key));
        let entry = w.var(self.table.load(slot.get()));
        let there = || entry.get().part(0);
        w.while_loop(
            || there().ne(key) & there().ne(EMPTY),
            || {
                slot.set(self.after(slot.get()));
                entry.set(self.table.load(slot.get()));
            },
        );
        let found = there().eq(key);
        let matched = found.ballot();
        w.exit_unless(found);
        let (leader, first) = (matched.lowest_bit(), w.var(0));
        w.when(w.lane().eq(leader), || {
            first.set(self.cursor.first(w).fetch_add(matched.count_ones()));
        });
        let first = first.get().shuffle(leader);
        let place = first + (matched & w.lanes_below()).count_ones();
        self.out.at(place).store_parts([value, entry.get().part(1)]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::testing::*;
    use super::*;

    fn relations(build: u32, probe: u32, share: u32, skew: u64) -> (Relation, Relation) {
        let mut random = Random::new(9);
        let build = Relation::build(build, &mut random);
        let probe = Relation::probe(&build, probe, share, skew, &mut random);
        (build, probe)
    }

    fn plain(build: &Relation, probe: &Relation) -> Vec<[u32; 2]> {
        let table: HashMap<u32, u32> =
            build.keys.iter().copied().zip(build.values.iter().copied()).collect();
        let pairs = probe.keys.iter().zip(&probe.values);
        pairs.filter_map(|(key, &value)| table.get(key).map(|&partner| [value, partner])).collect()
    }

    const CASES: [(u32, u32, u32, u64, u32); 6] = [
        (1, 1, 100, 0, 95),
        (1, 40, 0, 0, 10),
        (500, 700, 50, 0, 50),
        (300, 1000, 100, 120, 95),
        (64, 333, 70, 75, 80),
        (1000, 100, 0, 75, 90),
    ];

    #[test]
    fn only_tuples_with_a_partner_are_written() {
        for (build, probe, share, skew, fill) in CASES {
            let (build, probe) = relations(build, probe, share, skew);
            let run = run(|gpu| {
                let join = join(gpu, &build, &probe, fill, 96)?;
                Ok((gpu.download(join.cursor)[0], gpu.download(join.out)))
            });
            let (count, mut out) = run.result;
            let expected = plain(&build, &probe);
            assert_eq!(count as usize, expected.len(), "{} probes, {share} %", probe.len());
            assert!(out.drain(count as usize..).all(|pair| pair == [0, 0]));
            out.sort_unstable();
            assert_eq!(out, expected, "{} probes, {share} %", probe.len());
        }
    }

    /// Counts the slots from the home of `key` to its slot or a free one.
    fn walk(table: &[[u32; 2]], key: u32) -> usize {
        let mut hash = (key ^ (key >> 16)).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
        hash ^= hash >> 16;
        let home = ((u64::from(hash) * table.len() as u64) >> 32) as usize;
        let mut slots = (home..table.len()).chain(0..home);
        1 + slots.position(|slot| table[slot][0] == key || table[slot][0] == EMPTY).unwrap()
    }

    #[test]
    fn probing_reads_only_the_slots_on_its_path() {
        for (build, probe, share, skew, fill) in CASES {
            let (build, probe) = relations(build, probe, share, skew);
            let run = run(|gpu| {
                let join = join(gpu, &build, &probe, fill, 64)?;
                Ok(gpu.download(join.table))
            });
            assert_eq!(run.result.len(), (build.keys.len() * 100).div_ceil(fill as usize));
            let (mut tried, mut probed) = (0, 0);
            visit_records(run.trace(), |kernel, _, instruction, record| {
                let lanes = record.active_addresses().len();
                match (kernel, instruction.kind, instruction.width) {
                    (0, Kind::Atomic, 4) => tried += lanes,
                    (1, Kind::Load, 8) => probed += lanes,
                    _ => {}
                }
            });
            let walks =
                |keys: &[u32]| keys.iter().map(|&key| walk(&run.result, key)).sum::<usize>();
            assert_eq!(probed, walks(&probe.keys), "{} in the table", build.len());
            // The total distance from home does not depend on the insertion order (Knuth, vol. 3,
            // 6.4).
            assert_eq!(tried, walks(&build.keys), "{} in the table", build.len());
        }
    }

    #[test]
    fn a_warp_advances_the_cursor_once_for_all_its_matches() {
        let (build, probe) = relations(500, 3200, 60, 75);
        let run = run(|gpu| join(gpu, &build, &probe, 50, 128));
        let (mut moves, mut written) = (0, 0);
        visit_records(run.trace(), |kernel, _, instruction, record| {
            match (kernel, instruction.kind) {
                (1, Kind::Atomic) => {
                    assert_eq!(record.mask.count_ones(), 1);
                    moves += 1;
                }
                (1, Kind::Store) => {
                    let places = record.active_addresses();
                    assert!(places.windows(2).all(|pair| pair[1] == pair[0] + 8), "coalesced");
                    written += places.len();
                }
                _ => {}
            }
        });
        assert_eq!((moves, written), (100, plain(&build, &probe).len()));
    }

    #[test]
    fn the_match_percentage_is_exact() {
        for (share, range) in [(0, 0..1), (30, 2800..3200), (100, 10_000..10_001)] {
            let (build, probe) = relations(2000, 10_000, share, 75);
            assert!(range.contains(&plain(&build, &probe).len()), "{share} %");
        }
    }
}
