//! Jog et al. (OWL, ASPLOS 2013) beside ours: what each of their schemes gives over round robin, and what it moves.
//! `cargo bench --no-default-features --bench owl2013 [-- TRACE…]`; without traces it replays all of `sample-traces`. Means are
//! over those that the paper would call memory-bound (1.4 times as fast with a perfect L1), and over all. Nothing is tuned to the published
//! figures, which come from other workloads: direction and order are what compares.
#![allow(clippy::print_stdout)]

mod papers;

use papers::{Workload, replay, workloads};
use serde_json::{Map, Value};
use warpmem::machine::{Machine, load};
use warpmem::record::{RunKey, run_row_json};

/// A scheme of the paper: what it sets of `owl2013`.
#[derive(Clone, Copy)]
struct Scheme {
    name: &'static str,
    overrides: &'static [&'static str],
}

const fn scheme(name: &'static str, overrides: &'static [&'static str]) -> Scheme {
    Scheme { name, overrides }
}

const RR: Scheme = scheme("RR", &["policy.warp_scheduler=lrr"]);
const TWO_LEVEL: Scheme = scheme("two-level", &["policy.warp_scheduler=two-level"]);
const CTA_AWARE: Scheme = scheme("CTA-Aware", &["policy.warp_scheduler=cta-aware"]);
const LOCALITY: Scheme = scheme("+Locality", &["policy.warp_scheduler=cta-aware-locality"]);
const BLP: Scheme = scheme("+BLP", &["policy.warp_scheduler=cta-aware-locality-blp"]);
const OWL: Scheme = scheme(
    "OWL",
    &["policy.warp_scheduler=cta-aware-locality-blp", "policy.prefetcher=opportunistic"],
);
const STOP: Scheme = scheme(
    "OWL, stop",
    &["policy.warp_scheduler=cta-aware-locality-blp", "policy.prefetcher=opportunistic-stop"],
);
const PERFECT_L2: Scheme = scheme(
    "perfect L2",
    &["policy.warp_scheduler=cta-aware-locality-blp", "policy.ideal=perfect-l2"],
);
const PERFECT_L1: Scheme =
    scheme("perfect L1", &["policy.warp_scheduler=lrr", "policy.ideal=perfect-l1"]);

/// In the paper's order: each builds on the one before it.
const SCHEMES: [Scheme; 8] = [RR, TWO_LEVEL, CTA_AWARE, LOCALITY, BLP, STOP, OWL, PERFECT_L2];

/// Speedup with a perfect L1 from which a workload is memory-bound (section 3).
const MEMORY_BOUND: f64 = 1.4;

/// The metrics of one run, by name.
type Row = Map<String, Value>;

/// A run's metric; nothing where it has none.
fn metric(row: &Row, name: &str) -> Option<f64> {
    row[name].as_f64()
}

fn main() {
    let workloads = workloads();
    let mut schemes = SCHEMES.to_vec();
    schemes.push(PERFECT_L1);
    let rows = rows(schemes.iter().map(|scheme| machine(scheme, &[])).collect(), &workloads);
    let bound = memory_bound(&rows[0], &rows[SCHEMES.len()], &workloads);
    figure_7(&rows, &bound, &workloads);
    what_moved(&rows, &bound);
    by_workload(&rows, &workloads);
    prefetches(&rows, &workloads);
    group_sizes(&rows[0], &bound, &workloads);
    banks(&bound, &workloads);
    prefetch_degrees(&rows, &bound, &workloads);
    idle_slots(&rows[0], &bound, &workloads);
}

fn machine(scheme: &Scheme, more: &[&str]) -> Machine {
    let overrides: Vec<String> =
        scheme.overrides.iter().chain(more).map(|&text| text.to_owned()).collect();
    load("owl2013", &overrides).expect("a machine")
}

/// Replays every workload on every machine; rows by machine, then workload.
fn rows(machines: Vec<Machine>, workloads: &[Workload]) -> Vec<Vec<Row>> {
    let results = replay(&machines, workloads);
    let of_machine = |(machine, results): (Machine, Vec<_>)| {
        let row = |(workload, result): (&Workload, _)| {
            let hash = workload.trace.header().content_hash;
            let key = RunKey::new(&workload.name, hash, machine.clone(), "bench owl2013", None);
            run_row_json(&key, &result)
        };
        workloads.iter().zip(results).map(row).collect()
    };
    machines.into_iter().zip(results).map(of_machine).collect()
}

/// Of each workload a metric over that of the same workload in `base`, where both have one and it is above zero.
fn ratios(rows: &[Row], base: &[Row], name: &str) -> Vec<f64> {
    let ratio = |(row, base): (&Row, &Row)| Some(metric(row, name)? / metric(base, name)?);
    rows.iter().zip(base).filter_map(ratio).filter(|ratio| ratio.is_finite()).collect()
}

/// The rows of some workloads.
fn only(rows: &[Row], chosen: &[bool]) -> Vec<Row> {
    rows.iter().zip(chosen).filter(|&(_, &chosen)| chosen).map(|(row, _)| row.clone()).collect()
}

fn amean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn hmean(values: &[f64]) -> f64 {
    values.len() as f64 / values.iter().map(|value| 1.0 / value).sum::<f64>()
}

fn gmean(values: &[f64]) -> f64 {
    amean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp()
}

fn percent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}

/// The arithmetic mean of some ratios as a change, %.
fn change(ratios: &[f64]) -> String {
    if ratios.is_empty() { "-".to_owned() } else { format!("{:+.1}", percent(amean(ratios))) }
}

/// Which workloads are memory-bound.
fn memory_bound(rr: &[Row], perfect_l1: &[Row], workloads: &[Workload]) -> Vec<bool> {
    println!("Table 2: speedup with a perfect L1; memory-bound from {MEMORY_BOUND}\n");
    println!("{:<20} {:>10} {:>12} {:>10}", "trace", "RR IPC", "perfect L1", "inactive");
    let speedups = ratios(perfect_l1, rr, "ipc_thread");
    for ((workload, row), speedup) in workloads.iter().zip(rr).zip(&speedups) {
        let ipc = metric(row, "ipc_thread").unwrap_or(0.0);
        let idle = metric(row, "inactive_cycles").unwrap_or(0.0);
        let share = 100.0 * idle / metric(row, "cycles").unwrap_or(1.0);
        let mark = if *speedup >= MEMORY_BOUND { "memory-bound" } else { "" };
        println!("{:<20} {ipc:>10.1} {speedup:>11.2}x {share:>8.1} %  {mark}", workload.name);
    }
    speedups.iter().map(|&speedup| speedup >= MEMORY_BOUND).collect()
}

fn figure_7(rows: &[Vec<Row>], bound: &[bool], workloads: &[Workload]) {
    println!("\nFigure 7: IPC over RR");
    println!(
        "published, memory-bound (arithmetic, harmonic, geometric mean): CTA-Aware +14, 9, 11 %; +Locality"
    );
    println!("+25, 17, 21 %; +BLP about +31 %; OWL +33, 23, 28 %; two-level about as CTA-Aware\n");
    let names = SCHEMES[1..].iter().map(|scheme| format!("{:>11}", scheme.name));
    println!("{:<20} {}", "", names.collect::<String>());
    for (at, workload) in workloads.iter().enumerate() {
        let of = |scheme: &Vec<Row>| ratios(&scheme[at..=at], &rows[0][at..=at], "ipc_thread")[0];
        print_line(&workload.name, rows[1..SCHEMES.len()].iter().map(of));
    }
    for (class, chosen) in [("memory-bound", bound.to_vec()), ("all", vec![true; bound.len()])] {
        for (name, mean) in
            [("amean", amean as fn(&[f64]) -> f64), ("hmean", hmean), ("gmean", gmean)]
        {
            let of = |scheme: &Vec<Row>| {
                mean(&ratios(&only(scheme, &chosen), &only(&rows[0], &chosen), "ipc_thread"))
            };
            print_line(&format!("{class}, {name}"), rows[1..SCHEMES.len()].iter().map(of));
        }
    }
}

fn print_line(name: &str, values: impl Iterator<Item = f64>) {
    let cells: String = values.map(|value| format!("{value:>11.3}")).collect();
    println!("{name:<20} {cells}");
}

/// What the paper says each step moves, memory-bound workloads.
fn what_moved(rows: &[Vec<Row>], bound: &[bool]) {
    println!(
        "\nFigures 6 and 8, Table 3: each scheme over RR, and over the one before it, % (arithmetic means, memory-bound)"
    );
    println!(
        "published: L1 miss rate -8 then -18 of RR's; blocked cycles -9, -6, -3 of RR's cycles step by step; +BLP over"
    );
    println!(
        "+Locality: BLP +11, row hit rate -14, latency -22, queueing -12; OWL over +BLP: IPC +2, L2 hits +12\n"
    );
    let metrics = [
        ("ipc_thread", "IPC"),
        ("l1_miss_rate", "L1 misses"),
        ("blp", "BLP"),
        ("row_hit_rate", "row hits"),
        ("row_locality", "row local."),
        ("latency_mean", "latency"),
        ("latency_dram_queue", "queueing"),
        ("l2_miss_rate", "L2 misses"),
    ];
    let titles: String = metrics.iter().map(|(_, title)| format!("{title:>16}")).collect();
    println!("{:<12}{titles}{:>16}", "", "blocked of RR's");
    let chosen: Vec<Vec<Row>> =
        rows[..SCHEMES.len()].iter().map(|rows| only(rows, bound)).collect();
    for (at, scheme) in SCHEMES.iter().enumerate().skip(1) {
        let before = before(at);
        let cell = |name| {
            let over = |base: usize| change(&ratios(&chosen[at], &chosen[base], name));
            format!("{:>8}{:>8}", over(0), over(before))
        };
        let cells: String = metrics.iter().map(|&(name, _)| cell(name)).collect();
        let less = blocked(&chosen[at], &chosen[0]) - blocked(&chosen[before], &chosen[0]);
        println!("{:<12}{cells}{less:>+16.1}", scheme.name);
    }
}

/// The scheme that another builds on: perfect L2 and both prefetchers on BLP, CTA-Aware on RR.
fn before(scheme: usize) -> usize {
    match SCHEMES[scheme].name {
        "CTA-Aware" => 0,
        "OWL" | "perfect L2" => 4,
        _ => scheme - 1,
    }
}

/// Memory-block cycles, % of the cycles of the baseline (arithmetic mean).
fn blocked(rows: &[Row], base: &[Row]) -> f64 {
    let share = |(row, base): (&Row, &Row)| {
        Some(100.0 * metric(row, "memory_block_cycles")? / metric(base, "cycles")?)
    };
    amean(&rows.iter().zip(base).filter_map(share).collect::<Vec<_>>())
}

/// IPC of some workloads on `machine`, over RR (arithmetic mean).
fn gain(rows: &[Row], rr: &[Row], bound: &[bool]) -> f64 {
    percent(amean(&ratios(&only(rows, bound), &only(rr, bound), "ipc_thread")))
}

/// What each scheme is to move, workload by workload: metric, its title, and the schemes that it is shown of.
const MOVES: [(&str, &str, &[usize]); 6] = [
    ("l1_miss_rate", "L1 misses", &[0, 2, 3]),
    ("memory_block_cycles", "blocked", &[0, 2, 3, 4]),
    ("structural_stall_cycles", "structural", &[0, 3]),
    ("blp", "BLP", &[3, 4]),
    ("row_hit_rate", "row hits", &[3, 4]),
    ("latency_mean", "latency", &[3, 4]),
];

fn by_workload(rows: &[Vec<Row>], workloads: &[Workload]) {
    println!(
        "\nBy workload: what the schemes are to move (L1 misses and row hits as rates; cycles of an SM as shares of the run)\n"
    );
    let title = |&(_, title, schemes): &(&str, &str, &[usize])| {
        format!(" |{title:>width$}", width = 8 * schemes.len())
    };
    println!("{:<20}{}", "", MOVES.iter().map(title).collect::<String>());
    let short = ["RR", "2-level", "CTA", "+Loc", "+BLP"];
    let names = |&(_, _, schemes): &(&str, &str, &[usize])| {
        let names: String = schemes.iter().map(|&at| format!("{:>8}", short[at])).collect();
        format!(" |{names}")
    };
    println!("{:<20}{}", "trace", MOVES.iter().map(names).collect::<String>());
    for (at, workload) in workloads.iter().enumerate() {
        let cells = MOVES.iter().map(|&(name, _, schemes)| {
            let cell = |&scheme: &usize| format!("{:>8}", moved(&rows[scheme][at], name));
            format!(" |{}", schemes.iter().map(cell).collect::<String>())
        });
        println!("{:<20}{}", workload.name, cells.collect::<String>());
    }
}

/// A metric of a run, cycles as a share of the run's.
fn moved(row: &Row, name: &str) -> String {
    let value = metric(row, name).unwrap_or(f64::NAN);
    match name {
        "latency_mean" => format!("{value:.0}"),
        _ if name.ends_with("_cycles") => {
            format!("{:.3}", value / metric(row, "cycles").unwrap_or(f64::NAN))
        }
        _ => format!("{value:.3}"),
    }
}

/// What became of prefetched lines.
const FATES: [(&str, &str); 5] = [
    ("prefetches_used", "used"),
    ("prefetches_late", "late"),
    ("prefetches_redundant", "redundant"),
    ("prefetches_evicted_unused", "evicted"),
    ("prefetches_unused", "unused"),
];

fn prefetches(rows: &[Vec<Row>], workloads: &[Workload]) {
    println!(
        "\nOpportunistic prefetching (OWL): lines, what became of them, and row locality of requests over +BLP\n"
    );
    let titles: String = FATES.iter().map(|(_, title)| format!("{title:>12}")).collect();
    println!("{:<20} {:>12}{titles}{:>12}", "trace", "lines", "row local.");
    for ((workload, owl), blp) in workloads.iter().zip(&rows[6]).zip(&rows[4]) {
        let all = metric(owl, "prefetches").unwrap_or(0.0);
        let share = |name| 100.0 * metric(owl, name).unwrap_or(0.0) / all.max(1.0);
        let shares: String =
            FATES.iter().map(|(name, _)| format!("{:>10.1} %", share(name))).collect();
        let locality = ratios(std::slice::from_ref(owl), std::slice::from_ref(blp), "row_locality");
        println!("{:<20} {all:>12.0}{shares}{:>10} %", workload.name, change(&locality));
    }
}

const CTA_SCHEMES: [&str; 3] = ["cta-aware", "cta-aware-locality", "cta-aware-locality-blp"];

fn print_sweep(name: &str, parameters: &str, rr: &[Row], bound: &[bool], workloads: &[Workload]) {
    let policies =
        CTA_SCHEMES.map(|policy| format!("policy.warp_scheduler={policy}({parameters})"));
    let machines = policies.iter().map(|policy| machine(&RR, &[policy])).collect();
    let gains = rows(machines, workloads).into_iter().map(|rows| gain(&rows, rr, bound));
    let cells: String = gains.map(|gain| format!("{gain:>+23.1} %")).collect();
    println!("{name:<12} {cells}");
}

fn group_sizes(rr: &[Row], bound: &[bool], workloads: &[Workload]) {
    println!(
        "\nFigure 9: IPC over RR by the fewest warps in a group (arithmetic mean, memory-bound)"
    );
    println!("published: 8 is best, of 5 to 16: +14, +25, +31 %\n");
    println!(
        "{:<12} {:>25}{:>25}{:>25}",
        "min_warps", CTA_SCHEMES[0], CTA_SCHEMES[1], CTA_SCHEMES[2]
    );
    for warps in [5, 6, 8, 10, 12, 16] {
        print_sweep(&warps.to_string(), &format!("min_warps={warps}"), rr, bound, workloads);
    }
}

fn idle_slots(rr: &[Row], bound: &[bool], workloads: &[Workload]) {
    println!(
        "\nIssue slots that the chosen group cannot use: IPC over RR (arithmetic mean, memory-bound)"
    );
    println!("the paper: wait (Algorithm 1)\n");
    println!("{:<12} {:>25}{:>25}{:>25}", "idle", CTA_SCHEMES[0], CTA_SCHEMES[1], CTA_SCHEMES[2]);
    for idle in ["wait", "lend"] {
        print_sweep(idle, &format!("idle={idle}"), rr, bound, workloads);
    }
}

fn banks(bound: &[bool], workloads: &[Workload]) {
    println!(
        "\nFigure 10: IPC of +BLP over RR by banks of a channel (arithmetic mean, memory-bound)"
    );
    println!("published: 8 banks gain 2 % more than 4\n");
    let eight = ["dram.banks=8", "dram.address.map=row:11 bank:3 column:6 burst:5"];
    for (count, more) in [(4, &[][..]), (8, &eight[..])] {
        let of = |scheme| machine(&scheme, more);
        let rows = rows(vec![of(RR), of(BLP)], workloads);
        println!("{count:>2} banks {:>+8.1} %", gain(&rows[1], &rows[0], bound));
    }
}

fn prefetch_degrees(base: &[Vec<Row>], bound: &[bool], workloads: &[Workload]) {
    println!(
        "\nFigure 11: IPC over RR by the lines prefetched at least (arithmetic mean, memory-bound)"
    );
    println!("published: the best of 0 to 32 in steps of 8 is 1 % above 8 and 16\n");
    println!(
        "{:<8} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "lower", "higher 0", "8", "16", "24", "32"
    );
    let degrees = [0, 8, 16, 24, 32];
    for lower in degrees {
        let highers = degrees.iter().filter(|&&higher| higher >= lower);
        let policies: Vec<String> = highers
            .map(|higher| format!("policy.prefetcher=opportunistic(lower={lower},higher={higher})"))
            .collect();
        let machines = policies.iter().map(|policy| machine(&BLP, &[policy])).collect();
        let gains = rows(machines, workloads).into_iter().map(|rows| gain(&rows, &base[0], bound));
        let cells: String = gains.map(|gain| format!("{gain:>+9.1} %")).collect();
        println!("{lower:<8} {}{cells}", " ".repeat(11 * (degrees.len() - policies.len())));
    }
}
