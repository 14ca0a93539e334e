//! Requests per CPU second of one stand-alone DRAM channel, including stream generation and
//! statistics, next to the rates of two cycle-level DRAM simulators; the cost of deeper queues and
//! of other schedulers; and the address map. `cargo bench --bench dram_channel [-- requests]`.
//!
//! `-- --one STANDARD STREAM ENTRIES REQUESTS` makes a single run, for a profiler.
#![allow(clippy::print_stdout)]

use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::ops::ControlFlow;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::machine::{load, preset_names};
use warpmem::standalone::dram::{Device, Mix, Origin, Outcome, Pattern, Sources, Stream, run};

/// A stream, and the results of two simulators on it.
struct Class {
    name: &'static str,
    pattern: Pattern,
    locality: u32,
    reads: f64,
    /// Reference results, in the order of [`LIKE`].
    references: [Reference; 4],
}

/// Percent of the peak bandwidth, and thousands of requests per user-CPU second on a core of the
/// development machine: one channel, a million requests at maximum injection, refresh on.
type Reference = (f64, f64);

/// Channels that match the references: alternately of DRAMsim3 commit 29817593 and of Ramulator 2.1
/// commit c5b1c3a.
const LIKE: [&str; 4] = [
    "gddr5:GDDR5_8Gb_x32:GDDR5_8Gb_x32",
    "gddr6:GDDR6_8Gb_x16:GDDR6_14000_1250mV_double",
    "hbm2-legacy:HBM2_8Gb_x128:HBM2_8Gb_x128",
    "hbm2:HBM2_8Gb:HBM2_2000Mbps",
];

const CLASSES: [Class; 7] = [
    Class {
        name: "sequential",
        pattern: Pattern::Sequential,
        locality: 1,
        reads: 1.0,
        references: [(94.7, 487.0), (83.4, 644.0), (92.1, 332.0), (87.5, 666.0)],
    },
    Class {
        name: "locality 8",
        pattern: Pattern::Random,
        locality: 8,
        reads: 1.0,
        references: [(92.3, 458.0), (65.9, 462.0), (91.7, 350.0), (57.8, 433.0)],
    },
    Class {
        name: "locality 4",
        pattern: Pattern::Random,
        locality: 4,
        reads: 1.0,
        references: [(67.8, 291.0), (56.6, 357.0), (91.5, 285.0), (61.6, 397.0)],
    },
    Class {
        name: "locality 2",
        pattern: Pattern::Random,
        locality: 2,
        reads: 1.0,
        references: [(34.0, 142.0), (32.8, 209.0), (49.1, 161.0), (52.9, 291.0)],
    },
    Class {
        name: "random",
        pattern: Pattern::Random,
        locality: 1,
        reads: 1.0,
        references: [(17.0, 72.0), (16.6, 116.0), (24.6, 94.0), (30.1, 167.0)],
    },
    Class {
        name: "70/30, locality 4",
        pattern: Pattern::Random,
        locality: 4,
        reads: 0.7,
        references: [(45.4, 255.0), (33.4, 246.0), (62.5, 265.0), (43.9, 308.0)],
    },
    Class {
        name: "one bank",
        pattern: Pattern::OneBank,
        locality: 1,
        reads: 1.0,
        references: [(2.4, 22.0), (2.1, 19.0), (3.9, 33.0), (1.9, 18.0)],
    },
];

/// Makes a channel with read and write queues of `queue` entries each, drained as in Ramulator.
fn device(standard: &str, queue: u32) -> Device {
    let keys = [
        ("read_queue", queue),
        ("write_queue", queue),
        ("write_high_watermark", queue * 4 / 5),
        ("write_low_watermark", queue / 5),
    ];
    let overrides = keys.map(|(key, value)| format!("dram.{key}={value}"));
    Device::load("li2015", Some(standard), &overrides).expect("a built-in standard")
}

impl Class {
    fn stream(&self, device: &Device, requests: u64) -> Stream {
        let mix = Mix { requests, reads: self.reads, seed: 1 };
        let (pattern, locality) = (self.pattern, self.locality);
        Stream {
            origin: Origin::Pattern { pattern, locality, channels: 1, mix },
            bytes: device.dram.burst_bytes(),
            rate: None,
            sources: Sources { sms: 16, warps: 32, group: 4 },
        }
    }
}

/// Returns the CPU time of this single-threaded process in nanoseconds.
fn cpu_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

struct Measured {
    /// Nanoseconds of CPU time per request.
    cost: f64,
    /// Fraction of the peak bandwidth.
    used: f64,
}

/// Measures the fastest of three runs: interference from other processes only slows a run.
fn measure(class: &Class, device: &Device, scheduler: &str, requests: u64) -> Measured {
    let stream = class.stream(device, requests);
    let once = || {
        let before = cpu_time();
        let outcome = run(device, scheduler, &stream, &mut |_| ControlFlow::Continue(()));
        let outcome = outcome.expect("a stream that can be served");
        ((cpu_time() - before) as f64 / requests as f64, used(&outcome))
    };
    let runs = [once(), once(), once()];
    let cost = runs.iter().map(|run| run.0).fold(f64::INFINITY, f64::min);
    Measured { cost, used: runs[0].1 }
}

fn used(outcome: &Outcome) -> f64 {
    outcome.channels[0].counts.bandwidth_utilization().unwrap_or(0.0)
}

/// Converts a cost to thousands of requests per second.
fn rate(cost: f64) -> f64 {
    1e6 / cost
}

fn against_references(requests: u64) {
    for (index, standard) in LIKE.into_iter().enumerate() {
        for queue in [32, 128] {
            println!("\n{standard}, {queue} entries: k requests per CPU second (% of peak)");
            for class in &CLASSES {
                let measured = measure(class, &device(standard, queue), "fr-fcfs", requests);
                let (percent, reference) = class.references[index];
                let (rate, used) = (rate(measured.cost), 100.0 * measured.used);
                let ratio = rate / reference;
                let name = class.name;
                println!(
                    "  {name:18} {rate:6.0} ({used:4.1} %)   {ratio:5.1} × {reference:3.0} ({percent:4.1} %)"
                );
            }
        }
    }
}

fn by_depth(requests: u64) {
    let depths = [32, 64, 128, 256];
    println!("\nfr-fcfs, ns per request by entries {depths:?} (ratio to the first)");
    for standard in LIKE {
        println!("  {standard}");
        for class in &CLASSES {
            let cost = |queue| measure(class, &device(standard, queue), "fr-fcfs", requests).cost;
            let costs = depths.map(cost);
            let cells = costs.map(|cost| format!("{cost:6.0} ({:4.2})", cost / costs[0]));
            println!("    {:18} {}", class.name, cells.join("  "));
        }
    }
}

fn by_scheduler(requests: u64) {
    println!("\nns per request by scheduler, 64 entries (% of peak): locality 4, random, 70/30");
    let device = device(LIKE[0], 64);
    let classes = [2, 4, 5].map(|index| &CLASSES[index]);
    for scheduler in SCHEDULERS.names() {
        let cells = classes.map(|class| {
            let Measured { cost, used } = measure(class, &device, scheduler, requests);
            format!("{cost:6.0} ({:4.1} %)", 100.0 * used)
        });
        println!("  {scheduler:18} {}", cells.join("  "));
    }
}

fn address_maps(count: u64) {
    const ROUNDS: u64 = 5;
    println!("\nns per address mapped");
    for name in preset_names() {
        let machine = load(name, &[]).expect("a preset");
        let map = machine.address_map().expect("a map");
        let addresses: Vec<u64> = (0..count).map(|n| n * 0x9e37_79b9 % map.capacity()).collect();
        let before = cpu_time();
        for _ in 0..ROUNDS {
            let slices = addresses.iter().map(|&a| map.locate(black_box(a)).slice.index());
            black_box(slices.sum::<usize>());
        }
        let cost = (cpu_time() - before) as f64 / (ROUNDS * count) as f64;
        println!("  {name:14} {cost:5.1}");
    }
}

/// Makes a single run for a profiler.
fn one(args: &[String]) {
    let [standard, name, entries, requests, ..] = args else {
        panic!("--one STANDARD STREAM ENTRIES REQUESTS");
    };
    let number = |text: &str| -> u32 { text.parse().expect("a number") };
    let class = CLASSES.iter().find(|class| class.name == name).expect("a stream of the tables");
    let device = device(standard, number(entries));
    let stream = class.stream(&device, number(requests).into());
    let outcome = run(&device, "fr-fcfs", &stream, &mut |_| ControlFlow::Continue(()));
    println!("{:.1} % of peak", 100.0 * used(&outcome.expect("a stream that can be served")));
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--one") {
        return one(&args[at + 1..]);
    }
    let asked = args.iter().filter_map(|arg| arg.parse().ok()).next();
    let requests = asked.unwrap_or(1_000_000);
    against_references(requests);
    by_depth(requests / 4);
    by_scheduler(requests / 10);
    address_maps(requests / 10);
}
