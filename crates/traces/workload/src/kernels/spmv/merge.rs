//! Merge path: row ends and entries form one path of `rows + entries` steps, cut into equal parts
//! independent of the rows. Threads find the start of their part by binary search along a diagonal;
//! a scan over the CTA combines the parts of a row in several threads, and a second kernel those in
//! several CTAs.
//!
//! ```cuda
//! __device__ int2 MergePathSearch(int diagonal, const int *a, int b, int a_len, int b_len) {  // list B: b, b + 1, …
//!     int x_min = max(diagonal - b_len, 0), x_max = min(diagonal, a_len);
//!     while (x_min < x_max) {
//!         int pivot = (x_min + x_max) >> 1;
//!         if (a[pivot] <= b + diagonal - pivot - 1) x_min = pivot + 1; else x_max = pivot;
//!     }
//!     return make_int2(min(x_min, a_len), diagonal - x_min);
//! }
//! __global__ void DeviceSpmvSearchKernel(…) {
//!     int tile = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (tile < num_tiles + 1) coordinates[tile] = MergePathSearch(tile * TILE_ITEMS, row_ends, 0, rows, nonzeros);
//! }
//! __global__ void DeviceSpmvKernel(…) {
//!     __shared__ int2 coords[2];
//!     __shared__ union { int row_end; float nonzero; } items[TILE_ITEMS + ITEMS + 1];
//!     if (threadIdx.x < 2) coords[threadIdx.x] = coordinates[blockIdx.x + threadIdx.x];
//!     __syncthreads();
//!     int2 start = coords[0], end = coords[1];
//!     int tile_rows = end.x - start.x, tile_nonzeros = end.y - start.y;
//!     int *s_ends = &items[0].row_end; float *s_nonzeros = &items[tile_rows + ITEMS].nonzero;
//!     #pragma unroll
//!     for (int i = 0; i < ITEMS; i++) {
//!         int n = threadIdx.x + i * BLOCK;
//!         if (n < tile_nonzeros) s_nonzeros[n] = values[start.y + n] * x[columns[start.y + n]];
//!     }
//!     for (int r = threadIdx.x; r < tile_rows + ITEMS; r += BLOCK) s_ends[r] = row_ends[min(start.x + r, rows - 1)];
//!     __syncthreads();
//!     int2 at = MergePathSearch(threadIdx.x * ITEMS, s_ends, start.y, tile_rows, tile_nonzeros), begin = at;
//!     __syncthreads();
//!     int row_end = s_ends[at.x]; float nonzero = s_nonzeros[at.y], total = 0; KeyValue segment[ITEMS];
//!     #pragma unroll
//!     for (int i = 0; i < ITEMS; i++) {
//!         if (start.y + at.y < row_end) {
//!             segment[i].value = nonzero; total += nonzero; nonzero = s_nonzeros[++at.y];
//!         } else {
//!             segment[i].value = 0; total = 0; row_end = s_ends[++at.x];
//!         }
//!         segment[i].key = at.x;
//!     }
//!     __syncthreads();
//!     KeyValue carry, item = { at.x, total };
//!     BlockScan(item by key, exclusive: item, all: carry);          // shuffles in the warp, then over the warps' sums
//!     if (threadIdx.x == 0) item = { begin.x, 0 };
//!     if (tile_rows > 0) {
//!         __syncthreads();
//!         float *partials = &items[0].nonzero;
//!         #pragma unroll
//!         for (int i = 0; i < ITEMS; i++) {                         // segment[-1]: item
//!             if (segment[i - 1].key != segment[i].key) partials[segment[i - 1].key] = segment[i - 1].value;
//!             else segment[i].value += segment[i - 1].value;
//!         }
//!         __syncthreads();
//!         for (int r = threadIdx.x; r < tile_rows; r += BLOCK) y[start.x + r] = partials[r];
//!     }
//!     if (threadIdx.x == 0) {
//!         carry.key += start.x;
//!         if (carry.key >= rows) carry = { rows - 1, 0 };
//!         carries[blockIdx.x] = carry;
//!     }
//! }
//! __global__ void DeviceSegmentFixupKernel(const KeyValue *carries, float *y, int n) {    // 128 threads, 3 items each
//!     KeyValue pair[3];
//!     for (int i = 0; i < 3; i++) pair[i] = first + i < n ? carries[first + i] : { -1, 0 };
//!     for (int i = 1; i < 3; i++)
//!         if (pair[i].key != pair[i - 1].key) atomicAdd(&y[pair[i - 1].key], pair[i - 1].value);
//!         else pair[i].value += pair[i - 1].value;
//!     if (pair[2].key >= 0) atomicAdd(&y[pair[2].key], pair[2].value);
//! }
//! ```
//!
//! As compiled (nvcc 13 for sm_75), conditions are predicates except around the atomics; the loads
//! of all columns and values precede the first use. CUB merges the search into the product for few
//! tiles; here it is always a separate kernel.

use super::super::prelude::*;
use super::csr;

/// Path steps per thread, in the product and in the fix-up.
const ITEMS: u32 = 7;
const FIXUP_ITEMS: u32 = 3;
/// CTA size of the search and of the fix-up.
const SEARCH_BLOCK: u32 = 128;
/// Row of an empty pair.
const NO_ROW: u32 = u32::MAX;

/// A row, relative to some first, and its partial sum.
#[derive(Clone, Copy)]
struct Segment<'w> {
    key: Lanes<'w, u32>,
    value: Lanes<'w, f32>,
}

impl<'w> Segment<'w> {
    /// Returns the sum of `self` and `after` if they are in the same row, otherwise `after`.
    fn then(self, after: Segment<'w>) -> Segment<'w> {
        let same = self.key.eq(after.key);
        Segment { key: after.key, value: same.select(self.value + after.value, after.value) }
    }

    fn or(self, condition: Predicate<'w>, other: Segment<'w>) -> Segment<'w> {
        Segment {
            key: condition.select(self.key, other.key),
            value: condition.select(self.value, other.value),
        }
    }

    /// Returns the segment of the lane `distance` below.
    fn shuffle_up(self, distance: usize) -> Segment<'w> {
        Segment { key: self.key.shuffle_up(distance), value: self.value.shuffle_up(distance) }
    }
}

/// The matrix, the vectors and the values passed between tiles, on the device.
#[derive(Clone, Copy)]
struct Product {
    csr: csr::Product,
    entries: u32,
    tiles: u32,
    /// Start of each tile: a row and an entry.
    coordinates: Array<[u32; 2]>,
    /// Carry of each tile: a row and the bits of a sum.
    carries: Array<[u32; 2]>,
}

pub fn by_paths(
    gpu: &mut Gpu,
    matrix: &Matrix,
    x: &[f32],
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let csr = csr::Product::upload(gpu, matrix, x);
    let entries = matrix.structure.columns.len() as u32;
    let tiles = (csr.rows + entries).div_ceil(ITEMS * block);
    let coordinates = gpu.zeros(u64::from(tiles) + 1);
    let product =
        Product { csr, entries, tiles, coordinates, carries: gpu.zeros(u64::from(tiles)) };
    let search = launch("DeviceSpmvSearchKernel", tiles + 1, SEARCH_BLOCK, 12);
    gpu.launch(&search, async |w| product.search(w, ITEMS * block))?;
    let multiply = Launch {
        shared_bytes: 2 * 8 + (4 * items_of(block)).next_multiple_of(16) + 8 * (block / 32),
        ..grid_of("DeviceSpmvKernel", tiles, block, 46)
    };
    gpu.launch(&multiply, async |w| product.multiply(w).await)?;
    if tiles > 1 {
        let threads = tiles.div_ceil(FIXUP_ITEMS);
        let fix_up = launch("DeviceSegmentFixupKernel", threads, SEARCH_BLOCK, 14);
        gpu.launch(&fix_up, async |w| product.fix_up(w))?;
    }
    Ok(csr.y)
}

/// Returns the words of shared memory for row ends and products.
fn items_of(block: u32) -> u32 {
    ITEMS * block + ITEMS + 1
}

/// `MergePathSearch` among `rows` row ends, `end_of` each, and `entries` from `first` on.
fn search<'w>(
    w: &'w Warp,
    diagonal: Lanes<'w, u32>,
    rows: impl Operand<u32>,
    (first, entries): (impl Operand<u32>, impl Operand<u32>),
    end_of: impl Fn(Lanes<'w, u32>) -> Lanes<'w, u32>,
) -> (Lanes<'w, u32>, Lanes<'w, u32>) {
    let low = w.var(diagonal - diagonal.min(entries));
    let high = w.var(diagonal.min(rows));
    w.while_loop(
        || low.get().lt(&high),
        || {
            let pivot = (low.get() + &high) >> 1;
            let entry = diagonal - pivot - 1 + first;
            let is_before = end_of(pivot).le(entry);
            high.set(is_before.select(&high, pivot));
            w.predicated(is_before, || low.set(pivot + 1));
        },
    );
    (low.get().min(rows), diagonal - &low)
}

impl Product {
    /// `row_ends[row]`
    fn end_of<'w>(&self, row: Lanes<'w, u32>) -> Lanes<'w, u32> {
        self.csr.ptr.at(row).offset(1).load()
    }

    fn search(&self, w: &Warp, tile_items: u32) {
        let tile = w.global_x();
        w.exit_unless(tile.lt(self.tiles + 1));
        let (row, entry) =
            search(w, tile * tile_items, self.csr.rows, (0, self.entries), |row| self.end_of(row));
        self.coordinates.at(tile).store_parts([row, entry]);
    }

    async fn multiply(&self, w: &Warp) {
        let block = w.block_width();
        let coordinates = w.shared::<[u32; 2]>(2);
        let items = w.shared::<u32>(items_of(block));
        let (thread, tile) = (w.thread_x(), w.block_x());
        w.when(thread.lt(2), || {
            coordinates.at(thread).store(self.coordinates.load(tile + thread));
        });
        w.barrier().await;
        let start = coordinates.first(w).load();
        let end = coordinates.first(w).offset(1).load();
        let (first_row, first_entry) = (start.part(0), start.part(1));
        let (rows, entries) = (end.part(0) - first_row, end.part(1) - first_entry);
        let products = rows + ITEMS;
        let product_at = |entry| items.at(products + entry).cast::<f32>();

        self.gather(w, thread, product_at(thread), (first_entry, entries));
        w.range(first_row + thread, first_row + rows + ITEMS, block, |row| {
            items.at(row - first_row).store(self.end_of(row.min(self.csr.rows - 1)));
        });
        w.barrier().await;
        let end_at = |row| items.at(row).load();
        let begin = search(w, thread * ITEMS, rows, (first_entry, entries), end_at);
        w.barrier().await;

        let (mut row, mut entry) = begin;
        let (row_end, product) = (w.var(end_at(row)), w.var(product_at(entry).load()));
        let mut total = w.var(0.0).get();
        let mut segments: [_; ITEMS as usize] = [Segment { key: row, value: total }; _];
        for segment in &mut segments {
            let goes_down = (entry + first_entry).lt(&row_end);
            let value = goes_down.select(&product, 0.0);
            total = goes_down.select(total + &product, 0.0);
            entry = goes_down.select(entry + 1, entry);
            row = goes_down.select(row, row + 1);
            w.predicated(goes_down, || product.set(product_at(entry).load()));
            w.predicated(!goes_down, || row_end.set(end_at(row)));
            *segment = Segment { key: row, value };
        }
        w.barrier().await;

        let (before, carry) = scan(w, Segment { key: row, value: total }).await;
        let is_first = thread.eq(0);
        let nothing = Segment { key: begin.0, value: w.var(0.0).get() };
        let mut last = nothing.or(is_first, before);
        w.when_in_step(rows.gt(0), async || {
            w.barrier().await;
            for mut segment in segments {
                let row_ended = last.key.ne(segment.key);
                w.predicated(row_ended, || items.at(last.key).cast::<f32>().store(last.value));
                segment.value = row_ended.select(segment.value, segment.value + last.value);
                last = segment;
            }
            w.barrier().await;
            w.range(first_row + thread, first_row + rows, block, |row| {
                self.csr.y.store(row, items.at(row - first_row).cast::<f32>().load());
            });
        })
        .await;
        w.exit_unless(is_first);
        let row = carry.key + first_row;
        let is_row = row.lt(self.csr.rows);
        let pair = self.carries.at(tile);
        pair.part(0).store(is_row.select(row, self.csr.rows - 1));
        pair.part(1).store(is_row.select(carry.value, 0.0).as_u32());
    }

    /// Stores the products of the tile's `entries` from `first` on to shared memory; the thread's
    /// first goes to `to`.
    fn gather(
        &self,
        w: &Warp,
        thread: Lanes<u32>,
        to: Pointer<f32>,
        (first, entries): (Lanes<u32>, Lanes<u32>),
    ) {
        let block = w.block_width();
        let own = first + thread;
        let (columns, values) = (self.csr.col.at(own), self.csr.val.at(own));
        let step: [u32; ITEMS as usize] = std::array::from_fn(|i| i as u32 * block);
        let loaded = step.map(|step| {
            let exists = (thread + step).lt(entries);
            let column = w.predicated(exists, || columns.offset(step).load());
            (exists, column, w.predicated(exists, || values.offset(step).load()))
        });
        for (step, (exists, column, value)) in step.into_iter().zip(loaded) {
            w.predicated(exists, || to.offset(step).store(value * self.csr.x.load(column)));
        }
    }

    fn fix_up(&self, w: &Warp) {
        let first = w.global_x() * FIXUP_ITEMS;
        let pairs = self.carries.at(first);
        let pair = |i| {
            let (key, value) = (w.var(NO_ROW), w.var(0.0));
            w.predicated((first + i).lt(self.tiles), || {
                key.set(pairs.offset(i).part(0).load());
                value.set(pairs.offset(i).part(1).load().as_f32());
            });
            (key, value)
        };
        let pairs: [_; FIXUP_ITEMS as usize] = std::array::from_fn(|i| pair(i as u32));
        for [(row, sum), (next_row, next_sum)] in pairs.array_windows() {
            w.when_else(
                next_row.get().ne(row),
                || self.csr.y.at(row.get()).add(sum),
                || next_sum.set(next_sum.get() + sum),
            );
        }
        let [.., (row, sum)] = &pairs;
        w.exit_unless(row.get().ne(NO_ROW));
        self.csr.y.at(row.get()).add(sum);
    }
}

/// CUB's `BlockScan` by key: returns the sum of all earlier threads, and of all threads.
async fn scan<'w>(w: &'w Warp, own: Segment<'w>) -> (Segment<'w>, Segment<'w>) {
    let warps = w.block_width() / 32;
    let sums = w.shared::<[u32; 2]>(warps);
    let thread = w.thread_x();
    let (lane, warp) = (thread & 31, thread >> 5);
    let sum = w.var(own.value);
    let inclusive = || Segment { key: own.key, value: sum.get() };
    for distance in [1, 2, 4, 8, 16] {
        let below = inclusive().shuffle_up(distance);
        let same = lane.ge(distance as u32) & below.key.eq(own.key);
        w.predicated(same, || sum.set(sum.get() + below.value));
    }
    let below = inclusive().shuffle_up(1);
    w.predicated(lane.eq(31), || sums.at(warp).store_parts([own.key, sum.get().as_u32()]));
    w.barrier().await;
    let sum_of = |warp| {
        let pair = sums.first(w).offset(warp).load();
        Segment { key: pair.part(0), value: pair.part(1).as_f32() }
    };
    let mut all = sum_of(0);
    let mut prefix = all;
    for other in 1..warps {
        prefix = all.or(warp.eq(other), prefix);
        all = all.then(sum_of(other));
    }
    let before = prefix.or(lane.eq(0), prefix.then(below));
    (before.or(warp.gt(0), below), all)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::*;
    use super::*;

    #[test]
    fn tiles_start_at_the_path_on_their_diagonals() {
        // Ends of rows 2, 2, 9 and entries 0 to 8: the path goes down 2, right 2, down 7, right 1.
        let structure = Csr { offsets: vec![0, 2, 2, 9], columns: (0..9).collect() };
        let matrix = Matrix { structure, columns: 9, values: vec![1.0; 9] };
        let run = run(|gpu| {
            let product = Product {
                csr: csr::Product::upload(gpu, &matrix, &[1.0; 9]),
                entries: 9,
                tiles: 12,
                coordinates: gpu.zeros(13),
                carries: gpu.zeros(12),
            };
            gpu.launch(&launch("search", 13, 32, 8), async |w| product.search(w, 1))?;
            Ok(gpu.download(product.coordinates))
        });
        let expected = [
            [0, 0],
            [0, 1],
            [0, 2],
            [1, 2],
            [2, 2],
            [2, 3],
            [2, 4],
            [2, 5],
            [2, 6],
            [2, 7],
            [2, 8],
            [2, 9],
            [3, 9],
        ];
        assert_eq!(run.result, expected);
    }

    #[test]
    fn ctas_take_equal_parts_of_rows_and_entries_together() {
        let matrix = matrix(MatrixKind::PowerLaw, 512, 8, &mut Random::new(2));
        let path = 512 + matrix.structure.columns.len();
        let run = run(|gpu| by_paths(gpu, &matrix, &[1.0; 512], 64));
        let kernels = run.trace().kernels();
        assert_eq!(kernels.len(), 3);
        assert_eq!(kernels[1].ctas as usize, path.div_ceil(7 * 64));
        // One atomic per tile at most, and at least one for each tile that ends within a row.
        let atomics = run.accesses(Kind::Reduction).len();
        assert!((1..=kernels[1].ctas as usize).contains(&atomics), "{atomics}");
    }
}
