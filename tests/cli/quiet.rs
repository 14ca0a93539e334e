//! `--quiet`: standard error carries only failures.

use super::support::Bench;

#[test]
fn quiet_changes_no_output() {
    let bench = Bench::with_trace();
    let compare: &[&str] = &["compare", "small.wmt", "--dram-scheduler", "fcfs,fr-fcfs"];
    for command in [compare, &["run", "small.wmt"], &["man", "-o", "pages"]] {
        let told = bench.run(command);
        let quiet = bench.run(&[command, &["--quiet"]].concat());
        assert_eq!((told.status, quiet.status), (Some(0), Some(0)));
        assert!(!told.stderr.is_empty(), "{command:?} has a summary");
        assert_eq!((quiet.stdout, quiet.stderr), (told.stdout, String::new()), "{command:?}");
    }
    let before = bench.run(&["-q", "run", "small.wmt"]);
    assert_eq!(before.stderr, "", "also before the command");
}

#[test]
fn quiet_keeps_warnings_and_errors() {
    let bench = Bench::with_trace();
    let stderr = |arguments: &[&str]| bench.run(&[arguments, &["--quiet"]].concat()).stderr;
    assert!(stderr(&["run", "absent.wmt"]).starts_with("error: "));
    let clock = stderr(&[
        "run",
        "small.wmt",
        "--machine",
        "accelsim-qv100",
        "--set",
        "clocks.dram_mhz=1000",
    ]);
    assert!(clock.starts_with("warning: `clocks.dram_mhz`"), "{clock}");
    bench.write(
        "plan.toml",
        "traces = [\"small.wmt\"]\nmachines = [\"accelsim-qv100\"]\nskip_unfit = true\n[parameters]\n\"sm.count\" = [2, 80]\n\"sm.max_ctas\" = [1, 0]\n",
    );
    let sweep = stderr(&["sweep", "plan.toml", "-o", "results"]);
    assert!(sweep.starts_with("left out: small on accelsim-qv100"), "{sweep}");
    assert_eq!(sweep.lines().count(), 1, "{sweep}");
}
