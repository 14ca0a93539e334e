//! Sweeps: plans, repeated cells, and results kept after an interruption.

use super::support::{Bench, Ran, names_in};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use warpmem_analysis::Results;

const PLAN: &str = r#"
traces = ["*.wmt"]
machines = ["li2015"]
loads = true
[policies]
dram_scheduler = ["fcfs", "fr-fcfs"]
warp_scheduler = ["lrr", "gto"]
"#;

/// Makes a directory with two small traces and a plan of eight cells for them.
pub fn bench() -> Bench {
    let bench = Bench::with_trace();
    bench.generate("gather", &[("n", "2^9")], "gather.wmt");
    bench.write("plan.toml", PLAN);
    bench
}

/// Returns every file of the results under a folder, with its content.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for name in names_in(&at) {
            let path = at.join(name);
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_owned();
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    files
}

#[test]
fn its_tables_are_those_of_a_comparison() {
    let bench = bench();
    let table = bench.output(&["sweep", "plan.toml", "-o", "swept", "--jobs", "2"]);
    let compared = bench.output(&[
        "compare",
        "gather.wmt",
        "small.wmt",
        "-o",
        "compared",
        "--no-bound",
        "--machine",
        "li2015",
        "--dram-scheduler",
        "fcfs,fr-fcfs",
        "--warp-scheduler",
        "lrr,gto",
    ]);
    assert_eq!(table, compared);
    let compared = files(&bench.path("compared"));
    assert!(tables(&bench, "swept") == compared);
}

/// Returns the files of a finished sweep that other results have too.
pub fn tables(bench: &Bench, directory: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut tables = files(&bench.path(directory));
    tables.retain(|path, _| !path.starts_with("cells") && !path.starts_with(".lock"));
    tables
}

fn sweep(bench: &Bench, options: &[&str]) -> Ran {
    bench.run(&[&["sweep", "plan.toml", "-o", "results"], options].concat())
}

/// Returns the runs of a directory, without its other files.
pub fn run_ids(bench: &Bench, directory: &str) -> Vec<String> {
    let runs = Results::open(bench.path(directory)).unwrap().runs().unwrap().collect().unwrap();
    let ids = runs.column("run_id").unwrap().str().unwrap();
    ids.iter().map(|id| id.unwrap().to_owned()).collect()
}

#[test]
fn a_repeated_sweep_runs_nothing() {
    let bench = bench();
    let first = sweep(&bench, &[]);
    assert_eq!(first.status, Some(0), "{first:?}");
    assert!(first.stderr.starts_with("8 runs in "), "{first:?}");
    let before = files(&bench.path("results"));
    let again = sweep(&bench, &["--jobs", "1"]);
    assert!(again.stderr.contains("; 8 of 8 cells already existed"), "{again:?}");
    assert!(again.stderr.starts_with("0 runs in "), "{again:?}");
    assert_eq!(again.stdout, first.stdout);
    assert!(files(&bench.path("results")) == before);
}

#[test]
fn shards_partition_the_cells() {
    let bench = bench();
    sweep(&bench, &[]);
    let whole: BTreeSet<String> = run_ids(&bench, "results").into_iter().collect();
    let mut parts = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let output = shard.replace('/', "-of-");
        let arguments = ["sweep", "plan.toml", "--shard", shard, "-o", &output];
        let ran = bench.run(&arguments);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        parts.extend(run_ids(&bench, &output));
    }
    assert_eq!(parts.len(), 8);
    assert_eq!(parts.into_iter().collect::<BTreeSet<String>>(), whole);
    // Cells of several directories, moved into one, form a finished sweep.
    bench.output(&["sweep", "plan.toml", "--shard", "1/3", "-o", "joined"]);
    for shard in ["2-of-3", "3-of-3"] {
        for stream in names_in(&bench.path(shard).join("loads")) {
            let run_id = stream.trim_end_matches(".parquet");
            let from = bench.path(shard);
            let cell = bench.path("joined").join("cells").join(run_id);
            fs::rename(from.join("cells").join(run_id), &cell).unwrap();
            fs::rename(from.join("loads").join(&stream), cell.join("loads.parquet")).unwrap();
        }
    }
    let joined = bench.run(&["sweep", "plan.toml", "-o", "joined"]);
    assert!(joined.stderr.contains("; 8 of 8 cells already existed"), "{joined:?}");
    assert!(tables(&bench, "joined") == tables(&bench, "results"));
}

#[test]
fn a_dry_run_lists_the_cells_and_runs_none() {
    let bench = bench();
    sweep(&bench, &["--shard", "1/4"]);
    let listed =
        bench.run(&["sweep", "plan.toml", "-o", "results", "--dry-run", "--format", "csv"]);
    assert_eq!(listed.status, Some(0), "{listed:?}");
    assert!(listed.stderr.starts_with("8 cells, "), "{listed:?}");
    assert!(listed.stderr.contains("; 2 cells already exist"), "{listed:?}");
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!(lines.len(), 9);
    assert!(
        lines[0].starts_with("run_id,trace,machine,overrides,variant,case,dram_scheduler,"),
        "{lines:?}"
    );
    assert_eq!(lines.iter().filter(|line| line.contains(",true,warpmem run ")).count(), 2);
    assert_eq!(run_ids(&bench, "results").len(), 2);
    let table = bench.output(&["sweep", "plan.toml", "-o", "elsewhere", "--dry-run"]);
    assert!(table.contains("missing  gather on li2015 with fcfs, gto"), "{table}");
    assert!(!bench.path("elsewhere").exists());
}

#[test]
fn changed_plan_drops_cells_of_the_old_one() {
    let bench = bench();
    sweep(&bench, &[]);
    let first = tables(&bench, "results");
    bench.write("plan.toml", PLAN.replace(r#""fcfs", "#, r#""banked-fifo", "#));
    let changed = sweep(&bench, &[]);
    assert!(changed.stderr.contains("note: 4 runs in results are not in this plan"), "{changed:?}");
    assert!(
        changed.stderr.contains("4 runs in ")
            && changed.stderr.contains("; 4 of 8 cells already existed")
    );
    assert_eq!(run_ids(&bench, "results").len(), 8);
    assert_eq!(names_in(&bench.path("results/loads")).len(), 8);
    bench.write("plan.toml", PLAN);
    let back = sweep(&bench, &["--prune"]);
    assert!(back.stderr.contains("removed 4 runs that are not in this plan"), "{back:?}");
    assert!(back.stderr.contains("; 8 of 8 cells already existed"), "{back:?}");
    assert!(tables(&bench, "results") == first);
    assert_eq!(names_in(&bench.path("results/cells")).len(), 8);
}

#[test]
fn cells_without_requested_recordings_are_rerun() {
    let bench = bench();
    bench.write("plan.toml", PLAN.replace("loads = true", ""));
    sweep(&bench, &[]);
    assert!(!bench.path("results/loads").exists());
    bench.write("plan.toml", PLAN);
    let ran = sweep(&bench, &[]);
    assert!(ran.stderr.starts_with("8 runs in "), "{ran:?}");
    assert_eq!(names_in(&bench.path("results/loads")).len(), 8);
    bench.write("plan.toml", PLAN.replace("loads = true", ""));
    let ran = sweep(&bench, &[]);
    assert!(ran.stderr.starts_with("0 runs in "), "{ran:?}");
    assert!(!bench.path("results/loads").exists(), "nobody asked for them");
}

#[test]
fn run_with_a_missing_file_is_rerun() {
    let bench = bench();
    sweep(&bench, &[]);
    let whole = tables(&bench, "results");
    let results = bench.path("results");
    let run_ids = run_ids(&bench, "results");
    fs::remove_file(results.join("loads").join(format!("{}.parquet", run_ids[0]))).unwrap();
    fs::remove_file(results.join("cells").join(&run_ids[1]).join("runs.parquet")).unwrap();
    let listed = sweep(&bench, &["--dry-run"]);
    assert!(listed.stderr.contains("; 6 cells already exist"), "{listed:?}");
    let ran = sweep(&bench, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("2 runs in ") && ran.stderr.contains("; 6 of 8 cells"), "{ran:?}");
    assert!(tables(&bench, "results") == whole);
}

#[test]
fn trace_listed_twice_runs_once() {
    let bench = bench();
    bench
        .write("plan.toml", PLAN.replace("\"*.wmt\"", "\"small.wmt\", \"*.wmt\", \"./small.wmt\""));
    let listed = bench.run(&["sweep", "plan.toml", "--dry-run"]);
    assert!(listed.stderr.starts_with("8 cells, "), "{listed:?}");
    assert!(listed.stdout.contains("missing  small on li2015 with fcfs, lrr"), "{listed:?}");
}

#[test]
fn failed_cell_stops_no_other_and_is_retried() {
    let bench = bench();
    let whole = fs::read(bench.path("small.wmt")).unwrap();
    let mut damaged = whole.clone();
    damaged[100] ^= 0xff;
    bench.write("small.wmt", damaged);
    let ran = sweep(&bench, &["--jobs", "1"]);
    assert_ne!(ran.status, Some(0), "{ran:?}");
    assert_eq!(ran.stderr.matches("failed: small on li2015 with ").count(), 4, "{ran:?}");
    assert!(
        ran.stderr.contains("error: 4 of 8 cells failed; 4 of 8 cells are in results"),
        "{ran:?}"
    );
    assert_eq!(run_ids(&bench, "results").len(), 4);
    bench.write("small.wmt", whole);
    let ran = sweep(&bench, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("; 4 of 8 cells already existed"), "{ran:?}");
}

#[test]
fn only_the_first_of_many_reasons_are_named() {
    let bench = bench();
    let parameters = "[parameters]\n'dram.read_quue' = { from = 1, to = 12, step = 1 }";
    bench.write("plan.toml", format!("{PLAN}{parameters}"));
    let message = bench.refusal(&["sweep", "plan.toml", "--dry-run"]);
    assert!(message.contains("96 of 96 cells cannot run; nothing was started"), "{message}");
    assert!(message.contains("did you mean `dram.read_queue`?"), "{message}");
    assert!(message.contains("and 2 more reasons"), "{message}");
    assert!(message.lines().count() < 15, "{message}");
}

#[test]
fn invalid_cells_are_refused_together_or_skipped() {
    let bench = bench();
    let plan = PLAN.replace(
        "[policies]",
        "[policies]\ntopology = ['crossbar', 'ring']\nl2_queue = ['fifo', 'calrs']",
    );
    bench.write("plan.toml", &plan);
    let message = bench.refusal(&["sweep", "plan.toml", "-o", "results"]);
    for part in
        ["of 32 cells cannot run; nothing was started", "virtual_channels", "skip_unfit = true"]
    {
        assert!(message.contains(part), "{message}");
    }
    assert!(!bench.path("results").exists());
    bench.write("plan.toml", format!("skip_unfit = true\n{plan}"));
    let ran = sweep(&bench, &["--dry-run"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("left out: gather on li2015 with "), "{ran:?}");
}

/// The working directory makes no difference, and an unreadable file is an error even where unfit
/// cells are skipped.
#[test]
fn standards_are_named_from_the_folder_of_the_plan() {
    let bench = bench();
    fs::create_dir(bench.path("sub")).unwrap();
    bench.write("sub/own.toml", "name = 'own'\nsummary = ''\nsource = ''\nbase = 'gddr5'\n");
    bench.write("sub/mine.toml", "base = 'li2015'\n[dram]\nstandard = 'own.toml'");
    let plan = "skip_unfit = true
        traces = ['../small.wmt']
        machines = ['mine.toml', 'li2015']
        [parameters]
        'dram.standard' = ['own.toml', 'gddr5']";
    bench.write("sub/plan.toml", plan);
    let arguments = |plan| ["sweep", plan, "-o", "results", "--dry-run"];
    let from_above = bench.run(&arguments("sub/plan.toml"));
    assert_eq!(from_above.status, Some(0), "{from_above:?}");
    assert!(from_above.stderr.starts_with("4 cells, "), "{from_above:?}");
    let mut command = bench.command(&arguments("plan.toml"));
    let beside = Ran::from(command.current_dir(bench.path("sub")).output().unwrap());
    assert_eq!(beside.stdout, from_above.stdout);
    bench.write("sub/plan.toml", plan.replace("own.toml', 'g", "gone.toml', 'g"));
    bench.refuses(&arguments("sub/plan.toml"), &["failed to read standard sub/gone.toml"]);
    bench.write("sub/plan.toml", plan.replace("own.toml', 'g", "gddr55', 'g"));
    bench.refuses(&arguments("sub/plan.toml"), &["`dram.standard` = \"gddr55\" is not valid"]);
}

#[test]
fn mistakes_in_a_plan_are_refused_with_their_location() {
    let bench = bench();
    let refuses = |plan: &str, parts: &[&str]| {
        bench.write("plan.toml", plan);
        bench.refuses(&["sweep", "plan.toml", "-o", "results"], parts);
        assert!(!bench.path("results").exists(), "{plan}");
    };
    refuses("traces = ['*.wmt']\n[policy]", &["plan.toml:2: ", "did you mean `policies`?"]);
    refuses("traces = ['none-*.wmt']", &["no file matches `none-*.wmt`"]);
    refuses("traces = ['none.wmt']", &["none.wmt"]);
    refuses("traces = ['*.wmt']\nmachines = ['li2051']", &["unknown machine `li2051`", "li2015"]);
    refuses(
        "traces = ['*.wmt']\n[policies]\ndram-schedular = ['fcfs']",
        &["there is no slot `dram-schedular` (did you mean `dram_scheduler`?)"],
    );
    refuses(
        "skip_unfit = true\ntraces = ['*.wmt']\n[policies]\ndram_scheduler = ['fcsf', 'fr-fcfs']",
        &["2 of 4 cells cannot run", "unknown dram_scheduler `fcsf` (did you mean `fcfs`?)"],
    );
    refuses(
        "traces = ['*.wmt']\n[policies]\ndram_scheduler = 'fr-fcfs'\ndram-scheduler = 'fcfs'",
        &["[policies]: `dram-scheduler` and `dram_scheduler` are the same slot: give one of them"],
    );
    refuses(
        "traces = ['*.wmt']\n[[cases]]\nname = 'x'\n\
         policies = { l2_queue = 'fifo', l2-queue = 'calrs' }",
        &["case `x`", "`l2-queue` and `l2_queue` are the same slot: give one of them"],
    );
    refuses(
        "traces = ['*.wmt']\n[parameters]\n'dram.read_quue' = [1, 2]",
        &["unknown key `dram.read_quue` (did you mean `dram.read_queue`?)"],
    );
    refuses(
        "traces = ['*.wmt']\nbaseline = 'fcsf'\n[policies]\ndram_scheduler = 'all'",
        &["the baseline `fcsf` is not among", "did you mean `fcfs`?"],
    );
    refuses(
        "traces = ['*.wmt']\nbaseline = 'dram.read_queue=17'\n[parameters]\n'dram.read_queue' = [16, 32]",
        &["the baseline `dram.read_queue=17` is not among the overrides"],
    );
    bench.refuses(&["sweep", "none.toml"], &["failed to read plan none.toml"]);
}

#[test]
fn parameters_compare_with_the_first_value_and_cases_with_the_named_one() {
    let bench = bench();
    let parameters = "[parameters]\n'dram.read_queue' = [8, 64]";
    bench.write("plan.toml", format!("traces = ['small.wmt']\n{parameters}"));
    let table = sweep(&bench, &[]).stdout;
    assert!(table.contains("IPC ratio: against dram.read_queue=8 on the same trace"), "{table}");
    bench.write(
        "plan.toml",
        format!("traces = ['small.wmt']\nbaseline = 'dram.read_queue=64'\n{parameters}"),
    );
    let table = sweep(&bench, &[]).stdout;
    assert!(table.contains("IPC ratio: against dram.read_queue=64 on the same trace"), "{table}");
    let cases = "traces = ['small.wmt']
        baseline = 'plain'
        [[cases]]
        name = 'plain'
        [[cases]]
        name = 'both'
        policies = { dram_scheduler = 'fcfs', warp_scheduler = 'gto' }
        parameters = { 'dram.read_queue' = 8 }";
    bench.write("plan.toml", cases);
    let ran = sweep(&bench, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("dram.read_queue=8"), "{ran:?}");
    assert!(ran.stdout.contains("IPC ratio: against fr-fcfs/"), "{ran:?}");
}

#[test]
fn suites_are_generated_where_they_are_missing() {
    let bench = Bench::new();
    bench.write(
        "suite.toml",
        "name = 'mine'
        [[workload]]
        name = 'walk'
        kernel = 'pointer-chase'
        parameters = { hops = 8, nodes = '2^4' }
        [[workload]]
        name = 'sum'
        kernel = 'vecadd'
        parameters = { n = '2^9' }",
    );
    let plan = |workloads: &str| {
        bench.write(
            "plan.toml",
            format!("suites = [{{ from = 'suite.toml', workloads = {workloads} }}]"),
        );
    };
    plan("['sum']");
    let ran = sweep(&bench, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("1 workload") && ran.stderr.contains("results/traces"), "{ran:?}");
    let trace = bench.path("results/traces/mine/sum.wmt");
    let made = fs::metadata(&trace).unwrap().modified().unwrap();
    plan("['walk', 'sum']");
    let ran = sweep(&bench, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(fs::metadata(&trace).unwrap().modified().unwrap(), made);
    assert!(ran.stderr.contains("; 1 of 2 cells already existed"), "{ran:?}");
    plan("['walk']");
    let ran = sweep(&bench, &["--cache", "cache"]);
    assert!(ran.stderr.contains("; 1 of 1 cells already existed"), "{ran:?}");
    assert!(bench.path("cache/mine/walk.wmt").exists());
}

#[test]
fn results_directory_has_one_writer() {
    let bench = bench();
    fs::create_dir(bench.path("results")).unwrap();
    let lock = fs::File::create(bench.path("results/.lock")).unwrap();
    lock.lock().unwrap();
    let arguments = ["sweep", "plan.toml", "-o", "results"];
    bench.refuses(&arguments, &["results is being written by another process"]);
    let run = ["run", "small.wmt", "-o", "results"];
    bench.refuses(&run, &["results is being written by another process"]);
    drop(lock);
    bench.output(&["compare", "small.wmt", "-o", "compared"]);
    bench.refuses(&["sweep", "plan.toml", "-o", "compared"], &["compared already holds results"]);
    bench.output(&arguments);
    bench.refuses(&["compare", "small.wmt", "-o", "results"], &["results already holds results"]);
}
