mod control_flow;
mod cuda;
mod files;
mod operations;
mod registry;
mod replay;

use warpmem_trace::{Instruction, Kind, OpClass, Record};

use crate::gpu::{Gpu, Launch};
use crate::kernels::prelude::grid_of;
use crate::kernels::testing::{Run, run};
use crate::warp::Warp;
use crate::warp::memory::Array;

const ALL: u32 = u32::MAX;

/// Runs `kernel` as one CTA of `block` threads with an array of `block` zeros; returns the array.
#[expect(clippy::needless_pass_by_value, reason = "a closure is written where it is passed")]
fn run_cta(block: u32, kernel: impl AsyncFn(&Warp, Array<u32>)) -> Run<Vec<u32>> {
    run(|gpu: &mut Gpu| {
        let array = gpu.zeros(u64::from(block));
        let launch = Launch { shared_bytes: 4 * block, ..grid_of("test", 1, block, 8) };
        gpu.launch(&launch, async |w| kernel(w, array).await)?;
        Ok(gpu.download(array))
    })
}

type Executed = Vec<(Instruction, Record)>;

/// Returns the masks of the records of one kind, in order.
fn masks(executed: &Executed, kind: Kind) -> Vec<u32> {
    executed.iter().filter(|(i, _)| i.kind == kind).map(|(_, r)| r.mask).collect()
}

/// Counts the compute instructions of one class.
fn count(executed: &Executed, class: OpClass) -> usize {
    executed.iter().flat_map(|(i, _)| &i.compute).filter(|c| c.class == class).count()
}
