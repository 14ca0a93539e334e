//! Stores through an index: coalesced loads, stores as scattered as the indices.
//!
//! ```cuda
//! __global__ void scatter(float *table, const int *index, const float *in, int n) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i < n) table[index[i]] = in[i];
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "scatter",
    summary: "stores into a table through an index, one per thread",
    source: "Spatter (Lavin et al. 2020), scatter kernel",
    parameters: &[&[
        Parameter::count("n", 1 << 18, (1, 1 << 28), "stores", "Number of stores"),
        Parameter::count(
            "table",
            1 << 22,
            (1, 1 << 28),
            "elements",
            "Length of the table, 4 bytes each",
        ),
        Parameter::choice::<IndexPattern>("pattern", "uniform", "Access pattern of the table"),
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let (n, table) = (arguments.count32("n"), arguments.count32("table"));
        let index = indices(arguments.choice("pattern"), n, table, random);
        scatter(gpu, &small_floats(n, random), &index, table, arguments.count32("block")).map(drop)
    },
};

/// Returns the table of `len` elements. Where an index repeats, the last write wins: CTAs, warps
/// and lanes write in order.
fn scatter(
    gpu: &mut Gpu,
    input: &[f32],
    index: &[u32],
    len: u32,
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let n = index.len() as u32;
    let (table, index, input) = (gpu.zeros(u64::from(len)), gpu.upload(index), gpu.upload(input));
    gpu.launch(&launch("scatter", n, block, 10), async |w| {
        let i = w.global_x();
        w.exit_unless(i.lt(n));
        let (at, value) = (index.load(i), input.load(i));
        table.store(at, value);
    })?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn the_last_write_wins_and_nothing_else_is_written() {
        let input: Vec<f32> = (1..=1000).map(|i| i as f32).collect();
        for &(name, pattern) in IndexPattern::NAMES {
            let index = indices(pattern, 1000, 300, &mut Random::new(4));
            let run = run(|gpu| {
                let table = scatter(gpu, &input, &index, 300, 96)?;
                Ok((gpu.download(table), table))
            });
            let mut expected = vec![0.0; 300];
            index.iter().zip(&input).for_each(|(&i, &value)| expected[i as usize] = value);
            let (table, array) = &run.result;
            assert_eq!(*table, expected, "{name}");
            let stored: Vec<u64> = index.iter().map(|&i| array.address(u64::from(i))).collect();
            assert_eq!(run.accesses(Kind::Store), stored, "{name}");
        }
    }

    #[test]
    fn the_store_depends_on_both_loads() {
        let run = run(|gpu| scatter(gpu, &[1.0; 32], &[5; 32], 64, 32));
        let kinds: Vec<Kind> = run.warp(0).iter().map(|(i, _)| i.kind).collect();
        assert_eq!(kinds, [Kind::Load, Kind::Load, Kind::Store, Kind::Exit]);
        let instructions = run.trace().instructions(0).unwrap();
        let value = instructions.iter().filter(|i| i.kind == Kind::Load).nth(1).unwrap();
        assert_eq!(
            value.use_distance,
            Some(1),
            "the store, behind the address of the table's element"
        );
    }
}
