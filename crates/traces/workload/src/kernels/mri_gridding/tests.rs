use super::super::testing::*;
use super::*;

/// Computes every sample's contribution to every point in double precision.
fn plain(grid: Grid, samples: &[Sample]) -> Vec<[f64; 2]> {
    let cutoff = f64::from(grid.width) / 200.0;
    let points = (0..grid.side.pow(3)).map(|i| {
        let (x, y, z) = (i % grid.side, i / grid.side % grid.side, i / grid.side.pow(2));
        let point = [x, y, z].map(f64::from);
        samples.iter().fold([0.0; 2], |[real, imag], sample| {
            let d2: f64 = (0..3).map(|k| (f64::from(sample[2 + k]) - point[k]).powi(2)).sum();
            let rest = 1.0 - d2 / (cutoff * cutoff);
            if rest <= 0.0 {
                return [real, imag];
            }
            let kernel = bessel_i0(grid.beta() * rest.sqrt()) / bessel_i0(grid.beta());
            let weight = kernel * f64::from(sample[5]);
            [real + weight * f64::from(sample[0]), imag + weight * f64::from(sample[1])]
        })
    });
    points.collect()
}

#[test]
fn points_are_the_weighted_sums_of_the_samples_around_them() {
    for (side, width, n) in [(2, 300, 50), (8, 300, 300), (8, 150, 200), (4, 520, 90)] {
        for &(_, trajectory) in Trajectory::NAMES {
            let grid = Grid { side, width };
            let samples = grid.samples(trajectory, n, &mut Random::new(4));
            let expected = plain(grid, &samples);
            for &(name, variant) in Variant::NAMES {
                let run = run(|gpu| {
                    let points = grid.run(gpu, variant, &samples, 96)?;
                    Ok(gpu.download(points))
                });
                for (found, expected) in run.result.iter().zip(&expected) {
                    for (found, expected) in found.iter().zip(expected) {
                        let off = (f64::from(*found) - expected).abs();
                        assert!(
                            off <= 1e-3 * expected + 1e-3,
                            "{name} {trajectory:?} {side} {width}: {found}, {expected}"
                        );
                    }
                }
            }
        }
    }
}

/// Abramowitz and Stegun, table 9.8.
#[test]
fn the_bessel_function_matches_the_tables() {
    for (x, value) in [(0.0, 1.0), (1.0, 1.266_065_877_8), (5.0, 27.239_871_823_6)] {
        assert!((bessel_i0(x) - value).abs() < 1e-9, "{x}");
    }
}

#[test]
fn samples_are_sorted_by_cell() {
    let grid = Grid { side: 4, width: 200 };
    let samples = grid.samples(Trajectory::Radial, 400, &mut Random::new(4));
    let run = run(|gpu| {
        let device = Device {
            grid,
            samples: gpu.upload(&samples.concat()),
            n: 400,
            weights: gpu.upload(&grid.weights()),
            points: gpu.zeros(64),
        };
        let sorted = device.sort(gpu, 64)?;
        Ok((gpu.download(sorted.at), gpu.download(sorted.data), gpu.download(sorted.start)))
    });
    let (at, data, start) = run.result;
    assert_eq!((start[0], start[64]), (0, 400));
    for cell in 0..64u32 {
        for place in start[cell as usize]..start[cell as usize + 1] {
            let [x, y, z, _] = at[place as usize].map(|part| part as u32);
            assert_eq!(x + 4 * y + 16 * z, cell);
        }
    }
    let mut found: Vec<Sample> = at
        .iter()
        .zip(&data)
        .map(|(&[x, y, z, sdc], &[real, imag])| [real, imag, x, y, z, sdc])
        .collect();
    let mut expected = samples;
    found.sort_by(|a, b| a.partial_cmp(b).unwrap());
    expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(found, expected);
}

/// One sample in the middle of a cell, with a kernel of width 2: the distance to the eight corners
/// is 0.87.
#[test]
fn points_read_surrounding_samples_and_add_those_within_the_cutoff() {
    let grid = Grid { side: 8, width: 200 };
    let samples = [[3.0, 1.0, 3.5, 3.5, 3.5, 1.0]];
    let scattered = run(|gpu| grid.run(gpu, Variant::Scatter, &samples, 64));
    assert_eq!(scattered.accesses(Kind::Reduction).len(), 2 * 8);
    let gathered = run(|gpu| grid.run(gpu, Variant::Gather, &samples, 64));
    let mut looked = 0;
    visit_records(gathered.trace(), |_, _, instruction, record| {
        if instruction.kind == Kind::Load && instruction.width == 16 {
            looked += record.active_addresses().len();
        }
    });
    // Points 2 to 4 on each axis visit cell 3.
    assert_eq!(looked, 27);
}
