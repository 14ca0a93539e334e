//! Loaded streams of the reference simulators: totals, for equal queue depths and the same reading
//! of FR-FCFS. `docs/validation.md` has the table and the list of deviations.

use super::harness::*;
use super::reference::{Reference, as_run, commands, references, requests};
use crate::{Dram, DramRequest};

/// DRAMsim3's transaction queue and the entries of its 16 bank queues, which all requests traverse.
const DRAMSIM3_DEPTH: u32 = 32 + 16 * 8;

/// References in which reads and writes wait separately before shared bank queues, which our
/// settings cannot express.
const SPLIT_BEFORE_SHARED: [&str; 2] = ["d3_gddr5", "d3_hbm2"];

fn last_cycle(dram: &Dram, policy: &str, requests: &[DramRequest]) -> f64 {
    run(dram, policy, requests).log.last().unwrap().cycle as f64
}

fn one_queue(dram: &Dram) -> Dram {
    Dram { read_queue: DRAMSIM3_DEPTH, turnaround_limit: DRAMSIM3_DEPTH, ..dram.clone() }
}

/// Ramulator drains at 80 % of 32 and down to 20 %.
fn two_queues(dram: &Dram) -> Dram {
    Dram {
        read_queue: 32,
        write_queue: 32,
        write_high_watermark: 26,
        write_low_watermark: 6,
        turnaround_limit: 32,
        ..dram.clone()
    }
}

/// Returns the channel and policy equivalent to the reference's. The turnaround limit is the depth
/// of the queue.
fn like(reference: &Reference, dram: &Dram) -> (Dram, &'static str) {
    match reference.folder {
        folder if folder.starts_with("d3_") => (one_queue(dram), "fr-fcfs"),
        folder if folder.contains("rowhit") => (two_queues(dram), "fr-fcfs(banks=oldest)"),
        _ => (two_queues(dram), "fr-fcfs(ready=first-ready,banks=oldest)"),
    }
}

#[test]
fn loaded_streams_take_about_the_reference_time() {
    for (reference, folder, facts, dram) in references() {
        if reference.folder.contains("serial") {
            continue;
        }
        let dram = as_run(dram, &facts);
        let theirs = commands(&dram, &folder).last().unwrap().command.cycle as f64;
        let requests = requests(&dram, &folder);
        let (channel, policy) = like(reference, &dram);
        let ratio = last_cycle(&channel, policy, &requests) / theirs;
        let unlimited = Dram { turnaround_limit: 0, ..channel };
        let free = last_cycle(&unlimited, policy, &requests) / theirs;
        eprintln!("{:24} {theirs:6} {policy:40} {ratio:.3} {free:.3}", reference.folder);
        if SPLIT_BEFORE_SHARED.contains(&reference.folder) {
            let split = last_cycle(&two_queues(&dram), policy, &requests) / theirs;
            assert!(ratio < 1.0 && split > 1.0, "{}: {ratio}, {split}", reference.folder);
            continue;
        }
        assert!((ratio - 1.0).abs() < 0.05, "{}: {ratio}", reference.folder);
    }
}
