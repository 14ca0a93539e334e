//! Commands behind whole machines on every DRAM standard: the independent checker finds no
//! violation.
//!
//! Each scheduler runs on one in six standards, other ones on the next standard, behind a sample trace;
//! a [long](warpmem_testing::is_long) run adds the remaining triples.

use std::path::{Path, PathBuf};
use warpmem::dram::checker::check;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::dram::standard::Standard;
use warpmem::gpu::engine::Simulation;
use warpmem::machine::{Clocks, Machine, load};
use warpmem_testing::{is_long, is_sampled};
use warpmem_trace::Trace;

/// Makes li2015 with channels of a standard, at its clock, with the first matching organisation and
/// speed.
fn machine(standard: &Standard) -> Option<Machine> {
    let base = load("li2015", &[]).unwrap();
    let speeds = || standard.speeds().keys();
    let pairs = standard.organisations().keys().flat_map(|o| speeds().map(move |s| (o, s)));
    let built = |(organisation, speed): (&String, &String)| {
        let mut dram = base.dram.clone();
        dram.channels = 4;
        dram.address.map = "RoBaRaChCo".to_owned();
        dram.address.interleave_bytes = 0;
        let clock = standard.apply(organisation, speed, &mut dram).ok()?;
        let clocks = Clocks { dram_mhz: clock.mhz(), ..base.clocks.clone() };
        let machine = Machine { dram, clocks, ..base.clone() };
        machine.validate().is_ok().then_some(machine)
    };
    pairs.into_iter().find_map(built)
}

fn sample_traces() -> Vec<PathBuf> {
    let folders = ["sample-traces", "sample-traces/cache-resident"];
    let files = folders.into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "wmt"));
    paths.sort();
    assert!(paths.len() >= 12);
    paths
}

/// Standards per scheduler that is run.
const EVERY: usize = 6;

/// Runs a part of the product, so that tests can share it.
fn check_part(part: usize, parts: usize) {
    let traces = sample_traces();
    for (s, standard) in Standard::names().enumerate().skip(part).step_by(parts) {
        let loaded = Standard::load(standard).unwrap();
        // Standards used only by machines have no presets, and are tested with those machines.
        if loaded.speeds().is_empty() {
            continue;
        }
        let base = machine(&loaded).unwrap_or_else(|| panic!("no preset of {standard} fits"));
        for (p, scheduler) in SCHEDULERS.names().enumerate() {
            for (t, path) in traces.iter().enumerate() {
                // Along the diagonals of the sample, the trace changes with the standard and the scheduler.
                let is_run = is_sampled(s, p, EVERY) && t == (2 * s + p) % traces.len();
                if !is_long() && !is_run {
                    continue;
                }
                let mut machine = base.clone();
                machine.policy.dram_scheduler = scheduler.to_owned();
                let trace = Trace::open(path).unwrap();
                let (_, logs) = Simulation::new(&machine, &trace).run_with_commands().unwrap();
                let context = format!("{standard}, {scheduler}, {}", path.display());
                assert!(logs.iter().any(|log| !log.is_empty()), "{context}");
                for log in &logs {
                    assert_eq!(check(&machine.dram, log).first(), None, "{context}");
                }
            }
        }
    }
}

#[test]
fn schedulers_on_even_standards_break_no_rule() {
    check_part(0, 2);
}

#[test]
fn schedulers_on_odd_standards_break_no_rule() {
    check_part(1, 2);
}

/// A part of every standard that has one, named on a preset with a matching address map.
#[test]
fn parts_on_a_preset_break_no_rule() {
    let trace = Trace::open(Path::new("sample-traces/gather.wmt")).unwrap();
    for standard in Standard::names() {
        let loaded = Standard::load(standard).unwrap();
        let parts = loaded.organisations().keys().map(|name| {
            load(
                "accelsim-qv100",
                &[format!("dram.standard={standard}:{name}"), "sm.count=4".to_owned()],
            )
        });
        for machine in parts.filter_map(Result::ok).take(1) {
            let (_, logs) = Simulation::new(&machine, &trace).run_with_commands().unwrap();
            let used = logs.iter().filter(|log| !log.is_empty()).count();
            assert_eq!(used, logs.len(), "{standard}: all channels");
            for log in &logs {
                assert_eq!(check(&machine.dram, log).first(), None, "{standard}");
            }
        }
    }
}
