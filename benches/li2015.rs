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

/// With so many requests held back for so long, one of every so many of the kind.
fn delay(base: &Machine, kind: &str, [requests, cycles, every]: [u64; 3]) -> Machine {
    let scheduler =
        format!("delay(requests={requests},locality={kind},cycles={cycles},every={every})");
    with_scheduler(base, &scheduler)
}

/// Where in a run those are that are held back.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    First,
    Spread,
}

fn figure_1_1b(base: &Machine, workloads: &[Workload]) {
    println!(
        "\nFigure 1.1b on {}: slowdown where {DELAYED} reads, or as many as there are of both kinds, wait longer in DRAM,",
        base.name
    );
    println!(
        "those with against those without inter-core locality; published: 1 to 39 %, with 2 to 10 times without\n"
    );
    let plain = replay(&[delay(base, "with", [0, 1, 1])], workloads).remove(0);
    let places =
        [(Place::First, "the first of each kind"), (Place::Spread, "spread over each kind")];
    for (place, text) in places {
        println!("{text}");
        println!(
            "{:<20} {:>9} {:>9} {:>7} {:>7} {:>8} {:>9} {:>9} {:>7} {:>7}",
            "trace",
            "with",
            "without",
            "cycles",
            "held",
            "of reads",
            "with",
            "without",
            "ratio",
            "joined"
        );
        for (workload, plain) in workloads.iter().zip(&plain) {
            compare_delays(base, workload, plain, place);
        }
        println!();
    }
}

/// Holds back requests with locality, and then as many without.
fn compare_delays(base: &Machine, workload: &Workload, plain: &RunResult, place: Place) {
    const NAMES: [&str; 2] = ["requests_with_locality", "requests_without_locality"];
    let kinds = NAMES.map(|name| counted(plain, name));
    let head = format!("{:<20} {:>9} {:>9}", workload.name, kinds[0], kinds[1]);
    let most = DELAYED.min(kinds[0]).min(kinds[1]);
    if most == 0 {
        println!("{head}  nothing to compare");
        return;
    }
    let run = |kind: usize, cells: [[u64; 2]; DELAYS.len()]| {
        let machines = cells.map(|[requests, cycles]| {
            let spread = place == Place::Spread && requests > 0;
            let every = if spread { (kinds[kind] / requests).max(1) } else { 1 };
            delay(base, ["with", "without"][kind], [requests, cycles, every])
        });
        replay(&machines, slice::from_ref(workload)).concat()
    };
    let held = |result: &RunResult| counted(result, "delayed_requests");
    let with = run(0, DELAYS.map(|cycles| [most, cycles]));
    let without = run(1, [0, 1, 2].map(|at: usize| [held(&with[at]), DELAYS[at]]));
    let reads = kinds.iter().sum::<u64>() as f64;
    for ((with, without), cycles) in with.iter().zip(&without).zip(DELAYS) {
        let slowdown = |run: &RunResult| run.core_cycles as f64 / plain.core_cycles as f64 - 1.0;
        let slowdowns = [with, without].map(slowdown);
        let [percent_with, percent_without] = slowdowns.map(|slowdown| 100.0 * slowdown);
        let ratio = slowdowns[0] / slowdowns[1];
        let ratio = if slowdowns.iter().all(|&slowdown| slowdown > 0.0) {
            format!("{ratio:.2}")
        } else {
            "-".to_owned()
        };
        let held = [with, without].map(held);
        let fewer =
            if held[1] < held[0] { format!("  only {} without", held[1]) } else { String::new() };
        println!(
            "{head} {cycles:>7} {:>7} {:>6.1} % {percent_with:>+7.2} % {percent_without:>+7.2} % {ratio:>7} {:>7}{fewer}",
            held[0],
            100.0 * held[0] as f64 / reads,
            counted(without, "merged_while_delayed"),
        );
    }
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

/// How a class is summed up.
#[derive(Clone, Copy, PartialEq)]
enum Mean {
    /// Of the ratios; the thesis'.
    Harmonic,
    Arithmetic,
    /// The ratio of the sums: of what some workloads have next to nothing of.
    OfSums,
}

struct Metric {
    name: &'static str,
    published: &'static str,
    mean: Mean,
    of: fn(&RunResult) -> f64,
}

const fn metric(
    name: &'static str,
    published: &'static str,
    mean: Mean,
    of: fn(&RunResult) -> f64,
) -> Metric {
    Metric { name, published, mean, of }
}

const METRICS: [Metric; 5] = [
    metric("IPC", "S+A: HIL +10.9 %, LIL +2.6 %, insensitive +0.7 %", Mean::Harmonic, ipc),
    metric("LLC reservation fails", "S+A: HIL -35 %, LIL -10.5 %", Mean::OfSums, reservation_fails),
    metric("mean latency", "S+A: HIL -28 %", Mean::Arithmetic, latency_mean),
    metric("maximum latency", "rises with all, least with S+A", Mean::Arithmetic, latency_max),
    metric("dependency stalls", "HIL -18 % (S largest), LIL -2 %", Mean::OfSums, stalls),
];

const SCHEDULERS: [&str; 4] = ["fr-fcfs", "mshr-m", "mshr-s", "mshr-s+a"];

/// A metric under each of [`SCHEDULERS`].
type Values = [f64; SCHEDULERS.len()];

fn schedulers(base: &Machine, workloads: &[Workload], classes: &[Sensitivity]) {
    println!(
        "chapter 6 on {}: against FR-FCFS; by class the harmonic mean of IPC, the arithmetic of latencies, and ratios of\n\
         sums of fails and stalls",
        base.name
    );
    let results = replay(&SCHEDULERS.map(|scheduler| with_scheduler(base, scheduler)), workloads);
    for metric in METRICS {
        println!("\n{}; published: {}", metric.name, metric.published);
        let [_, m, s, age] = SCHEDULERS;
        println!("{:<20} {:<12} {m:>9} {s:>9} {age:>9}", "trace", "class");
        let values = |at: usize| [0, 1, 2, 3].map(|own: usize| (metric.of)(&results[own][at]));
        let values: Vec<Values> = (0..workloads.len()).map(values).collect();
        for ((workload, class), values) in workloads.iter().zip(classes).zip(&values) {
            println!("{:<20} {:<12} {}", workload.name, class.name(), percents(ratios(values)));
        }
        for class in [Sensitivity::High, Sensitivity::Low, Sensitivity::Insensitive] {
            let of_class = classes.iter().zip(&values).filter(|(own, _)| **own == class);
            let of_class: Vec<Values> = of_class.map(|(_, values)| *values).collect();
            if !of_class.is_empty() {
                let name = format!("all {}", of_class.len());
                let all = percents(summed_up(metric.mean, &of_class));
                println!("{name:<20} {:<12} {all}", class.name());
            }
        }
    }
}

/// Of the last three schedulers over the first.
fn ratios(values: &Values) -> [f64; 3] {
    let [base, own @ ..] = *values;
    own.map(|own| own / base)
}

fn summed_up(kind: Mean, values: &[Values]) -> [f64; 3] {
    if kind == Mean::OfSums {
        return ratios(&[0, 1, 2, 3].map(|at: usize| values.iter().map(|values| values[at]).sum()));
    }
    [0, 1, 2].map(|at: usize| {
        let each = values.iter().map(|values| ratios(values)[at]);
        let count = values.len() as f64;
        if kind == Mean::Harmonic { mean(each) } else { each.sum::<f64>() / count }
    })
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
