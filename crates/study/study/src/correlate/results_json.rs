//! Results of Accel-Sim collected in JSON: an object with `runs`, one object each. Unknown fields
//! are ignored; missing or null fields are unknown values.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::error::ReferenceError;
use super::figures::{CacheFigures, Figures, KernelFigures, row_locality, total};
use super::reference_run::ReferenceRun;

#[derive(Deserialize)]
struct Results {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    trace: String,
    trace_dir: Option<PathBuf>,
    config: String,
    dram_scheduler: String,
    config_overrides: Option<Value>,
    launch_latency_cycles_per_kernel: Option<u64>,
    n_kernels: Option<usize>,
    kernels: Vec<Kernel>,
    totals: Totals,
    host: Option<Host>,
}

#[derive(Deserialize)]
struct Kernel {
    name: Option<String>,
    gpu_sim_cycle: u64,
    gpu_sim_insn: Option<u64>,
}

#[derive(Deserialize)]
struct Totals {
    gpu_tot_sim_cycle: Option<u64>,
    gpu_tot_sim_insn: Option<u64>,
    #[serde(rename = "L1D_accesses")]
    l1_accesses: Option<u64>,
    #[serde(rename = "L1D_misses")]
    l1_misses: Option<u64>,
    #[serde(rename = "L2_accesses")]
    l2_accesses: Option<u64>,
    #[serde(rename = "L2_misses")]
    l2_misses: Option<u64>,
    dram_reads: Option<u64>,
    dram_writes: Option<u64>,
    dram_activations: Option<u64>,
    average_row_locality: Option<f64>,
    dram_bw_util_mean: Option<f64>,
    averagemflatency: Option<f64>,
}

#[derive(Deserialize)]
struct Host {
    user_s: Option<f64>,
}

/// Reads the runs of a file.
pub(super) fn read(path: &Path, file: impl Read) -> Result<Vec<ReferenceRun>, ReferenceError> {
    let mut json = serde_json::Deserializer::from_reader(file);
    let results: Results = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, field) = (path.to_owned(), error.path().to_string());
        ReferenceError::Json { path, field, source: error.into_inner() }
    })?;
    let field = |field: String, problem: String| {
        Err(ReferenceError::Field { path: path.to_owned(), field, problem })
    };
    if results.runs.is_empty() {
        return field("runs".to_owned(), "is empty; expected at least one run".to_owned());
    }
    let mut runs = Vec::new();
    for (run, index) in results.runs.into_iter().zip(0..) {
        let listed = run.kernels.len();
        if listed == 0 {
            let problem = "is empty; expected what each launch took".to_owned();
            return field(format!("runs[{index}].kernels"), problem);
        }
        if let Some(kernels) = run.n_kernels.filter(|&kernels| kernels != listed) {
            let problem = format!("is {kernels}, but `kernels` has {listed}");
            return field(format!("runs[{index}].n_kernels"), problem);
        }
        match run.into_reference() {
            Ok(run) => runs.push(run),
            Err(problem) => return field(format!("runs[{index}]"), problem),
        }
    }
    Ok(runs)
}

impl Run {
    fn into_reference(self) -> Result<ReferenceRun, String> {
        let kernels = self.kernels.into_iter().map(KernelFigures::from).collect();
        let figures = self.totals.figures(kernels, self.host.and_then(|host| host.user_s));
        let launches = figures.kernels.len();
        let latency = self.launch_latency_cycles_per_kernel.unwrap_or(0);
        Ok(ReferenceRun {
            trace: Some(self.trace),
            trace_dir: self.trace_dir,
            configuration: Some(self.config),
            dram_scheduler: self.dram_scheduler,
            machine: Vec::new(),
            overrides: self.config_overrides.map(|overrides| match overrides {
                Value::String(text) => text,
                other => other.to_string(),
            }),
            figures: figures.without_launches(latency, launches)?,
            missing: Vec::new(),
        })
    }
}

impl From<Kernel> for KernelFigures {
    fn from(kernel: Kernel) -> KernelFigures {
        KernelFigures {
            name: kernel.name.unwrap_or_default(),
            cycles: kernel.gpu_sim_cycle,
            range: None,
            thread_instructions: kernel.gpu_sim_insn,
        }
    }
}

impl Totals {
    /// Returns the figures, including launch latency.
    fn figures(self, kernels: Vec<KernelFigures>, cpu_seconds: Option<f64>) -> Figures {
        let columns = self.dram_reads.zip(self.dram_writes);
        let per_activation = columns
            .zip(self.dram_activations)
            .and_then(|((reads, writes), activations)| row_locality(reads, writes, activations));
        Figures {
            cycles: self
                .gpu_tot_sim_cycle
                .unwrap_or_else(|| total(kernels.iter().map(|kernel| kernel.cycles))),
            thread_instructions: self.gpu_tot_sim_insn,
            l1: CacheFigures { accesses: self.l1_accesses, misses: self.l1_misses },
            l2: CacheFigures { accesses: self.l2_accesses, misses: self.l2_misses },
            dram_reads: self.dram_reads,
            dram_writes: self.dram_writes,
            activations: self.dram_activations,
            row_locality: per_activation.or(self.average_row_locality),
            bus_utilization: self.dram_bw_util_mean,
            reply_latency: self.averagemflatency,
            kernels,
            cpu_seconds,
            wall_seconds: None,
            range: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run() -> Value {
        json!({
            "trace": "vecadd", "trace_dir": "../traces/vecadd", "trace_source": "generated",
            "config": "SM7_QV100", "dram_scheduler": "FR-FCFS", "config_overrides": null,
            "launch_latency_cycles_per_kernel": 5000, "n_kernels": 2,
            "kernels": [
                {"order": 1, "name": "first", "gpu_sim_cycle": 6000, "gpu_sim_insn": 100},
                {"order": 2, "name": "second", "gpu_sim_cycle": 7000, "gpu_sim_insn": null},
            ],
            "totals": {
                "gpu_tot_sim_cycle": 13000, "gpu_tot_sim_insn": 300,
                "L1D_accesses": 8, "L1D_misses": 4, "L2_accesses": 3, "L2_misses": 1,
                "L1D_by_type": {"GLOBAL_ACC_R": {"HIT": 0}},
                "dram_reads": 20, "dram_writes": 4, "dram_activations": 6,
                "average_row_locality": 3.0, "dram_bw_util_mean": 0.03, "averagemflatency": 765,
            },
            "host": {"user_s": 10.43, "wall_s": 15.79},
        })
    }

    fn read_runs(runs: &Value) -> Result<Vec<ReferenceRun>, String> {
        let text = json!({"simulator": "s", "runs": runs}).to_string();
        read(Path::new("r.json"), text.as_bytes()).map_err(|error| error.to_string())
    }

    fn read_changed(change: impl Fn(&mut Value)) -> Result<ReferenceRun, String> {
        let mut run = run();
        change(&mut run);
        read_runs(&json!([run])).map(|mut runs| runs.remove(0))
    }

    #[test]
    fn a_run_is_read_and_its_launch_latency_subtracted() {
        let run = read_changed(|_| ()).unwrap();
        assert_eq!(run.trace.as_deref(), Some("vecadd"));
        assert_eq!(run.trace_dir.as_deref(), Some(Path::new("../traces/vecadd")));
        assert_eq!(run.configuration.as_deref(), Some("SM7_QV100"));
        assert_eq!(run.dram_scheduler, "FR-FCFS");
        assert_eq!(run.overrides, None);
        let kernel = |name: &str, cycles, thread_instructions| KernelFigures {
            name: name.to_owned(),
            cycles,
            range: None,
            thread_instructions,
        };
        let expected = Figures {
            cycles: 3000,
            thread_instructions: Some(300),
            l1: CacheFigures { accesses: Some(8), misses: Some(4) },
            l2: CacheFigures { accesses: Some(3), misses: Some(1) },
            dram_reads: Some(20),
            dram_writes: Some(4),
            activations: Some(6),
            row_locality: Some(4.0),
            bus_utilization: run.figures.bus_utilization,
            reply_latency: Some(765.0),
            kernels: vec![kernel("first", 1000, Some(100)), kernel("second", 2000, None)],
            cpu_seconds: Some(10.43),
            wall_seconds: None,
            range: None,
        };
        assert_eq!(run.figures, expected);
        let utilization = run.figures.bus_utilization.unwrap();
        assert!((utilization - 0.03 * 13.0 / 3.0).abs() < 1e-12, "{utilization}");
    }

    #[test]
    fn null_or_missing_fields_are_unknown() {
        let run = read_changed(|run| {
            run["totals"] = json!({"average_row_locality": 3.5, "dram_reads": null});
            run["launch_latency_cycles_per_kernel"] = Value::Null;
            run.as_object_mut().unwrap().remove("host");
        });
        let figures = run.unwrap().figures;
        assert_eq!(figures.cycles, 13000);
        assert_eq!((figures.dram_reads, figures.cpu_seconds), (None, None));
        assert_eq!(figures.row_locality, Some(3.5));
    }

    #[test]
    fn overrides_are_kept_verbatim() {
        let overrides = |value: Value| {
            read_changed(|run| run["config_overrides"] = value.clone()).unwrap().overrides
        };
        assert_eq!(overrides(json!("-x 1")).as_deref(), Some("-x 1"));
        assert_eq!(overrides(json!(["-x", 1])).as_deref(), Some(r#"["-x",1]"#));
    }

    #[test]
    fn errors_name_the_field() {
        let refuses = |change: &dyn Fn(&mut Value), parts: &[&str]| {
            let error = read_changed(change).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        };
        let wrong = "`runs[0].totals.dram_reads`: invalid type: string \"x\", expected u64";
        refuses(&|run| run["totals"]["dram_reads"] = json!("x"), &["r.json", wrong, "line 1"]);
        refuses(&|run| run["kernels"][1]["gpu_sim_cycle"] = json!(-1), &["runs[0].kernels[1]"]);
        refuses(&|run| run["n_kernels"] = json!(3), &["runs[0].n_kernels` is 3, but", "has 2"]);
        refuses(&|run| run["kernels"] = json!([]), &["runs[0].kernels` is empty"]);
        refuses(
            &|run| run["kernels"][0]["gpu_sim_cycle"] = json!(5000),
            &["runs[0]` kernel 1 has 5000 cycles, no more than its launch latencies"],
        );
        let no_config = |run: &mut Value| drop(run.as_object_mut().unwrap().remove("config"));
        refuses(&no_config, &["runs[0]", "missing field `config`"]);
        assert!(read_runs(&json!([])).unwrap_err().contains("`runs` is empty"));
    }

    #[test]
    fn the_shared_reference_results_are_readable() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../../shared/reference/accel-sim/results.json");
        let Ok(file) = std::fs::File::open(&path) else {
            eprintln!("skipped: no results at {}", path.display());
            return;
        };
        let runs = read(&path, std::io::BufReader::new(file)).unwrap();
        let run = runs.iter().find(|run| run.trace.as_deref() == Some("vectoradd-sm75")).unwrap();
        assert_eq!((run.figures.cycles, run.figures.kernels.len()), (37_352, 2));
        for ReferenceRun { trace, figures, .. } in &runs {
            let row_locality = figures.row_locality.zip(figures.activations);
            let known = row_locality.and(figures.l1.miss_rate()).and(figures.l2.miss_rate());
            let known = known.and(figures.bus_utilization).and(figures.reply_latency);
            assert!(known.and(figures.cpu_seconds).is_some(), "{trace:?}: {figures:?}");
        }
    }

    #[test]
    fn absurd_numbers_are_tolerated() {
        let run = read_changed(|run| {
            run["totals"] = json!({"dram_reads": u64::MAX, "dram_writes": u64::MAX});
            run["kernels"][0]["gpu_sim_cycle"] = json!(u64::MAX);
        });
        assert_eq!(run.unwrap().figures.dram_reads, Some(u64::MAX));
        let run = read_changed(|run| run["launch_latency_cycles_per_kernel"] = json!(u64::MAX));
        assert!(run.unwrap_err().contains("no more than its launch latencies"));
    }

    #[test]
    fn malformed_json_is_refused() {
        let error = read(Path::new("r.json"), &b"{\"runs\": ["[..]).unwrap_err().to_string();
        assert!(error.contains("r.json") && error.contains("EOF"), "{error}");
    }
}
