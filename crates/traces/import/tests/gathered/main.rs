//! Compares imports of mem_trace logs and tables with directly written traces, on random kernels.

mod kernels;
mod log;
mod parquet_table;
mod refused;
mod tables;

use std::path::Path;

use warpmem_trace::{
    CtaBuilder, Kind, L2Policy, Provenance, Reg, Registers, Trace, TraceWriter, WarpAssembler,
    WriterOptions,
};

use kernels::{Act, Given, GivenKernel};

/// Returns the content hash of a trace.
fn content(path: &Path) -> u64 {
    Trace::open(path).unwrap().header().content_hash
}

/// Returns the content hash of kernels written warp by warp, as an importer should write them.
fn content_of(kernels: &[GivenKernel], pc: impl Fn(&GivenKernel, &Given) -> u64) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("direct.wmt");
    let mut writer =
        TraceWriter::create(&path, Provenance::default(), WriterOptions::default()).unwrap();
    let (mut assembler, mut cta) = (WarpAssembler::new(), CtaBuilder::new());
    for kernel in kernels {
        writer.begin_kernel(kernel.info()).unwrap();
        for (block, warps) in kernel.by_cta() {
            cta.begin(block);
            for (number, steps) in warps {
                cta.begin_warp(number);
                let (mut lanes, mut last) = (0, 0);
                for step in steps {
                    (lanes, last) = (lanes | step.mask, pc(kernel, step));
                    add(&mut assembler, step, last);
                }
                assembler.exit(last + 16, if lanes == 0 { u32::MAX } else { lanes });
                assembler.finish(writer.dictionary(), &mut cta);
            }
            writer.cta(&cta).unwrap();
        }
        writer.end_kernel().unwrap();
    }
    writer.finish().unwrap().content_hash
}

fn add(assembler: &mut WarpAssembler, step: &Given, pc: u64) {
    let numbers = |given: &Option<Vec<u16>>| -> Vec<Reg> {
        given.iter().flatten().map(|&number| Reg(number)).collect()
    };
    let (dests, srcs) = (numbers(&step.dests), numbers(&step.srcs));
    let registers = Registers::new(&dests, &srcs);
    match &step.act {
        Act::Memory(op, addresses, l2) => {
            assembler.memory(pc, *op, step.mask, registers, addresses);
            l2.iter().for_each(|&l2| assembler.with_l2_policy(L2Policy::of_all(l2)));
            let is_told = step.dests.is_some() || step.srcs.is_some();
            if !is_told && matches!(op.kind, Kind::Load | Kind::Atomic) {
                assembler.used_after(0);
            }
        }
        Act::Compute(class, count) => {
            (0..*count).for_each(|_| assembler.compute(*class, step.mask, registers));
        }
        Act::Barrier(barrier) => assembler.barrier(pc, *barrier, step.mask),
        Act::Arrival(barrier) => assembler.barrier_arrive(pc, *barrier, step.mask),
        Act::Fence => assembler.fence(pc, step.mask),
    }
}
