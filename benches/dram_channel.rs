//! Host time per request of one stand-alone DRAM channel, and of the address map.
//!
//! Prints, for each machine, stream and scheduler, the nanoseconds of push, step and completion of a request
//! that is sent as soon as the channel takes it, and the data-bus utilisation that was simulated.
//! `cargo bench --bench dram_channel [-- requests]`.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::dram::{AddressMap, Channel, Request};
use warpmem::machine::{Dram, load};

const MACHINES: [&str; 2] = ["li2015", "v100"];
const STREAMS: [&str; 5] = ["sequential", "locality 8", "locality 2", "random", "one bank"];

/// SplitMix64: the same stream everywhere.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn stream(name: &str, dram: &Dram, count: u32) -> Vec<Request> {
    let mut state = 1;
    let mut place = (0, 0);
    let columns = dram.row_bytes / dram.burst_bytes();
    let locality = match name {
        "locality 8" => 8,
        "locality 2" => 2,
        _ => 1,
    };
    let request = |id: u32| {
        place = match name {
            "sequential" => (id % dram.banks, id / (dram.banks * columns)),
            "one bank" => (0, id),
            _ if id.is_multiple_of(locality) => {
                let bits = random(&mut state);
                (bits as u32 % dram.banks, (bits >> 32) as u32 % 4096)
            }
            _ => place,
        };
        let write = name.starts_with("locality") && random(&mut state) % 10 < 3;
        let (bank, row) = (place.0 as u16, place.1);
        Request { id, bank, row, write, bursts: 1, sm: 0, warp: id % 512, pc: 0 }
    };
    (0..count).map(request).collect()
}

/// Sends all requests and returns the cycle after the last data.
fn drive(channel: &mut Channel, requests: &[Request]) -> u64 {
    let mut now = 0;
    let mut end = 0;
    let mut waiting = requests.iter().peekable();
    loop {
        while let Some(request) = waiting.next_if(|request| channel.accepts(request)) {
            channel.push(now, *request);
        }
        let next = channel.step(now, u32::MAX);
        for done in channel.take_completions() {
            end = end.max(done.data_end);
        }
        let room = waiting.peek().is_some_and(|request| channel.accepts(request));
        match next {
            _ if waiting.peek().is_none() && channel.is_empty() => return end,
            _ if room => now += 1,
            Some(cycle) => now = cycle,
            None => unreachable!("requests wait and nothing is to come"),
        }
    }
}

fn main() {
    let count = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(200_000);
    for name in MACHINES {
        let machine = load(name, &[]).expect("a preset");
        println!("{name}: ns per request (data-bus utilisation)");
        for kind in STREAMS {
            let requests = stream(kind, &machine.dram, count);
            let cells = SCHEDULERS.names().map(|policy| {
                let scheduler = SCHEDULERS.build(policy, &machine.dram).expect("a policy");
                let mut channel = Channel::new(&machine.dram, scheduler);
                let start = Instant::now();
                let cycles = drive(&mut channel, &requests);
                let ns = start.elapsed().as_nanos() as f64 / f64::from(count);
                let used = channel.statistics(cycles).bandwidth_utilization().unwrap_or(0.0);
                format!("{policy} {ns:6.1} ({:5.1} %)", 100.0 * used)
            });
            println!("  {kind:12} {}", cells.collect::<Vec<_>>().join("   "));
        }
        let map = AddressMap::new(&machine.dram, machine.llc.slices_per_channel).expect("a map");
        let mut state = 1;
        let addresses: Vec<u64> = (0..count).map(|_| random(&mut state) % (1 << 33)).collect();
        let start = Instant::now();
        let sum: u64 = addresses.iter().map(|&a| u64::from(map.locate(black_box(a)).slice)).sum();
        let ns = start.elapsed().as_nanos() as f64 / f64::from(count);
        println!("  locate {ns:6.1} (mean slice {})", sum / u64::from(count));
    }
}
