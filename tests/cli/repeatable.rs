//! Equal inputs give equal bytes, in every run and on any number of threads.

use super::support::{Bench, names_in};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Returns every file below `dir`, by path.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in names_in(dir) {
        let path = dir.join(&name);
        if path.is_dir() {
            files.extend(
                contents(&path).into_iter().map(|(below, c)| (format!("{name}/{below}"), c)),
            );
        } else {
            files.insert(name, fs::read(path).unwrap());
        }
    }
    files
}

#[test]
fn tables_do_not_depend_on_repetition_or_threads() {
    let bench = Bench::with_trace();
    bench.generate("gather", &[("n", "2^10")], "gather.wmt");
    bench.generate("reduction", &[("n", "2^11")], "reduction.wmt");
    let compare = |jobs: &str, output: &str| {
        let arguments = [
            "compare",
            "small.wmt",
            "gather.wmt",
            "reduction.wmt",
            "--dram-scheduler",
            "fcfs,fr-fcfs",
            "--jobs",
            jobs,
            "-o",
            output,
        ];
        bench.output(&arguments)
    };
    let printed = compare("1", "one");
    let one = contents(&bench.path("one"));
    let loads = one.keys().filter(|name| name.starts_with("loads/")).count();
    assert_eq!(loads, 6);
    for name in one.keys() {
        let table = name.split(['/', '.']).next().unwrap();
        assert!(warpmem_analysis::TABLES.contains(&table), "{name}");
    }
    for (jobs, output) in [("1", "again"), ("2", "two"), ("5", "five")] {
        assert_eq!(compare(jobs, output), printed);
        assert!(contents(&bench.path(output)) == one, "{jobs} threads");
    }
}

#[test]
fn one_run_is_the_same_on_any_number_of_threads() {
    let bench = Bench::with_trace();
    bench.generate("gather", &[("n", "2^11")], "gather.wmt");
    let run = |threads: &str, scheduler: &str, output: &str| {
        let machine =
            ["run", "gather.wmt", "--machine", "accelsim-qv100", "--dram-scheduler", scheduler];
        let rest = ["--all", "--intervals", "500", "--threads", threads, "-o", output];
        bench.output(&[&machine[..], &rest].concat())
    };
    for scheduler in ["fr-fcfs", "atlas"] {
        let name = |threads: &str| format!("{scheduler}-{threads}");
        let printed = run("1", scheduler, &name("1"));
        let one = contents(&bench.path(&name("1")));
        for threads in ["2", "7"] {
            assert_eq!(run(threads, scheduler, &name(threads)), printed);
            assert!(contents(&bench.path(&name(threads))) == one, "{threads} threads, {scheduler}");
        }
    }
}

#[test]
fn a_run_equals_its_cell_of_a_comparison() {
    let bench = Bench::with_trace();
    bench.output(&["run", "small.wmt", "--dram-scheduler", "fcfs", "-o", "run"]);
    bench.output(&["compare", "small.wmt", "--dram-scheduler", "fcfs", "-o", "compare"]);
    assert!(contents(&bench.path("run")) == contents(&bench.path("compare")));
}

#[test]
fn generation_is_repeatable() {
    let bench = Bench::new();
    for name in ["a.wmt", "b.wmt"] {
        bench.output(&["generate", "bfs", "--nodes", "2^8", "--seed", "7", "-o", name]);
    }
    bench.output(&["generate", "bfs", "--nodes", "2^8", "--seed", "8", "-o", "c.wmt"]);
    let [a, b, c] = ["a.wmt", "b.wmt", "c.wmt"].map(|name| fs::read(bench.path(name)).unwrap());
    assert!(a == b && a != c);
}
