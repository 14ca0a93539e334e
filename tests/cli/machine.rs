//! Machines on the command line: timings, and differences between two machines.

use super::support::{Bench, Ran};
use serde_json::Value;

const WARNING: &str =
    "warning: `clocks.dram_mhz` = 1000, but times of `dram.timing` are cycles of 850 MHz";

#[test]
fn times_in_ns_are_shown_with_their_cycles_and_read_again() {
    let bench = Bench::new();
    let set = ["--set", "dram.timing.trcd=13.75ns", "--set", "clocks.dram_mhz=1000"];
    let ran = bench.run(&[&["machine", "show", "accelsim-qv100"], &set[..]].concat());
    assert!(ran.stdout.contains("\ntrcd = \"13.75ns\" # 14 cycles of 1000 MHz\n"), "{ran:?}");
    assert!(ran.stdout.contains("\ntcl = 12 # given for 850 MHz\n"), "{ran:?}");
    assert!(ran.stderr.starts_with(WARNING), "{ran:?}");
    bench.write("mine.toml", &ran.stdout);
    let again = bench.output(&["machine", "show", "mine.toml", "--set", "clocks.dram_mhz=1200"]);
    assert!(again.contains("\ntrcd = \"13.75ns\" # 17 cycles of 1200 MHz\n"), "{again}");
}

#[test]
fn every_running_command_warns_of_a_clock_without_timings() {
    let bench = Bench::with_trace();
    bench.write(
        "plan.toml",
        "traces = [\"small.wmt\"]\nmachines = [\"accelsim-qv100\"]\n[parameters]\n\"clocks.dram_mhz\" = [850, 1000]\n",
    );
    let set = ["--machine", "accelsim-qv100", "--set", "clocks.dram_mhz=1000"];
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
    let without = bench.run(&["run", "small.wmt", "--machine", "accelsim-qv100"]);
    assert!(!without.stderr.contains("warning"), "{without:?}");
}

/// Options of a small machine; omitted ones have the simulator's defaults.
const CONFIGURATION: &str = "\
-gpgpu_n_clusters 2
-gpgpu_n_cores_per_cluster 2
-gpgpu_n_mem 2
-gpgpu_clock_domains 1000.0:1000.0:1000.0:1000.0
-gpgpu_num_sched_per_core 2
-gpgpu_num_reg_banks 4
-gpgpu_shader_registers 65536
-gpgpu_cache:dl1 S:4:128:16,L:L:s:N:L,A:64:8,16:0,32
-gpgpu_cache:dl2 S:64:128:16,L:B:m:L:P,A:192:4,32:0,32
-gpgpu_dram_buswidth 2
-gpgpu_dram_burst_length 16
-dram_data_command_freq_ratio 4
-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS
-gpgpu_dram_timing_opt nbk=16:CCD=4:RRD=10:RCD=20:RAS=50:RP=20:RC=62:CL=20:WL=8:CDLR=9:WR=20:nbkgrp=4:CCDL=4:RTPL=4
-gpgpu_kernel_launch_latency 5000
";

#[test]
fn gpgpu_sim_configuration_runs_as_its_converted_file() {
    let bench = Bench::with_trace();
    bench.write("gpgpusim.config", CONFIGURATION);
    bench.write("mine.toml", bench.output(&["machine", "show", "gpgpusim.config"]));
    let run =
        |machine: &str| bench.run(&["run", "small.wmt", "--machine", machine, "--format", "json"]);
    let (direct, made) = (run("gpgpusim.config"), run("mine.toml"));
    assert_eq!((direct.status, made.status), (Some(0), Some(0)), "{direct:?} {made:?}");
    assert!(direct.stderr.contains("options have no counterpart"), "{direct:?}");
    let cycles = |ran: &Ran| {
        let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
        rows[0]["cycles"].as_u64().unwrap()
    };
    assert_eq!(cycles(&direct), cycles(&made));
    let shown = bench.output(&["machine", "show", "mine.toml"]);
    assert!(shown.contains("\ncount = 4\n"), "{shown}");
}
