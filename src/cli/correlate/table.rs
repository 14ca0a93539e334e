//! Comparison as text.

use crate::study::correlate::{
    Compared, Comparison, FEW_ACTIVATIONS, KernelFigures, METRICS, Metric, Range, Unit, Worst,
    cycle_summary, groups, kernel_summary, metric, metric_summary, pairs, speed,
};
use warpmem_support::text::aligned;

type Line = Vec<String>;

/// Metrics shown side by side.
const SECTIONS: [(&str, &[&str]); 3] = [
    (
        "Time: cycles without launch latency, latency of reads in cycles",
        &["cycles", "ipc_thread", "reply_latency"],
    ),
    (
        "Caches: accesses in sectors, misses of loads and stores in %",
        &["l1_accesses", "l1_miss_rate", "l2_accesses", "l2_miss_rate"],
    ),
    (
        "DRAM: column commands, column commands per activation, data bus utilization in %",
        &["dram_reads", "dram_writes", "row_locality", "bus_utilization"],
    ),
];

/// Formats every run, every kernel on request, and summaries.
pub fn text(runs: &[Comparison], kernels: bool, with_speed: bool) -> String {
    let mut parts: Vec<String> =
        SECTIONS.iter().map(|(title, metrics)| section(title, metrics, runs)).collect();
    parts.extend(range_table(runs));
    if kernels {
        parts.push(kernel_table(runs));
        parts.push(kernel_summary_table(runs));
    }
    if with_speed {
        parts.push(speed_table(runs));
    }
    parts.push(cycle_table(runs));
    parts.push(metric_table(runs));
    parts.extend(pair_table(runs));
    parts.join("\n")
}

/// Formats lines under a title, with all columns but the first right-aligned. A single-cell line is
/// a heading for the following lines and does not widen any column.
fn titled(title: &str, lines: &[Line]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let cells: Vec<Line> = lines.iter().filter(|line| line.len() > 1).cloned().collect();
    let rows = aligned(&cells, &(1..columns).collect::<Vec<_>>());
    let mut rows = rows.lines();
    let mut text = format!("{title}\n");
    for line in lines {
        let line =
            if let [heading] = line.as_slice() { heading } else { rows.next().unwrap_or("") };
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn section(title: &str, names: &[&str], runs: &[Comparison]) -> String {
    let metrics: Vec<&Metric> = names.iter().filter_map(|name| metric(name)).collect();
    let mut lines = headings(metrics.iter().map(|metric| metric.title));
    grouped(&mut lines, runs, |lines, run| {
        let values = metrics.iter().flat_map(|metric| cells(metric.unit, run.of(metric)));
        lines.push([format!("  {}", run.trace)].into_iter().chain(values).collect());
    });
    titled(title, &lines)
}

/// Formats two header lines: the titles, and below them the labels of our, the reference's and the
/// error columns.
fn headings<'a>(columns: impl Iterator<Item = &'a str> + Clone) -> Vec<Line> {
    let titles = columns.clone().flat_map(|title| [title, "", ""]);
    let parts = columns.flat_map(|_| ["ours", "ref.", "error"]);
    let line = |cells: &mut dyn Iterator<Item = &'a str>| {
        [""].into_iter().chain(cells).map(str::to_owned).collect()
    };
    vec![line(&mut titles.into_iter()), line(&mut parts.into_iter())]
}

/// Formats a line for each run, under headings with the machine and DRAM scheduler.
fn grouped<'a>(
    lines: &mut Vec<Line>,
    runs: &'a [Comparison],
    mut add: impl FnMut(&mut Vec<Line>, &'a Comparison),
) {
    let mut block = None;
    for run in runs {
        let names = (&run.machine, &run.configuration, &run.dram_scheduler);
        if block.replace(names) != Some(names) {
            lines.push(vec![place(run)]);
        }
        add(lines, run);
    }
}

/// Formats the machine of a run: `v100 (SM7_QV100), FIFO`.
fn place(run: &Comparison) -> String {
    let Comparison { machine, configuration, dram_scheduler, .. } = run;
    match machine == configuration {
        true => format!("{machine}, {dram_scheduler}"),
        false => format!("{machine} ({configuration}), {dram_scheduler}"),
    }
}

fn cells(unit: Unit, compared: Compared) -> [String; 3] {
    let value = |value: Option<f64>| value.map_or_else(none, |value| shown(unit, value));
    let error = compared.error.map_or_else(none, |error| shown_error(unit, error));
    [value(compared.ours), value(compared.reference), error]
}

fn none() -> String {
    "–".to_owned()
}

fn shown(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Count => format!("{value:.0}"),
        Unit::Share => format!("{:.1}", value * 100.0),
        Unit::Ratio if value >= 1000.0 => format!("{value:.0}"),
        Unit::Ratio if value >= 100.0 => format!("{value:.1}"),
        Unit::Ratio => format!("{value:.2}"),
    }
}

fn shown_error(unit: Unit, error: f64) -> String {
    match unit {
        Unit::Share => format!("{:+.1} pt", error * 100.0),
        Unit::Count | Unit::Ratio => format!("{:+.1} %", error * 100.0),
    }
}

/// Formats the variation of cycle errors over the orders of the SMs, if there are several.
fn range_table(runs: &[Comparison]) -> Option<String> {
    let head = ["", "least", "median", "most"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    grouped(&mut lines, runs, |lines, run| {
        let Some(Range { least, most }) = run.ours.range else { return };
        let errors = [least, run.ours.cycles, most]
            .map(|cycles| shown_error(Unit::Count, error_of(cycles, run.reference.cycles)));
        lines.push([format!("  {}", run.trace)].into_iter().chain(errors).collect());
    });
    let ranged = runs.iter().any(|run| run.ours.range.is_some());
    let title =
        "Errors of cycles over orders of the SMs; all other tables have the median of cycles";
    ranged.then(|| titled(title, &lines))
}

fn error_of(ours: u64, reference: u64) -> f64 {
    ours as f64 / reference as f64 - 1.0
}

fn kernel_table(runs: &[Comparison]) -> String {
    let mut lines = headings(["cycles", "IPC"].into_iter());
    let ranged = runs.iter().any(|run| run.ours.range.is_some());
    if ranged {
        for (line, heading) in lines.iter_mut().zip(["error over orders", "least … most"]) {
            line.push(heading.to_owned());
        }
    }
    for run in runs {
        lines.push(vec![format!("{} on {}", run.trace, place(run))]);
        let pairs = run.ours.kernels.iter().zip(&run.reference.kernels);
        for ((ours, reference), number) in pairs.zip(1..) {
            let name = format!("  {number} {}", shortened(&ours.name));
            let cycles = [ours, reference].map(|kernel| Some(kernel.cycles as f64));
            let ipc = [ours, reference].map(KernelFigures::ipc);
            let compared = |unit, [ours, reference]: [Option<f64>; 2]| {
                cells(unit, Compared::new(unit, ours, reference))
            };
            let values = [compared(Unit::Count, cycles), compared(Unit::Ratio, ipc)];
            let range = ours.range.map(|Range { least, most }| {
                let [least, most] = [least, most].map(|cycles| error_of(cycles, reference.cycles));
                format!("{:+.1} … {}", least * 100.0, shown_error(Unit::Count, most))
            });
            lines.push(
                [name].into_iter().chain(values.into_iter().flatten()).chain(range).collect(),
            );
        }
    }
    titled("Kernels", &lines)
}

/// Formats a summary of the kernels' errors, by machine and DRAM scheduler and over all.
fn kernel_summary_table(runs: &[Comparison]) -> String {
    let head = ["", "kernels", "mean |error|", "ratio", "worst", ""];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for (name, runs) in places(runs) {
        let Some(summary) = kernel_summary(&runs) else { continue };
        let run = summary.worst.run;
        let kernel = shortened(&run.ours.kernels[summary.worst_kernel].name);
        lines.push(vec![
            format!("  {name}"),
            summary.kernels.to_string(),
            format!("{:.1} %", summary.mape * 100.0),
            format!("{:.3}", summary.ratio),
            shown_error(Unit::Count, summary.worst.error),
            format!("{} {kernel} of {}", summary.worst_kernel + 1, self::name(run)),
        ]);
    }
    let title =
        "Cycles over all kernels: mean absolute error, geometric mean of ours over the reference's";
    summary(title, &lines)
}

/// Groups the runs by machine and DRAM scheduler, plus all of them if there is more than one group.
fn places(runs: &[Comparison]) -> Vec<(String, Vec<&Comparison>)> {
    let mut places: Vec<(String, Vec<&Comparison>)> = Vec::new();
    for run in runs {
        let name = place(run);
        match places.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(run),
            None => places.push((name, vec![run])),
        }
    }
    if places.len() > 1 {
        places.push(("all".to_owned(), runs.iter().collect()));
    }
    places
}

/// Shortens a name, which is long for templates.
fn shortened(name: &str) -> String {
    const SHOWN: usize = 48;
    if name.chars().count() <= SHOWN {
        return name.to_owned();
    }
    name.chars().take(SHOWN - 1).chain(['…']).collect()
}

fn speed_table(runs: &[Comparison]) -> String {
    let mut lines = vec![["", "ours s", "ref. s", "ratio"].map(str::to_owned).to_vec()];
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(none, |value| format!("{value:.digits$}"))
    };
    let reference = |run: &Comparison| match (run.reference.cpu_seconds, run.reference.wall_seconds)
    {
        (None, Some(wall)) => format!("{wall:.0} wall"),
        (cpu, _) => number(cpu, 2),
    };
    grouped(&mut lines, runs, |lines, run| {
        lines.push(vec![
            format!("  {}", run.trace),
            number(run.ours.cpu_seconds, 3),
            reference(run),
            number(run.speedup(), 1),
        ]);
    });
    let mut text = titled("Speed: CPU seconds, reading the trace included", &lines);
    if let Some(speed) = speed(&runs.iter().collect::<Vec<_>>()) {
        let (run, least) = speed.least;
        text.push_str(&format!(
            "{} run{}: {:.1} times as fast (geometric mean), least {least:.1} ({})\n",
            speed.runs,
            if speed.runs == 1 { "" } else { "s" },
            speed.mean,
            name(run)
        ));
    }
    text
}

/// Formats the name of a run: `vecadd on v100, FIFO`.
fn name(run: &Comparison) -> String {
    format!("{} on {}, {}", run.trace, run.machine, run.dram_scheduler)
}

/// Returns the cells for a run and its error.
fn worst_cells(worst: &Worst<'_>, unit: Unit) -> [String; 2] {
    [shown_error(unit, worst.error), name(worst.run)]
}

fn cycle_table(runs: &[Comparison]) -> String {
    let head = ["", "runs", "mean |error|", "ratio", "log corr.", "worst", ""];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for (name, runs) in groups(runs) {
        let Some(summary) = cycle_summary(&runs) else { continue };
        let [error, run] = worst_cells(&summary.worst, Unit::Count);
        lines.push(vec![
            format!("  {name}"),
            summary.runs.to_string(),
            format!("{:.1} %", summary.mape * 100.0),
            format!("{:.3}", summary.ratio),
            summary.log_correlation.map_or_else(none, |value| format!("{value:.4}")),
            error,
            run,
        ]);
    }
    summary(
        "Cycles over all runs: mean absolute error, geometric mean of ours over the reference's",
        &lines,
    )
}

/// Formats lines whose last columns are names and left-aligned.
fn summary(title: &str, lines: &[Line]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let right: Vec<usize> = (1..columns.saturating_sub(1)).collect();
    format!("{title}\n{}", aligned(lines, &right))
}

fn metric_table(runs: &[Comparison]) -> String {
    let all: Vec<&Comparison> = runs.iter().collect();
    let head = ["", "runs", "mean |error|", "worst", ""];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for metric in METRICS.iter().skip(1) {
        let Some(over) = metric_summary(metric, &all) else { continue };
        let [error, run] = worst_cells(&over.worst, metric.unit);
        let mean = shown_error(metric.unit, over.mean);
        let mean = mean.trim_start_matches('+').to_owned();
        lines.push(vec![format!("  {}", metric.title), over.runs.to_string(), mean, error, run]);
    }
    let title = format!(
        "Other metrics over all runs; acc./act. over those with more than {FEW_ACTIVATIONS} activations"
    );
    summary(&title, &lines)
}

fn pair_table(runs: &[Comparison]) -> Option<String> {
    let pairs = pairs(runs);
    let mut lines = vec![["", "ours", "ref.", "error"].map(str::to_owned).to_vec()];
    for pair in &pairs {
        let name = format!("  {} on {}", pair.fifo.trace, pair.fifo.machine);
        let values = cells(Unit::Ratio, pair.ratio);
        lines.push([name].into_iter().chain(values).collect());
    }
    (!pairs.is_empty()).then(|| titled("Cycles with FIFO over those with FR-FCFS", &lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::correlate::{CacheFigures, FIFO, FR_FCFS, Figures};

    fn run(trace: &str, machine: &str, scheduler: &str, ours: u64, reference: u64) -> Comparison {
        let figures = |cycles, misses, activations| Figures {
            cycles,
            thread_instructions: Some(100_000),
            l1: CacheFigures { accesses: Some(4000), misses: Some(misses) },
            l2: CacheFigures { accesses: Some(3000), misses: None },
            dram_reads: Some(2000),
            dram_writes: Some(0),
            activations: Some(activations),
            row_locality: Some(2000.0 / activations as f64),
            bus_utilization: Some(misses as f64 / 5000.0),
            reply_latency: Some(200.0 + activations as f64 / 3.0),
            kernels: vec![KernelFigures {
                name: "_Z6vecaddPKfS0_Pfi".to_owned(),
                cycles: cycles / 2,
                range: None,
                thread_instructions: Some(100_000),
            }],
            cpu_seconds: Some(misses as f64 / 1000.0),
            wall_seconds: None,
            range: None,
        };
        Comparison {
            trace: trace.to_owned(),
            machine: machine.to_owned(),
            configuration: "SM7_QV100".to_owned(),
            dram_scheduler: scheduler.to_owned(),
            ours: figures(ours, 1000, 1500),
            reference: figures(reference, 1100, 1200),
        }
    }

    #[test]
    fn a_comparison_of_three_runs() {
        let mut without_dram = run("a-trace-with-a-long-name", "v100", FR_FCFS, 90_000, 100_000);
        without_dram.reference.dram_writes = None;
        without_dram.reference.activations = Some(10);
        let runs = [
            run("spmv", "v100", FR_FCFS, 1100, 1000),
            without_dram,
            run("spmv", "v100", FIFO, 3300, 2000),
        ];
        insta::assert_snapshot!(text(&runs, true, true));
    }

    #[test]
    fn a_comparison_over_orders() {
        let mut run = run("spmv", "v100", FR_FCFS, 1100, 1000);
        run.ours.range = Some(Range { least: 990, most: 1210 });
        run.ours.kernels[0].range = Some(Range { least: 500, most: 600 });
        let text = text(&[run], true, false);
        let of = |name: &str| text.lines().filter(|line| line.contains(name)).collect::<Vec<_>>();
        assert_eq!(
            of("spmv").iter().filter(|line| line.ends_with("-1.0 %  +10.0 %  +21.0 %")).count(),
            1,
            "{text}"
        );
        assert!(of("_Z6vecadd")[0].ends_with("+0.0 … +20.0 %"), "{text}");
    }

    #[test]
    fn one_run_of_a_log_needs_no_summary_of_groups() {
        let mut run = run("k", "mine", FR_FCFS, 1000, 1000);
        run.configuration = "mine".to_owned();
        let text = text(&[run], false, false);
        assert!(text.contains("\nmine, FR-FCFS\n"), "{text}");
        assert!(!text.contains("FIFO") && !text.contains("\n  all "), "{text}");
    }

    #[test]
    fn names_of_templates_are_cut() {
        let name = "x".repeat(48);
        assert_eq!(shortened(&name), name);
        assert_eq!(shortened(&format!("{name}yz")), format!("{}…", "x".repeat(47)));
    }
}
