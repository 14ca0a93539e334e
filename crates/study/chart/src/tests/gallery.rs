//! Charts of data like that of runs, and of unusual data.

use super::super::*;
use warpmem_analysis::polars::prelude::*;

const WORKLOADS: [&str; 8] = [
    "bfs-rmat",
    "gather",
    "histogram",
    "reduction",
    "spmv-scalar",
    "spmv-vector",
    "stream-triad",
    "vecadd",
];
pub const POLICIES: [&str; 6] = [
    "fr-fcfs(banks=stepping,picks_per_cycle=1)",
    "fcfs",
    "banked-fifo",
    "warped-mc(window=64)",
    "mshr-s+a(threshold=2,delay=100)",
    "fr-fcfs(banks=oldest,picks_per_cycle=1)",
];

/// Returns plausible measured values; the same each time.
fn measured(number: usize) -> f64 {
    0.5 + 0.5 * ((number as f64 * 12.9898).sin() * 43_758.545).fract().abs()
}

/// Makes a row for each workload and policy.
fn grid(workloads: &[String], policies: &[&str]) -> (Vec<String>, Vec<String>) {
    let pairs =
        workloads.iter().flat_map(|w| policies.iter().map(move |p| (w.clone(), (*p).to_owned())));
    pairs.unzip()
}

fn workloads(count: usize) -> Vec<String> {
    let name = |n: usize| match n / WORKLOADS.len() {
        0 => WORKLOADS[n].to_owned(),
        round => format!("{}-{}k", WORKLOADS[n % WORKLOADS.len()], 16 << round),
    };
    (0..count).map(name).collect()
}

pub fn frame(columns: Vec<Column>) -> DataFrame {
    DataFrame::new_infer_height(columns).expect("columns of one length")
}

pub fn column<T, P>(name: &str, values: T) -> Column
where
    Series: NamedFrom<T, P>,
    T: AsRef<P>,
    P: ?Sized,
{
    Column::from(Series::new(name.into(), values))
}

pub fn ratios(name: &str, count: usize, policies: &[&str]) -> Chart {
    let mut names = workloads(count);
    names.push("geomean".to_owned());
    let (trace, policy) = grid(&names, policies);
    let ratio: Vec<f64> = (0..trace.len()).map(|n| 0.6 + 0.8 * measured(n)).collect();
    let data =
        frame(vec![column("trace", trace), column("policy", policy), column("ipc_ratio", ratio)]);
    let bars = Bars::new("trace", "policy", "ipc_ratio", Axis::new("IPC over fr-fcfs", "×"));
    let bars = bars.set_apart(["geomean"]).reference(1.0);
    Chart::new(name, "IPC", "IPC of each policy over that of fr-fcfs", data, bars)
}

pub fn far() -> Chart {
    let mut chart = ratios("bars-far", 12, &POLICIES[..4]);
    let mut ratio: Vec<Option<f64>> = (0..52).map(|n| Some(0.6 + 0.8 * measured(n))).collect();
    (ratio[5], ratio[6], ratio[20], ratio[30]) = (Some(12.34), Some(7.5), None, Some(f64::NAN));
    chart.data = chart.data.with_column(column("ipc_ratio", ratio)).expect("a column").clone();
    chart
}

/// Draws a whisker on each bar of the mean, and none on the others.
pub fn ranges() -> Chart {
    let mut chart = ratios("bars-ranges", 8, &POLICIES[..4]);
    let of_mean = |value: f64| {
        let values = (0..36).map(|row| (row >= 32).then_some(value));
        values.collect::<Vec<Option<f64>>>()
    };
    for (name, value) in [("least", 0.55), ("greatest", 1.45)] {
        let column = column(name, of_mean(value));
        chart.data = chart.data.with_column(column).expect("a column").clone();
    }
    let bars = Bars::new("trace", "policy", "ipc_ratio", Axis::new("IPC over fr-fcfs", "×"));
    chart.kind = bars.set_apart(["geomean"]).range("least", "greatest").into();
    chart
}

fn negative() -> Chart {
    let (trace, policy) = grid(&workloads(8), &POLICIES[..3]);
    let change: Vec<f64> = (0..24).map(|n| 40.0 * (measured(n) - 0.7)).collect();
    let data = frame(vec![column("t", trace), column("p", policy), column("v", change)]);
    let axis = Axis::new("change of the mean latency of all requests of loads", "core cycles");
    Chart::new("bars-negative", "Change", "", data, Bars::new("t", "p", "v", axis))
}

/// Claims in full sentences, as in a paper, and their results.
pub fn claims() -> Chart {
    let claims = [
        ("IPC of memory-bound workloads over the first-ready scheduler", 10.9),
        ("mean latency of all requests of the same", -28.0),
        ("row locality", 101.4),
        ("energy for each request, of all workloads", -0.04),
    ];
    let (mut what, mut whose, mut change) = (vec![], vec![], vec![]);
    for (number, (claim, published)) in claims.into_iter().enumerate() {
        what.extend([claim, claim]);
        whose.extend(["published", "ours"]);
        change.extend([Some(published), (number != 2).then_some(-0.4 * published)]);
    }
    let data = frame(vec![column("what", what), column("whose", whose), column("v", change)]);
    let bars = Bars::new("what", "whose", "v", Axis::new("change", "%")).horizontal();
    Chart::new("bars-horizontal", "Claims", "", data, bars.set_apart([claims[3].0]))
}

/// Series, some of which have only one bar.
pub fn sparse() -> Chart {
    let mut chart = ratios("bars-sparse", 12, &POLICIES[..4]);
    let is_drawn: BooleanChunked =
        (0..52).map(|row| [0, 1].contains(&(row % 4)) || row >= 48).collect();
    chart.data = chart.data.filter(&is_drawn).expect("rows");
    chart
}

/// Cycles of two sides.
pub fn equal() -> Chart {
    let (trace, policy) = grid(&workloads(8), &POLICIES[..2]);
    let ours: Vec<f64> = (0..16).map(|n| 1e3 * 60f64.powf(measured(n))).collect();
    let theirs: Vec<f64> = ours.iter().enumerate().map(|(n, c)| c * (0.6 + measured(n))).collect();
    let data = vec![
        column("theirs", theirs),
        column("ours", ours),
        column("trace", trace),
        column("policy", policy),
    ];
    let [x, y] = ["theirs", "ours"].map(|whose| Axis::new(whose, "core cycles").log());
    let kind = Scatter::new("theirs", "ours", "policy", x, y).group("trace");
    let kind = kind.against_equal([0.1, 0.2, 0.5], 0.2);
    Chart::new("scatter-equal", "Cycles", "", frame(data), kind)
}

/// Draws a falling line with some named points.
pub fn named() -> Chart {
    let size: Vec<f64> = (0..60).map(|step| 1024.0 * 1.17f64.powi(step)).collect();
    let misses: Vec<f64> = (0..60).map(|step| (-f64::from(step) / 12.0).exp()).collect();
    let names = [(10, "16 KiB"), (20, ""), (30, "1 MiB"), (59, "the last")];
    let name = |at| names.iter().find(|(named, _)| *named == at).map(|(_, name)| *name);
    let data = vec![
        column("size", size),
        column("misses", misses),
        column("name", (0..60).map(name).collect::<Vec<_>>()),
        column("series", vec!["LRU"; 60]),
    ];
    let (x, y) = (Axis::new("size", "B").log(), Axis::percent("misses"));
    let ticks = [(1024.0, "1 KiB".to_owned()), (65_536.0, "64 KiB".to_owned())];
    let lines = Lines::new("size", "misses", "series", x, y).marks("name").ticks(ticks);
    Chart::new("lines-named", "Misses", "", frame(data), lines.with_zero())
}

pub fn one_bar() -> Chart {
    let data =
        frame(vec![column("t", vec!["only"]), column("p", vec!["fcfs"]), column("v", vec![3.0])]);
    Chart::new("bars-one", "One", "", data, Bars::new("t", "p", "v", Axis::new("value", "")))
}

fn stages(name: &str, policies: &[&str], are_shares: bool) -> Chart {
    const STAGES: [&str; 8] = [
        "L1",
        "request network",
        "L2 queue",
        "L2",
        "L2 to DRAM",
        "DRAM queue",
        "DRAM service",
        "reply network",
    ];
    let (mut trace, mut policy, mut stage, mut cycles) = (vec![], vec![], vec![], vec![]);
    for workload in WORKLOADS {
        for of in policies {
            for name in STAGES {
                cycles
                    .push(if name == "DRAM queue" { 300.0 } else { 60.0 } * measured(cycles.len()));
                trace.push(workload);
                policy.push(*of);
                stage.push(name);
            }
        }
    }
    let data = vec![
        column("trace", trace),
        column("policy", policy),
        column("stage", stage),
        column("cycles", cycles),
    ];
    let stacked =
        StackedBars::new("trace", "stage", "cycles", Axis::new("mean latency", "core cycles"));
    let stacked = if policies.len() > 1 { stacked.series("policy") } else { stacked };
    let stacked = if are_shares { stacked.shares() } else { stacked };
    Chart::new(name, "Latency by stage", "", frame(data), stacked)
}

fn boxes(name: &str, count: usize, is_log: bool) -> Chart {
    let (trace, policy) = grid(&workloads(count), &POLICIES[..4]);
    let at = |factor: f64| -> Vec<f64> {
        (0..trace.len()).map(|n| 400.0 * factor * (0.4 + measured(n))).collect()
    };
    let factors =
        [("p1", 0.5), ("p25", 0.8), ("p50", 1.0), ("p75", 1.4), ("p99", 3.0), ("max", 6.0)];
    let mut columns: Vec<Column> =
        factors.iter().map(|(p, factor)| column(&format!("load_time_{p}"), at(*factor))).collect();
    columns.extend([column("trace", trace.clone()), column("policy", policy)]);
    let axis = Axis::new("load time", "core cycles");
    let kind = Boxes::of("load_time", "trace", "policy", if is_log { axis.log() } else { axis });
    Chart::new(name, "Load times", "", frame(columns), kind)
}

fn tails(panels: usize) -> Chart {
    let (mut trace, mut policy, mut x, mut above) = (vec![], vec![], vec![], vec![]);
    for workload in workloads(panels) {
        for (number, of) in POLICIES[..4].iter().enumerate() {
            for point in 0..60 {
                let cycles = 50.0 * 1.12f64.powi(point);
                trace.push(workload.clone());
                policy.push(*of);
                x.push(cycles.round());
                above.push((-(cycles - 50.0) / (2500.0 + 900.0 * number as f64)).exp());
            }
        }
    }
    let data = vec![
        column("trace", trace),
        column("policy", policy),
        column("divergence", x),
        column("above", above),
    ];
    let kind = Tails::new("divergence", "above", "policy", Axis::new("divergence", "core cycles"))
        .panels("trace");
    Chart::new(format!("tails-{panels}"), "Divergence", "", frame(data), kind)
}

fn scatter(count: usize, policies: usize) -> Chart {
    let (trace, policy) = grid(&workloads(count), &POLICIES[..policies]);
    let of = |from: usize, scale: f64| -> Vec<f64> {
        (0..trace.len())
            .map(|n| 1.0 + scale * (measured(n / policies + from) + 0.2 * measured(n + from)))
            .collect()
    };
    let data = vec![
        column("blp", of(3, 5.0)),
        column("row_locality", of(40, 6.0)),
        column("trace", trace.clone()),
        column("policy", policy),
    ];
    let (x, y) = (
        Axis::new("bank-level parallelism", "banks"),
        Axis::new("row locality", "requests / activation"),
    );
    let kind =
        Scatter::new("blp", "row_locality", "policy", x, y).group("trace").arrows_from(POLICIES[0]);
    Chart::new(
        format!("scatter-{count}-{policies}"),
        "Locality and parallelism",
        "",
        frame(data),
        kind,
    )
}

fn sweep() -> Chart {
    let (mut trace, mut policy, mut size, mut ratio) = (vec![], vec![], vec![], vec![]);
    for workload in workloads(6) {
        for (number, of) in POLICIES[..5].iter().enumerate() {
            for power in 3..8 {
                trace.push(workload.clone());
                policy.push(*of);
                size.push(1u32 << power);
                ratio.push(
                    0.8 + 0.05 * f64::from(power)
                        + 0.04 * number as f64
                        + 0.1 * measured(trace.len()),
                );
            }
        }
    }
    let data = vec![
        column("trace", trace),
        column("policy", policy),
        column("queue", size),
        column("ratio", ratio),
    ];
    let (x, y) = (Axis::new("read queue", "requests").log(), Axis::new("IPC over fr-fcfs", "×"));
    let kind = Lines::new("queue", "ratio", "policy", x, y).panels("trace").reference(1.0);
    Chart::new("lines-sweep", "Sweep", "", frame(data), kind)
}

fn series() -> Chart {
    let (mut policy, mut cycle, mut ipc) = (vec![], vec![], vec![]);
    for (number, of) in POLICIES[..3].iter().enumerate() {
        for interval in 0..2000u32 {
            policy.push(*of);
            cycle.push(interval * 1000);
            let wave = (f64::from(interval) / (150.0 + 30.0 * number as f64)).sin();
            ipc.push(
                (interval % 700 != 350)
                    .then_some(200.0 + 80.0 * wave + 60.0 * measured(policy.len())),
            );
        }
    }
    let data = vec![column("policy", policy), column("cycle", cycle), column("ipc", ipc)];
    let (x, y) = (Axis::new("time", "core cycles"), Axis::new("thread IPC", "1/cycle"));
    Chart::new(
        "lines-series",
        "IPC over time",
        "",
        frame(data),
        Lines::new("cycle", "ipc", "policy", x, y),
    )
}

pub fn banks(maps: usize, channels: usize, banks: usize) -> Chart {
    let (mut policy, mut channel, mut bank, mut accesses) = (vec![], vec![], vec![], vec![]);
    for map in 0..maps {
        for c in 0..channels {
            for b in 0..banks {
                policy.push(format!("{}, {}", WORKLOADS[map % 8], POLICIES[map / 8]));
                channel.push(c as i64);
                bank.push(b as i64);
                let count =
                    (2e5 * measured(accesses.len()) * if (c + b) % 7 == 3 { 2.0 } else { 1.0 })
                        .round();
                accesses.push((accesses.len() != 5).then_some(count));
            }
        }
    }
    let data = vec![
        column("policy", policy),
        column("channel", channel),
        column("bank", bank),
        column("accesses", accesses),
    ];
    let [x, y] = ["channel", "bank"].map(|name| Axis::new(name, ""));
    let kind = HeatMap::new("channel", "bank", "accesses", x, y, Axis::new("accesses", "requests"));
    Chart::new(
        format!("heat-{maps}-{channels}-{banks}"),
        "Banks",
        "",
        frame(data),
        kind.panels("policy"),
    )
}

fn interactions() -> Chart {
    let factors = ["warp scheduler", "arbiter", "L2 queue", "DRAM scheduler", "prefetcher"];
    let pairs = || factors.iter().flat_map(|a| factors.iter().map(move |b| (*a, *b)));
    let (a, b): (Vec<&str>, Vec<&str>) = pairs().unzip();
    let effect: Vec<f64> = (0..25).map(|n| (100.0 * (measured(n) - 0.7)).round() / 10.0).collect();
    let data = frame(vec![column("a", a), column("b", b), column("effect", effect)]);
    let [x, y] = ["factor", "with"].map(|name| Axis::new(name, ""));
    Chart::new(
        "heat-interactions",
        "Effects",
        "",
        data,
        HeatMap::new("a", "b", "effect", x, y, Axis::new("effect on IPC", "%")),
    )
}

/// Ranks policies, some with intervals, one far below the others.
pub fn ranked(count: usize) -> Chart {
    let name =
        |n: usize| format!("{}/{}", POLICIES[n % 6], ["lrr", "two-level-active", "gto"][n / 6 % 3]);
    let names: Vec<String> =
        (0..count).map(|n| if n < 18 { name(n) } else { format!("p{n}") }).collect();
    let change: Vec<f64> = (0..count).map(|n| 0.05 - 0.004 * n as f64).collect();
    let end = |by: f64, every: usize| {
        let end = |(n, change): (usize, &f64)| (n % every == 0).then_some(change + by);
        change.iter().enumerate().map(end).collect::<Vec<Option<f64>>>()
    };
    let ends = [end(-0.9, 1), end(0.05, 1), end(-0.01, 2), end(0.01, 2)];
    let [least, greatest, low, high] = ends;
    let data = frame(vec![
        column("policy", names),
        column("change", &change),
        column("least", least),
        column("greatest", greatest),
        column("low", low),
        column("high", high),
    ]);
    let axis = Axis::percent("IPC above fr-fcfs(banks=stepping,picks_per_cycle=1)");
    let kind = Dots::new("policy", "change", axis).range("least", "greatest");
    let kind = kind.interval("low", "high").reference(0.0);
    Chart::new(format!("dots-{count}"), "Means", "", data, kind)
}

/// Changes of many policies on many workloads.
fn matrix(policies: usize, count: usize) -> Chart {
    let mut names = workloads(count);
    names.push("geometric mean".to_owned());
    let policy = |n: usize| if n < 6 { POLICIES[n].to_owned() } else { format!("policy-{n}") };
    let policies: Vec<String> = (0..policies).map(policy).collect();
    let refs: Vec<&str> = policies.iter().map(String::as_str).collect();
    let (trace, policy) = grid(&names, &refs);
    let mut change: Vec<Option<f64>> =
        (0..trace.len()).map(|n| Some(0.4 * (measured(n) - 0.7))).collect();
    (change[0], change[1]) = (Some(7.0), None);
    let data = vec![column("trace", trace), column("policy", policy), column("v", change)];
    let kind = Matrix::new("policy", "trace", "v", Axis::percent("change of IPC"));
    let name = format!("matrix-{}-{count}", policies.len());
    Chart::new(name, "Changes", "", frame(data), kind.set_apart(["geometric mean"]))
}

/// Draws a map of gains with workloads on it, three of them at the same point.
fn marked() -> Chart {
    let (mut across, mut up, mut gain) = (vec![], vec![], vec![]);
    for row in 0..4 {
        for column in 0..5 {
            across.push((16 << column).to_string());
            up.push(format!("0.{row}"));
            gain.push(f64::from(row * column) * 1.7 - 1.0);
        }
    }
    let data = frame(vec![column("queue", across), column("share", up), column("gain", gain)]);
    let places = [(2.0, 0.0), (2.0, 0.0), (2.0, 0.05), (0.5, 2.5), (4.0, 3.0)];
    let marks = places.map(|at| Mark { label: format!("workload at {at:?}"), at });
    let [x, y] = ["queue", "share"].map(|name| Axis::new(name, ""));
    let kind = HeatMap::new("queue", "share", "gain", x, y, Axis::new("change of IPC", "%"));
    Chart::new("heat-marks", "Where it gains", "", data, kind.marks(marks))
}

/// Makes a chart of these values alone.
pub fn values(name: &str, values: Vec<Option<f64>>) -> Chart {
    let points: Vec<i64> = (0..values.len() as i64).collect();
    let series = vec!["a"; values.len()];
    let data = frame(vec![column("x", points), column("y", values), column("s", series)]);
    Chart::new(
        name,
        "",
        "",
        data,
        Lines::new("x", "y", "s", Axis::new("x", ""), Axis::new("y", "")),
    )
}

pub fn gallery() -> Vec<Chart> {
    let mut charts = vec![
        ratios("bars", 8, &POLICIES[..4]),
        ratios("bars-many", 37, &POLICIES),
        ratios("bars-few", 2, &POLICIES[..2]),
        far(),
        ranges(),
        negative(),
        claims(),
        sparse(),
        one_bar(),
        stages("stacked", &POLICIES[..1], false),
        stages("stacked-policies", &POLICIES[..4], false),
        stages("stacked-shares", &POLICIES[..4], true),
        boxes("boxes", 8, false),
        boxes("boxes-log", 8, true),
        boxes("boxes-many", 30, true),
        tails(1),
        tails(6),
        scatter(8, 4),
        scatter(37, 6),
        equal(),
        sweep(),
        named(),
        series(),
        banks(1, 8, 16),
        banks(6, 8, 16),
        banks(9, 40, 16),
        banks(4, 80, 64),
        interactions(),
        marked(),
        ranked(2),
        ranked(24),
        ranked(60),
        matrix(2, 2),
        matrix(7, 8),
        matrix(24, 60),
        matrix(60, 60),
        values("odd-nothing", vec![]),
        values("odd-null", vec![None, Some(f64::NAN), Some(f64::INFINITY)]),
        values("odd-point", vec![Some(7.0)]),
        values("odd-equal", vec![Some(-3.0); 5]),
        values("odd-zero", vec![Some(0.0); 5]),
        values("odd-huge", vec![Some(-1e308), Some(1e308), Some(1e-308)]),
        values("odd-small", vec![Some(2e-7), Some(9e-7), None, Some(3e-7)]),
    ];
    let mut escaped = ratios("<bars> & \"co\"", 3, &POLICIES[..2]);
    escaped.title = "<script>alert('&')</script>\u{0}".to_owned();
    charts.push(escaped);
    charts
}
