//! A hand-written log in the format of GPGPU-Sim 4.2, intact and with defects.

use super::*;
use crate::correlate::CacheFigures;
use warpmem_machine::load;

const LOG: &str = include_str!("two_kernels.log");

fn read_text(text: &str) -> Result<ReferenceRun, String> {
    read(Path::new("run.log"), text.as_bytes()).map_err(|error| error.to_string())
}

/// Reads the log with every `from`, which must occur, replaced.
fn read_with(from: &str, to: &str) -> Result<ReferenceRun, String> {
    assert!(LOG.contains(from), "{from}");
    read_text(&LOG.replace(from, to))
}

#[test]
fn kernels_have_their_own_cycles_and_totals_are_those_of_the_last_block() {
    let run = read_text(LOG).unwrap();
    let kernel = |name: &str, cycles, thread_instructions| KernelFigures {
        name: name.to_owned(),
        cycles,
        range: None,
        thread_instructions: Some(thread_instructions),
    };
    let expected = Figures {
        cycles: 5000,
        thread_instructions: Some(3000),
        l1: CacheFigures { accesses: Some(164), misses: Some(84) },
        l2: CacheFigures { accesses: Some(120), misses: Some(80) },
        dram_reads: Some(80),
        dram_writes: Some(10),
        activations: Some(25),
        row_locality: Some(3.6),
        bus_utilization: run.figures.bus_utilization,
        reply_latency: Some(338.0),
        kernels: vec![kernel("_Z6vecaddPKfS0_Pfi", 1000, 1000), kernel("_Z6secondPf", 4000, 2000)],
        cpu_seconds: None,
        wall_seconds: Some(65.0),
        range: None,
    };
    assert_eq!(run.figures, expected);
    // Mean of 0.25 and 0.05, over 15000 cycles with launches and 5000 without.
    let utilization = run.figures.bus_utilization.unwrap();
    assert!((utilization - 0.45).abs() < 1e-12, "{utilization}");
    assert_eq!(run.missing, [""; 0]);
}

#[test]
fn options_determine_scheduler_machine_and_launch_latency() {
    let run = read_text(LOG).unwrap();
    assert_eq!(run.dram_scheduler, FR_FCFS);
    let stated = |key| run.machine.iter().find(|stated| stated.key == key);
    let sms = stated("sm.count").unwrap();
    let options = "-gpgpu_n_clusters × -gpgpu_n_cores_per_cluster";
    assert_eq!((sms.value, sms.options.as_str()), (80.0, options));
    let clocks = ["core", "network", "l2", "dram"].map(|name| format!("clocks.{name}_mhz"));
    let clocks = clocks
        .each_ref()
        .map(|key| run.machine.iter().find(|stated| stated.key == key).unwrap().value);
    assert_eq!(clocks, [1132.0, 1132.0, 1132.0, 850.0]);
    assert_eq!(stated("dram.bus_bytes"), None, "the log has one of its two options");
    assert_eq!(run.contradiction(&load("accelsim-qv100", &[]).unwrap()), None);
    let other = run.contradiction(&load("accelsim-rtx2060s", &[]).unwrap()).unwrap();
    assert!(other.starts_with("`sm.count` is 34, the log has 80 (-gpgpu_n_clusters × "), "{other}");
    assert!(other.contains("; `clocks.dram_mhz` is 3500, the log has 850 "), "{other}");
    assert_eq!((run.trace, run.configuration), (None, None));
    let scheduler = "-gpgpu_dram_scheduler                    1";
    let run = read_with(scheduler, "-gpgpu_dram_scheduler 0").unwrap();
    assert_eq!(run.dram_scheduler, FIFO);
    let run = read_with(scheduler, "-gpgpu_dram_scheduler 2").unwrap();
    assert_eq!(run.dram_scheduler, "2");
    let run = read_with("-gpgpu_kernel_launch_latency                 5000", "-other 1").unwrap();
    assert_eq!(run.figures.cycles, 15000);
}

#[test]
fn missing_figures_are_unknown_and_named() {
    let run = read_with("\tL1D_total", "\tL1X_total").unwrap();
    assert_eq!(run.figures.l1, CacheFigures::default());
    assert_eq!(run.missing, ["L1D_total_cache_accesses", "L1D_total_cache_misses"]);
    let run = read_with("n_cmd=", "n_com=").unwrap();
    assert_eq!(run.missing, ["n_act and bw_util"]);
    // FR-FCFS counts row hits itself.
    assert_eq!(run.figures.row_locality, Some(90.0 / 22.0));
    let run = read_with("gpu_tot_sim_cycle", "gpu_total").unwrap();
    assert_eq!((run.figures.cycles, run.missing), (5000, vec!["gpu_tot_sim_cycle"]));
}

#[test]
fn run_totals_come_from_the_last_block() {
    let (first, second) = LOG.split_at(LOG.rfind("L2_total_cache_accesses").unwrap());
    let cut = second.replacen("L2_total_cache_accesses", "L2_cut", 1);
    let run = read_text(&format!("{first}{cut}")).unwrap();
    assert_eq!(run.figures.l2.accesses, None);
}

#[test]
fn an_average_without_samples_is_none() {
    let text = LOG.replace("n_cmd=", "n_com=").replace("90/22 = 4.090909", "0/0 = -nan");
    assert_eq!(read_text(&text).unwrap().figures.row_locality, None);
}

#[test]
fn a_log_without_a_kernel_is_refused() {
    for text in ["", "hello = 1\n", &LOG[..LOG.find("kernel_name").unwrap()]] {
        let error = read_text(text).unwrap_err();
        assert!(error.contains("run.log: no line `kernel_name = …`"), "{error}");
    }
}

#[test]
fn a_log_that_ends_before_the_cycles_of_a_kernel_is_refused() {
    let end = LOG.rfind("gpu_sim_cycle").unwrap();
    let error = read_text(&LOG[..end]).unwrap_err();
    assert!(error.contains("no `gpu_sim_cycle` follows `kernel_name = _Z6secondPf`"), "{error}");
    let line = LOG[..end].lines().count() - 1;
    assert!(error.contains(&format!("of line {line};")), "{error}");
}

#[test]
fn malformed_value_is_named_with_its_line() {
    let refuses = |from: &str, to: &str, parts: [&str; 2]| {
        let error = read_with(from, to).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    let line = LOG.lines().position(|line| line == "gpu_sim_cycle = 9000").unwrap() + 1;
    let place = format!("run.log:{line}: expected a whole number after `gpu_sim_cycle`");
    refuses("gpu_sim_cycle = 9000", "gpu_sim_cycle = x\x1b", [&place, "found `x\\u{1b}`"]);
    refuses("n_act=15", "n_act=-1", ["`n_act`", "`-1`"]);
    refuses("bw_util=0.05", "bw_util=-nan", ["`bw_util`", "a number"]);
    refuses("= 90/22", "= 90", ["`average row locality`", "a fraction"]);
    refuses("(65 sec)", "", ["`gpgpu_simulation_time`", "a number"]);
    refuses("-gpgpu_n_clusters  ", "-gpgpu_n_clusters #", ["`-gpgpu_n_clusters`", "`#`"]);
    refuses("gpu_sim_cycle = 9000", "gpu_sim_cycle = 4000", ["kernel 2 has 4000", "5000 each"]);
}

#[test]
fn invalid_utf8_is_tolerated() {
    let mut bytes = b"\xff\xfe = \xff\n".to_vec();
    bytes.extend(LOG.bytes());
    let run = read(Path::new("run.log"), bytes.as_slice()).unwrap();
    assert_eq!(run, read_text(LOG).unwrap());
}
