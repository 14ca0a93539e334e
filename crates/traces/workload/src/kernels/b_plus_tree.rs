//! Searches of a B+ tree, one CTA per query. The threads compare the keys of a node in parallel;
//! the thread whose range holds the query's key selects the child, and thread 0 moves the CTA
//! there. `find-k` looks up the record of a key; `find-range-k` descends for both ends of a range
//! and returns its first record and its length.
//!
//! ```cuda
//! struct knode { int location, indices[ORDER + 1], keys[ORDER + 1], is_leaf, num_keys; };
//!
//! __global__ void findK(int height, const knode *nodes, const int *records, int *current, int *next, const int *keys,
//!                       int *answers) {
//!     int thread = threadIdx.x, query = blockIdx.x;
//!     for (int level = 0; level < height; level++) {
//!         const knode &node = nodes[current[query]];
//!         if (node.keys[thread] <= keys[query] && node.keys[thread + 1] > keys[query])
//!             next[query] = node.indices[thread];
//!         __syncthreads();
//!         if (thread == 0) current[query] = next[query];
//!         __syncthreads();
//!     }
//!     const knode &leaf = nodes[current[query]];
//!     if (leaf.keys[thread] == keys[query]) answers[query] = records[leaf.indices[thread]];
//! }
//! ```
//!
//! `findRangeK` performs each step twice, for the first and the last key, with one barrier for
//! both.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "b+tree",
    summary: "B+ tree searches for keys or ranges, one CTA per query, one thread per key of a node",
    source: "Rodinia 3.1, b+tree (Che et al., IISWC 2009); Fix et al., A4MMC 2011",
    parameters: &[&[
        Parameter::choice::<Variant>("variant", "find-k", "Search for keys or for ranges of keys"),
        Parameter::count("records", 1 << 20, (1, 1 << 24), "records", "Records in the tree"),
        Parameter::count("queries", 1 << 12, (1, 1 << 20), "queries", "Queries, one CTA each"),
        Parameter::count(
            "order",
            256,
            (4, 1024),
            "keys",
            "Keys that fit in a node, and threads per CTA",
        ),
        Parameter::count("fill", 50, (50, 100), "%", "Fill factor of the nodes"),
        Parameter::count("range", 1000, (1, 1 << 20), "records", "Records in the longest range")
            .only_with("variant", &["find-range-k"]),
    ]],
    run: |gpu, arguments, random| {
        let records = Records::random(arguments.count32("records"), random);
        let tree = Tree::of(&records.keys, arguments.count32("order"), arguments.count32("fill"));
        let queries = arguments.count32("queries");
        match arguments.choice("variant") {
            Variant::FindK => {
                let keys = records.some(queries, random);
                find_keys(gpu, &tree, &records, &keys).map(drop)
            }
            Variant::FindRangeK => {
                let ranges = records.ranges(queries, arguments.count32("range"), random);
                find_ranges(gpu, &tree, &ranges).map(drop)
            }
        }
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    FindK,
    FindRangeK,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("find-k", Variant::FindK), ("find-range-k", Variant::FindRangeK)];
}

/// Records sorted by key.
struct Records {
    keys: Vec<u32>,
    values: Vec<u32>,
}

impl Records {
    /// Generates keys from 1 on, with gaps of up to three.
    fn random(n: u32, random: &mut Random) -> Records {
        let mut key = 0;
        let keys = (0..n).map(|_| {
            key += 1 + random.index(4);
            key
        });
        let keys = keys.collect();
        Records { keys, values: (0..n).map(|_| random.index(1 << 20)).collect() }
    }

    fn len(&self) -> u32 {
        self.keys.len() as u32
    }

    /// Draws `n` of the keys.
    fn some(&self, n: u32, random: &mut Random) -> Vec<u32> {
        (0..n).map(|_| self.keys[random.index(self.len()) as usize]).collect()
    }

    /// Draws the first and last keys of `n` ranges of at most `longest` records.
    fn ranges(&self, n: u32, longest: u32, random: &mut Random) -> Ranges {
        let mut ranges = Ranges { first: Vec::new(), last: Vec::new() };
        for _ in 0..n {
            let first = random.index(self.len());
            let last = (first + random.index(longest)).min(self.len() - 1);
            ranges.first.push(self.keys[first as usize]);
            ranges.last.push(self.keys[last as usize]);
        }
        ranges
    }
}

/// First and last keys of ranges, both existing.
struct Ranges {
    first: Vec<u32>,
    last: Vec<u32>,
}

/// Unused key of a node, above every key.
const NO_KEY: u32 = u32::MAX;

/// The nodes level by level, root first.
struct Tree {
    order: u32,
    /// Levels above the leaves.
    height: u32,
    words: Vec<u32>,
}

/// An entry of a node: a child or record, and the least key below it.
type Entry = (u32, u32);

impl Tree {
    /// Builds a tree whose nodes have `fill` percent of `order` keys.
    fn of(keys: &[u32], order: u32, fill: u32) -> Tree {
        let per_node = (order * fill / 100).max(2) as usize;
        let mut entries: Vec<Entry> = (0..).zip(keys.iter().copied()).collect();
        // The nodes of each level as their entries, from the leaves up.
        let mut levels: Vec<Vec<Vec<Entry>>> = Vec::new();
        loop {
            let nodes: Vec<Vec<Entry>> = entries.chunks(per_node).map(<[Entry]>::to_vec).collect();
            entries = (0..).zip(nodes.iter().map(|node| node[0].1)).collect();
            levels.push(nodes);
            if entries.len() == 1 {
                break;
            }
        }
        let height = levels.len() as u32 - 1;
        let mut tree = Tree { order, height, words: Vec::new() };
        for (above, nodes) in levels.iter().enumerate().rev() {
            let behind = tree.len() + nodes.len() as u32;
            for node in nodes {
                tree.push(node, if above == 0 { None } else { Some(behind) });
            }
        }
        tree
    }

    /// Adds a node; the children of an inner node are numbered from `children` on.
    fn push(&mut self, entries: &[Entry], children: Option<u32>) {
        let (number, room) = (self.len(), self.order as usize + 1);
        let (mut indices, mut keys) = (vec![0; room], vec![NO_KEY; room]);
        for (at, &(index, key)) in entries.iter().enumerate() {
            indices[at] = children.unwrap_or(0) + index;
            // The range of an inner node's first child is open below.
            keys[at] = if at == 0 && children.is_some() { 0 } else { key };
        }
        self.words.push(number);
        self.words.extend(indices);
        self.words.extend(keys);
        self.words.extend([u32::from(children.is_none()), entries.len() as u32]);
    }

    fn len(&self) -> u32 {
        self.words.len() as u32 / self.node_words()
    }

    /// Returns the words of a node: number, indices, keys, leaf flag, and number of keys.
    fn node_words(&self) -> u32 {
        2 * (self.order + 1) + 3
    }

    fn launch(&self, name: &'static str, queries: usize, registers: u32) -> Launch {
        grid_of(name, queries as u32, self.order, registers)
    }
}

/// Looks up the value of each key's record.
fn find_keys(
    gpu: &mut Gpu,
    tree: &Tree,
    records: &Records,
    keys: &[u32],
) -> Result<Array<u32>, WorkloadError> {
    let nodes = Nodes::upload(gpu, tree);
    let values = gpu.upload(&records.values);
    let search = Search::upload(gpu, keys);
    let answers = gpu.zeros(keys.len() as u64);
    gpu.launch(&tree.launch("findK", keys.len(), 24), async |w| {
        nodes.find_key(w, &search, values, answers).await;
    })?;
    Ok(answers)
}

/// Looks up the first record of each range, and its number of records.
fn find_ranges(
    gpu: &mut Gpu,
    tree: &Tree,
    ranges: &Ranges,
) -> Result<[Array<u32>; 2], WorkloadError> {
    let nodes = Nodes::upload(gpu, tree);
    let ends = [Search::upload(gpu, &ranges.first), Search::upload(gpu, &ranges.last)];
    let queries = ranges.first.len();
    let found = [(); 2].map(|()| gpu.zeros(queries as u64));
    gpu.launch(&tree.launch("findRangeK", queries, 30), async |w| {
        nodes.find_range(w, &ends, found).await;
    })?;
    Ok(found)
}

/// The keys of the queries, and their current nodes.
struct Search {
    keys: Array<u32>,
    /// Current node of each query, and the next.
    current: Array<u32>,
    next: Array<u32>,
}

impl Search {
    fn upload(gpu: &mut Gpu, keys: &[u32]) -> Search {
        let queries = keys.len() as u64;
        let (current, next) = (gpu.zeros(queries), gpu.zeros(queries));
        Search { keys: gpu.upload(keys), current, next }
    }

    /// Moves the CTA to the next node, by thread 0.
    fn go_on(&self, query: Lanes<'_, u32>) {
        self.current.store(query, self.next.load(query));
    }
}

#[derive(Clone, Copy)]
struct Nodes {
    words: Array<u32>,
    order: u32,
    height: u32,
}

impl Nodes {
    fn upload(gpu: &mut Gpu, tree: &Tree) -> Nodes {
        Nodes { words: gpu.upload(&tree.words), order: tree.order, height: tree.height }
    }

    /// `nodes[node].indices[at]` and `nodes[node].keys[at]`.
    fn entry<'w>(
        &self,
        node: Lanes<'w, u32>,
        at: Lanes<'w, u32>,
    ) -> (Pointer<'w, u32>, Pointer<'w, u32>) {
        let index = self.words.at(node.mad(2 * (self.order + 1) + 3, at)).offset(1);
        (index, index.offset(self.order + 1))
    }

    /// Finds the child whose range holds the query's key.
    fn descend<'w>(&self, search: &Search, query: Lanes<'w, u32>, thread: Lanes<'w, u32>) {
        let w = query.warp();
        let (index, key) = self.entry(search.current.load(query), thread);
        let own = key.load();
        let wanted = search.keys.load(query);
        w.when(own.le(wanted), || {
            w.when(key.offset(1).load().gt(wanted), || {
                search.next.store(query, index.load());
            });
        });
    }

    /// In a leaf: returns whether the thread holds the query's key, and the address of its index.
    fn at_leaf<'w>(
        &self,
        search: &Search,
        query: Lanes<'w, u32>,
        thread: Lanes<'w, u32>,
    ) -> (Predicate<'w>, Pointer<'w, u32>) {
        let (index, key) = self.entry(search.current.load(query), thread);
        let own = key.load();
        (own.eq(search.keys.load(query)), index)
    }

    async fn find_key(&self, w: &Warp, search: &Search, values: Array<u32>, answers: Array<u32>) {
        let (thread, query) = (w.thread_x(), w.block_x());
        w.range_in_step(0, self.height, 1, async |_| {
            self.descend(search, query, thread);
            w.barrier().await;
            w.when(thread.eq(0), || search.go_on(query));
            w.barrier().await;
        })
        .await;
        let (is_found, index) = self.at_leaf(search, query, thread);
        w.when(is_found, || answers.store(query, values.load(index.load())));
    }

    async fn find_range(&self, w: &Warp, ends: &[Search; 2], found: [Array<u32>; 2]) {
        let (thread, query) = (w.thread_x(), w.block_x());
        let [first, last] = ends;
        let [start, length] = found;
        w.range_in_step(0, self.height, 1, async |_| {
            self.descend(first, query, thread);
            self.descend(last, query, thread);
            w.barrier().await;
            w.when(thread.eq(0), || ends.iter().for_each(|end| end.go_on(query)));
            w.barrier().await;
        })
        .await;
        let (is_first, index) = self.at_leaf(first, query, thread);
        w.when(is_first, || start.store(query, index.load()));
        w.barrier().await;
        let (is_last, index) = self.at_leaf(last, query, thread);
        w.when(is_last, || {
            let behind = index.load() + 1;
            length.store(query, behind - start.load(query));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Records, order, fill.
    const CASES: [(u32, u32, u32); 5] =
        [(1, 4, 50), (3, 4, 50), (100, 4, 75), (700, 40, 50), (1000, 32, 100)];

    #[test]
    fn every_key_finds_its_record() {
        for (n, order, fill) in CASES {
            let mut random = Random::new(4);
            let records = Records::random(n, &mut random);
            let keys = records.some(30, &mut random);
            let run = run(|gpu| {
                let answers =
                    find_keys(gpu, &Tree::of(&records.keys, order, fill), &records, &keys)?;
                Ok(gpu.download(answers))
            });
            let value = |key| records.values[records.keys.binary_search(key).unwrap()];
            let expected: Vec<u32> = keys.iter().map(value).collect();
            assert_eq!(run.result, expected, "{n} records, order {order}");
        }
    }

    #[test]
    fn missing_keys_are_not_found() {
        let records = Records { keys: vec![2, 4, 6, 8, 10, 12, 14], values: vec![9; 7] };
        let tree = Tree::of(&records.keys, 4, 50);
        let run = run(|gpu| {
            let answers = find_keys(gpu, &tree, &records, &[1, 2, 7, 14, 15])?;
            Ok(gpu.download(answers))
        });
        assert_eq!(run.result, [0, 9, 0, 9, 0]);
    }

    #[test]
    fn every_range_has_its_records() {
        for (n, order, fill) in CASES {
            let mut random = Random::new(5);
            let records = Records::random(n, &mut random);
            let ranges = records.ranges(30, 50, &mut random);
            let run = run(|gpu| {
                let found = find_ranges(gpu, &Tree::of(&records.keys, order, fill), &ranges)?;
                Ok(found.map(|array| gpu.download(array)))
            });
            let place = |key| records.keys.binary_search(key).unwrap() as u32;
            let ends = ranges.first.iter().zip(&ranges.last);
            for (query, (first, last)) in ends.enumerate() {
                let found = [run.result[0][query], run.result[1][query]];
                let expected = [place(first), place(last) - place(first) + 1];
                assert_eq!(found, expected, "{n} records, order {order}, query {query}");
            }
        }
    }

    /// 100 keys, two per node: 50 leaves, and 25, 13, 7, 4, 2, 1 nodes above.
    #[test]
    fn tree_height_follows_from_the_records() {
        let keys: Vec<u32> = (1..=100).collect();
        let tree = Tree::of(&keys, 4, 50);
        assert_eq!((tree.len(), tree.height), (50 + 25 + 13 + 7 + 4 + 2 + 1, 6));
        let heights = [(1, 0), (128, 0), (129, 1), (128 * 128, 1), (128 * 128 + 1, 2)];
        for (n, height) in heights {
            let keys: Vec<u32> = (1..=n).collect();
            assert_eq!(Tree::of(&keys, 256, 50).height, height, "{n} records");
        }
    }

    /// Every thread of a node reads its own key, and those whose keys are not above the query's
    /// read the next.
    #[test]
    fn a_level_reads_its_keys_coalesced_and_one_index() {
        let records = Records { keys: (1..=64).collect(), values: vec![7; 64] };
        let tree = Tree::of(&records.keys, 32, 50);
        assert_eq!((tree.height, tree.len()), (1, 5));
        let run = run(|gpu| find_keys(gpu, &tree, &records, &[20]));
        let masks: Vec<u32> = run
            .warp(0)
            .iter()
            .filter(|(i, _)| i.kind == Kind::Load)
            .map(|(_, record)| record.mask)
            .collect();
        // Node, own keys, key; the keys after those of the first two children; the second child.
        let level = [u32::MAX, u32::MAX, u32::MAX, 0b11, 0b10];
        // The next node; node, own keys, key; the record's number and its value.
        let leaf = [1, u32::MAX, u32::MAX, u32::MAX, 1 << 3, 1 << 3];
        assert_eq!(masks, [level.as_slice(), &leaf].concat());
    }
}
