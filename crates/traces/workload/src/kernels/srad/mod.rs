//! Speckle-reducing anisotropic diffusion (SRAD) of an image: each step computes how strongly each
//! pixel diffuses to its neighbours, then updates the pixels. `v2` keeps tiles of the image in
//! shared memory; `v1` finds neighbours through index arrays and sums the image on the device.

mod indexed;
mod tiled;

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "srad",
    summary: "speckle-reducing diffusion of an image: tiles in shared memory, or neighbour index arrays",
    source: "Rodinia 3.1, srad v1 and v2 (Che et al., IISWC 2009; Yu and Acton, TIP 2002)",
    parameters: &[&[
        Parameter::choice::<Variant>(
            "variant",
            "v2",
            "Neighbours through index arrays, sums on the device (v1), or tiles in shared memory (v2)",
        ),
        Parameter::count("rows", 512, (1, 1 << 13), "pixels", "Rows of the image"),
        Parameter::count("columns", 512, (1, 1 << 13), "pixels", "Columns of the image"),
        Parameter::count("iterations", 2, (1, 1 << 16), "steps", "Steps of the diffusion"),
        Parameter::count("block", 512, (2, 1024), "threads", "Threads per CTA, a power of two")
            .only_with("variant", &["v1"]),
    ]],
    run: |gpu, arguments, random| {
        let [rows, columns, iterations, block] =
            ["rows", "columns", "iterations", "block"].map(|name| arguments.count32(name));
        let variant = arguments.choice("variant");
        match variant {
            Variant::Indexed => check_power_of_two("block", block.into())?,
            Variant::Tiled => {
                check_multiple("rows", rows.into(), tiled::SIDE.into())?;
                check_multiple("columns", columns.into(), tiled::SIDE.into())?;
            }
        }
        let image = Image::random(rows, columns, random);
        match variant {
            Variant::Indexed => indexed::diffuse(gpu, &image, iterations, block),
            Variant::Tiled => tiled::diffuse(gpu, &image, iterations),
        }
        .map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Indexed,
    Tiled,
}

impl Choice for Variant {
    const NAMES: &'static [(&'static str, Variant)] =
        &[("v1", Variant::Indexed), ("v2", Variant::Tiled)];
}

/// Step size.
const LAMBDA: f32 = 0.5;
/// Maximum brightness.
const WHITE: f32 = 255.0;

/// Brightnesses from 0 to 255.
struct Image {
    rows: u32,
    columns: u32,
    /// Row-major.
    pixels: Vec<f32>,
}

impl Image {
    fn random(rows: u32, columns: u32, random: &mut Random) -> Image {
        let pixels = (0..rows * columns).map(|_| random.index(256) as f32).collect();
        Image { rows, columns, pixels }
    }
}

/// Returns the speckle scale q₀²: the variance of the whole image over its squared mean.
fn speckle(sum: f32, squares: f32, pixels: u64) -> f32 {
    let (mean, square) = (sum / pixels as f32, squares / pixels as f32);
    (square - mean * mean) / (mean * mean)
}

/// Returns the diffusion coefficient of a pixel from its differences to the neighbours in the
/// north, south, west and east.
///
/// ```cuda
/// g2 = (n * n + s * s + w * w + e * e) / (jc * jc); l = (n + s + w + e) / jc;
/// num = 0.5f * g2 - 0.0625f * (l * l); den = 1 + 0.25f * l; qsqr = num / (den * den);
/// den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
/// c = 1 / (1 + den);
/// c = c < 0 ? 0 : c > 1 ? 1 : c;
/// ```
fn coefficient<'w>(
    pixel: Lanes<'w, f32>,
    [n, s, w, e]: [Lanes<'w, f32>; 4],
    speckle: f32,
) -> Lanes<'w, f32> {
    let squares = e.mad(e, w.mad(w, n.mad(n, s * s)));
    let gradient = squares.divided_by(pixel * pixel);
    let laplacian = (n + s + w + e).divided_by(pixel);
    let spread = gradient.mad(0.5, laplacian * laplacian * -0.0625);
    let scale = laplacian.mad(0.25, 1.0);
    let variation = spread.divided_by(scale * scale);
    let excess = (variation - speckle).divided_by(speckle * (1.0 + speckle));
    let coefficient = one_over(excess + 1.0);
    let capped = coefficient.gt(1.0).select(1.0, coefficient);
    coefficient.lt(0.0).select(0.0, capped)
}

/// `1.0f / x`, rounded correctly.
fn one_over(x: Lanes<'_, f32>) -> Lanes<'_, f32> {
    x.warp().var(1.0).get().divided_by(x)
}

/// Returns the new pixel from the differences to its neighbours and their coefficients.
///
/// ```cuda
/// d = cn * dn + cs * ds + cw * dw + ce * de;
/// jc + 0.25f * LAMBDA * d
/// ```
fn diffused<'w>(
    pixel: Lanes<'w, f32>,
    coefficients: [Lanes<'w, f32>; 4],
    differences: [Lanes<'w, f32>; 4],
) -> Lanes<'w, f32> {
    let [cn, cs, cw, ce] = coefficients;
    let [n, s, w, e] = differences;
    let divergence = ce.mad(e, cw.mad(w, cn.mad(n, cs * s)));
    divergence.mad(0.25 * LAMBDA, pixel)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Computes the diffusion in double precision, up to the last logarithm.
    pub fn plain(image: &Image, iterations: u32) -> Vec<f64> {
        let (rows, columns) = (image.rows as usize, image.columns as usize);
        let mut pixels: Vec<f64> =
            image.pixels.iter().map(|&p| f64::from(p / WHITE).exp()).collect();
        for _ in 0..iterations {
            let n = pixels.len() as f64;
            let mean = pixels.iter().sum::<f64>() / n;
            let square = pixels.iter().map(|p| p * p).sum::<f64>() / n;
            let q0 = (square - mean * mean) / (mean * mean);
            let neighbours = |at: usize| {
                let (row, column) = (at / columns, at % columns);
                [
                    row.saturating_sub(1) * columns + column,
                    (row + 1).min(rows - 1) * columns + column,
                    row * columns + column.saturating_sub(1),
                    row * columns + (column + 1).min(columns - 1),
                ]
            };
            let coefficient = |at: usize| {
                let own = pixels[at];
                let d = neighbours(at).map(|other| pixels[other] - own);
                let gradient = d.iter().map(|d| d * d).sum::<f64>() / (own * own);
                let laplacian = d.iter().sum::<f64>() / own;
                let scale = 1.0 + 0.25 * laplacian;
                let q = (0.5 * gradient - laplacian * laplacian / 16.0) / (scale * scale);
                (1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))).clamp(0.0, 1.0)
            };
            let c: Vec<f64> = (0..pixels.len()).map(coefficient).collect();
            let change = |at: usize| {
                let [n, s, w, e] = neighbours(at);
                let d = [n, s, w, e].map(|other| pixels[other] - pixels[at]);
                c[at] * d[0] + c[s] * d[1] + c[at] * d[2] + c[e] * d[3]
            };
            pixels = (0..pixels.len())
                .map(|at| pixels[at] + 0.25 * f64::from(LAMBDA) * change(at))
                .collect();
        }
        pixels
    }

    /// Returns the largest distance from the result of [`plain`].
    pub fn farthest(found: &[f32], expected: &[f64]) -> f64 {
        assert_eq!(found.len(), expected.len());
        let distances = found.iter().zip(expected).map(|(&a, b)| (f64::from(a) - b).abs());
        distances.fold(0.0, f64::max)
    }

    #[test]
    fn the_diffusion_smooths() {
        let image = Image::random(32, 32, &mut Random::new(1));
        let spread = |pixels: &[f64]| {
            let mean = pixels.iter().sum::<f64>() / pixels.len() as f64;
            pixels.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>()
        };
        let run = run(|gpu| {
            let diffused = tiled::diffuse(gpu, &image, 3)?;
            Ok(gpu.download(diffused))
        });
        let found: Vec<f64> = run.result.iter().map(|&p| p.into()).collect();
        assert!(spread(&found) < 0.7 * spread(&plain(&image, 0)));
    }
}
