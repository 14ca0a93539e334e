//! Comparisons as text, CSV and JSON.

use super::fixture::{against, comparison, floats, in_metrics, ipcs, runs, with};
use crate::{CompareOptions, compare};

#[test]
fn comparison_on_a_wide_terminal() {
    insta::assert_snapshot!(comparison().to_text(120));
}

#[test]
fn comparison_on_a_narrow_terminal() {
    let text = comparison().to_text(60);
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn comparison_of_machines_and_two_slots_with_a_missing_run() {
    let runs = ipcs(&[
        ("a.wmt", "li2015", "fcfs", "lrr", Some(1.0)),
        ("a.wmt", "li2015", "fr-fcfs", "lrr", Some(2.0)),
        ("a.wmt", "li2015", "fcfs", "gto", Some(3.0)),
        ("a.wmt", "li2015", "fr-fcfs", "gto", Some(4.0)),
        ("b.wmt", "li2015", "fr-fcfs", "gto", Some(4.0)),
        ("a.wmt", "accelsim-qv100", "fr-fcfs", "gto", Some(10.0)),
    ]);
    insta::assert_snapshot!(compare(&runs, &against("fr-fcfs")).unwrap().to_text(80));
}

#[test]
fn comparison_as_csv() {
    insta::assert_snapshot!(comparison().table().to_csv());
}

#[test]
fn comparison_as_json() {
    insta::assert_snapshot!(comparison().table().to_json());
}

#[test]
fn units_of_other_columns_are_shown_and_fractions_in_percent() {
    let runs = with(&runs(), "waiting_ratio", floats(&[0.125; 6]));
    let runs = with(&runs, "queue_latency", floats(&[20.0; 6]));
    let units = [("waiting_ratio", "fraction"), ("queue_latency", "L2 cycles")];
    let units = units.map(|(column, unit)| (column.to_owned(), unit.to_owned()));
    let metrics = in_metrics("fr-fcfs", &["waiting_ratio", "queue_latency"]);
    let options = CompareOptions { units: units.into(), ..metrics };
    let text = compare(&runs, &options).unwrap().to_text(100);
    assert!(text.contains("L2 cycles\n") && text.contains("  12.5 "), "{text}");
}
