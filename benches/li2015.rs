//! Li (UBC 2015) beside ours: what the delay of requests with inter-core locality costs against that of others, and what
//! schedulers that know of it gain. `cargo bench --no-default-features --bench li2015 [-- [--machine=NAME] TRACE…]`;
//! without traces it replays those of `sample-traces`. Nothing is tuned to the published figures, which come from
//! other workloads: direction and order are what compares.
#![allow(clippy::print_stdout)]

mod papers;

use papers::{Workload, replay, workloads};
use std::slice;
use warpmem::classify::Sensitivity;
use warpmem::machine::{Machine, load};
use warpmem::record::{RunKey, RunResult, run_row_json};

/// Requests that the thesis delays.
const DELAYED: u64 = 1000;
/// Times for which they are delayed here, DRAM cycles; the thesis does not say.
const DELAYS: [u64; 3] = [250, 1000, 4000];

fn main() {
    let name = std::env::args().find_map(|text| Some(text.strip_prefix("--machine=")?.to_owned()));
    let base = load(name.as_deref().unwrap_or("li2015"), &[]);
    let base = base.unwrap_or_else(|error| panic!("{error}"));
    let workloads = workloads();
    let classes = classify(&base, &workloads);
    figure_1_1b(&base, &workloads);
    schedulers(&base, &workloads, &classes);
}

fn with_scheduler(base: &Machine, scheduler: &str) -> Machine {
    let mut machine = base.clone();
    scheduler.clone_into(&mut machine.policy.dram_scheduler);
    machine
}

fn classify(base: &Machine, workloads: &[Workload]) -> Vec<Sensitivity> {
    println!(
        "classes on {}: perfect DRAM at least 1.2 x: sensitive; requests of several SMs in an MSHR",
        base.name
    );
    println!("entry in more than 10 % of LLC cycles: HIL\n");
    println!(
        "{:<20} {:>12} {:>12} {:>10}  class",
        "trace", "perfect DRAM", "inter-core %", "idle %"
    );
    let mut perfect = base.clone();
    "perfect-dram".clone_into(&mut perfect.policy.ideal);
    let results = replay(&[base.clone(), perfect], workloads);
    let runs = workloads.iter().zip(results[0].iter().zip(&results[1]));
    let class = |(workload, (run, perfect)): (&Workload, (&RunResult, &RunResult))| {
        let row = run_row_json(&RunKey::new(&workload.name, 0, base.clone(), "", None), run);
        let fraction = |column: &str| row[column].as_f64();
        let speedup = run.core_cycles as f64 / perfect.core_cycles as f64;
        let class = Sensitivity::of(speedup, fraction("inter_core_locality"));
        let percent = |column| 100.0 * fraction(column).unwrap_or(f64::NAN);
        let (shared, idle) = (percent("inter_core_locality"), percent("mshr_idle"));
        println!(
            "{:<20} {speedup:>12.2} {shared:>12.1} {idle:>10.1}  {}",
            workload.name,
            class.name()
        );
        class
    };
    runs.map(class).collect()
}

/// What the DRAM scheduler counted under this name, over all channels.
fn counted(result: &RunResult, name: &str) -> u64 {
    result.counters.iter().filter(|counter| counter.counter == name).map(|c| c.value).sum()
}

/// With so many requests held back for so long, from the `first` of the kind on.
fn delay(base: &Machine, kind: &str, [requests, cycles, first]: [u64; 3]) -> Machine {
    let scheduler =
        format!("delay(requests={requests},locality={kind},cycles={cycles},first={first})");
    with_scheduler(base, &scheduler)
}

/// What it cost to hold back requests of each kind.
struct Delays {
    cycles: u64,
    /// Held back, with and without locality.
    held: [u64; 2],
    /// Of those without, joined by another SM before they were served.
    joined: u64,
    /// Fractions.
    slowdowns: [f64; 2],
}

fn figure_1_1b(base: &Machine, workloads: &[Workload]) {
    println!(
        "\nFigure 1.1b on {}: IPC lost where {DELAYED} reads, or as many as there are of both kinds, wait longer in",
        base.name
    );
    println!(
        "DRAM, with against without inter-core locality; published: 1 to 39 %, with 2 to 10 times without\n"
    );
    let plain = replay(&[delay(base, "with", [0, 1, 0])], workloads).remove(0);
    for (from_the_middle, text) in [(false, "the first"), (true, "those in the middle")] {
        println!("{text} of their kind");
        println!(
            "{:<20} {:>9} {:>9} {:>7} {:>8} {:>7} {:>9} {:>9} {:>7} {:>7}",
            "trace",
            "with",
            "without",
            "held",
            "of reads",
            "cycles",
            "with",
            "without",
            "ratio",
            "joined"
        );
        for (workload, plain) in workloads.iter().zip(&plain) {
            compare_delays(base, workload, plain, from_the_middle);
        }
        println!();
    }
}

fn compare_delays(base: &Machine, workload: &Workload, plain: &RunResult, from_the_middle: bool) {
    const NAMES: [&str; 2] = ["requests_with_locality", "requests_without_locality"];
    let kinds = NAMES.map(|name| counted(plain, name));
    let requests = DELAYED.min(kinds[0]).min(kinds[1]);
    let reads: u64 = kinds.iter().sum();
    let head = format!("{:<20} {:>9} {:>9} {requests:>7}", workload.name, kinds[0], kinds[1]);
    if requests == 0 {
        println!("{head}  nothing to compare");
        return;
    }
    let machine = |cycles, kind: usize, name| {
        let first = if from_the_middle { (kinds[kind] - requests) / 2 } else { 0 };
        delay(base, name, [requests, cycles, first])
    };
    let machines = DELAYS.map(|cycles| [machine(cycles, 0, "with"), machine(cycles, 1, "without")]);
    let results = replay(&machines.concat(), slice::from_ref(workload)).concat();
    for (runs, cycles) in results.chunks(2).zip(DELAYS) {
        let of = [0, 1].map(|kind: usize| &runs[kind]);
        let slowdown = |run: &RunResult| run.core_cycles as f64 / plain.core_cycles as f64 - 1.0;
        let delays = Delays {
            cycles,
            held: of.map(|run| counted(run, "delayed_requests")),
            joined: counted(&runs[1], "merged_while_delayed"),
            slowdowns: of.map(slowdown),
        };
        println!("{head} {}", line(reads, requests, &delays));
    }
}

fn line(reads: u64, requests: u64, delays: &Delays) -> String {
    let Delays { cycles, held, joined, slowdowns: [with, without] } = delays;
    let share = 100.0 * requests as f64 / reads as f64;
    let ratio = if *without > 0.0 { format!("{:.2}", with / without) } else { "-".to_owned() };
    let fewer = held.iter().any(|&held| held < requests);
    let fewer = if fewer { format!("  only {held:?} held") } else { String::new() };
    format!(
        "{share:>6.1} % {cycles:>7} {:>+7.2} % {:>+7.2} % {ratio:>7} {joined:>7}{fewer}",
        100.0 * with,
        100.0 * without
    )
}

/// Harmonic mean, the thesis'.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) =
        values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + 1.0 / value));
    count / sum
}

fn ipc(result: &RunResult) -> f64 {
    1.0 / result.core_cycles as f64
}

/// Of the LLC.
fn reservation_fails(result: &RunResult) -> f64 {
    result.slices.iter().flat_map(|slice| slice.cache.reservation_fails).sum::<u64>() as f64
}

fn latency_mean(result: &RunResult) -> f64 {
    result.latency.total.mean().unwrap_or(0.0)
}

fn latency_max(result: &RunResult) -> f64 {
    result.latency.total.max().unwrap_or(0) as f64
}

/// What the thesis calls data dependency stalls: warps that wait for loads are in it.
fn stalls(result: &RunResult) -> f64 {
    let of = |sm: &warpmem::record::SmResult| sm.memory_block_cycles + sm.dependency_stall_cycles;
    result.sms.iter().map(of).sum::<u64>() as f64
}

type Metric = (&'static str, &'static str, fn(&RunResult) -> f64);

const METRICS: [Metric; 5] = [
    ("IPC", "S+A: HIL +10.9 %, LIL +2.6 %, insensitive +0.7 %", ipc),
    ("LLC reservation fails", "S+A: HIL -35 %, LIL -10.5 %", reservation_fails),
    ("mean latency", "S+A: HIL -28 %", latency_mean),
    ("maximum latency", "rises with all three, least with S+A", latency_max),
    ("dependency stalls", "HIL -18 % (S largest), LIL -2 %", stalls),
];

const SCHEDULERS: [&str; 4] = ["fr-fcfs", "mshr-m", "mshr-s", "mshr-s+a"];

fn schedulers(base: &Machine, workloads: &[Workload], classes: &[Sensitivity]) {
    println!(
        "chapter 6 on {}: against FR-FCFS; means by class, harmonic of IPC, arithmetic of the others",
        base.name
    );
    let machines = SCHEDULERS.map(|scheduler| with_scheduler(base, scheduler));
    let results = replay(&machines, workloads);
    for (name, published, metric) in METRICS {
        println!("\n{name}; published: {published}");
        let [_, m, s, age] = SCHEDULERS;
        println!("{:<20} {:<12} {m:>9} {s:>9} {age:>9}", "trace", "class");
        let change = |at: usize| {
            [1, 2, 3].map(|own: usize| metric(&results[own][at]) / metric(&results[0][at]))
        };
        let changes: Vec<[f64; 3]> = (0..workloads.len()).map(change).collect();
        for ((workload, class), change) in workloads.iter().zip(classes).zip(&changes) {
            println!("{:<20} {:<12} {}", workload.name, class.name(), percents(*change));
        }
        for class in [Sensitivity::High, Sensitivity::Low, Sensitivity::Insensitive] {
            let of_class = classes.iter().zip(&changes).filter(|(own, _)| **own == class);
            print_mean(class, name == "IPC", of_class.map(|(_, change)| *change).collect());
        }
    }
}

/// The mean over the workloads of a class that had anything of the metric.
fn print_mean(class: Sensitivity, harmonic: bool, mut changes: Vec<[f64; 3]>) {
    changes.retain(|change| change.iter().all(|ratio| ratio.is_finite()));
    if changes.is_empty() {
        return;
    }
    let count = changes.len() as f64;
    let means = [0, 1, 2].map(|at: usize| {
        let values = changes.iter().map(|change| change[at]);
        if harmonic { mean(values) } else { values.sum::<f64>() / count }
    });
    println!("{:<20} {:<12} {}", format!("mean of {count}"), class.name(), percents(means));
}

fn percents(ratios: [f64; 3]) -> String {
    let percent = |ratio: f64| {
        if ratio.is_finite() {
            format!("{:>+7.1} %", 100.0 * (ratio - 1.0))
        } else {
            format!("{:>9}", "-")
        }
    };
    ratios.map(percent).join(" ")
}
