//! Streams through channels: closed forms, files, several channels.

mod closed_forms;
mod energy;
mod files;
mod refused;

use super::*;
use std::ops::ControlFlow;
use warpmem_dram::Dram;
use warpmem_machine::load;

/// Returns the channels of the preset li2015, at 1000 MHz, one cycle per nanosecond.
fn li2015(overrides: &[&str]) -> Device {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    device(load("li2015", &overrides).unwrap().dram)
}

/// Returns the channels of the preset yuan2009.
fn yuan2009() -> Dram {
    load("yuan2009", &[]).unwrap().dram
}

fn device(dram: Dram) -> Device {
    Device {
        name: "test".to_owned(),
        dram,
        period: Period::of_mhz(1000),
        scheduler: "fr-fcfs".to_owned(),
        warnings: Vec::new(),
    }
}

fn mix(requests: u64) -> Mix {
    Mix { requests, reads: 1.0, seed: 1 }
}

/// Returns reads of 64 bytes, as fast as one channel accepts them.
fn pattern(pattern: Pattern, locality: u32, requests: u64) -> Stream {
    stream(Origin::Pattern { pattern, locality, channels: 1, mix: mix(requests) })
}

fn stream(origin: Origin) -> Stream {
    let sources = Sources { sms: 1, warps: 1, group: 1 };
    Stream { origin, bytes: 64, rate: None, sources }
}

fn run_with(device: &Device, scheduler: &str, stream: &Stream) -> Result<Outcome, StandaloneError> {
    run(device, scheduler, stream, &mut |_| ControlFlow::Continue(()))
}

/// Returns the only channel's outcome under FR-FCFS.
fn run_one(device: &Device, stream: &Stream) -> ChannelOutcome {
    let mut outcome = run_with(device, "fr-fcfs", stream).unwrap();
    assert_eq!(outcome.channels.len(), 1);
    outcome.channels.remove(0)
}

fn cycles(device: &Device, stream: &Stream) -> u64 {
    run_one(device, stream).counts.cycles
}
