//! Loads of one CTA that hit L1, by the distance between lanes: wavefronts of a warp load.
//!
//! ```cuda
//! __global__ void l1_strides(const T *data, T *out, int zero, int stride) {
//!     T sum = 0;
//!     const T *p = data + threadIdx.x % 64 * stride;
//!     // block: data + threadIdx.x % 64 + (threadIdx.y % 32 + 1) * pitch
//!     for (int k = 0; k < LOADS; k += 8) {
//!         p += zero;
//!         sum += p[0] * p[4];
//!         sum += p[8] * p[12];
//!         sum += p[20] * p[16];
//!         sum += p[24] * p[28];
//!     }
//!     if (sum == 123.0) out[threadIdx.x] = sum;
//! }
//! ```

use super::prelude::*;
use crate::warp::numbers::Number;

pub const GENERATOR: Generator = Generator {
    name: "l1-strides",
    summary: "loads of one CTA that hit L1, by the distance between lanes",
    source: "gpu-benches: gpu-strides",
    parameters: &[&[
        Parameter::choice::<Type>("type", "float", "Type of an element"),
        Parameter::choice::<Pattern>("pattern", "stride", "Distance of lanes: a stride, or rows"),
        Parameter::count("stride", 1, (0, 1 << 10), "elements", "Distance of adjacent lanes")
            .only_with("pattern", &["stride"]),
        Parameter::count("row", 32, (1, 64), "elements", "Length of a row, a power of two")
            .only_with("pattern", &["block"]),
        Parameter::count("pitch", 4098, (64, 1 << 16), "elements", "Distance of rows")
            .only_with("pattern", &["block"]),
        Parameter::count("block", 1 << 10, (64, 1 << 10), "threads", "Threads of the CTA"),
        Parameter::count(
            "loads",
            1 << 10,
            (8, 1 << 24),
            "loads",
            "Loads per thread, a multiple of 8",
        ),
    ]],
    run: |gpu, arguments, _| {
        let [block, loads] = ["block", "loads"].map(|name| arguments.count32(name));
        check_multiple("loads", loads.into(), OFFSETS.len() as u64)?;
        check_multiple("block", block.into(), 64)?;
        let lanes = match arguments.choice("pattern") {
            Pattern::Stride => Placement::Stride(arguments.count32("stride")),
            Pattern::Block => {
                check_power_of_two("row", arguments.count("row"))?;
                let [row, pitch] = ["row", "pitch"].map(|name| arguments.count32(name));
                Placement::Rows { row, pitch }
            }
        };
        match arguments.choice("type") {
            Type::Float => strides::<f32>(gpu, &lanes, block, loads, [0.0, 123.0]).map(drop),
            Type::Double => strides::<f64>(gpu, &lanes, block, loads, [0.0, 123.0]).map(drop),
        }
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    Float,
    Double,
}

impl Choice for Type {
    const NAMES: &'static [(&'static str, Type)] =
        &[("float", Type::Float), ("double", Type::Double)];
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Pattern {
    Stride,
    Block,
}

impl Choice for Pattern {
    const NAMES: &'static [(&'static str, Pattern)] =
        &[("stride", Pattern::Stride), ("block", Pattern::Block)];
}

/// Placement of the threads' elements.
enum Placement {
    /// 64 threads at this distance.
    Stride(u32),
    /// 32 rows.
    Rows { row: u32, pitch: u32 },
}

/// Distances of the loads of a round from the thread's element, in order.
const OFFSETS: [u32; 8] = [0, 4, 8, 12, 20, 16, 24, 28];

impl Placement {
    fn block(&self, threads: u32) -> [u32; 3] {
        match *self {
            Placement::Stride(_) => [threads, 1, 1],
            Placement::Rows { row, .. } => [row, threads / row, 1],
        }
    }

    /// Returns the index of the thread's element.
    fn element<'w>(&self, w: &'w Warp) -> Lanes<'w, u32> {
        match *self {
            Placement::Stride(stride) => (w.thread_x() & 63) * stride,
            Placement::Rows { pitch, .. } => {
                let number = (w.thread_y() & 31) + 1;
                number.mad(pitch, w.thread_x() & 63)
            }
        }
    }

    /// Returns the length of the array.
    fn len(&self) -> u64 {
        let last = match *self {
            Placement::Stride(stride) => 63 * u64::from(stride),
            Placement::Rows { pitch, .. } => 32 * u64::from(pitch) + 63,
        };
        last + 29
    }
}

fn strides<T: Number>(
    gpu: &mut Gpu,
    placement: &Placement,
    block: u32,
    loads: u32,
    [zero, never]: [T; 2],
) -> Result<Array<T>, WorkloadError> {
    let data = gpu.zeros::<T>(placement.len());
    let out = gpu.zeros::<T>(block.into());
    let launch = Launch { block: placement.block(block), ..grid_of("l1_strides", 1, block, 40) };
    gpu.launch(&launch, async |w| {
        let element = w.var(placement.element(w));
        let sum = w.var(zero);
        w.range(0, loads, OFFSETS.len() as u32, |_| {
            element.set(element.get() + 0);
            let p = data.at(element.get());
            let values = OFFSETS.map(|offset| p.offset(offset).load());
            for pair in values.as_chunks::<2>().0 {
                sum.set(pair[0].mad(pair[1], &sum));
            }
        });
        w.predicated(sum.get().eq(never), || out.store(w.thread_x(), &sum));
    })?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Returns the addresses of a warp's first round of loads, in bytes from the array.
    fn round(placement: &Placement, warp: usize) -> Vec<Vec<u64>> {
        let run = run(|gpu| Ok(strides::<f32>(gpu, placement, 1024, 16, [0.0, 123.0])?.address(0)));
        let executed = run.warp(warp);
        let loads: Vec<_> = executed.iter().filter(|(i, _)| i.kind == Kind::Load).collect();
        assert_eq!(loads.len(), 16);
        let from_array = |record: &warpmem_trace::Record| {
            record.active_addresses().iter().map(|address| address - run.result).collect()
        };
        loads[..8].iter().map(|(_, record)| from_array(record)).collect()
    }

    #[test]
    fn lanes_are_a_stride_apart() {
        let loads = round(&Placement::Stride(33), 3);
        for (load, offset) in loads.iter().zip(OFFSETS) {
            for (lane, &address) in load.iter().enumerate() {
                assert_eq!(address, 4 * ((32 + lane as u64) * 33 + u64::from(offset)));
            }
        }
    }

    #[test]
    fn lanes_of_a_row_are_adjacent_and_rows_a_pitch_apart() {
        let loads = round(&Placement::Rows { row: 8, pitch: 4098 }, 9);
        for (lane, &address) in loads[0].iter().enumerate() {
            let (x, y) = (lane as u64 % 8, (9 * 4 + lane as u64 / 8) % 32);
            assert_eq!(address, 4 * (x + (y + 1) * 4098));
        }
    }
}
