//! The expressions of all descriptions, evaluated over the columns that a study has.

use crate::distributions;
use crate::study::Study;
use std::collections::BTreeSet;
use warpmem_analysis::polars::prelude::{Column, DataFrame, NamedFrom, Series};
use warpmem_record::run_columns;
use warpmem_study::reproduce::{Ours, Paper, Runs, find, names};

/// Policy counters in expressions.
const COUNTERS: [&str; 5] = [
    "block_signals",
    "delayed_requests",
    "rescheduled_banks",
    "rescheduled_requests",
    "rescheduled_rows",
];

/// Makes a study of one workload, with 1 in every column of every configuration.
fn ones(paper: &Paper) -> Study {
    let configurations = paper.configurations().unwrap();
    let configurations: Vec<&str> = configurations.iter().map(|one| one.name.as_str()).collect();
    let rows = configurations.len();
    let metrics =
        run_columns().into_iter().map(|column| column.name).filter(|name| name != "workload");
    let counters = COUNTERS.iter().map(|name| format!("counter_{name}"));
    let further = distributions::names().chain(["dram_efficiency_mean".to_owned()]);
    let numbers = metrics.chain(counters).chain(further);
    let texts = [
        Series::new("workload".into(), vec!["a"; rows]),
        Series::new("configuration".into(), configurations),
    ];
    let numbers = numbers.map(|name| Series::new(name.into(), vec![1.0; rows]));
    let columns = texts.into_iter().chain(numbers).map(Column::from).collect();
    Study::new(DataFrame::new(rows, columns).unwrap()).unwrap()
}

#[test]
fn expressions_of_claims_name_columns_of_a_study() {
    for paper in names().map(|name| find(name).unwrap()) {
        let study = ones(&paper);
        let mut seen = BTreeSet::new();
        for claim in &paper.claims {
            let (Ours::Runs(runs) | Ours::Every(runs)) = &claim.ours else { continue };
            if !seen.insert((&runs.metric, &runs.value)) {
                continue;
            }
            let runs = Runs { classes: Vec::new(), ..runs.clone() };
            let values = study.values(&runs);
            assert!(values.is_ok(), "{}: {}: {:?}", paper.name, claim.what, values.err());
        }
    }
}
