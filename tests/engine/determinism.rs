//! The same trace on the same machine gives the same result, whatever else is different.

use crate::recording::Everything;
use crate::trace::{machine, mixed, run, write, write_with};
use warpmem::gpu::engine::{
    NoProgress, StepCounts, Steps, simulate_in_windows, simulate_watching_steps,
    simulate_with_threads,
};
use warpmem::machine::{Machine, preset_names};
use warpmem_trace::{Codec, WriterOptions};

#[test]
fn concurrent_runs_are_independent() {
    let file = write(&[mixed(4, 8, 1 << 20), mixed(2, 4, 1 << 16)]);
    let presets: Vec<_> = preset_names().map(|preset| machine(preset, &[])).collect();
    let alone: Vec<_> = presets.iter().map(|machine| run(machine, &file.trace)).collect();
    std::thread::scope(|scope| {
        let trace = &file.trace;
        let run_again = |machine| scope.spawn(move || run(machine, trace));
        let runs: Vec<_> = presets.iter().chain(&presets).map(run_again).collect();
        for (result, first) in runs.into_iter().zip(alone.iter().chain(&alone)) {
            let result = result.join().unwrap();
            assert!(result == *first);
            assert_eq!(result.fingerprint(), first.fingerprint());
        }
    });
    // Four machines, four results: the fingerprint tells them apart.
    let mut fingerprints: Vec<u64> = alone.iter().map(|result| result.fingerprint()).collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), presets.len());
}

#[test]
fn the_layout_of_the_trace_does_not_matter() {
    let kernels = [mixed(12, 8, 1 << 20), mixed(5, 4, 1 << 16)];
    let layouts = [(Codec::Deflate, 6, 1 << 18), (Codec::Deflate, 1, 1), (Codec::Zstd, 3, 5000)];
    let files = layouts.map(|(codec, level, chunk_bytes)| {
        write_with(&kernels, WriterOptions { codec, level, chunk_bytes })
    });
    let chunks = files.each_ref().map(|file| file.trace.kernels()[0].chunks.len());
    assert_eq!((chunks[0], chunks[1]), (1, 12), "one chunk, and one for each CTA");
    let machine = machine("li2015", &["run.concurrent_kernels=true"]);
    let results = files.each_ref().map(|file| run(&machine, &file.trace));
    assert!(results[0] == results[1] && results[0] == results[2]);
}

/// On whole presets, whose phases have units enough to be shared among threads.
#[test]
fn the_number_of_threads_does_not_matter() {
    let file = write(&[mixed(120, 4, 1 << 22), mixed(20, 4, 1 << 16)]);
    let on_threads = |machine: &Machine, threads| {
        let mut rows = Everything::but_requests(500);
        let result =
            simulate_with_threads(machine, &file.trace, threads, &mut rows, &mut NoProgress);
        (result.unwrap(), rows)
    };
    for preset in preset_names() {
        for overrides in [&[][..], &["l2.enabled=false"]] {
            let machine = machine(preset, overrides);
            let (alone, rows) = on_threads(&machine, 1);
            for threads in [2, 5] {
                let (result, same_rows) = on_threads(&machine, threads);
                assert!(result == alone, "{preset} {overrides:?} on {threads} threads");
                assert!(same_rows == rows, "rows of {preset} {overrides:?} on {threads} threads");
            }
        }
    }
}

/// One thread steps the parts in sequence exactly as several threads step them in parallel.
#[test]
fn windows_show_the_balance_of_the_parts() {
    let file = write(&[mixed(120, 4, 1 << 22)]);
    let machine = machine("v100", &[]);
    let alone = run(&machine, &file.trace);
    for parts in [1, 4] {
        let (result, windows) = simulate_in_windows(&machine, &file.trace, parts).unwrap();
        assert!(result == alone, "{parts} parts");
        let (memory, core) = (windows.memory().unwrap(), windows.core().unwrap());
        let even = 1.0 / parts as f64;
        assert!(memory >= even && core >= even, "{parts} parts: {memory}, {core}");
        assert!(parts == 1 || memory < 0.9 && core < 0.9, "{parts} parts: {memory}, {core}");
        assert!(parts > 1 || memory == 1.0 && core == 1.0);
    }
}

/// A unit does as much in the steps that it asks for as where it is stepped in every cycle.
#[test]
fn units_request_every_step_that_changes_state() {
    let file = write(&[mixed(30, 6, 1 << 20)]);
    for preset in ["li2015", "v100", "a100"] {
        let machine = machine(preset, &["sm.count=4"]);
        let (result, asked) = simulate_watching_steps(&machine, &file.trace, false).unwrap();
        assert!(result == run(&machine, &file.trace), "watching changes nothing");
        let (_, polled) = simulate_watching_steps(&machine, &file.trace, true).unwrap();
        let kinds = |steps: StepCounts| [steps.channels, steps.slices, steps.sms];
        for (asked, polled) in kinds(asked).into_iter().zip(kinds(polled)) {
            let busy = |steps: Steps| steps.all - steps.idle;
            assert_eq!(busy(asked), busy(polled), "{preset} {asked:?} {polled:?}");
            assert!(0 < busy(asked) && asked.idle < polled.idle, "{preset} {asked:?} {polled:?}");
        }
    }
}
