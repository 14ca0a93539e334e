//! Captures of the programs.

use std::path::Path;

use warpmem_capture::{Program, ProgramStatus, Selection, capture_program};
use warpmem_trace::{Eviction, L2Policy, Trace};

use crate::common::{capture, options, runtime};

fn kernels(path: &Path) -> Vec<String> {
    let trace = Trace::open(path).unwrap();
    trace.kernels().iter().map(|kernel| kernel.info.name.clone()).collect()
}

#[test]
fn recordings_do_not_depend_on_the_thread_count() {
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str, threads: usize| {
        let path = folder.path().join(name);
        let mut options = options(Some(&path));
        options.settings.threads = threads;
        let captured = capture("program::saxpy", &options);
        assert_eq!(captured.status, ProgramStatus::Exited(0));
        assert_eq!(captured.trace.unwrap().kernels, 4);
        path
    };
    let [first, second] = [record("first.wmt", 1), record("second.wmt", 4)];
    assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
    assert_eq!(kernels(&first), ["saxpy", "saxpy", "saxpy", "count"]);
    let trace = Trace::open(&first).unwrap();
    let header = trace.header();
    assert!(header.provenance.source.starts_with("PTX 7.0 of programs-"), "{header:?}");
    let copied: Vec<u64> = header.memcpys.iter().map(|copy| copy.bytes).collect();
    assert_eq!(copied, [4000, 4000]);
    let saxpy = &trace.kernels()[0];
    assert_eq!((saxpy.info.grid, saxpy.info.block, saxpy.warps), ([8, 1, 1], [128, 1, 1], 32));
}

#[test]
fn runtime_functions_follow_the_manual() {
    let captured = capture("program::everything", &options(None));
    assert_eq!(captured.status, ProgramStatus::Exited(0));
    assert_eq!(captured.trace, None);
}

#[test]
fn driver_functions_follow_the_manual() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("driver.wmt");
    let captured = capture("driver::driver", &options(Some(&path)));
    assert_eq!(captured.status, ProgramStatus::Exited(0));
    assert_eq!(kernels(&path), ["saxpy", "saxpy", "linked"]);
}

#[test]
fn pools_and_refusals_follow_the_manual() {
    let captured = capture("pools::pools", &options(None));
    assert_eq!(captured.status, ProgramStatus::Exited(0));
}

#[test]
fn tensor_maps_of_the_driver_reach_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tensor.wmt");
    let captured = capture("tensor::tensor", &options(Some(&path)));
    assert_eq!(captured.status, ProgramStatus::Exited(0));
    assert_eq!(kernels(&path), ["transfer", "transfer"]);
    let of = |name: &str| captured.kernels.iter().find(|kernel| kernel.kernel == name).unwrap();
    let failure = of("transfer").failure.as_ref().unwrap();
    assert!(failure.contains("`cp.async.bulk.tensor`: no tensor map at 0x"), "{failure}");
}

#[test]
fn a_program_launches_kernels_in_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clusters.wmt");
    let mut options = options(Some(&path));
    options.settings.device.capability = (9, 0);
    let captured = capture("clusters::clusters", &options);
    assert_eq!(captured.status, ProgramStatus::Exited(0));
    let trace = Trace::open(&path).unwrap();
    let launched = trace.kernels().iter().map(|kernel| {
        let info = &kernel.info;
        (info.name.as_str(), info.grid[0], info.cluster.map(|cluster| cluster[0]))
    });
    let expected = [
        ("exchange", 4, None),
        ("exchange", 4, Some(2)),
        ("exchange", 4, Some(4)),
        ("fixed", 4, Some(2)),
        ("sizes", 32, Some(16)),
        ("sizes", 4, Some(2)),
    ];
    assert_eq!(launched.collect::<Vec<_>>(), expected);
}

#[test]
fn a_crashed_program_keeps_its_completed_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crash.wmt");
    let captured = capture("program::crashing", &options(Some(&path)));
    assert_eq!(captured.status, ProgramStatus::Killed(libc::SIGABRT));
    assert_eq!(kernels(&path), ["saxpy", "saxpy"]);
}

#[test]
fn failed_launches_are_reported_and_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("faulty.wmt");
    let captured = capture("program::faulty", &options(Some(&path)));
    assert_eq!(captured.status, ProgramStatus::Exited(0));
    assert_eq!(kernels(&path), ["saxpy", "saxpy"]);
    let of = |name: &str| captured.kernels.iter().find(|kernel| kernel.kernel == name).unwrap();
    let saxpy = of("saxpy");
    assert_eq!((saxpy.launches, saxpy.recorded, saxpy.failed), (3, 2, 1));
    assert!(saxpy.failure.as_ref().unwrap().contains("is out of bounds"), "{saxpy:?}");
    let unknown = of("unknown");
    assert_eq!((unknown.launches, unknown.recorded, unknown.failed), (1, 0, 1));
    assert!(unknown.unsupported[0].contains("frobnicate"), "{unknown:?}");
    assert_eq!(of("count").launches, 0);
}

#[test]
fn a_forked_child_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fork.wmt");
    let captured = capture("program::forking", &options(Some(&path)));
    assert_eq!(captured.status, ProgramStatus::Exited(0));
    assert_eq!(kernels(&path), ["saxpy", "saxpy"]);
}

#[test]
fn processes_are_recorded_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("several.wmt");
    let captured = capture("program::several", &options(Some(&path)));
    assert_eq!(captured.status, ProgramStatus::Exited(0));
    assert_eq!(kernels(&path), ["saxpy", "saxpy", "saxpy", "count", "saxpy"]);
}

#[test]
fn selected_launches_are_recorded_and_noted_in_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.wmt");
    let mut options = options(Some(&path));
    options.selection = Selection { every: 2, ..Selection::all() };
    let captured = capture("program::saxpy", &options);
    let recorded: Vec<bool> = captured.launches.iter().map(|launch| launch.recorded).collect();
    assert_eq!(recorded, [true, false, true, true]);
    assert_eq!(kernels(&path), ["saxpy", "saxpy", "count"]);
    let source = Trace::open(&path).unwrap().header().provenance.source.clone();
    assert!(source.contains("one of every 2 launches of a kernel"), "{source}");
}

#[test]
fn a_program_without_kernels_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.wmt");
    let program = Program { command: vec!["true".into()], runtime: runtime() };
    let captured = capture_program(&program, &options(Some(&path)), &()).unwrap();
    assert_eq!((captured.status, captured.trace), (ProgramStatus::Exited(0), None));
    assert!(captured.notes[0].contains("-cudart shared"), "{:?}", captured.notes);
    assert!(!path.exists());
}

#[test]
fn access_policy_windows_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.wmt");
    let mut options = options(Some(&output));
    options.settings.device.capability = (8, 0);
    let captured = capture("windows::windows", &options);
    assert_eq!(captured.status, ProgramStatus::Exited(0));
    let trace = Trace::open(&output).unwrap();
    let policies = |kernel: usize| -> Vec<_> {
        let instructions = trace.instructions(kernel).unwrap();
        let accesses = instructions.iter().filter(|one| one.kind.is_memory());
        accesses.map(|one| one.l2_policy).collect()
    };
    let last = L2Policy { primary: Eviction::Last, sixteenths: 16, secondary: Eviction::Normal };
    let half = L2Policy { primary: Eviction::First, sixteenths: 8, ..last };
    assert_eq!(policies(0), [Some(last), None, None]);
    assert_eq!(policies(1), [Some(half), None, None]);
    assert_eq!(policies(2), [None; 3]);
    assert_eq!(policies(3), [None; 3]);
    assert_eq!(policies(4), [Some(last), Some(last), None]);
    assert_eq!(trace.header().l2_resets, [5, 6]);
}
