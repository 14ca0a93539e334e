//! Machines on the command line: their times, and what two differ in.

use super::support::Bench;

const WARNING: &str =
    "warning: `clocks.dram_mhz` = 1000, but times of `dram.timing` are cycles of 850 MHz";

#[test]
fn times_in_ns_are_shown_with_their_cycles_and_read_again() {
    let bench = Bench::new();
    let set = ["--set", "dram.timing.trcd=13.75ns", "--set", "clocks.dram_mhz=1000"];
    let ran = bench.run(&[&["machine", "show", "v100"], &set[..]].concat());
    assert!(ran.stdout.contains("\ntrcd = \"13.75ns\" # 14 cycles of 1000 MHz\n"), "{ran:?}");
    assert!(ran.stdout.contains("\ntcl = 12 # given for 850 MHz\n"), "{ran:?}");
    assert!(ran.stderr.starts_with(WARNING), "{ran:?}");
    bench.write("mine.toml", &ran.stdout);
    let again = bench.output(&["machine", "show", "mine.toml", "--set", "clocks.dram_mhz=1200"]);
    assert!(again.contains("\ntrcd = \"13.75ns\" # 17 cycles of 1200 MHz\n"), "{again}");
}

#[test]
fn a_clock_without_its_times_is_warned_of_by_every_command_that_runs() {
    let bench = Bench::with_trace();
    bench.write(
        "plan.toml",
        "traces = [\"small.wmt\"]\nmachines = [\"v100\"]\n[parameters]\n\"clocks.dram_mhz\" = [850, 1000]\n",
    );
    let set = ["--machine", "v100", "--set", "clocks.dram_mhz=1000"];
    let with_set = |command: &[&'static str]| [command, &set].concat();
    for command in [
        with_set(&["run", "small.wmt"]),
        with_set(&["compare", "small.wmt"]),
        with_set(&["dram", "--stream", "random", "--requests", "100"]),
        vec!["sweep", "plan.toml", "-o", "swept"],
    ] {
        let ran = bench.run(&command);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert_eq!(ran.stderr.matches(WARNING).count(), 1, "{command:?}: {ran:?}");
    }
    let without = bench.run(&["run", "small.wmt", "--machine", "v100"]);
    assert!(!without.stderr.contains("warning"), "{without:?}");
}
