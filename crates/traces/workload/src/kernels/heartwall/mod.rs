//! Tracks points of a heart's wall through the frames of an ultrasound film: one CTA per point
//! searches around its last position for the best match of its template. The search is a chain of
//! phases with barriers between them, over arrays in global memory that are private to the CTA.
//!
//! ```cuda
//! // One launch per frame. T: side of a template, S: of what is searched, P = S - T + 1: of possible positions.
//! // `point`: blockIdx.x; every array is this point's part. `for_all(n)`: for (i = threadIdx.x; i < n; i += blockDim.x).
//! __global__ void track(const float *frame, int width, …) {
//!     int corner = corners[point];
//!     for_all(S * S) { float v = frame[corner + i / S * width + i % S]; area[i] = v; squares[i] = v * v; }
//!     __syncthreads();
//!     for_all(P * P) {                            // convolution with the template
//!         int first = i / P * S + i % P; float sum = 0;
//!         for (int y = 0; y < T; y++)
//!             for (int x = 0; x < T; x++) sum += templ[y * T + x] * area[first + y * S + x];
//!         products[i] = sum;
//!     }
//!     for (part : {area → area_sums, squares → square_sums}) {    // sums of T × T at all positions
//!         for_all(S) for (int y = 0, sum = 0; y < S; y++) { sum += part[y * S + i]; down[(y + 1) * S + i] = sum; }
//!         __syncthreads();
//!         for_all(P * S) bands[i] = down[i + T * S] - down[i];
//!         __syncthreads();
//!         for_all(P) for (int x = 0, sum = 0; x < S; x++) { sum += bands[i * S + x]; across[i * (S + 1) + x + 1] = sum; }
//!         __syncthreads();
//!         for_all(P * P) sums[i] = across[i / P * (S + 1) + i % P + T] - across[i / P * (S + 1) + i % P];
//!         __syncthreads();
//!     }
//!     for_all(T) { add up row i of the template, and its squares, into shared memory }
//!     __syncthreads();
//!     if (threadIdx.x == 0) { add up the rows; mean and variation of the template into shared memory }
//!     __syncthreads();
//!     for_all(P * P) {                            // normalised cross correlation
//!         float sum = area_sums[i], numerator = products[i] - sum * mean;
//!         correlation[i] = numerator / sqrtf((square_sums[i] - sum * sum / (T * T)) * variation);
//!     }
//!     __syncthreads();
//!     for_all(P) { the largest of row i, and where, into shared memory }
//!     __syncthreads();
//!     if (threadIdx.x == 0) { the largest of all; best = its place; corners[point] moves there }
//!     __syncthreads();
//!     for_all(T * T) templ[i] = ALPHA * templ[i] + (1 - ALPHA) * area[best + i / T * S + i % T];
//! }
//! ```
//!
//! Divisions by T, S and P are by constants, and no loop is unrolled.

mod film;
mod track;

use super::prelude::*;
use film::{Film, Scene};
use track::Tracker;

pub const GENERATOR: Generator = Generator {
    name: "heartwall",
    summary: "tracking of points through frames by normalised cross correlation, one CTA per point",
    source: "Rodinia 3.1, heartwall (Che et al., IISWC 2009; Szafaryn et al., 2009)",
    parameters: &[&[
        Parameter::count("points", 51, (1, 1 << 12), "points", "Points, one CTA each"),
        Parameter::count("frames", 3, (1, 1 << 10), "launches", "Frames; the first has no search"),
        Parameter::count("width", 640, (1, 1 << 13), "pixels", "Columns of a frame"),
        Parameter::count("height", 480, (1, 1 << 13), "pixels", "Rows of a frame"),
        Parameter::count("template-radius", 5, (1, 64), "pixels", "Half the side of the template"),
        Parameter::count(
            "search-radius",
            20,
            (2, 128),
            "pixels",
            "Half the side of the search area",
        ),
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let [width, height, points, frames] =
            ["width", "height", "points", "frames"].map(|name| arguments.count32(name));
        let search =
            Search::new(arguments.count32("template-radius"), arguments.count32("search-radius"))?;
        let scene = Scene::new([width, height], search)?;
        let film = Film::random(scene, frames, random);
        let corners = scene.corners(points);
        track(gpu, &film, search, &corners, arguments.count32("block")).map(drop)
    },
};

/// Sides of squares, in pixels.
#[derive(Clone, Copy, Debug)]
struct Search {
    /// Side of the template.
    template: u32,
    /// Side of the search area.
    area: u32,
}

impl Search {
    fn new(template_radius: u32, search_radius: u32) -> Result<Search, WorkloadError> {
        if template_radius < search_radius {
            let [template, area] = [template_radius, search_radius].map(|radius| 2 * radius + 1);
            return Ok(Search { template, area });
        }
        let message = format!(
            "--template-radius {template_radius} is not less than --search-radius {search_radius}"
        );
        Err(WorkloadError::Inconsistent { message })
    }

    /// Returns the number of template positions per axis.
    fn positions(self) -> u32 {
        self.area - self.template + 1
    }

    /// Returns the maximum movement of the template, each way.
    fn reach(self) -> u32 {
        (self.area - self.template) / 2
    }
}

/// Tracks the points whose search areas have these upper left corners in the first frame; returns
/// their final corners, as indices into a frame.
fn track(
    gpu: &mut Gpu,
    film: &Film,
    search: Search,
    corners: &[u32],
    block: u32,
) -> Result<Array<u32>, WorkloadError> {
    let points = corners.len() as u32;
    let frame = gpu.zeros(film.frame(0).len() as u64);
    let tracker = Tracker::new(gpu, frame, film.width(), search, corners);
    let shared_bytes = tracker.shared_bytes();
    for number in 0..film.frames() {
        gpu.copy_to(frame, &film.frame(number));
        if number == 0 {
            let launch = grid_of("first_templates", points, block, 20);
            gpu.launch(&launch, async |w| tracker.first_template(w))?;
        } else {
            let launch = Launch { shared_bytes, ..grid_of("track", points, block, 40) };
            gpu.launch(&launch, async |w| tracker.track(w).await)?;
        }
    }
    Ok(tracker.corners())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::testing::*;
    use super::*;

    #[test]
    fn points_are_tracked_through_any_motion() {
        for (radii, frames, block) in [((2, 5), 4, 64), ((3, 10), 3, 256), ((1, 3), 2, 32)] {
            let search = Search::new(radii.0, radii.1).unwrap();
            let scene = Scene::new([90, 70], search).unwrap();
            let film = Film::random(scene, frames, &mut Random::new(2));
            let corners = scene.corners(7);
            let run = run(|gpu| {
                let corners = track(gpu, &film, search, &corners, block)?;
                Ok(gpu.download(corners))
            });
            let [x, y] = film.moved(frames - 1);
            let expected: Vec<u32> = corners
                .iter()
                .map(|&c| c.wrapping_add(y.wrapping_mul(90)).wrapping_add(x))
                .collect();
            assert_eq!(run.result, expected, "{radii:?}");
            assert_ne!([x, y], [0, 0], "{radii:?}");
        }
    }

    #[test]
    fn ctas_share_the_frame_and_nothing_else() {
        let search = Search::new(2, 5).unwrap();
        let scene = Scene::new([90, 70], search).unwrap();
        let film = Film::random(scene, 2, &mut Random::new(2));
        let run = run(|gpu| track(gpu, &film, search, &scene.corners(6), 64).map(|_| ()));
        let mut users = BTreeMap::<u64, BTreeSet<usize>>::new();
        visit_records(run.trace(), |_, warp, instruction, record| {
            if instruction.kind.is_memory() && instruction.space == Space::Global {
                for &address in record.active_addresses() {
                    users.entry(address).or_default().insert(warp / 2);
                }
            }
        });
        let frame = *users.keys().next().unwrap() / (1 << 21) * (1 << 21);
        let frame = frame..frame + 4 * 90 * 70;
        let shared = users.iter().filter(|(_, ctas)| ctas.len() > 1);
        let outside: Vec<_> = shared.filter(|(address, _)| !frame.contains(address)).collect();
        assert!(outside.is_empty(), "{outside:?}");
    }

    #[test]
    fn oversized_inputs_are_refused() {
        let refusal = Search::new(5, 5).unwrap_err().to_string();
        assert_eq!(refusal, "--template-radius 5 is not less than --search-radius 5");
        let search = Search::new(5, 20).unwrap();
        assert!(Scene::new([55, 55], search).is_ok());
        let refusal = Scene::new([80, 54], search).unwrap_err().to_string();
        assert_eq!(
            refusal,
            "--width 80 and --height 54 are less than the 55 pixels of a search and its moves"
        );
    }
}
