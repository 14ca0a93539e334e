//! The same trace on the same machine gives the same result, regardless of the environment.

use crate::recording::Everything;
use crate::trace::{machine, mixed, run, write, write_with};
use warpmem::gpu::engine::Simulation;
use warpmem::machine::{Machine, preset_names};
use warpmem_testing::is_sampled;
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
    // Four machines, four results: the fingerprint distinguishes them.
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

/// Runs whole presets, whose phases have enough units to be split among threads.
#[test]
fn the_number_of_threads_does_not_matter() {
    let file = write(&[mixed(120, 2, 1 << 22), mixed(20, 2, 1 << 16)]);
    let on_threads = |machine: &Machine, threads| {
        let mut rows = Everything::but_requests(500);
        let simulation = Simulation::new(machine, &file.trace).threads(threads);
        (simulation.run(&mut rows).unwrap(), rows)
    };
    for (number, preset) in preset_names().enumerate() {
        let counts = [2, 5].into_iter().enumerate();
        let counts: Vec<_> = counts.filter(|(column, _)| is_sampled(number, *column, 2)).collect();
        let without_l2 = is_sampled(number, 0, 3).then_some(&["l2.enabled=false"][..]);
        for overrides in [&[][..]].into_iter().chain(without_l2) {
            let machine = machine(preset, overrides);
            let (alone, rows) = on_threads(&machine, 1);
            for &(_, threads) in &counts {
                let (result, same_rows) = on_threads(&machine, threads);
                assert!(result == alone, "{preset} {overrides:?} on {threads} threads");
                assert!(same_rows == rows, "rows of {preset} {overrides:?} on {threads} threads");
            }
        }
    }
}
