//! What every description is held to.

use super::*;
use crate::classify::{OffChip, Sensitivity, Type};
use crate::dram::alone::Pattern;
use crate::machine::load;
use crate::record::run_columns;

fn all() -> impl Iterator<Item = Paper> {
    names().map(|name| find(name).unwrap_or_else(|error| panic!("{error}")))
}

fn both_sizes() -> impl Iterator<Item = Paper> {
    all().flat_map(|paper| [paper.clone().quickly(), paper])
}

#[test]
fn every_configuration_is_a_machine() {
    for paper in both_sizes() {
        for reference in paper.references() {
            let Configuration { name, overrides } = paper.configuration(&reference).unwrap();
            load(&paper.machine, &overrides)
                .unwrap_or_else(|error| panic!("{}: {name}: {error}", paper.name));
        }
    }
}

#[test]
fn every_workload_can_be_asked_for() {
    for paper in both_sizes() {
        let workloads = paper.workloads().unwrap_or_else(|error| panic!("{}: {error}", paper.name));
        assert!(workloads.len() > 1, "{}", paper.name);
        let mut names: Vec<&str> = workloads.iter().map(|planned| planned.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), workloads.len(), "{}: two of a name", paper.name);
    }
}

#[test]
fn every_class_is_one_of_the_papers() {
    use Sensitivity::{High, Insensitive, Low};
    let sensitivities = [Insensitive, Low, High].map(Sensitivity::name);
    let types = [Type::One, Type::Two].map(Type::name);
    let off_chip = [OffChip::Low, OffChip::Medium, OffChip::High].map(OffChip::name);
    let known = [&sensitivities[..], &types, &off_chip, &["memory-bound"]].concat();
    for paper in all() {
        let of_claims = paper.claims.iter().flat_map(|claim| claim.ours.classes().to_vec());
        let of_figures = paper.figures.iter().flat_map(|figure| figure.drawn.classes());
        let listed = paper.claims.iter().filter_map(|claim| match &claim.ours {
            Ours::Classes(classes) => Some(classes.clone()),
            _ => None,
        });
        for class in of_claims.chain(of_figures).chain(listed.flatten()) {
            assert!(known.contains(&class.as_str()), "{}: {class}", paper.name);
            assert!(paper.classified.is_some(), "{} tells no classes", paper.name);
        }
    }
}

/// A name in an expression that is also a column's would be two things.
#[test]
fn names_of_other_configurations_are_no_columns() {
    let columns: Vec<String> = run_columns().into_iter().map(|column| column.name).collect();
    for paper in all() {
        for claim in &paper.claims {
            if let Ours::Runs(runs) = &claim.ours {
                for name in runs.with.keys() {
                    assert!(!columns.contains(name), "{}: {name}", paper.name);
                    assert!(!["own", "base"].contains(&name.as_str()), "{}: {name}", paper.name);
                }
            }
        }
    }
}

/// A number or words; a direction where words alone are to be agreed with; one line each; figures with names of
/// their own.
#[test]
fn claims_and_figures_are_complete() {
    for paper in all() {
        for claim in &paper.claims {
            let what = format!("{}: {}", paper.name, claim.what);
            assert!(claim.published.is_some() || claim.text.is_some(), "{what}: nothing published");
            assert!(!claim.source.is_empty() && !claim.what.is_empty(), "{what}");
            assert!(!claim.text.as_deref().unwrap_or("").contains('\n'), "{what}");
            if let Ours::Stream(stream) = &claim.ours {
                assert!(Pattern::named(&stream.pattern).is_some(), "{what}: {}", stream.pattern);
            }
        }
        let mut names: Vec<&str> = paper.figures.iter().map(|f| f.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), paper.figures.len(), "{}: two figures of a name", paper.name);
    }
}

/// Each number that the papers' abstracts and results give of these experiments, where its claim says so.
#[test]
fn every_published_result_is_there() {
    let published: [(&str, &[&str]); 5] = [
        (
            "li2015",
            &[
                "10.9",
                "2.6",
                "none worse",
                "0.7",
                "-10.5",
                "-35",
                "-28",
                "-2",
                "-18",
                "S saves most",
                "rises",
                "least with S+A",
                "6",
                "2",
                "4",
                "11",
                "1",
                "2 to 10",
                "by perfect DRAM and merges",
            ],
        ),
        (
            "owl2013",
            &[
                "14",
                "9",
                "11",
                "25",
                "17",
                "21",
                "6",
                "4",
                "33",
                "23",
                "28",
                "-8",
                "-18",
                "11",
                "-14",
                "-22",
                "-12",
                "2",
                "12",
                "13",
                "-9",
                "-6",
                "-3",
                "8",
                "at most +1",
                "Type-1 19",
            ],
        ),
        (
            "calrs2015",
            &[
                "9", "101.4", "5.9", "9.8", "10.6", "15.2", "17.5", "17.7", "80.8", "105.1",
                "104.2", "95.6", "106.3", "2.29", "5.65", "12.8", "93.4", "0.596", "0.267",
                "0.959", "40.6", "3.66", "85.6", "41", "35.03", "5.43", "8.09", "2.3",
            ],
        ),
        (
            "yuan2009",
            &[
                "88.3",
                "-47",
                "over 70",
                "56.2",
                "-33.9",
                "-35.3",
                "15.1",
                "86",
                "84.7",
                "91",
                "6.3",
                "-21.3",
                "18.5",
                "17.7",
                "below 10",
                "memory-bound 9",
                "80.7",
                "23.6",
                "3584",
                "224",
                "320",
            ],
        ),
        (
            "warpedmc2023",
            &[
                "8.9",
                "5.1",
                "45.8",
                "-43.2",
                "-28.3",
                "-6",
                "-19.3",
                "-39.7",
                "82.6",
                "-6.7",
                "-4",
                "above 8",
                "LOA, MOA, HOA",
                "1570",
            ],
        ),
    ];
    for (name, results) in published {
        let claims = find(name).unwrap().claims;
        for result in results {
            let is_it = |claim: &Claim| {
                let text = claim.text.as_deref().is_some_and(|text| text.starts_with(result));
                text || claim.published.is_some_and(|number| number.to_string() == *result)
            };
            assert!(claims.iter().any(is_it), "{name}: nothing says {result}");
        }
    }
}

#[test]
fn an_unknown_paper_is_refused_with_what_there_is() {
    let error = find("li2014").unwrap_err().to_string();
    assert!(
        error.starts_with("no experiments called `li2014` (did you mean `li2015`?)"),
        "{error}"
    );
}

#[test]
fn a_slip_in_a_description_is_refused() {
    let text = "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\nworklods = 1";
    let error = Paper::from_text("mine", text).unwrap_err().to_string();
    assert!(error.contains("mine") && error.contains("worklods"), "{error}");
    let missing =
        "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n[classified]\nplain = 'X'";
    let error = Paper::from_text("mine", missing).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("no scheme `X`"), "{source}");
}

/// A quick run sweeps fewer values, and claims may still name any.
#[test]
fn quick_runs_sweep_less() {
    let (quick, full) = (find("li2015").unwrap().quickly(), find("li2015").unwrap());
    assert_eq!(quick.swept("latency"), ["0", "100"]);
    assert_eq!(full.swept("latency").len(), 6);
    assert!(quick.configuration("MSHR-S @ latency=40").is_ok());
    assert!(full.swept("nothing").is_empty());
    assert!(quick.workloads().unwrap().len() < full.workloads().unwrap().len());
}
