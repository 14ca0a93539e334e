//! Yuan, Bakhoda and Aamodt (MICRO 2009) beside ours: row locality through the interconnect, and what arbitration that
//! keeps it gives in-order DRAM scheduling. `cargo bench --no-default-features --bench yuan2009 [-- TRACE…]`; without
//! traces it replays those of `sample-traces` that the paper's three criteria call memory-bound. Nothing is tuned to the
//! published figures, which come from other workloads: direction and order are what compares.
#![allow(clippy::print_stdout)]

mod papers;

use papers::{Workload, replay, workloads};
use warpmem::machine::{Machine, load};
use warpmem::record::{Breaker, RunResult, StreamResult};

/// A DRAM scheduler and an arbitration rule, under the paper's name.
#[derive(Clone, Copy)]
struct Scheme {
    name: &'static str,
    scheduler: &'static str,
    arbiter: &'static str,
}

const fn scheme(name: &'static str, scheduler: &'static str, arbiter: &'static str) -> Scheme {
    Scheme { name, scheduler, arbiter }
}

const FIFO: Scheme = scheme("FIFO", "fcfs", "round-robin");
const BFIFO: Scheme = scheme("BFIFO", "banked-fifo", "round-robin");
const HG: Scheme = scheme("BFIFO+HG", "banked-fifo", "hold-grant");
const RMHG: Scheme = scheme("BFIFO+RMHG", "banked-fifo", "row-matching-hold-grant");
const HMHG4: Scheme = scheme("BFIFO+HMHG4", "banked-fifo", "hash-matching-hold-grant");
const FR_FCFS: Scheme = scheme("FR-FCFS", "fr-fcfs", "round-robin");
const SCHEMES: [Scheme; 6] = [FIFO, BFIFO, HG, RMHG, HMHG4, FR_FCFS];

/// Overrides of `yuan2009` that make a topology; the ring has wider flits and needs two virtual channels (Table 2).
const CROSSBAR: &[&str] = &[];
const MESH: &[&str] = &["policy.topology=mesh"];
const RING: &[&str] = &[
    "policy.topology=ring",
    "network.flit_bytes=64",
    "network.virtual_channels=2",
    "network.vc_buffer=16",
];
const TOPOLOGIES: [(&str, &[&str]); 3] = [("crossbar", CROSSBAR), ("mesh", MESH), ("ring", RING)];

fn main() {
    let workloads = memory_bound(workloads());
    figure_1(&workloads);
    locality_by_topology(&workloads);
    schemes_by_topology(&workloads);
    latency_and_efficiency(&workloads);
    breakers(&workloads);
    virtual_channels(&workloads);
    queue_sizes(&workloads);
}

fn machine(overrides: &[&str], scheme: Scheme) -> Machine {
    let policies = [
        format!("policy.dram_scheduler={}", scheme.scheduler),
        format!("policy.arbiter={}", scheme.arbiter),
    ];
    let overrides = overrides.iter().map(|&text| text.to_owned()).chain(policies);
    load("yuan2009", &overrides.collect::<Vec<_>>()).expect("a machine")
}

fn replay_schemes(
    overrides: &[&str],
    schemes: &[Scheme],
    workloads: &[Workload],
) -> Vec<Vec<RunResult>> {
    let machines: Vec<Machine> = schemes.iter().map(|&scheme| machine(overrides, scheme)).collect();
    replay(&machines, workloads)
}

/// Those that the paper calls memory-bound (section 4): IPC below 75 % of the peak, DRAM utilization above 20 %, DRAM
/// efficiency below 90 %, on the baseline.
fn memory_bound(workloads: Vec<Workload>) -> Vec<Workload> {
    println!(
        "memory-bound (IPC < 75 % of peak, DRAM utilization > 20 %, DRAM efficiency < 90 %)\n"
    );
    println!("{:<16} {:>8} {:>12} {:>12}", "trace", "IPC/peak", "utilization", "efficiency");
    let results = replay_schemes(CROSSBAR, &[FR_FCFS], &workloads).remove(0);
    let peak = 28.0 * 8.0;
    let chosen = workloads.into_iter().zip(results).filter_map(|(workload, result)| {
        let (ipc, utilization, efficiency) =
            (ipc(&result) / peak, utilization(&result), efficiency(&result));
        let bound = ipc < 0.75 && utilization > 0.2 && efficiency < 0.9;
        let mark = if bound { "memory-bound" } else { "" };
        println!("{:<16} {ipc:>8.2} {utilization:>12.2} {efficiency:>12.2}  {mark}", workload.name);
        bound.then_some(workload)
    });
    chosen.collect()
}

/// Thread instructions per cycle.
fn ipc(result: &RunResult) -> f64 {
    let threads: u64 = result.sms.iter().map(|sm| sm.thread_instructions).sum();
    threads as f64 / result.core_cycles as f64
}

fn utilization(result: &RunResult) -> f64 {
    let busy: u64 = result.channels.iter().map(|channel| channel.data_bus_busy_cycles).sum();
    busy as f64 / result.channels.iter().map(|channel| channel.cycles).sum::<u64>() as f64
}

fn efficiency(result: &RunResult) -> f64 {
    let busy: u64 = result.channels.iter().map(|channel| channel.data_bus_busy_cycles).sum();
    busy as f64 / result.channels.iter().map(|channel| channel.pending_cycles).sum::<u64>() as f64
}

fn locality(streams: &[StreamResult]) -> f64 {
    let requests: u64 = streams.iter().map(|stream| stream.requests).sum();
    requests as f64 / streams.iter().map(|stream| stream.rows).sum::<u64>() as f64
}

fn before(result: &RunResult) -> f64 {
    locality(&result.networks[0].before)
}

fn after(result: &RunResult) -> f64 {
    locality(&result.networks[0].after)
}

/// Harmonic mean, the paper's.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) =
        values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + 1.0 / value));
    count / sum
}

fn mean_of(results: &[RunResult], of: fn(&RunResult) -> f64) -> f64 {
    mean(results.iter().map(of))
}

/// Mean over workloads of `of`, each against the same workload of `baseline`.
fn against(results: &[RunResult], baseline: &[RunResult], of: fn(&RunResult) -> f64) -> f64 {
    mean(results.iter().zip(baseline).map(|(result, base)| of(result) / of(base)))
}

fn figure_1(workloads: &[Workload]) {
    println!("\nFigure 1: row locality before and after the crossbar, 4 channels (harmonic means)");
    println!("published: the gap grows with the SMs\n");
    println!("{:>4} {:>8} {:>8} {:>10}", "SMs", "before", "after", "preserved");
    let counts = [8, 16, 24, 28, 32];
    let machines =
        counts.map(|count| machine(&[&format!("sm.count={count}"), "dram.channels=4"], FR_FCFS));
    for (count, results) in counts.iter().zip(replay(&machines, workloads)) {
        let (before, after) = (mean_of(&results, before), mean_of(&results, after));
        println!("{count:>4} {before:>8.2} {after:>8.2} {:>8.1} %", 100.0 * after / before);
    }
}

fn locality_by_topology(workloads: &[Workload]) {
    println!(
        "\nFigures 6 and 8b: row locality after the interconnect over that before it under FR-FCFS"
    );
    println!(
        "published: 53 % over all topologies; crossbar 56.2 % without, over 70 % with HG and HMHG4\n"
    );
    println!(
        "{:<10} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "topology", "FR-FCFS", "BFIFO", "+HG", "+RMHG", "+HMHG4"
    );
    for (name, overrides) in TOPOLOGIES {
        let schemes = [FR_FCFS, BFIFO, HG, RMHG, HMHG4];
        let results = replay_schemes(overrides, &schemes, workloads);
        let preserved = results.iter().map(|of_scheme| {
            let ratios =
                of_scheme.iter().zip(&results[0]).map(|(own, base)| after(own) / before(base));
            format!("{:>7.1} %", 100.0 * mean(ratios))
        });
        println!("{name:<10} {}", preserved.collect::<Vec<_>>().join(" "));
    }
}

fn print_schemes(name: &str, overrides: &[&str], workloads: &[Workload]) {
    let results = replay_schemes(overrides, &SCHEMES, workloads);
    let baseline = results.last().expect("schemes");
    let relative = results.iter().map(|own| format!("{:>10.3}", against(own, baseline, ipc)));
    println!("{name:<10} {}", relative.collect::<Vec<_>>().join(" "));
}

fn print_scheme_names(first: &str) {
    let names = SCHEMES.map(|scheme| format!("{:>10}", scheme.name.replace("BFIFO+", "+")));
    println!("{first:<10} {}", names.join(" "));
}

fn schemes_by_topology(workloads: &[Workload]) {
    println!("\nFigure 12: IPC over FR-FCFS of the same topology, queue of 32");
    println!(
        "published: FIFO 0.531 over all; HMHG4 0.860 crossbar, 0.847 mesh; on the ring +6.3 % over BFIFO\n"
    );
    print_scheme_names("topology");
    for (name, overrides) in TOPOLOGIES {
        print_schemes(name, overrides, workloads);
    }
}

fn queue_sizes(workloads: &[Workload]) {
    println!("\nFigure 13: IPC over FR-FCFS of the same queue, crossbar");
    println!("published: HMHG4 0.91 at 8, 0.860 at 32, less at 64\n");
    print_scheme_names("queue");
    for queue in [8, 16, 32, 64] {
        print_schemes(&queue.to_string(), &[&format!("dram.read_queue={queue}")], workloads);
    }
}

fn memory_latency(result: &RunResult) -> f64 {
    result.latency.total.mean().unwrap_or(0.0)
}

fn latency_and_efficiency(workloads: &[Workload]) {
    println!("\nFigure 9: memory latency and DRAM efficiency against BFIFO, crossbar");
    println!("published: latency HG -33.9 %, HMHG4 -35.3 %; efficiency about +15.1 % with both\n");
    println!("{:<12} {:>10} {:>12}", "scheme", "latency", "efficiency");
    let schemes = [BFIFO, FIFO, HG, RMHG, HMHG4, FR_FCFS];
    let results = replay_schemes(CROSSBAR, &schemes, workloads);
    for (scheme, own) in schemes.iter().zip(&results) {
        let latency = against(own, &results[0], memory_latency) - 1.0;
        let gain = against(own, &results[0], efficiency) - 1.0;
        println!("{:<12} {:>+8.1} % {:>+10.1} %", scheme.name, 100.0 * latency, 100.0 * gain);
    }
}

/// Row switches with a breaker of a kind, of all that switched.
fn breaker_share(result: &RunResult, kind: Breaker) -> f64 {
    let banks = || result.channels.iter().flat_map(|channel| &channel.banks);
    let with: u64 = banks().map(|bank| bank.streak_breakers[kind as usize]).sum();
    with as f64 / banks().map(|bank| bank.row_switches).sum::<u64>() as f64
}

fn breakers(workloads: &[Workload]) {
    println!(
        "\nFigure 10: row streaks broken, % of row streaks, by where the breakers come from, crossbar (arithmetic means)"
    );
    println!(
        "published: other cores dominate under BFIFO; below 10 % with HG and HMHG4 but for one workload (30 %)\n"
    );
    println!("{:<12} {:>11} {:>15} {:>9}", "scheme", "other core", "other CTA there", "same CTA");
    let schemes = [BFIFO, HG, RMHG, HMHG4, FR_FCFS];
    let results = replay_schemes(CROSSBAR, &schemes, workloads);
    for (scheme, own) in schemes.iter().zip(&results) {
        let share =
            |kind| own.iter().map(|r| breaker_share(r, kind)).sum::<f64>() / own.len() as f64;
        let shares = [Breaker::OtherCore, Breaker::SameCoreOtherCta, Breaker::SameCta].map(share);
        let [core, other, same] = shares.map(|share| 100.0 * share);
        println!("{:<12} {core:>9.1} % {other:>13.1} % {same:>7.1} %", scheme.name);
    }
}

fn virtual_channels(workloads: &[Workload]) {
    println!("\nFigure 11: IPC over that with one virtual channel of the same scheme, crossbar");
    println!(
        "published: dynamic, 4: HG -21.3 %, HMHG4 -21.7 %; static over dynamic at 4: +18.5 % and +17.7 %\n"
    );
    println!(
        "{:<12} {:>10} {:>10} {:>10} {:>10}",
        "scheme", "dynamic 2", "static 2", "dynamic 4", "static 4"
    );
    for scheme in [BFIFO, HG, HMHG4, FR_FCFS] {
        let cells = [
            (1, "dynamic"),
            (2, "dynamic"),
            (2, "static-destination"),
            (4, "dynamic"),
            (4, "static-destination"),
        ];
        let machines = cells.map(|(channels, assignment)| {
            let channels = format!("network.virtual_channels={channels}");
            machine(&[&channels, &format!("network.vc_assignment={assignment}")], scheme)
        });
        let results = replay(&machines, workloads);
        let relative =
            results[1..].iter().map(|own| format!("{:>10.3}", against(own, &results[0], ipc)));
        println!("{:<12} {}", scheme.name, relative.collect::<Vec<_>>().join(" "));
    }
}
