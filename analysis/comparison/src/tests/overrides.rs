//! Overrides of machine parameters: held equal, or compared.

use super::fixture::{against, message, overridden, ratios, strings, texts, with};
use crate::{CompareOptions, compare};

#[test]
fn runs_are_compared_with_the_baseline_of_the_same_overrides() {
    let comparison = compare(&overridden(), &against("fr-fcfs")).unwrap();
    assert_eq!(ratios(&comparison), [0.5, 1.0, 0.5, 1.0, 0.375, 1.0].map(Some));
    assert_eq!(comparison.slots(), ["dram_scheduler"]);
    let overrides = ["", "dram.read_queue=32", "dram.read_queue=128"];
    let rows = strings(&comparison.rows(), "overrides");
    assert_eq!(rows, overrides.map(|overrides| [overrides; 2]).concat());
    let means = strings(&comparison.means(), "overrides");
    assert_eq!(means, overrides.map(|overrides| [overrides; 6]).concat());
    insta::assert_snapshot!(comparison.to_text(100));
}

#[test]
fn a_baseline_may_name_overrides() {
    let comparison = compare(&overridden(), &against("dram.read_queue=32")).unwrap();
    assert_eq!(comparison.slots(), ["dram_scheduler", "overrides"]);
    assert_eq!(ratios(&comparison), [2.0, 2.0, 1.0, 1.0, 3.0, 4.0].map(Some));
    let both = compare(&overridden(), &against("dram.read_queue=32/fr-fcfs")).unwrap();
    assert_eq!(ratios(&both), [1.0, 2.0, 0.5, 1.0, 1.5, 4.0].map(Some));
}

#[test]
fn parameters_of_compared_overrides_are_not_marked() {
    let [none, small, large] = [r#"{"x":""}"#, r#"{"x":"32"}"#, r#"{"x":"128"}"#];
    let mixed = with(&overridden(), "parameters", texts(&[none, none, small, small, large, large]));
    let versions = ["1.0", "1.0", "1.0", "1.0", "1.0", "1.1"];
    let mixed = with(&mixed, "engine_version", texts(&versions));
    let options = CompareOptions { allow_mixed: true, ..against("dram.read_queue=32") };
    let marks = strings(&compare(&mixed, &options).unwrap().rows(), "mixed");
    assert_eq!(marks, ["null", "null", "null", "null", "null", "engine"]);
}

#[test]
fn varying_overrides_are_compared() {
    let only = overridden().with_text("dram_scheduler", &["fcfs"]);
    let comparison = compare(&only, &against("none")).unwrap();
    assert_eq!(comparison.slots(), ["overrides"]);
    assert_eq!(ratios(&comparison), [1.0, 0.5, 1.5].map(Some));
    insta::assert_snapshot!(
        message(compare(&only, &against("fcfs"))),
        @"no run of the baseline `fcfs`; runs vary in overrides (dram.read_queue=128, dram.read_queue=32, none)"
    );
}
