//! Rules for all descriptions.

use super::*;
use crate::classify::{OffChip, Sensitivity, Type};
use warpmem_machine::load;
use warpmem_record::run_columns;
use warpmem_standalone::dram::Pattern;

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

/// A name in an expression that is also a column would be ambiguous.
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

/// A claim has a number or text; text to agree with needs a direction; texts are single lines;
/// figures have unique names.
#[test]
fn claims_and_figures_are_complete() {
    for paper in all() {
        for claim in &paper.claims {
            let what = format!("{}: {}", paper.name, claim.what);
            let is_published = claim.published_range().is_some() || claim.text.is_some();
            assert!(is_published, "{what}: nothing published");
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

/// The snapshot lists every published value with its source. Verify a change against the paper.
#[test]
fn published_results_match_their_papers() {
    let compared = |claim: &Claim, runs: &Runs| {
        let Runs { of, over, metric, value, classes, .. } = runs;
        let shown = value.as_ref().unwrap_or(metric).replace('\n', " ");
        let over = over.as_ref().map_or(String::new(), |over| format!(" over {over}"));
        let classes = if classes.is_empty() { "all".to_owned() } else { classes.join(", ") };
        format!("{shown}: {of}{over}; {}", claim.workload.clone().unwrap_or(classes))
    };
    let of = |claim: &Claim| match &claim.ours {
        Ours::Runs(runs) if claim.workload.is_some() => compared(claim, runs),
        Ours::Runs(runs) => format!("{}; {}", compared(claim, runs), runs.mean.name()),
        Ours::Every(runs) => format!("{}; every", compared(claim, runs)),
        Ours::Best(best) => format!("best {}; {}", best.setting, best.runs.classes.join(", ")),
        Ours::Classes(classes) => classes.join(", "),
        Ours::Stream(_) => "a channel alone".to_owned(),
        Ours::Bits(_) => "bits".to_owned(),
        Ours::Nothing(why) => why.clone(),
    };
    let published = |claim: &Claim| {
        let range = claim.range.map(|[low, high]| format!("{low} to {high}"));
        let number = range.or(claim.published.map(|number| number.to_string())).unwrap_or_default();
        [number, claim.text.clone().unwrap_or_default()].join(" ").trim().to_owned()
    };
    let mut text = String::new();
    for paper in all().filter(|paper| paper.survey.is_none()) {
        let name = paper.name.as_str();
        for claim in paper.claims {
            let headline = claim.headline.then(|| "headline".to_owned());
            let experiment = claim.experiment.as_ref().map(|name| format!("experiment {name}"));
            let line = [
                name.to_owned(),
                claim.source.clone(),
                claim.what.clone(),
                published(&claim),
                format!("{:?} {:?}", claim.shown, claim.direction),
                of(&claim),
            ];
            let line: Vec<String> = line.into_iter().chain(headline).chain(experiment).collect();
            text.push_str(&line.join(" | "));
            text.push('\n');
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn unknown_paper_error_lists_the_papers() {
    let error = find("li2014").unwrap_err().to_string();
    assert!(
        error.starts_with("no experiments called `li2014` (did you mean `li2015`?)"),
        "{error}"
    );
}

#[test]
fn mistakes_in_a_description_are_refused() {
    let text = "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\nworklods = 1";
    let error = Paper::from_text("mine", text).unwrap_err().to_string();
    assert!(error.contains("mine") && error.contains("worklods"), "{error}");
    let missing =
        "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n[classified]\nplain = 'X'";
    let error = Paper::from_text("mine", missing).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("no scheme `X`"), "{source}");
}

/// A claim whose fields are `text`.
fn with_claim(text: &str) -> Result<Paper, PaperError> {
    let whole = format!(
        "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\nprograms = [{{ name = 'KMN' }}]\n\
        [schemes]\nX = []\nY = []\n[[claim]]\nwhat = 'w'\nsource = 's'\n{text}"
    );
    Paper::from_text("mine", &whole)
}

#[test]
fn a_claim_on_an_extreme_is_refused() {
    for mean in ["least", "greatest"] {
        let text =
            format!("published = 45.8\nours.runs = {{ of = 'X', over = 'Y', mean = '{mean}' }}");
        let error = with_claim(&text).unwrap_err().to_string();
        assert!(error.contains("no verdict is possible on an extreme"), "{error}");
    }
    let named = "published = 45.8\nworkload = 'KMN'\nours.runs = { of = 'X', over = 'Y' }";
    assert!(with_claim(named).is_ok());
    let unknown = named.replace("KMN", "KNM");
    assert!(with_claim(&unknown).unwrap_err().to_string().contains("no program `KNM`"));
}

#[test]
fn contradictory_claims_are_refused() {
    let runs = "ours.runs = { of = 'X', over = 'Y' }";
    for (fields, why) in [
        ("published = 0", "no change, or changes of both signs, need `direction.similar`"),
        ("range = [-1, 3]", "no change, or changes of both signs, need `direction.similar`"),
        ("range = [3, 1]", "the `range` does not rise"),
        ("published = 1\nrange = [1, 3]", "`published` and `range` exclude each other"),
        (
            "published = -9\nshown = 'value'\ndirection = 'up'",
            "the published change is not upwards",
        ),
        (
            "published = 105\nshown = 'percent'\ndirection = 'down'",
            "the published change is not downwards",
        ),
    ] {
        let error = with_claim(&format!("{fields}\n{runs}")).unwrap_err().to_string();
        assert!(error.ends_with(why), "{fields}: {error}");
    }
    let every = "ours.every = { of = 'X', over = 'Y' }";
    assert!(with_claim(&format!("published = 3\n{every}")).is_err(), "of a number");
    assert!(with_claim(&format!("text = 'all'\ndirection = 'up'\n{every}")).is_ok());
    assert!(
        with_claim(&format!("text = 'KMN'\nworkload = 'KMN'\ndirection = 'up'\n{every}")).is_err()
    );
    assert!(with_claim(&format!("published = 0\ndirection.similar = 1.0\n{runs}")).is_ok());
}

/// A quick run sweeps fewer values, and claims may still refer to any of them.
#[test]
fn quick_runs_sweep_fewer_values() {
    let (quick, full) = (find("li2015").unwrap().quickly(), find("li2015").unwrap());
    assert_eq!(quick.swept("latency"), ["0", "100"]);
    assert_eq!(full.swept("latency").len(), 6);
    assert!(quick.configuration("MSHR-S @ latency=40").is_ok());
    assert!(full.swept("nothing").is_empty());
    assert!(quick.workloads().unwrap().len() < full.workloads().unwrap().len());
}

#[test]
fn launches_are_limited_in_size_paper_in_quick_runs_and_on_request() {
    let ends = |paper: &Paper| {
        let overrides = paper.configuration("MSHR-S").unwrap().overrides;
        overrides.iter().filter(|text| text.starts_with("run.launch_instructions=")).count()
    };
    let paper = || find("li2015").unwrap();
    assert_eq!(ends(&paper()), 0);
    assert_eq!(ends(&paper().sized(Size::Medium)), 0);
    assert_eq!(ends(&paper().quickly()), 1);
    assert_eq!(ends(&paper().sized(Size::Paper)), 1);
    assert_eq!(ends(&paper().sized(Size::Paper).quickly()), 1);
    let overrides = paper().sized(Size::Paper).ending_launches_after(7);
    let overrides = overrides.configuration("MSHR-S").unwrap().overrides;
    assert!(overrides.contains(&"run.launch_instructions=7".to_owned()), "{overrides:?}");
}
