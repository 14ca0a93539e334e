//! Style files: their errors, and their effect on a report.

use super::*;
use crate::style::StyleFile;
use std::path::PathBuf;

fn file(directory: &TempDir, text: &str) -> PathBuf {
    let path = directory.path().join("style.toml");
    fs::write(&path, text).unwrap();
    path
}

fn styled(directory: &TempDir, text: &str) -> anyhow::Result<Study> {
    Study::open(&Question {
        directories: vec![directory.path().to_owned()],
        baseline: Some("policy-0".to_owned()),
        metrics: None,
        mean: Mean::Harmonic,
        allow_mixed: false,
        style: Some(StyleFile::read(&file(directory, text))?),
    })
}

/// Returns the error of a style, behind the folder of its file.
fn refused(text: &str) -> String {
    let directory = runs(3, 2, &[""]);
    let error = format!("{:#}", styled(&directory, text).err().expect("it is refused"));
    error.rsplit('/').next().unwrap_or_default().to_owned()
}

#[test]
fn invalid_styles_name_file_line_and_key() {
    for (text, error) in [
        ("font = 3", "style.toml:1: invalid type: integer `3`, expected a string"),
        (
            "\n[policies]\ncolors = {}",
            "style.toml:3: unknown field `colors`, expected one of `show`, `order`, `labels`, `colours`",
        ),
        (
            "[policies.colours]\npolicy-1 = 'red'",
            "style.toml:2: policies.colours.policy-1: expected a colour as `#0072b2`, found `red`",
        ),
        ("column_width = 90", "style.toml:1: column_width: expected 1.5 to 24 inches, found 90"),
        (
            "[workloads]\n\nshow = ['trace-003']",
            "style.toml:3: workloads.show: the results have no `trace-003` (did you mean `trace-001`?); they have trace-000, trace-001",
        ),
        (
            "[policies.labels]\npolicy-1 = 'A'\npolicy-2 = 'A'",
            "style.toml:1: policies: `policy-1` and `policy-2` have the same label, `A`",
        ),
        (
            "[workloads.colours]\ntrace-000 = '#000000'",
            "style.toml:2: workloads.colours.trace-000: only policies have colours",
        ),
        (
            "font = 'No such font'",
            "style.toml:1: font: this system has no font `No such font`; `font_file` names the file of a font",
        ),
        ("font_file = 'none.ttf'", "none.ttf: No such file or directory (os error 2)"),
        ("[policies", "style.toml:1: unclosed table, expected `]`"),
    ] {
        assert_eq!(refused(text), error, "{text}");
    }
}

#[test]
fn a_style_selects_orders_labels_and_colours() {
    let directory = runs(5, 3, &[""]);
    // The harmonic mean of 4, 8 and 4 is 4.8, that of both last alone 16 / 3.
    let twice =
        when(col("trace").eq(lit("trace-001")).and(col("dram_scheduler").eq(lit("policy-3"))));
    let ipc = twice.then(lit(2.0) * col("ipc_thread")).otherwise(col("ipc_thread"));
    rewrite(&directory, |runs| runs.with_columns([ipc.clone().alias("ipc_thread")]));
    let text = "
column_width = 3
[policies]
show = ['policy-1', 'policy-3', 'policy-0']
labels = { policy-3 = 'Mine', absent = 'Absent' }
colours = { policy-3 = '#AA0011' }
[workloads]
show = ['trace-002', 'trace-001']
labels = { trace-001 = 'twice' }
";
    let study = styled(&directory, text).unwrap();
    assert_eq!(study.policies, ["policy-1", "Mine", "policy-0"]);
    assert_eq!(study.traces, ["trace-002", "twice"]);
    assert_eq!(study.runs.height(), 6);
    assert!((mean(&study, "Mine", "harmonic") - 16.0 / 3.0).abs() < 1e-12);
    assert_eq!(study.style.looks["Mine"].colour(), "#aa0011");
    assert_eq!(study.notes.len(), 1);
    assert!(
        study.notes[0]
            .ends_with("style.toml:5: policies.labels.absent: the results have no `absent`")
    );

    let document = document(&study, &Shown::of(&study).unwrap());
    let chart = document.charts().find(|chart| chart.name == "ipc-means").unwrap();
    let svg = chart.svg().unwrap();
    assert!(svg.contains("width=\"3in\"") && svg.contains("#aa0011"), "{svg}");
    let places = ["policy-1", "Mine", "policy-0"].map(|name| svg.find(&format!(">{name}<")));
    assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
    let text = markdown::render(&document, "p").unwrap();
    let summary = section(&text, "Summary");
    assert!(summary.contains("| Mine |") && summary.contains("| twice |"), "{summary}");
    assert!(!summary.contains("trace-001") && !summary.contains("policy-3"), "{summary}");
}

#[test]
fn a_name_without_parameters_stands_for_its_only_variant() {
    let directory = runs(3, 2, &[""]);
    rewrite(&directory, |runs| {
        let name = when(col("dram_scheduler").eq(lit("policy-2")))
            .then(lit("policy-2(cap=4)"))
            .otherwise(col("dram_scheduler"));
        runs.with_columns([name.alias("dram_scheduler")])
    });
    let study = styled(&directory, "[policies]\norder = ['policy-2']\n").unwrap();
    assert_eq!(study.policies, ["policy-2(cap=4)", "policy-0", "policy-1"]);
}
