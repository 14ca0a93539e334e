//! What the benches that set a paper's figures beside ours share: the workloads, and their replay on several machines.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};
use warpmem::engine::{NoProgress, simulate};
use warpmem::machine::Machine;
use warpmem::record::{NoLoads, RunResult};
use warpmem_trace::Trace;

/// A workload with its name.
pub struct Workload {
    pub name: String,
    pub trace: Trace,
}

/// The traces given on the command line, or those of `sample-traces`.
pub fn workloads() -> Vec<Workload> {
    let given = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let mut paths: Vec<PathBuf> = given.map(PathBuf::from).collect();
    if paths.is_empty() {
        let samples = std::fs::read_dir("sample-traces").expect("run from the repository's root");
        paths = samples.map(|entry| entry.expect("a readable folder").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "wmt"));
        paths.sort();
    }
    let open = |path: PathBuf| Workload {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        trace: Trace::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    };
    paths.into_iter().map(open).collect()
}

/// Replays every workload on every machine; results by machine, then workload.
pub fn replay(machines: &[Machine], workloads: &[Workload]) -> Vec<Vec<RunResult>> {
    let cells = machines.len() * workloads.len();
    let results: Mutex<Vec<Option<RunResult>>> = Mutex::new(vec![None; cells]);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(cell) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&c| c < cells) {
            let (machine, workload) = (cell / workloads.len(), cell % workloads.len());
            let trace = &workloads[workload].trace;
            let result = simulate(&machines[machine], trace, &mut NoLoads, &mut NoProgress)
                .unwrap_or_else(|error| panic!("{}: {error}", workloads[workload].name));
            results.lock().expect("no panic")[cell] = Some(result);
        }
    };
    scope(|scope| {
        (0..available_parallelism().map_or(1, usize::from)).for_each(|_| drop(scope.spawn(work)));
    });
    let results: Vec<RunResult> =
        results.into_inner().expect("no panic").into_iter().flatten().collect();
    results.chunks(workloads.len()).map(<[RunResult]>::to_vec).collect()
}
