//! Stores keys and values in pages, and copies pages.
//!
//! ```cuda
//! // key_cache is [pages][heads][head_size / 8][PAGE][8], value_cache is [pages][heads][head_size][PAGE].
//! __global__ void reshape_and_cache_kernel(const half *key, const half *value, half *key_cache, half *value_cache,
//!                                          const int64_t *slot_mapping, int stride, int heads, int head_size) {
//!     int slot = slot_mapping[blockIdx.x], page = slot / PAGE, at = slot % PAGE;
//!     for (int i = threadIdx.x; i < heads * head_size; i += blockDim.x) {
//!         int from = blockIdx.x * stride + i, row = page * heads * head_size + i / head_size * head_size;
//!         int d = i % head_size;
//!         half k = key[from], v = value[from];
//!         key_cache[row * PAGE + d / 8 * PAGE * 8 + at * 8 + d % 8] = k;
//!         value_cache[row * PAGE + d * PAGE + at] = v;
//!     }
//! }
//!
//! // Grid: (1, pairs): one layer.
//! __global__ void copy_blocks_kernel(half *key_cache, half *value_cache, const int64_t *block_mapping, int per_page) {
//!     int from = block_mapping[2 * blockIdx.y] * per_page, to = block_mapping[2 * blockIdx.y + 1] * per_page;
//!     for (int i = threadIdx.x; i < per_page; i += blockDim.x) key_cache[to + i] = key_cache[from + i];
//!     for (int i = threadIdx.x; i < per_page; i += blockDim.x) value_cache[to + i] = value_cache[from + i];
//! }
//! ```
//!
//! `PAGE`, `heads` and `head_size` are compile-time constants here, so divisions are by constants.

use half::f16;

use super::halves::activations;
use super::paged_attention::{Page, Pages};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "kv-cache",
    summary: "keys and values of new tokens stored in the pages of a cache, or pages copied",
    source: "vLLM 0.2, reshape_and_cache and copy_blocks (Kwon et al., SOSP 2023)",
    parameters: &[&[
        Parameter::choice::<Variant>("variant", "store", "Store new tokens, or copy pages"),
        Parameter::count("sequences", 16, (1, 1 << 16), "sequences", "Sequences"),
        Parameter::count(
            "tokens",
            1,
            (1, 1 << 13),
            "tokens",
            "Tokens per sequence to store, or whose pages to copy; 1 when decoding",
        ),
        Parameter::count("kv-heads", 8, (1, 256), "heads", "Heads of keys and values"),
        Parameter::count(
            "head-size",
            128,
            (8, 256),
            "elements",
            "Elements per head, a multiple of 8",
        ),
        Parameter::choice::<Page>("page", "16", "Tokens per page"),
    ]],
    run: |gpu, arguments, random| {
        let shape = Shape {
            kv_heads: arguments.count32("kv-heads"),
            head_size: arguments.count32("head-size"),
            page: arguments.choice("page"),
        };
        let [sequences, tokens] = ["sequences", "tokens"].map(|name| arguments.count32(name));
        shape.check(sequences, tokens)?;
        match arguments.choice("variant") {
            Variant::Store => store(gpu, &New::drawn(shape, sequences, tokens, random)).map(drop),
            Variant::Copy => copy(gpu, &Forked::drawn(shape, sequences, tokens, random)).map(drop),
        }
    },
};

#[derive(Clone, Copy, Debug)]
enum Variant {
    Store,
    Copy,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("store", Variant::Store), ("copy", Variant::Copy)];
}

/// The layout of keys and values in pages.
#[derive(Clone, Copy, Debug)]
struct Shape {
    kv_heads: u32,
    head_size: u32,
    page: Page,
}

impl Shape {
    /// Checks the sizes. A sequence may begin in the middle of its first page.
    fn check(&self, sequences: u32, tokens: u32) -> Result<(), WorkloadError> {
        check_multiple("head-size", u64::from(self.head_size), 8)?;
        let pages = (tokens + self.page.tokens() - 1).div_ceil(self.page.tokens());
        check_entries("pages", sequences, 2 * pages)?;
        check_entries("keys", sequences * 2 * pages, self.per_page())
    }

    /// Returns the elements of a token.
    fn per_token(&self) -> u32 {
        self.kv_heads * self.head_size
    }

    /// Returns the elements of the keys, or values, of a page.
    fn per_page(&self) -> u32 {
        self.per_token() * self.page.tokens()
    }
}

/// New tokens, and their slots in the cache.
struct New {
    shape: Shape,
    keys: Vec<f16>,
    values: Vec<f16>,
    slots: Vec<u64>,
    /// Pages in the pool.
    pool: u32,
}

impl New {
    /// Draws new tokens. The first token of each sequence has a random position in its page, as in
    /// a continued sequence.
    fn drawn(shape: Shape, sequences: u32, tokens: u32, random: &mut Random) -> New {
        let starts: Vec<u32> = (0..sequences).map(|_| random.index(shape.page.tokens())).collect();
        let ends: Vec<u32> = starts.iter().map(|start| start + tokens).collect();
        let pages = Pages::drawn(shape.page, &ends, random);
        let of_sequence = |(sequence, (&start, &end)): (usize, (&u32, &u32))| {
            let slot = |token| u64::from(pages.slot(sequence, token as usize));
            (start..end).map(slot).collect::<Vec<_>>()
        };
        let slots = starts.iter().zip(&ends).enumerate().flat_map(of_sequence).collect();
        let mut drawn = || activations(sequences * tokens * shape.per_token(), random);
        New { shape, keys: drawn(), values: drawn(), slots, pool: pages.pool }
    }
}

/// Returns the caches of keys and of values.
fn store(gpu: &mut Gpu, new: &New) -> Result<[Array<f16>; 2], WorkloadError> {
    let cached = u64::from(new.pool * new.shape.per_page());
    let store = Store {
        keys: gpu.upload(&new.keys),
        values: gpu.upload(&new.values),
        first: [0, 0],
        stride: new.shape.per_token(),
        slots: gpu.upload(&new.slots),
        cache: Cache { keys: gpu.zeros(cached), values: gpu.zeros(cached) },
        kv_heads: new.shape.kv_heads,
        head_size: new.shape.head_size,
        page: new.shape.page.tokens(),
    };
    store.launch(gpu)?;
    Ok([store.cache.keys, store.cache.values])
}

/// Pages of keys, laid out [page][head][element / 8][slot][element % 8], and of values,
/// [page][head][element][slot].
#[derive(Clone, Copy)]
pub struct Cache {
    pub keys: Array<f16>,
    pub values: Array<f16>,
}

/// Arguments of the kernel that stores tokens.
#[derive(Clone, Copy)]
pub struct Store {
    pub keys: Array<f16>,
    pub values: Array<f16>,
    /// First token's element of `keys` and of `values`, and the elements from one token to the
    /// next.
    pub first: [u32; 2],
    pub stride: u32,
    /// Slot of each token.
    pub slots: Array<u64>,
    pub cache: Cache,
    pub kv_heads: u32,
    pub head_size: u32,
    /// Tokens per page.
    pub page: u32,
}

impl Store {
    pub fn launch(&self, gpu: &mut Gpu) -> Result<(), WorkloadError> {
        let threads = (self.kv_heads * self.head_size).min(512);
        let tokens = self.slots.len() as u32;
        let launch = grid_of("reshape_and_cache_kernel", tokens, threads, 32);
        gpu.launch(&launch, async |w| self.put(w))
    }

    fn put(&self, w: &Warp) {
        let elements = self.kv_heads * self.head_size;
        let (thread, token) = (w.thread_x(), w.block_x());
        let slot = self.slots.load(token).to_u32();
        let (page, at) = (slot.quotient(self.page), slot.remainder(self.page));
        w.range(thread, elements, w.block_width(), |i| {
            let from = token.mad(self.stride, i);
            let [key, value] = [(self.keys, self.first[0]), (self.values, self.first[1])]
                .map(|(array, first)| array.at(from).offset(first).load());
            let (head, d) = (i.quotient(self.head_size), i.remainder(self.head_size));
            let row = page.mad(elements, head * self.head_size) * self.page;
            let eight = d.quotient(8).mad(self.page, at);
            self.cache.keys.store(eight.mad(8, row + d.remainder(8)), key);
            self.cache.values.store(d.mad(self.page, row + at), value);
        });
    }
}

/// Pages to copy, in a cache.
struct Forked {
    shape: Shape,
    keys: Vec<f16>,
    values: Vec<f16>,
    /// Pairs of a page and its copy.
    mapping: Vec<u64>,
}

impl Forked {
    /// Copies half of the pool's pages to the other half, in random order.
    fn drawn(shape: Shape, sequences: u32, tokens: u32, random: &mut Random) -> Forked {
        let pages = 2 * sequences * tokens.div_ceil(shape.page.tokens());
        let mut mapping: Vec<u64> = (0..u64::from(pages)).collect();
        random.shuffle(&mut mapping);
        let mut drawn = || activations(pages * shape.per_page(), random);
        Forked { shape, keys: drawn(), values: drawn(), mapping }
    }
}

/// Returns the caches of keys and of values.
fn copy(gpu: &mut Gpu, forked: &Forked) -> Result<[Array<f16>; 2], WorkloadError> {
    let (keys, values) = (gpu.upload(&forked.keys), gpu.upload(&forked.values));
    let mapping = gpu.upload(&forked.mapping);
    let per_page = forked.shape.per_page();
    let launch = Launch {
        grid: [1, forked.mapping.len() as u32 / 2, 1],
        ..grid_of("copy_blocks_kernel", 0, per_page.min(1024), 24)
    };
    gpu.launch(&launch, async |w| {
        let pair = mapping.at(w.block_y() * 2);
        let [from, to] = [0, 1].map(|of| pair.offset(of).load().to_u32() * per_page);
        for cache in [keys, values] {
            w.range(w.thread_x(), per_page, w.block_width(), |i| {
                let element = cache.load(from + i);
                cache.store(to + i, element);
            });
        }
    })?;
    Ok([keys, values])
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn shape(kv_heads: u32, head_size: u32, page: Page) -> Shape {
        Shape { kv_heads, head_size, page }
    }

    /// Returns the position of element `d` of head `head` of the token in `slot`, in the cache of
    /// keys and in that of values.
    fn places(shape: &Shape, slot: u64, head: u32, d: u32) -> [usize; 2] {
        let tokens = shape.page.tokens();
        let (page, at) = (slot as u32 / tokens, slot as u32 % tokens);
        let row = page * shape.per_page() + head * shape.head_size * tokens;
        [row + d / 8 * tokens * 8 + at * 8 + d % 8, row + d * tokens + at].map(|at| at as usize)
    }

    #[test]
    fn tokens_are_stored_in_their_slots() {
        for (shape, sequences, tokens) in [
            (shape(1, 8, Page::Of8), 1, 1),
            (shape(3, 40, Page::Of16), 5, 30),
            (shape(8, 128, Page::Of16), 3, 1),
            (shape(2, 24, Page::Of32), 2, 70),
        ] {
            let new = New::drawn(shape, sequences, tokens, &mut Random::new(4));
            let run = run(|gpu| {
                let caches = store(gpu, &new)?;
                Ok(caches.map(|cache| gpu.download(cache)))
            });
            let cached = (new.pool * shape.per_page()) as usize;
            let mut expected = [vec![f16::ZERO; cached], vec![f16::ZERO; cached]];
            for (token, &slot) in new.slots.iter().enumerate() {
                for i in 0..shape.per_token() {
                    let [key, value] =
                        places(&shape, slot, i / shape.head_size, i % shape.head_size);
                    let from = token * shape.per_token() as usize + i as usize;
                    expected[0][key] = new.keys[from];
                    expected[1][value] = new.values[from];
                }
            }
            assert_eq!(run.result, expected, "{shape:?} {sequences} {tokens}");
            let mut slots = new.slots.clone();
            slots.sort_unstable();
            slots.dedup();
            assert_eq!(slots.len(), (sequences * tokens) as usize, "no two share a slot");
        }
    }

    #[test]
    fn keys_are_stored_in_pieces_of_16_bytes_and_values_singly() {
        let new = New::drawn(shape(1, 128, Page::Of16), 1, 1, &mut Random::new(4));
        let run = run(|gpu| {
            let caches = store(gpu, &new)?;
            Ok(caches.map(|cache| cache.range()))
        });
        let [keys, values] = &run.result;
        // Thirty-two elements are four pieces, 256 bytes apart, and thirty-two values, 32 bytes
        // apart.
        assert_eq!(run.lines(Kind::Store, keys), vec![4; 4]);
        assert_eq!(run.lines(Kind::Store, values), vec![8; 4]);
    }

    #[test]
    fn copied_pages_equal_their_originals() {
        let forked = Forked::drawn(shape(2, 40, Page::Of16), 3, 20, &mut Random::new(4));
        let run = run(|gpu| {
            let caches = copy(gpu, &forked)?;
            Ok(caches.map(|cache| gpu.download(cache)))
        });
        let per_page = forked.shape.per_page() as usize;
        let mut expected = [forked.keys.clone(), forked.values.clone()];
        for pair in forked.mapping.chunks_exact(2) {
            let [from, to] = [pair[0], pair[1]].map(|page| page as usize * per_page);
            for cache in &mut expected {
                cache.copy_within(from..from + per_page, to);
            }
        }
        assert_eq!(run.result, expected);
        assert_ne!(run.result[0], forked.keys);
    }

    #[test]
    fn invalid_shapes_are_refused() {
        let refusal = |shape: Shape, tokens| shape.check(1 << 10, tokens).unwrap_err().to_string();
        assert_eq!(refusal(shape(1, 60, Page::Of16), 1), "--head-size 60 is not a multiple of 8");
        let wide = refusal(shape(256, 256, Page::Of16), 1 << 13);
        assert_eq!(wide, "1101659111424 keys are more than 2^28");
        assert!(shape(8, 128, Page::Of16).check(256, 1 << 6).is_ok());
    }
}
