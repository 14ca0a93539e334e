//! Ctrl-C.
#![cfg(unix)]

use super::support::{Bench, Ran, names_in};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use warpmem_analysis::Results;

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    let mut command = bench.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn interrupt(child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

/// Waits until `holds` returns true, while the program runs.
fn wait_until(child: &mut Child, holds: impl Fn() -> bool) {
    while !holds() {
        assert_eq!(child.try_wait().unwrap(), None, "ended before it could be interrupted");
        sleep(Duration::from_millis(2));
    }
}

/// Returns whether this folder of the hidden directory of pending results contains a file.
fn waits_in(results: &Path, folder: &str) -> bool {
    let is_staging = |name: &String| name.starts_with(".partial-");
    results.is_dir()
        && names_in(results).into_iter().filter(is_staging).any(|staging| {
            let folder = results.join(staging).join(folder);
            folder.is_dir() && !names_in(&folder).is_empty()
        })
}

/// Makes a trace that keeps the engine busy for a long time.
fn long_trace(bench: &Bench) {
    bench.generate("pointer-chase", &[("hops", "2^17"), ("nodes", "2^14")], "long.wmt");
}

#[test]
fn a_comparison_keeps_its_finished_runs() {
    let bench = Bench::with_trace();
    long_trace(&bench);
    let arguments = ["compare", "small.wmt", "long.wmt", "--jobs", "1", "-o", "results"];
    let mut child = start(&bench, &arguments);
    let results = bench.path("results");
    wait_until(&mut child, || waits_in(&results, "loads"));
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(130), "{ran:?}");
    let message = "error: interrupted: 1 of 2 runs finished; their tables are in results";
    assert!(ran.stderr.contains(message), "{ran:?}");
    assert_eq!(ran.stdout, "");

    assert_eq!(names_in(&results.join("loads")).len(), 1);
    assert!(
        names_in(&results).iter().all(|name| !name.starts_with('.')),
        "{:?}",
        names_in(&results)
    );
    let runs = Results::open(&results).unwrap().runs().unwrap().collect().unwrap();
    assert_eq!(runs.height(), 1);
    let trace = runs.column("trace").unwrap().str().unwrap().get(0).map(str::to_owned);
    assert_eq!(trace.as_deref(), Some("small"));
}

#[test]
fn a_run_leaves_nothing_half_written() {
    let bench = Bench::new();
    long_trace(&bench);
    let mut child = start(&bench, &["run", "long.wmt", "-o", "results"]);
    let results = bench.path("results");
    // By the time the run has begun, the signal is handled.
    wait_until(&mut child, || waits_in(&results, "unfinished"));
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(130), "{ran:?}");
    assert!(ran.stderr.ends_with("\nerror: interrupted\n"), "{ran:?}");
    assert!(!results.exists(), "{:?}", names_in(&results));
}

#[test]
fn a_generator_leaves_no_trace() {
    let bench = Bench::new();
    let mut child = start(&bench, &["generate", "vecadd", "--n", "2^21", "-o", "t.wmt"]);
    wait_until(&mut child, || !bench.names().is_empty());
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(130), "{ran:?}");
    assert_eq!(bench.names(), [""; 0]);
}

/// Drawing the input alone takes a minute; the file of the trace exists before.
#[test]
fn generator_obeys_ctrl_c_while_drawing_its_input() {
    let bench = Bench::new();
    let mut child = start(&bench, &["generate", "bfs", "--nodes", "2^24", "-o", "t.wmt"]);
    wait_until(&mut child, || !bench.names().is_empty());
    let begun = Instant::now();
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(130), "{ran:?}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(bench.names(), [""; 0]);
}

/// One launch ends, another never does.
#[test]
fn interrupted_capture_keeps_finished_launches() {
    let bench = Bench::new();
    bench.write(
        "k.ptx",
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry ends()\n{\nret;\n}\n\
         .entry spins()\n{\nL:\nbra L;\n}\n",
    );
    let launch =
        |kernel: &str| format!("[[launches]]\nkernel = \"{kernel}\"\ngrid = 1\nblock = 32\n");
    bench.write("k.toml", format!("module = \"k.ptx\"\n{}{}", launch("ends"), launch("spins")));
    let mut child = start(&bench, &["capture", "--launch", "k.toml", "-o", "k.wmt"]);
    let begun = || bench.names().iter().any(|name| name.ends_with(".partial"));
    wait_until(&mut child, begun);
    // The first launch is one instruction.
    sleep(Duration::from_millis(500));
    // `timeout` signals a process and then its group.
    interrupt(&child);
    sleep(Duration::from_millis(5));
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(130), "{ran:?}");
    let message = "error: interrupted: the trace has the finished launches: 1";
    assert!(ran.stderr.contains(message), "{ran:?}");
    let info = bench.output(&["info", "k.wmt"]);
    assert!(info.contains("ends") && !info.contains("spins"), "{info}");
    assert_eq!(bench.names(), ["k.ptx", "k.toml", "k.wmt"]);
}

/// The module comes through a pipe, so that the program is reading it when the signal arrives.
#[test]
fn capture_obeys_ctrl_c_while_parsing() {
    let bench = Bench::new();
    let pipe = bench.path("k.ptx");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let launch = ["--kernel", "k", "--grid", "1", "--block", "32", "-o", "k.wmt"];
    let mut child = start(&bench, &[&["capture", "--ptx", "k.ptx"], &launch[..]].concat());
    let writer = File::options().write(true).open(&pipe).unwrap();
    interrupt(&child);
    // Without the first signal, the program reads until the pipe is closed, and fails.
    let deadline = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        sleep(Duration::from_millis(2));
    }
    drop(writer);
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(2), "{status:?}");
    assert_eq!(bench.names(), ["k.ptx"]);
}
