//! Nearest neighbours: the distance of every record from one position, one thread per record. The
//! host selects the least distances.
//!
//! ```cuda
//! struct LatLong { float lat, lng; };
//! __global__ void euclid(const LatLong *locations, float *distances, int n, float lat, float lng) {
//!     int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
//!     if (i >= n) return;
//!     float north = lat - locations[i].lat, east = lng - locations[i].lng;
//!     distances[i] = sqrtf(north * north + east * east);
//! }
//! ```
//!
//! A record is aligned to 4 bytes, so its parts are two loads, 8 bytes apart from lane to lane.

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "nn",
    summary: "nearest neighbours: distances of records of two numbers from a position",
    source: "Rodinia 3.1, nn (Che et al., IISWC 2009)",
    parameters: &[&[Parameter::count("n", 1 << 18, (1, 1 << 27), "records", "Records"), BLOCK]],
    run: |gpu, arguments, random| {
        let records = records(arguments.count32("n"), random);
        nn(gpu, &records, arguments.count32("block")).map(drop)
    },
};

/// Latitude and longitude.
type Position = [f32; 2];

/// Position of the query, as in Rodinia's run.
const TARGET: Position = [30.0, 90.0];

/// Generates records at random whole degrees.
fn records(n: u32, random: &mut Random) -> Vec<Position> {
    let mut degrees = |bound: u32| random.index(2 * bound + 1) as f32 - bound as f32;
    (0..n).map(|_| [degrees(90), degrees(180)]).collect()
}

fn nn(gpu: &mut Gpu, records: &[Position], block: u32) -> Result<Array<f32>, WorkloadError> {
    let n = records.len() as u32;
    let (locations, distances) = (gpu.upload(records), gpu.zeros(u64::from(n)));
    gpu.launch(&launch("euclid", n, block, 12), async |w| {
        let cta = w.block_y().mad(w.grid_width(), w.block_x());
        let i = cta.mad(w.block_width(), w.thread_x());
        w.exit_unless(i.lt(n));
        let location = locations.at(i);
        let [north, east] = [0, 1].map(|part| -location.part(part).load() + TARGET[part]);
        distances.store(i, north.mad(north, east * east).sqrt());
    })?;
    Ok(distances)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn every_record_gets_its_distance() {
        for (n, block) in [(1, 256), (1000, 96), (512, 256)] {
            let records = records(n, &mut Random::new(5));
            let run = run(|gpu| {
                let distances = nn(gpu, &records, block)?;
                Ok((gpu.download(distances), distances.range()))
            });
            let distance = |&[lat, lng]: &Position| {
                f32::sqrt((lat - 30.0) * (lat - 30.0) + (lng - 90.0) * (lng - 90.0))
            };
            let expected: Vec<f32> = records.iter().map(distance).collect();
            assert_eq!(run.result.0, expected, "{n} records");
            let stored = run.result.1.clone().step_by(4).collect();
            assert_eq!(run.addresses(Kind::Store), stored, "{n} records");
        }
    }

    #[test]
    fn a_load_takes_every_other_word_of_two_lines() {
        let records = [[1.0, 2.0]; 64];
        let run = run(|gpu| nn(gpu, &records, 64));
        let loads: Vec<_> = run.warp(1).into_iter().filter(|(i, _)| i.kind == Kind::Load).collect();
        let starts: Vec<u64> = loads.iter().map(|(_, r)| r.active_addresses()[0] % 256).collect();
        assert_eq!(starts, [0, 4]);
        for (_, record) in &loads {
            assert!(record.active_addresses().windows(2).all(|pair| pair[1] - pair[0] == 8));
        }
    }
}
