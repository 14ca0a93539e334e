//! A machine without a reference simulator: what is measured on the chip, measured on it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use warpmem::gpu::engine::{NoProgress, simulate};
use warpmem::gpu::results::Discard;
use warpmem::machine::load;
use warpmem::workload::{Progress, generate};
use warpmem_trace::Trace;

/// Core cycles of so many hops of one warp from line to line, each a load that waits for the last.
fn chase(machine: &str, lines: u32, hops: u32) -> u64 {
    let parameters = [("nodes", lines), ("node-bytes", 128), ("hops", hops), ("warps", 1)];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_string()));
    let mut parameters = BTreeMap::from(parameters);
    parameters.insert("order".to_owned(), "random".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chase.wmt");
    let mut progress = |_: &Progress| ControlFlow::Continue(());
    generate("pointer-chase", &parameters, 1, &path, &mut progress).unwrap();
    let (machine, trace) = (load(machine, &[]).unwrap(), Trace::open(&path).unwrap());
    simulate(&machine, &trace, &mut Discard, &mut NoProgress).unwrap().core_cycles
}

/// Abdelkhalik et al., HPEC 2022: 33 cycles of L1, 200 of L2, 290 of DRAM.
#[test]
fn a100_answers_as_fast_as_the_chip() {
    const LINES: u32 = 4096;
    // 512 KB: more than L1, less than L2. All lines come from DRAM once.
    let cold = chase("a100", LINES, LINES);
    let warm = chase("a100", LINES, 2 * LINES) - cold;
    let small = chase("a100", 64, 2048) - chase("a100", 64, 1024);
    assert_eq!(small, 33 * 1024, "L1");
    assert_eq!(warm, 200 * u64::from(LINES), "L2");
    let dram = cold as f64 / f64::from(LINES);
    assert!((dram / 290.0 - 1.0).abs() < 0.02, "DRAM: {dram}");
}
