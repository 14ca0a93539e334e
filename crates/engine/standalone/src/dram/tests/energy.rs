//! Energy in the rows of a run.

use super::*;
use warpmem_dram::{Activity, Energy};

fn value(rows: &[Row], name: &str, row: usize) -> Option<f64> {
    let column = columns().into_iter().find(|column| column.name == name).unwrap();
    column.json(&rows[row]).as_f64()
}

/// Runs random reads to two channels of the preset li2015, 1001 of them so that the channels
/// differ.
fn outcome(overrides: &[&str]) -> Outcome {
    let origin =
        Origin::Pattern { pattern: Pattern::Random, locality: 2, channels: 2, mix: mix(1001) };
    run_with(&li2015(overrides), "fr-fcfs", &stream(origin)).unwrap()
}

#[test]
fn the_row_of_all_channels_has_the_energy_of_each() {
    let outcome = outcome(&[]);
    let activities = outcome
        .channels
        .iter()
        .map(|channel| Activity::new(&channel.counts, &channel.counts.total()));
    let energies: Vec<Energy> = activities
        .map(|activity| Energy::of(&outcome.device.dram, 1.0, &activity).unwrap())
        .collect();
    let [first, second] = energies.iter().map(Energy::total).collect::<Vec<_>>()[..] else {
        panic!("two channels");
    };
    assert!(first > 0.0 && first != second);
    let rows = rows(outcome);
    let near = |row: usize, expected: f64| {
        let found = value(&rows, "energy_nj", row).unwrap();
        assert!((found - expected).abs() < 1e-9 * expected, "{found} for {expected}");
    };
    near(0, first + second);
    near(1, first);
    near(2, second);
    let bits = value(&rows, "reads", 0).unwrap() * 512.0;
    let per_bit = value(&rows, "energy_pj_per_bit", 0).unwrap();
    assert!((per_bit * bits / 1000.0 - (first + second)).abs() < 1e-6);
}

#[test]
fn unknown_energy_is_null() {
    let rows = rows(outcome(&["dram.power.idd3n=0"]));
    let names = columns().into_iter().map(|column| column.name);
    let names: Vec<String> = names.filter(|name| name.starts_with("energy")).collect();
    assert_eq!(names.len(), 8);
    assert!(names.iter().all(|name| value(&rows, name, 0).is_none()));
}
