//! Outcomes by experiment: claims on the same experiment count once.

use crate::claims::{Answer, Finding};
use crate::line::Line;
use crate::verdict::{LEGEND, Verdict};
use warpmem_study::reproduce::Ours;

/// Returns the finding that decides each experiment: that of its first claim. Claims without a
/// published result are no experiments of the paper.
pub fn experiments(findings: &[Finding]) -> Vec<&Finding> {
    let mut all: Vec<&Finding> = Vec::new();
    for finding in findings.iter().filter(|finding| is_judged(finding)) {
        let name = finding.claim.experiment();
        if !all.iter().any(|known| known.claim.experiment() == name) {
            all.push(finding);
        }
    }
    all
}

/// Returns whether the paper publishes something to judge, even if we have no result.
fn is_judged(finding: &Finding) -> bool {
    let claim = &finding.claim;
    let is_counted = !matches!(claim.ours, Ours::Classes(_));
    is_counted && (finding.verdict.is_some() || claim.published_range().is_some())
}

/// Counts the outcomes of experiments: `30 experiments: 9 reproduced, 4 same direction, …`.
pub fn summary(findings: &[Finding]) -> String {
    let all = experiments(findings);
    let count = |verdict| all.iter().filter(|one| one.verdict == verdict).count();
    let outcomes = LEGEND.map(|(verdict, _)| (count(Some(verdict)), verdict.name()));
    let outcomes = outcomes.into_iter().chain([(count(None), "without a result")]);
    let outcomes = outcomes.filter(|(count, _)| *count > 0);
    let outcomes: Vec<String> = outcomes.map(|(count, name)| format!("{count} {name}")).collect();
    match all.len() {
        0 => "no published result".to_owned(),
        1 => format!("1 experiment: {}", outcomes.join(", ")),
        several => format!("{several} experiments: {}", outcomes.join(", ")),
    }
}

/// Says which of the paper's headline results are reproduced; none if no claim is a headline.
pub fn headline(findings: &[Finding]) -> Option<String> {
    let is_headline = |one: &&Finding| {
        let name = one.claim.experiment();
        findings.iter().any(|other| other.claim.headline && other.claim.experiment() == name)
    };
    let all: Vec<&Finding> = experiments(findings).into_iter().filter(is_headline).collect();
    let is_reproduced = |one: &&&Finding| one.verdict == Some(Verdict::Reproduced);
    let (reproduced, others): (Vec<&Finding>, Vec<&Finding>) =
        all.iter().partition(|one| is_reproduced(one));
    let number = match (reproduced.len(), all.len()) {
        (_, 0) => return None,
        (1, 1) => "The headline result is reproduced".to_owned(),
        (0, 1) => "The headline result is not reproduced".to_owned(),
        (0, several) => format!("None of {several} headline results is reproduced"),
        (1, several) => format!("One of {several} headline results is reproduced"),
        (some, several) if some == several => {
            format!("All {several} headline results are reproduced")
        }
        (some, several) => format!("{some} of {several} headline results are reproduced"),
    };
    let list = |of: &[&Finding]| of.iter().map(|one| stated(one)).collect::<Vec<_>>().join("; ");
    Some(match (reproduced.is_empty(), others.is_empty()) {
        (false, true) => format!("{number}: {}.", list(&reproduced)),
        (true, _) => format!("{number}: {}.", list(&others)),
        _ => format!("{number}: {}. Not reproduced: {}.", list(&reproduced), list(&others)),
    })
}

/// Formats a result as `IPC, CaLRS over FIFO (published +9.0 %, ours +0.2 ± 0.2 %, null)`.
fn stated(finding: &Finding) -> String {
    let line = Line::of(finding);
    let outcome = match (&finding.ours, finding.verdict) {
        (Answer::Nothing(why), _) => why.clone(),
        (_, Some(Verdict::Reproduced) | None) => format!("ours {}", line.ours),
        (_, Some(verdict)) => format!("ours {}, {}", line.ours, verdict.name()),
    };
    format!("{} (published {}, {outcome})", line.what, line.published)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Measured;
    use crate::verdict::verdict;

    fn finding(text: &str, mean: f64) -> Finding {
        let whole = format!("source = 's'\nours.runs = {{ of = 'X' }}\n{text}");
        let claim = toml::from_str(&whole).unwrap();
        let ours = Measured { mean, noise: Some(0.2) };
        Finding {
            verdict: verdict(&claim, ours),
            claim,
            ours: Answer::Number { shown: mean, workloads: Some(3) },
            noise: ours.noise,
            stand_in: None,
            robustness: None,
        }
    }

    fn findings() -> Vec<Finding> {
        vec![
            finding("what = 'a'\nexperiment = 'X over Y'\npublished = 9", 8.0),
            finding("what = 'b'\nexperiment = 'X over Y'\npublished = 7\nheadline = true", 0.0),
            finding("what = 'c'\npublished = 9\nheadline = true", 0.0),
            finding("what = 'd'\ntext = 'not published'", 3.0),
        ]
    }

    #[test]
    fn claims_on_one_experiment_count_once_by_the_first() {
        let findings = findings();
        let names: Vec<&str> =
            experiments(&findings).into_iter().map(|one| one.claim.what.as_str()).collect();
        assert_eq!(names, ["a", "c"], "an ablation is no experiment of the paper");
        assert_eq!(summary(&findings), "2 experiments: 1 reproduced, 1 null");
        assert_eq!(summary(&findings[3..]), "no published result");
    }

    #[test]
    fn a_sentence_says_which_headline_results_are_reproduced() {
        let findings = findings();
        assert_eq!(
            headline(&findings).unwrap(),
            "One of 2 headline results is reproduced: a (published +9.0 %, ours +8.0 ± 0.2 %). \
            Not reproduced: c (published +9.0 %, ours 0.0 ± 0.2 %, null)."
        );
        assert_eq!(
            headline(&findings[2..]).unwrap(),
            "The headline result is not reproduced: c (published +9.0 %, ours 0.0 ± 0.2 %, null)."
        );
        assert_eq!(headline(&findings[..1]), None);
    }

    #[test]
    fn a_result_that_cannot_be_computed_is_an_experiment() {
        let nothing = Finding {
            ours: Answer::Nothing("no workload is HIL".to_owned()),
            verdict: None,
            ..finding("what = 'a'\npublished = 9\nheadline = true", 0.0)
        };
        assert_eq!(summary(std::slice::from_ref(&nothing)), "1 experiment: 1 without a result");
        let text = headline(&[nothing]).unwrap();
        assert!(text.ends_with("a (published +9.0 %, no workload is HIL)."), "{text}");
    }
}
