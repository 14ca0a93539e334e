//! Micro kernels beside a cycle-level simulator, kernel by kernel: bursts of merged loads and waves of CTAs.

use serde_json::Value;
use std::path::Path;
use warpmem::engine::{NoProgress, simulate};
use warpmem::import::{ImportOptions, import_accel_sim};
use warpmem::machine::load;
use warpmem::record::Discard;
use warpmem_trace::Trace;

/// Our cycles over the reference's, less one, of the kernels of a run.
fn errors(run: &Value, reference: &Path, machine: &str) -> Vec<(String, f64)> {
    let list = reference.join(run["trace_dir"].as_str().unwrap()).join("kernelslist.g");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.wmt");
    import_accel_sim(&list, &path, &ImportOptions::default(), &()).unwrap();
    let trace = Trace::open(&path).unwrap();
    let machine = load(machine, &[]).unwrap();
    let result = simulate(&machine, &trace, &mut Discard, &mut NoProgress).unwrap();
    let launch = run["launch_latency_cycles_per_kernel"].as_f64().unwrap();
    let kernels = run["kernels"].as_array().unwrap().iter().zip(&result.kernels);
    let error = |(theirs, ours): (&Value, &warpmem::record::KernelResult)| {
        let cycles = (ours.end_cycle - ours.start_cycle) as f64;
        let theirs_cycles = theirs["gpu_sim_cycle"].as_f64().unwrap() - launch;
        let name = theirs["name"].as_str().unwrap();
        (format!("{name} on {}", machine.name), cycles / theirs_cycles - 1.0)
    };
    kernels.map(error).collect()
}

#[test]
fn cycles_of_micro_kernels_are_near_those_of_the_reference() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference/accel-sim");
    let Ok(text) = std::fs::read_to_string(reference.join("results-micro.json")) else {
        eprintln!("skipped: {} has no results-micro.json", reference.display());
        return;
    };
    let results: Value = serde_json::from_str(&text).unwrap();
    let runs = results["runs"].as_array().unwrap();
    let machine = |run: &Value| match run["config"].as_str().unwrap() {
        "SM7_QV100" => "v100",
        "SM75_RTX2060_S" => "rtx2060s",
        other => panic!("no preset for {other}"),
    };
    let of_run = |run| errors(run, &reference, machine(run));
    let errors: Vec<(String, f64)> = runs.iter().flat_map(of_run).collect();
    let mean = errors.iter().map(|(_, error)| error.abs()).sum::<f64>() / errors.len() as f64;
    let worst = errors.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap();
    assert_eq!(errors.len(), 35);
    // What is aimed at is 4 and 12 %. Which SM's burst reaches a slice first decides some of these kernels: the order of
    // single cycles moves them by as much as the difference.
    assert!(mean < 0.045, "mean {mean:.3}: {errors:?}");
    assert!(worst.1.abs() < 0.16, "{worst:?}");
}
