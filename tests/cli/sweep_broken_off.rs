//! Sweeps that are killed, interrupted or out of space, and then resumed.
#![cfg(unix)]

use super::support::{Bench, Ran, names_in};
use super::sweep::{bench, files, run_ids, tables};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use warpmem_analysis::Results;
use warpmem_analysis::polars::prelude::{LazyFrame, col};
use warpmem_testing::is_long;

const ARGUMENTS: [&str; 6] = ["sweep", "plan.toml", "-o", "results", "--jobs", "2"];

/// Twenty-four cells, so that some remain whenever the sweep is killed.
const PLAN: &str = r#"
traces = ["*.wmt"]
machines = ["li2015"]
loads = true
[policies]
dram_scheduler = ["fcfs", "fr-fcfs", "banked-fifo"]
warp_scheduler = ["lrr", "gto"]
[parameters]
"dram.read_queue" = [16, 64]
"#;

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    bench.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the names and inodes of the finished cells.
fn cells(results: &Path) -> BTreeMap<String, u64> {
    let cells = results.join("cells");
    if !cells.is_dir() {
        return BTreeMap::new();
    }
    let inode = |name: String| {
        let inode = fs::metadata(cells.join(&name).join("runs.parquet")).unwrap().ino();
        (name, inode)
    };
    names_in(&cells).into_iter().map(inode).collect()
}

/// A sweep killed at any moment and restarted leaves the tables of an undisturbed sweep, and
/// repeats no finished cell.
#[test]
fn sweep_survives_kills_at_many_moments() {
    let bench = bench();
    bench.write("plan.toml", PLAN);
    bench.output(&["sweep", "plan.toml", "-o", "undisturbed"]);
    let results = bench.path("results");
    let mut finished = BTreeMap::new();
    let moments = if is_long() { 20u64 } else { 8 };
    for moment in 0..moments {
        let mut child = start(&bench, &ARGUMENTS);
        // After this many more cells, possibly all that remain, and a short delay.
        let awaited = finished.len() + (moment % 3) as usize;
        while cells(&results).len() < awaited && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(moment * 37 % 50));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = cells(&results);
        for (run_id, inode) in &finished {
            assert_eq!(now.get(run_id), Some(inode), "run {run_id} was made again");
        }
        finished = now;
    }
    let ran = bench.run(&ARGUMENTS);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let before = format!("; {} of 24 cells already existed", finished.len());
    assert!(finished.is_empty() || ran.stderr.contains(&before), "{ran:?}");
    let whole = files(&results);
    let undisturbed = files(&bench.path("undisturbed"));
    assert_eq!(whole.keys().collect::<Vec<_>>(), undisturbed.keys().collect::<Vec<_>>());
    for (path, content) in whole {
        assert!(undisturbed[&path] == content, "{} is another", path.display());
    }
}

/// Each run is repeated with its loads, and killed in between: every readable run has its loads,
/// and no finished run is lost.
#[test]
fn kill_after_a_changed_plan_leaves_no_mixture() {
    let bench = bench();
    let without = PLAN.replace("loads = true", "");
    bench.write("plan.toml", &without);
    bench.output(&ARGUMENTS);
    let results = bench.path("results");
    let moments = if is_long() { 8u64 } else { 4 };
    for moment in 0..moments {
        bench.write("plan.toml", PLAN);
        let mut child = start(&bench, &ARGUMENTS);
        let has_loads =
            |run_id: &&String| results.join("cells").join(run_id).join("loads.parquet").exists();
        let made = || names_in(&results.join("cells")).iter().filter(has_loads).count() as u64;
        while made() <= moment && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(moment * 37 % 60));
        child.kill().unwrap();
        child.wait().unwrap();
        let read = Results::open(&results).unwrap();
        let runs_of = |table: &str| match read.has(table).unwrap() {
            true => run_ids_of(read.table(table).unwrap()),
            false => BTreeSet::new(),
        };
        assert_eq!(runs_of("runs"), runs_of("loads"));
        bench.write("plan.toml", &without);
        let listed = bench.run(&[&ARGUMENTS[..], &["--dry-run"]].concat());
        assert!(listed.stderr.contains("; 24 cells already exist"), "{listed:?}");
    }
    let ran = bench.run(&ARGUMENTS);
    assert!(ran.stderr.contains("; 24 of 24 cells already existed"), "{ran:?}");
    assert!(!results.join("superseded").exists());
}

fn run_ids_of(table: LazyFrame) -> BTreeSet<String> {
    let table = table.select([col("run_id")]).collect().unwrap();
    let ids = table.column("run_id").unwrap().str().unwrap();
    ids.iter().map(|id| id.unwrap().to_owned()).collect()
}

/// Starts a sweep, waits for three of its cells, and lets `disturb` change the results directory.
fn disturbed(disturb: impl Fn(&Path)) -> (Bench, Ran) {
    let bench = bench();
    bench.write("plan.toml", PLAN);
    let mut command = bench.command(&ARGUMENTS);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let results = bench.path("results");
    while cells(&results).len() < 3 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be disturbed");
        sleep(Duration::from_millis(1));
    }
    disturb(&results);
    let ran = Ran::from(child.wait_with_output().unwrap());
    (bench, ran)
}

/// Checks that tables that lack runs are marked.
fn assert_nothing_looks_whole(bench: &Bench) {
    let exists = |name: &str| bench.path("results").join(name).exists();
    assert!(!exists("runs.parquet") || exists("incomplete"));
}

#[test]
fn vanished_or_replaced_directory_ends_the_sweep() {
    for is_replaced in [false, true] {
        let (bench, ran) = disturbed(|results| {
            fs::rename(results, results.with_file_name("away")).unwrap();
            if is_replaced {
                fs::create_dir(results).unwrap();
            }
        });
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("results was removed or replaced"), "{ran:?}");
        assert_nothing_looks_whole(&bench);
        assert!(!bench.path("away/runs.parquet").exists());
        assert!(!is_replaced || names_in(&bench.path("results")).is_empty());
    }
}

#[test]
fn a_sweep_whose_cells_are_removed_fails_and_marks_its_tables() {
    let (bench, ran) = disturbed(|results| {
        let first = names_in(&results.join("cells")).remove(0);
        fs::remove_dir_all(results.join("cells").join(first)).unwrap();
        fs::remove_file(results.join("unfinished")).unwrap();
    });
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("results has 23 of 24 cells, although all have run"), "{ran:?}");
    assert_nothing_looks_whole(&bench);
    assert!(bench.path("results/incomplete").exists());
    assert_eq!(bench.run(&ARGUMENTS).status, Some(0), "it goes on");
}

/// Makes a directory with `results` that contain the cells of a shard.
fn with_a_shard() -> Bench {
    let bench = bench();
    bench.output(&["sweep", "plan.toml", "-o", "undisturbed"]);
    bench.output(&["sweep", "plan.toml", "-o", "results", "--shard", "1/2"]);
    bench
}

#[test]
fn finished_cells_survive_a_full_disk() {
    let bench = with_a_shard();
    let before = run_ids(&bench, "results");
    let ran = bench.run_with_small_files(&ARGUMENTS);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    let kept = format!("{} of 8 cells are kept; run it again to resume", before.len());
    for part in [&kept, "caused by: failed to write ", "/results/", "File too large"] {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
    assert_eq!(run_ids(&bench, "results"), before, "from the cells");
    let ran = bench.run(&ARGUMENTS);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains(&format!("; {} of 8 cells already existed", before.len())));
    assert!(tables(&bench, "results") == tables(&bench, "undisturbed"));
}

/// File names are relative to the plan's folder; they distinguish two traces of the same name.
#[test]
fn resumed_from_another_folder_sweep_ends_the_same() {
    let bench = bench();
    let elsewhere = bench.path("sub/elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir(bench.path("more")).unwrap();
    bench.generate("vecadd", &[("n", "2^8")], "more/small.wmt");
    fs::write(bench.path("sub/mine.toml"), "base = \"li2015\"\nname = \"mine\"\n").unwrap();
    let plan = PLAN.replace("\"*.wmt\"", "\"../small.wmt\", \"../more/small.wmt\"");
    fs::write(bench.path("sub/plan.toml"), plan.replace("li2015", "mine.toml")).unwrap();
    bench.output(&["sweep", "sub/plan.toml", "-o", "undisturbed"]);
    bench.output(&["sweep", "sub/plan.toml", "-o", "results", "--shard", "1/2"]);
    let mut command = bench.command(&["sweep", "../plan.toml", "-o", "../../results"]);
    let ran = Ran::from(command.current_dir(&elsewhere).output().unwrap());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("; 12 of 24 cells already existed"), "{ran:?}");
    assert!(tables(&bench, "results") == tables(&bench, "undisturbed"));
}

#[test]
fn resumed_after_files_moved_sweep_names_new_paths() {
    let bench = with_a_shard();
    fs::create_dir(bench.path("moved")).unwrap();
    for name in ["small.wmt", "gather.wmt"] {
        fs::rename(bench.path(name), bench.path("moved").join(name)).unwrap();
    }
    let plan = fs::read_to_string(bench.path("plan.toml")).unwrap();
    bench.write("plan.toml", plan.replace("*.wmt", "moved/*.wmt"));
    bench.output(&["sweep", "plan.toml", "-o", "undisturbed-there"]);
    let before = run_ids(&bench, "results").len();
    let ran = bench.run(&ARGUMENTS);
    assert!(ran.stderr.contains(&format!("; {before} of 8 cells already existed")), "{ran:?}");
    assert!(tables(&bench, "results") == tables(&bench, "undisturbed-there"));
    assert!(tables(&bench, "results") != tables(&bench, "undisturbed"));
}

#[test]
fn ctrl_c_keeps_finished_cells_and_explains_resuming() {
    let bench = with_a_shard();
    // The trace keeps the engine busy until the interrupt.
    bench.generate("pointer-chase", &[("hops", "2^17"), ("nodes", "2^14")], "long.wmt");
    let mut command = bench.command(&ARGUMENTS);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let results = bench.path("results");
    let is_running = || {
        let partial = names_in(&results).into_iter().find(|name| name.starts_with(".partial-"));
        partial.is_some_and(|partial| !names_in(&results.join(partial)).is_empty())
    };
    while !is_running() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be interrupted");
        sleep(Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(130), "{ran:?}");
    let finished = run_ids(&bench, "results").len();
    let message =
        format!("interrupted: {finished} of 12 cells are in results; run it again to resume");
    assert!(ran.stderr.contains(&message), "{ran:?}");
    assert!(results.join("incomplete").exists() && !results.join("unfinished").exists());
    assert_eq!(names_in(&results.join("loads")).len(), finished);
    assert_eq!(ran.stdout, "");
}
