//! Outputs that cannot be written, and readers that close the pipe.

use super::support::{Bench, Ran, names_in};
use std::fs::File;
use std::io;

#[test]
fn missing_folders_and_files_as_folders_are_refused() {
    let bench = Bench::with_trace();
    let generate = |output| bench.refusal(&["generate", "vecadd", "--n", "64", "-o", output]);
    assert!(generate("none/t.wmt").contains("none/t.wmt"));
    assert!(generate("small.wmt/t.wmt").contains("Not a directory"));
    let arguments = ["run", "small.wmt", "-o", "small.wmt/results"];
    bench.refuses(&arguments, &["failed to create directory small.wmt/results", "Not a directory"]);
    assert_eq!(bench.names(), ["small.wmt"]);
}

#[test]
fn a_directory_that_holds_results_already() {
    let bench = Bench::with_trace();
    bench.output(&["run", "small.wmt", "-o", "results"]);
    let before = names_in(&bench.path("results"));
    bench.refuses(&["run", "small.wmt", "-o", "results"], &["results already holds results"]);
    assert_eq!(names_in(&bench.path("results")), before);
}

#[test]
fn closed_pipe_is_no_error() {
    let bench = Bench::with_trace();
    for arguments in [&["list"][..], &["info", "small.wmt"], &["run", "small.wmt"]] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let ran = Ran::from(bench.command(arguments).stdout(writer).output().unwrap());
        assert_eq!(ran.status, Some(0), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    }
}

#[test]
fn a_closed_standard_error_is_no_error() {
    let bench = Bench::with_trace();
    for (arguments, status) in [(["run", "small.wmt"], 0), (["run", "none.wmt"], 2)] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let ran = Ran::from(bench.command(&arguments).stderr(writer).output().unwrap());
        assert_eq!(ran.status, Some(status), "{ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output() {
    let bench = Bench::with_trace();
    for arguments in [&["list"][..], &["run", "small.wmt", "--format", "json"]] {
        let full = File::create("/dev/full").unwrap();
        let ran = Ran::from(bench.command(arguments).stdout(full).output().unwrap());
        assert_eq!(ran.status, Some(2), "{ran:?}");
        let message =
            "error: failed to write to standard output\n  caused by: No space left on device";
        assert!(ran.stderr.contains(message), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_before_the_end() {
    let bench = Bench::with_trace();
    let generate = ["generate", "bfs", "--nodes", "2^12", "-o", "t.wmt"];
    let run = ["run", "small.wmt", "-o", "results"];
    let compare = ["compare", "small.wmt", "-o", "results", "--dram-scheduler", "fcfs,fr-fcfs"];
    for arguments in [&generate[..], &run, &compare] {
        let ran = bench.run_with_small_files(arguments);
        assert_eq!(ran.status, Some(2), "{arguments:?}: {ran:?}");
        assert!(
            ran.stderr.contains("caused by: ") && ran.stderr.contains("File too large"),
            "{ran:?}"
        );
        assert_eq!(ran.stdout, "");
        assert!(!bench.path("t.wmt").exists());
        let results = bench.path("results");
        assert!(!results.exists() || names_in(&results).is_empty(), "{:?}", names_in(&results));
    }
}
