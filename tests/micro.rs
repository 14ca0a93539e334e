//! Micro kernels beside a cycle-level simulator, kernel by kernel: bursts of merged loads and waves of CTAs.

use serde_json::Value;
use std::path::Path;
use std::thread;
use warpmem::gpu::engine::{NoProgress, simulate};
use warpmem::gpu::results::Discard;
use warpmem::import::{ImportOptions, import_accel_sim};
use warpmem::machine::{Machine, load};
use warpmem::study::correlate::{Figures, KernelFigures};
use warpmem_trace::Trace;

/// Which SM's burst reaches a slice first decides some of these kernels: the order of the SMs, which no program knows, moves
/// them by 10 % and more, and runs of the reference itself differ by 12 % (docs/validation.md). What is compared is
/// therefore the median over orders.
const ORDERS: u32 = 11;

/// Our cycles over the reference's, less one, of the kernels of a run.
fn errors(run: &Value, reference: &Path, machine: &str) -> Vec<(String, f64)> {
    let list = reference.join(run["trace_dir"].as_str().unwrap()).join("kernelslist.g");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.wmt");
    import_accel_sim(&list, &path, &ImportOptions::default(), &()).unwrap();
    let machine = load(machine, &[]).unwrap();
    let orders = machine.first_sms(ORDERS);
    let mut orders: Vec<Figures> = thread::scope(|scope| {
        let begin = |first| {
            let (machine, path) = (&machine, &path);
            scope.spawn(move || in_order(machine, first, path))
        };
        let begun: Vec<_> = orders.into_iter().map(begin).collect();
        begun.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let ours = orders.remove(0).over_orders(&orders);
    let launch = run["launch_latency_cycles_per_kernel"].as_f64().unwrap();
    let kernels = run["kernels"].as_array().unwrap().iter().zip(&ours.kernels);
    let error = |(theirs, ours): (&Value, &KernelFigures)| {
        let theirs_cycles = theirs["gpu_sim_cycle"].as_f64().unwrap() - launch;
        let name = theirs["name"].as_str().unwrap();
        (format!("{name} on {}", machine.name), ours.cycles as f64 / theirs_cycles - 1.0)
    };
    kernels.map(error).collect()
}

fn in_order(machine: &Machine, first_sm: u32, path: &Path) -> Figures {
    let mut machine = machine.clone();
    machine.run.first_sm = first_sm;
    let trace = Trace::open(path).unwrap();
    let result = simulate(&machine, &trace, &mut Discard, &mut NoProgress).unwrap();
    let kernels = result.kernels.iter().map(KernelFigures::from).collect();
    Figures { kernels, ..Figures::default() }
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
    assert!(mean < 0.02, "mean {mean:.4}: {errors:?}");
    assert!(worst.1.abs() < 0.10, "{worst:?}: {errors:?}");
}
