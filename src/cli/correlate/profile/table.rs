//! A comparison with profiles, as text.

use crate::correlation::profile::Report;
use crate::study::correlate::profile::{Figure, Row, Summary};
use warpmem_support::text::{aligned, printable_cell, shortened};

/// Longest name of a kernel, characters.
const NAME: usize = 40;

/// Formats the kernels with their figures, then the summary.
pub fn text(report: &Report<'_>) -> String {
    let mut text = format!("{} on {}\n", report.trace, report.machine);
    push_kernels(report, &mut text);
    text.push('\n');
    let heading =
        ["figure", "kernels", "mean abs. error", "Warpmem / profile", "worst error", "of"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    lines.extend(report.summary.iter().map(summary_line));
    text.push_str(&aligned(&lines, &[1, 2, 3, 4]));
    text
}

/// Appends a heading, and the title and the figures of each kernel.
fn push_kernels(report: &Report<'_>, text: &mut String) {
    let heading = ["  figure", "profile", "Warpmem", "error"].map(str::to_owned).to_vec();
    let lines: Vec<Vec<String>> =
        [heading].into_iter().chain(report.rows.iter().map(line)).collect();
    let lines = aligned(&lines, &[1, 2, 3]);
    let mut lines = lines.lines();
    let mut push = |line: &str| text.extend([line, "\n"]);
    lines.next().into_iter().for_each(&mut push);
    let mut last = None;
    for (row, line) in report.rows.iter().zip(lines) {
        let kernel = Some((row.kernel, &row.profile));
        if kernel != last {
            push(&printable_cell(&title(report, row)));
            last = kernel;
        }
        push(line);
    }
}

/// Formats the name of a kernel: `3 add 1024x1x1 x 256x1x1, mean of 5 launches`.
fn title(report: &Report<'_>, row: &Row) -> String {
    let Row { kernel, name, grid, block, .. } = row;
    let launches = match (row.simulated_launches, row.profiled_launches) {
        (1, 1) => String::new(),
        (1, profiled) => format!(", mean of {profiled} profiled launches"),
        (simulated, profiled) => {
            format!(", means of {simulated} simulated and {profiled} profiled launches")
        }
    };
    let profile = match report.compared.len() {
        1 => String::new(),
        _ => format!(", {}", row.profile),
    };
    format!("{kernel} {} {grid} x {block}{launches}{profile}", shortened(name, NAME))
}

fn line(row: &Row) -> Vec<String> {
    vec![
        format!("  {}", row.figure.title()),
        value(row.figure, row.measured),
        value(row.figure, row.warpmem),
        row.error.map_or_else(none, |error| signed(row.figure, error)),
    ]
}

fn summary_line(summary: &Summary) -> Vec<String> {
    let figure = summary.figure;
    vec![
        figure.title().to_owned(),
        summary.kernels.to_string(),
        signed(figure, summary.mean_absolute_error).trim_start_matches('+').to_owned(),
        summary.ratio.map_or_else(none, |ratio| format!("{ratio:.3}")),
        signed(figure, summary.worst_error),
        format!("{} {}", summary.worst_kernel, shortened(&summary.worst_name, NAME)),
    ]
}

fn value(figure: Figure, value: f64) -> String {
    if figure.is_rate() { format!("{value:.2} %") } else { format!("{value:.0}") }
}

fn signed(figure: Figure, error: f64) -> String {
    if figure.is_rate() { format!("{error:+.2} pt") } else { format!("{:+.1} %", 100.0 * error) }
}

fn none() -> String {
    "–".to_owned()
}
