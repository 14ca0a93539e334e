//! A search on points that a known machine generated.

use super::{Calibration, Free, descend};
use crate::points::{
    Batch, Filter, Placed, PointsError, PointsFile, Store, Traces, generate, place,
};
use crate::suite::{Generation, Watcher};
use crate::testing;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use warpmem_gpu::engine::{Progress, ProgressReport};
use warpmem_workload::Stop;

/// Watches nothing.
struct Unwatched;

impl Watcher for Unwatched {
    fn report(&self, _: &str, _: &warpmem_workload::Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn stop(&self) -> Stop {
        Stop::default()
    }

    fn made(&self) {}
}

impl crate::cells::Watcher for Unwatched {
    type Progress<'a> = Unwatched;

    fn watch(&self) -> Unwatched {
        Unwatched
    }

    fn fail(&self) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

impl Progress for Unwatched {
    fn report(&mut self, _: &ProgressReport) -> bool {
        true
    }
}

impl crate::cells::RunProgress for Unwatched {
    fn done(self, _: &ProgressReport) {}
}

/// Returns a points file of two chases, the first within L1, with these measured values.
fn file(overrides: &[String], values: [f64; 2]) -> PointsFile {
    let mut text = "gpu,class,machine,set,workload,less,figure,work,unit,value\n".to_owned();
    for (nodes, value) in [16, 4096].into_iter().zip(values) {
        let chase = |hops: u32| format!("pointer-chase --nodes {nodes} --hops {hops}");
        let set = overrides.join(";");
        let (long, short) = (chase(300), chase(100));
        text.push_str(&format!(
            "G,{nodes},li2015,{set},{long},{short},{nodes} nodes,200,cycles/load,{value}\n"
        ));
    }
    PointsFile::from_text(&text, Path::new("p.csv")).unwrap()
}

fn run(batch: &Batch<'_>, store: &Store) -> Result<(), PointsError> {
    batch.run(1, store, &Unwatched)
}

struct Bench {
    folder: tempfile::TempDir,
    traces: Traces,
    file: PointsFile,
}

impl Bench {
    fn new(file: PointsFile) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let workloads = file.points.iter().flat_map(|point| point.workloads());
        let make = |work: &Generation<'_>| work.run(&Unwatched).map(drop);
        let traces = generate(workloads, folder.path(), 1, &make).unwrap();
        Bench { folder, traces, file }
    }

    fn placed(&self, overrides: &[&str]) -> Vec<Placed<'_>> {
        let points = self.file.chosen(&Filter::default()).unwrap();
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        place(&self.file, &points, &[], &overrides).unwrap()
    }

    /// Calibrates from a base with these overrides; returns the values and the number of runs.
    fn calibrate(&self, base: &[&str], free: &[&str]) -> (Vec<String>, usize) {
        let placed = self.placed(base);
        let free: Vec<String> = free.iter().map(|&text| text.to_owned()).collect();
        let free = Free::parse_all(&free, &placed[0].machine).unwrap();
        let store = Store::open(self.folder.path()).unwrap();
        let (placed, traces, store) = (&placed[..], &self.traces, &store);
        let calibration = Calibration { placed, traces, store, free: &free };
        let runs = Cell::new(0);
        let mut evaluate = |lists: &[Vec<String>]| {
            calibration.objectives(lists, &mut |batch| {
                runs.set(runs.get() + batch.cells().len());
                run(batch, store)
            })
        };
        let best = descend(&free, 4, &mut evaluate, &mut |_| {}).unwrap();
        (best.values, runs.get())
    }
}

/// Returns the figures of the machine.
fn figures(bench: &Bench) -> [f64; 2] {
    let placed = bench.placed(&[]);
    let store = Store::open(bench.folder.path()).unwrap();
    let setups: Vec<_> = placed.iter().flat_map(|placed| placed.setups(&bench.traces)).collect();
    let batch = Batch::new(setups, &store).unwrap();
    run(&batch, &store).unwrap();
    let mut cycles = batch.cycles(&store).into_iter();
    [0, 1].map(|at| placed[at].outcome(&mut cycles).ours)
}

#[test]
fn perturbed_latencies_are_recovered_from_the_figures_of_the_true_machine() {
    let small = warpmem_testing::small_machine(&["l1.latency=23", "l2.input_latency=71"]);
    let truth = figures(&Bench::new(file(&small, [1.0, 1.0])));
    assert!(truth[0] >= 23.0 && truth[1] > truth[0] + 71.0, "{truth:?}");
    let bench = Bench::new(file(&small, truth));
    let base = ["l1.latency=60", "l2.input_latency=10"];
    let free = ["l1.latency=1..80", "l2.input_latency=1..200"];
    let (values, runs) = bench.calibrate(&base, &free);
    assert_eq!(values, ["23", "71"]);
    assert!(runs > 0);
    let again = bench.calibrate(&base, &free);
    assert_eq!(again, (values, 0), "every run is in the store");
}

#[test]
fn candidates_that_no_machine_may_have_are_passed_over() {
    let bench = Bench::new(file(&warpmem_testing::small_machine(&[]), [30.0, 300.0]));
    let (values, _) = bench.calibrate(&[], &["l1.cache.line_bytes=96|64"]);
    let own = testing::machine(&[]).l1.cache.line_bytes.to_string();
    assert!(values == ["64"] || values == [own], "{values:?}");
}
