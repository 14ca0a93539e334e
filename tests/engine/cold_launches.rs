//! `run.cold_launches`: every kernel starts with empty caches.

use crate::closed_forms::is_near;
use crate::trace::{Access, Kernel, Step, loads, machine, mixed, run, write};
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::machine::Machine;
use warpmem_trace::Kind;

/// Lines of a kernel, four sectors each.
const LINES: u64 = 32;

/// Makes a machine on which L1 keeps its lines between kernels unless launches are cold.
fn v100(overrides: &[&str]) -> Machine {
    machine("accelsim-qv100", &[&["l1.flush_between_kernels=false"], overrides].concat())
}

/// Reads or writes the same lines, one warp instruction each.
fn kernel(kind: Kind) -> Kernel {
    let access = |line: u64| {
        let load = Access::load(4, (0..32).map(|lane| 128 * line + 4 * lane).collect());
        Step::Memory(Access { kind, dest: (kind == Kind::Load).then_some(1), ..load })
    };
    Kernel { ctas: vec![vec![(0..LINES).map(access).collect()]], ..Kernel::default() }
}

/// Returns the sectors missed by L1 reads, missed by L2 reads, read and written in DRAM.
fn sectors(result: &RunResult) -> [u64; 4] {
    let l1 = result.sms.iter().map(|sm| sm.l1.read_misses + sm.l1.read_sector_misses).sum();
    let l2 = result.slices.iter().map(|s| s.cache.read_misses + s.cache.read_sector_misses).sum();
    let banks = || result.channels.iter().flat_map(|channel| &channel.banks);
    [l1, l2, banks().map(|bank| bank.reads).sum(), banks().map(|bank| bank.writes).sum()]
}

fn flushed(result: &RunResult) -> Option<u64> {
    let counts = result.counters.iter().filter(|c| c.counter == "dirty_sectors_flushed");
    counts.map(|counter| counter.value).reduce(|a, b| a + b)
}

#[test]
fn every_kernel_misses_what_it_misses_alone() {
    let read = || loads([4, 2, 8], |warp, step, lane| (warp * 8 + step) * 128 + 4 * lane);
    let kernels = [read(), mixed(4, 8, 1 << 16), read()];
    let cold = v100(&["run.cold_launches=true"]);
    let together = sectors(&run(&cold, &write(&kernels).trace));
    let alone = kernels.map(|kernel| sectors(&run(&v100(&[]), &write(&[kernel]).trace)));
    let sum = [0, 1, 2].map(|count| alone.iter().map(|of| of[count]).sum::<u64>());
    assert_eq!(together[..3], sum);
    // Otherwise the second reader finds its lines.
    let [_, l2, ..] = sectors(&run(&v100(&[]), &write(&[read(), read()]).trace));
    assert_eq!(l2, alone[0][1]);
}

#[test]
fn dirty_lines_are_flushed_outside_of_the_counts() {
    let trace = write(&[kernel(Kind::Store), kernel(Kind::Load)]);
    let sectors_of_kernel = 4 * LINES;
    let cold = run(&v100(&["run.cold_launches=true"]), &trace.trace);
    assert_eq!(sectors(&cold)[1..], [sectors_of_kernel, sectors_of_kernel, 0]);
    assert_eq!(flushed(&cold), Some(sectors_of_kernel));
    let warm = run(&v100(&[]), &trace.trace);
    assert_eq!(sectors(&warm)[1..], [0, 0, 0], "the reader finds the stored lines");
    assert_eq!(flushed(&warm), None);
}

#[test]
fn copies_of_remote_lines_are_flushed_too() {
    let machine = |overrides: &[&str]| {
        let keys = ["sm.count=2", "l2.copies=true", "l1.enabled=false"];
        v100(&[&keys, overrides].concat())
    };
    let copies = |machine: &Machine| {
        let map = machine.address_map().unwrap();
        let far = |line: &u64| !is_near(machine, map.locate(*line).slice);
        let line = (0..).map(|line| 128 * line).find(far).unwrap();
        let read = || Kernel {
            ctas: vec![vec![vec![Step::Memory(Access::load(4, vec![line]))]], vec![vec![]]],
            ..Kernel::default()
        };
        let result = run(machine, &write(&[read(), read()]).trace);
        let counter = |name: &str| -> u64 {
            result.counters.iter().filter(|c| c.counter == name).map(|c| c.value).sum()
        };
        [counter("copy_hits"), counter("copy_misses"), sectors(&result)[2]]
    };
    let cold = copies(&machine(&["run.cold_launches=true"]));
    let warm = copies(&machine(&[]));
    assert_eq!((warm[..2].to_vec(), cold[..2].to_vec()), (vec![1, 1], vec![0, 2]));
    assert_eq!(cold[2], 2 * warm[2], "both home and copy are read again");
}

#[test]
fn neither_threads_nor_steps_without_work_matter() {
    let file = write(&[mixed(60, 2, 1 << 18), mixed(20, 2, 1 << 16), mixed(60, 2, 1 << 18)]);
    for preset in ["v100", "a100"] {
        let machine = machine(preset, &["run.cold_launches=true"]);
        let simulation = || Simulation::new(&machine, &file.trace);
        let alone = simulation().run(&mut Discard).unwrap();
        assert!(alone == simulation().threads(3).run(&mut Discard).unwrap(), "{preset}");
        let every_cycle = simulation().every_cycle().run(&mut Discard).unwrap();
        assert!(alone == RunResult { steps: alone.steps, ..every_cycle }, "{preset}");
    }
}

#[test]
fn kernels_must_not_run_concurrently() {
    let both = ["run.cold_launches=true", "run.concurrent_kernels=true"].map(str::to_owned);
    let error = warpmem::machine::load("v100", &both).unwrap_err().to_string();
    assert!(
        error.contains("`run.cold_launches`") && error.contains("`run.concurrent_kernels`"),
        "{error}"
    );
}
