//! The kernels: the first templates, and the search in every later frame.

use super::super::prelude::*;
use super::Search;

/// Weight of the old template in its update.
const ALPHA: f32 = 0.87;

/// An array with one part per point.
#[derive(Clone, Copy)]
struct Parts {
    array: Array<f32>,
    len: u32,
}

impl Parts {
    /// Returns the part of this CTA's point.
    fn of<'w>(&self, w: &'w Warp) -> Part<'w> {
        Part { array: self.array, first: w.block_x() * self.len }
    }
}

/// The part of an array that belongs to a point.
#[derive(Clone, Copy)]
struct Part<'w> {
    array: Array<f32>,
    first: Lanes<'w, u32>,
}

impl<'w> Part<'w> {
    fn at(&self, index: Lanes<'w, u32>) -> Pointer<'w, f32> {
        self.array.at(index + self.first)
    }
}

/// Arguments of the kernels.
#[derive(Clone, Copy)]
pub struct Tracker {
    search: Search,
    frame: Array<f32>,
    width: u32,
    corners: Array<u32>,
    templates: Parts,
    areas: Parts,
    squares: Parts,
    products: Parts,
    /// Prefix sums down the columns, and sums over the rows of a template.
    down: Parts,
    bands: Parts,
    /// Prefix sums of the bands along the rows.
    across: Parts,
    area_sums: Parts,
    square_sums: Parts,
    correlations: Parts,
}

/// `for (i = threadIdx.x; i < n; i += blockDim.x)`
fn for_all<'w>(w: &'w Warp, n: u32, body: impl FnMut(Lanes<'w, u32>)) {
    w.range(w.thread_x(), n, w.block_width(), body);
}

/// Returns row and column of element `i` of rows of `width`.
fn row_and_column(i: Lanes<'_, u32>, width: u32) -> [Lanes<'_, u32>; 2] {
    [i.quotient(width), i.remainder(width)]
}

impl Tracker {
    pub fn new(
        gpu: &mut Gpu,
        frame: Array<f32>,
        width: u32,
        search: Search,
        corners: &[u32],
    ) -> Tracker {
        let (t, s, p) = (search.template, search.area, search.positions());
        let corners = gpu.upload(corners);
        let mut parts = |len: u32| {
            let array = gpu.zeros(corners.len() * u64::from(len));
            Parts { array, len }
        };
        Tracker {
            search,
            frame,
            width,
            corners,
            templates: parts(t * t),
            areas: parts(s * s),
            squares: parts(s * s),
            products: parts(p * p),
            down: parts((s + 1) * s),
            bands: parts(p * s),
            across: parts(p * (s + 1)),
            area_sums: parts(p * p),
            square_sums: parts(p * p),
            correlations: parts(p * p),
        }
    }

    pub fn corners(&self) -> Array<u32> {
        self.corners
    }

    /// Returns the shared memory of `track` in bytes.
    pub fn shared_bytes(&self) -> u32 {
        let arrays = [self.search.template, self.search.template, 2].into_iter().chain([
            self.search.positions(),
            self.search.positions(),
            1,
        ]);
        arrays.map(|len| (4 * len).next_multiple_of(16)).sum()
    }

    /// Copies the template of a point from the middle of its area.
    pub fn first_template(&self, w: &Warp) {
        let Search { template, .. } = self.search;
        let corner = self.corners.load(w.block_x());
        let middle = corner + self.search.reach() * (self.width + 1);
        let templ = self.templates.of(w);
        for_all(w, template * template, |i| {
            let [row, column] = row_and_column(i, template);
            templ.at(i).store(self.frame.load(row.mad(self.width, middle) + column));
        });
    }

    /// Finds the template near its last position, moves the point there, and updates the template.
    pub async fn track(&self, w: &Warp) {
        self.take_area(w);
        w.barrier().await;
        self.multiply(w);
        self.add_up(w, self.areas, self.area_sums).await;
        self.add_up(w, self.squares, self.square_sums).await;
        let statistics = self.template_statistics(w).await;
        self.correlate(w, statistics);
        w.barrier().await;
        let best = self.find_best(w).await;
        self.update_template(w, best);
    }

    fn take_area(&self, w: &Warp) {
        let area = self.search.area;
        let corner = self.corners.load(w.block_x());
        let (own, squares) = (self.areas.of(w), self.squares.of(w));
        for_all(w, area * area, |i| {
            let [row, column] = row_and_column(i, area);
            let value = self.frame.load(row.mad(self.width, corner) + column);
            own.at(i).store(value);
            squares.at(i).store(value * value);
        });
    }

    /// Multiplies the template by every part of the area of its size.
    fn multiply(&self, w: &Warp) {
        let Search { template, area, .. } = self.search;
        let positions = self.search.positions();
        let (templ, own, products) = (self.templates.of(w), self.areas.of(w), self.products.of(w));
        for_all(w, positions * positions, |i| {
            let [row, column] = row_and_column(i, positions);
            let first = row.mad(area, column);
            let sum = w.var(0.0);
            w.range(0, template, 1, |y| {
                let (of_template, of_area) = (y * template, y.mad(area, first));
                w.range(0, template, 1, |x| {
                    let value = templ.at(of_template + x).load();
                    sum.set(value.mad(own.at(of_area + x).load(), &sum));
                });
            });
            products.at(i).store(&sum);
        });
    }

    /// Sums `from` over every part of the template's size, by prefix sums down and across.
    async fn add_up(&self, w: &Warp, from: Parts, to: Parts) {
        let Search { template, area, .. } = self.search;
        let positions = self.search.positions();
        let (from, down, bands, across, to) =
            (from.of(w), self.down.of(w), self.bands.of(w), self.across.of(w), to.of(w));
        for_all(w, area, |column| {
            let sum = w.var(0.0);
            w.range(0, area, 1, |y| {
                let at = y.mad(area, column);
                sum.set(from.at(at).load() + &sum);
                down.at(at).offset(area).store(&sum);
            });
        });
        w.barrier().await;
        for_all(w, positions * area, |i| {
            let above = down.at(i);
            bands.at(i).store(above.offset(template * area).load() - above.load());
        });
        w.barrier().await;
        for_all(w, positions, |row| {
            let (first, to_first) = (row * area, row * (area + 1));
            let sum = w.var(0.0);
            w.range(0, area, 1, |x| {
                sum.set(bands.at(first + x).load() + &sum);
                across.at(to_first + x).offset(1).store(&sum);
            });
        });
        w.barrier().await;
        for_all(w, positions * positions, |i| {
            let [row, column] = row_and_column(i, positions);
            let before = across.at(row.mad(area + 1, column));
            to.at(i).store(before.offset(template).load() - before.load());
        });
        w.barrier().await;
    }

    /// Returns the template's mean and its variation, the sum of squared differences from the mean.
    async fn template_statistics<'w>(&self, w: &'w Warp) -> [Pointer<'w, f32>; 2] {
        let side = self.search.template;
        let templ = self.templates.of(w);
        let rows = [(); 2].map(|()| w.shared::<f32>(side));
        let totals = w.shared::<f32>(2).first(w);
        for_all(w, side, |row| {
            let first = row * side;
            let [sum, squares] = [(); 2].map(|()| w.var(0.0));
            w.range(0, side, 1, |x| {
                let value = templ.at(first + x).load();
                sum.set(value + &sum);
                squares.set(value.mad(value, &squares));
            });
            rows[0].at(row).store(&sum);
            rows[1].at(row).store(&squares);
        });
        w.barrier().await;
        w.when(w.thread_x().eq(0), || {
            let [sum, squares] = [(); 2].map(|()| w.var(0.0));
            w.range(0, side, 1, |row| {
                sum.set(rows[0].at(row).load() + &sum);
                squares.set(rows[1].at(row).load() + &squares);
            });
            let mean = sum.get() * self.share();
            totals.store(mean);
            totals.offset(1).store((-mean).mad(&sum, &squares));
        });
        w.barrier().await;
        [totals, totals.offset(1)]
    }

    /// Returns the weight of one pixel in the template's mean.
    fn share(&self) -> f32 {
        1.0 / (self.search.template * self.search.template) as f32
    }

    fn correlate(&self, w: &Warp, [mean, variation]: [Pointer<'_, f32>; 2]) {
        let positions = self.search.positions();
        let (products, area_sums, square_sums, correlations) = (
            self.products.of(w),
            self.area_sums.of(w),
            self.square_sums.of(w),
            self.correlations.of(w),
        );
        let (mean, variation) = (mean.load(), variation.load());
        for_all(w, positions * positions, |i| {
            let sum = area_sums.at(i).load();
            let numerator = (-sum).mad(mean, products.at(i).load());
            let of_area = (-(sum * self.share())).mad(sum, square_sums.at(i).load());
            let correlation = numerator.divided_by((of_area * variation).sqrt());
            correlations.at(i).store(correlation);
        });
    }

    /// Moves the point to the first position of the largest correlation; returns its start in the
    /// area.
    async fn find_best<'w>(&self, w: &'w Warp) -> Pointer<'w, u32> {
        let positions = self.search.positions();
        let correlations = self.correlations.of(w);
        let (values, columns) = (w.shared::<f32>(positions), w.shared::<u32>(positions));
        let found = w.shared::<u32>(1).first(w);
        for_all(w, positions, |row| {
            let (largest, place) = (w.var(f32::MIN), w.var(0));
            let first = row * positions;
            w.range(0, positions, 1, |column| {
                let value = correlations.at(first + column).load();
                keep_larger((&largest, &place), value, column);
            });
            values.at(row).store(&largest);
            columns.at(row).store(&place);
        });
        w.barrier().await;
        w.when(w.thread_x().eq(0), || {
            let (largest, best_row) = (w.var(f32::MIN), w.var(0));
            w.range(0, positions, 1, |row| {
                keep_larger((&largest, &best_row), values.at(row).load(), row);
            });
            let (row, column) = (best_row.get(), columns.at(best_row.get()).load());
            found.store(row.mad(self.search.area, column));
            let corner = self.corners.at(w.block_x());
            let middle = self.search.reach() * (self.width + 1);
            corner.store(row.mad(self.width, column) + corner.load() - middle);
        });
        w.barrier().await;
        found
    }

    fn update_template(&self, w: &Warp, best: Pointer<'_, u32>) {
        let Search { template, area, .. } = self.search;
        let (templ, own, best) = (self.templates.of(w), self.areas.of(w), best.load());
        for_all(w, template * template, |i| {
            let [row, column] = row_and_column(i, template);
            let pixel = templ.at(i);
            let found = own.at(row.mad(area, best) + column).load();
            pixel.store(found.mad(1.0 - ALPHA, pixel.load() * ALPHA));
        });
    }
}

/// Keeps `value` and its `place` if it is the largest so far.
fn keep_larger<'w>(
    (largest, best): (&Var<'w, f32>, &Var<'w, u32>),
    value: Lanes<'w, f32>,
    place: Lanes<'w, u32>,
) {
    let is_larger = value.gt(largest);
    largest.set(is_larger.select(value, largest));
    best.set(is_larger.select(place, best));
}
