//! Table look-up through an index: coalesced index loads, table loads as scattered as the indices.
//!
//! ```cuda
//! __global__ void gather(const float *table, const int *index, float *out, int n) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i < n) out[i] = table[index[i]];
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "gather",
    summary: "table look-ups through an index, one per thread",
    source: "Spatter (Lavin et al. 2020), gather kernel",
    parameters: &[&[
        Parameter::count("n", 1 << 18, (1, 1 << 28), "look-ups", "Number of look-ups"),
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
        let table = small_floats(arguments.count32("table"), random);
        let n = arguments.count32("n");
        let index = indices(arguments.choice("pattern"), n, table.len() as u32, random);
        gather(gpu, &table, &index, arguments.count32("block")).map(drop)
    },
};

fn gather(
    gpu: &mut Gpu,
    table: &[f32],
    index: &[u32],
    block: u32,
) -> Result<Array<f32>, WorkloadError> {
    let n = index.len() as u32;
    let (table, index, out) = (gpu.upload(table), gpu.upload(index), gpu.zeros(u64::from(n)));
    gpu.launch(&launch("gather", n, block, 10), async |w| {
        let i = w.global_x();
        w.exit_unless(i.lt(n));
        out.store(i, table.load(index.load(i)));
    })?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn every_thread_gets_its_element() {
        let table: Vec<f32> = (0..300).map(|i| i as f32).collect();
        let index = indices(IndexPattern::Uniform, 1000, 300, &mut Random::new(4));
        let run = run(|gpu| {
            let out = gather(gpu, &table, &index, 128)?;
            Ok(gpu.download(out))
        });
        assert!(run.result.iter().zip(&index).all(|(&got, &i)| got == i as f32));
        let distinct: std::collections::BTreeSet<u32> = index.iter().copied().collect();
        assert_eq!(run.addresses(Kind::Load).len(), 1000 + distinct.len());
    }

    #[test]
    fn the_table_load_depends_on_the_index_load() {
        let run = run(|gpu| gather(gpu, &[1.0; 64], &[5; 32], 32));
        let instructions = run.trace().instructions(0).unwrap();
        let loads: Vec<_> = instructions.iter().filter(|i| i.kind == Kind::Load).collect();
        assert_eq!(loads.len(), 2);
        assert_eq!(loads[0].use_distance, Some(0), "the address of the next needs it");
    }
}
