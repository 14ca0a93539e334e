//! The results that the papers publish, transcribed from their texts independently of the claims,
//! so that a test can count how many of them are judged.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The lists by paper.
const LISTS: [(&str, &str); 5] = [
    ("li2015", include_str!("published/li2015.toml")),
    ("owl2013", include_str!("published/owl2013.toml")),
    ("calrs2015", include_str!("published/calrs2015.toml")),
    ("yuan2009", include_str!("published/yuan2009.toml")),
    ("warpedmc2023", include_str!("published/warpedmc2023.toml")),
];

/// A published result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Key to which claims refer.
    pub id: String,
    /// Sections, figures and tables.
    pub source: String,
    pub what: String,
    /// The words that state the result.
    pub quote: String,
    /// The number of the quote, without its sign.
    #[serde(default)]
    pub number: Option<f64>,
    /// The ends of a range, in place of the number.
    #[serde(default)]
    pub range: Option<[f64; 2]>,
    /// Numbers by program, of a table that the quote names.
    #[serde(default)]
    pub numbers: BTreeMap<String, f64>,
    /// Reason for not judging the result.
    #[serde(default)]
    pub unjudged: Option<String>,
    /// Result that this one repeats in other words.
    #[serde(default)]
    pub repeats: Option<String>,
    #[serde(default)]
    pub note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    result: Vec<Published>,
}

/// Returns the results that a paper publishes; none for a description without a list.
///
/// # Panics
/// Never: a test parses the lists.
pub fn published(name: &str) -> Vec<Published> {
    let Some((_, text)) = LISTS.iter().find(|(known, _)| *known == name) else { return Vec::new() };
    let list: List =
        toml::from_str(text).unwrap_or_else(|error| panic!("published/{name}: {error}"));
    list.result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{Claim, Coverage, Direction, Paper, find};
    use std::path::Path;
    use warpmem_testing::documents::{assert_parts, table};

    fn papers() -> impl Iterator<Item = (Paper, Vec<Published>)> {
        LISTS.iter().map(|(name, _)| (find(name).unwrap(), published(name)))
    }

    /// The numbers of a result that claims quote, without their signs.
    fn numbers(result: &Published) -> impl Iterator<Item = f64> {
        let range = result.range.into_iter().flatten();
        result.number.into_iter().chain(range).chain(result.numbers.values().copied())
    }

    /// The published numbers in a claim, without their signs.
    fn quoted(claim: &Claim) -> impl Iterator<Item = f64> {
        let bound = match claim.direction {
            Direction::AtLeast(bound) | Direction::AtMost(bound) => Some(bound),
            _ => None,
        };
        let published = claim.published_range().into_iter().flatten();
        published.chain(bound).map(f64::abs)
    }

    /// The claims that refer to a result.
    fn claims<'a>(paper: &'a Paper, result: &'a Published) -> impl Iterator<Item = &'a Claim> {
        paper.claims.iter().filter(|claim| claim.results.contains(&result.id))
    }

    #[test]
    fn every_published_result_has_a_claim_or_a_reason() {
        for (paper, list) in papers() {
            for result in &list {
                let what = format!("{}: {}", paper.name, result.id);
                let is_claimed = claims(&paper, result).next().is_some();
                let repeats = result.repeats.as_ref();
                let ways = [is_claimed, result.unjudged.is_some(), repeats.is_some()];
                assert_eq!(ways.iter().filter(|way| **way).count(), 1, "{what}: {ways:?}");
                let repeated = repeats.is_none_or(|of| list.iter().any(|one| one.id == *of));
                assert!(repeated, "{what} repeats nothing");
            }
            let mut ids: Vec<&str> = list.iter().map(|result| result.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), list.len(), "{}: two results of one name", paper.name);
            let Coverage { results, judged, unjudged } = paper.coverage().unwrap();
            assert_eq!((results, judged + unjudged), (list.len(), list.len()), "{}", paper.name);
        }
    }

    /// In both directions: no published number is left out or replaced by another.
    #[test]
    fn claims_quote_the_published_numbers() {
        for (paper, list) in papers() {
            for result in &list {
                let quoted: Vec<f64> = claims(&paper, result).flat_map(quoted).collect();
                let in_text = |number: f64| {
                    claims(&paper, result).any(|claim| {
                        claim.text.as_ref().is_some_and(|text| text.contains(&number.to_string()))
                    })
                };
                let is_judged = result.unjudged.is_none() && result.repeats.is_none();
                for number in numbers(result).filter(|_| is_judged) {
                    let is_quoted = quoted.contains(&number) || in_text(number);
                    assert!(is_quoted, "{}: {}: {number} is in no claim", paper.name, result.id);
                }
            }
            for claim in paper.claims.iter().filter(|claim| !claim.is_ablation()) {
                let own = list.iter().filter(|result| claim.results.contains(&result.id));
                let own: Vec<&Published> = own.collect();
                let known: Vec<f64> = own.iter().flat_map(|result| numbers(result)).collect();
                for number in claim.published_range().into_iter().flatten() {
                    let what = &claim.what;
                    assert!(known.contains(&number.abs()), "{}: {what}: {number}", paper.name);
                }
                let of_program = |result: &&Published| {
                    let program = claim.workload.as_ref();
                    program.and_then(|program| result.numbers.get(program)).copied()
                };
                for number in own.iter().filter_map(of_program).filter(|number| *number != 0.0) {
                    let what = &claim.what;
                    assert_eq!(
                        claim.published.map(f64::abs),
                        Some(number),
                        "{}: {what}",
                        paper.name
                    );
                }
            }
        }
    }

    /// Every program of a published table has a claim.
    #[test]
    fn tables_by_program_are_complete() {
        for (paper, list) in papers() {
            for result in list.iter().filter(|result| !result.numbers.is_empty()) {
                let claimed = claims(&paper, result).filter_map(|claim| claim.workload.as_deref());
                let mut claimed: Vec<&str> = claimed.collect();
                claimed.sort_unstable();
                let programs: Vec<&str> = result.numbers.keys().map(String::as_str).collect();
                assert_eq!(claimed, programs, "{}: {}", paper.name, result.id);
            }
        }
    }

    #[test]
    fn only_ablations_have_no_published_result_and_they_are_not_judged() {
        for (paper, _) in papers() {
            for claim in &paper.claims {
                let what = format!("{}: {}", paper.name, claim.what);
                assert_eq!(claim.is_ablation(), claim.source == "ablation", "{what}");
                if claim.is_ablation() {
                    assert_eq!(claim.text.as_deref(), Some("not published"), "{what}");
                    assert!(claim.published_range().is_none(), "{what}");
                    assert_eq!(claim.direction, Direction::Sign, "{what}");
                }
            }
        }
    }

    #[test]
    fn quotes_are_short_and_contain_their_numbers() {
        let words = [(3.0, "three"), (5.0, "Five"), (6.0, "six")];
        for (paper, list) in papers() {
            for result in &list {
                let what = format!("{}: {}: {}", paper.name, result.id, result.quote);
                assert!(result.quote.split_whitespace().count() <= 16, "{what}");
                let digits = result.quote.replace(',', "");
                for number in result.number.into_iter().chain(result.range.into_iter().flatten()) {
                    let word = words.iter().find(|(value, _)| *value == number);
                    let is_there = digits.contains(&number.to_string())
                        || word.is_some_and(|(_, word)| result.quote.contains(word));
                    assert!(is_there, "{what}: {number}");
                }
            }
        }
    }

    /// Where the papers' texts are at hand: `../shared/papers` beside the repository.
    #[test]
    fn quotes_are_the_papers_words() {
        let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/papers");
        let texts = [
            ("li2015", "li-2015-inter-core-locality.txt"),
            ("owl2013", "owl-2013.txt"),
            ("calrs2015", "calrs-2015.txt"),
            ("yuan2009", "yuan-2009-complexity-effective.txt"),
            ("warpedmc2023", "warped-mc-2023.txt"),
        ];
        for (name, file) in texts {
            let Ok(text) = std::fs::read_to_string(papers.join(file)) else { continue };
            let text = plain(&text);
            for result in published(name) {
                assert!(text.contains(&plain(&result.quote)), "{name}: {}", result.quote);
            }
        }
    }

    /// Removes emphasis, formula marks and tags, and makes every blank a single space.
    fn plain(text: &str) -> String {
        let text = text.replace("\\times", "×").replace("\\quad", "");
        let text = text.replace(['*', '$'], "");
        let tags = ["<code>", "</code>", "<sup>", "</sup>"];
        let text = tags.iter().fold(text, |text, tag| text.replace(tag, ""));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn small(claim: &str) -> Result<Paper, crate::reproduce::PaperError> {
        let text = format!(
            "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n\
            programs = [{{ name = 'KMN' }}, {{ name = 'SS' }}]\n[schemes]\nX = []\n\
            [[claim]]\nwhat = 'w'\nours.runs = {{ of = 'X' }}\n{claim}"
        );
        Paper::from_text("li2015", &text)
    }

    #[test]
    fn a_claim_takes_its_source_from_the_result_that_it_names() {
        let paper = small("result = 'ipc-kmn'\ntext = 't'").unwrap();
        assert_eq!(paper.claims[0].source, "Sec 6.1, Fig 6.3");
        let error = small("result = ['ipc-kmn', 'ipc-kmm']\ntext = 't'").unwrap_err();
        assert!(error.to_string().contains("no published result `ipc-kmm`"), "{error}");
    }

    #[test]
    fn each_program_has_a_claim_of_one_experiment() {
        let paper = small("source = 's'\neach = { KMN = -1, SS = 2 }").unwrap();
        let of = |claim: &Claim| (claim.what.clone(), claim.workload.clone(), claim.published);
        let claims: Vec<_> = paper.claims.iter().map(of).collect();
        let expected = |program: &str, number| {
            (format!("w, {program}"), Some(program.to_owned()), Some(number))
        };
        assert_eq!(claims, [expected("KMN", -1.0), expected("SS", 2.0)]);
        assert!(paper.claims.iter().all(|claim| claim.experiment() == "w"));
        let paper = small("source = 's'\npublished = 3\neach = ['KMN', 'SS']").unwrap();
        assert!(paper.claims.iter().all(|claim| claim.published == Some(3.0)));
    }

    /// `docs/reproduce.md`.
    #[test]
    fn the_document_counts_published_results() {
        let row = |(paper, _): (Paper, Vec<Published>)| {
            let Coverage { results, judged, unjudged } = paper.coverage().unwrap();
            let code = format!("`{}`", paper.name);
            vec![code, results.to_string(), judged.to_string(), unjudged.to_string()]
        };
        let heading = ["paper", "published results", "with a claim", "not judged"];
        let coverage = table(&heading, papers().map(row));
        assert_parts("docs/reproduce.md", &[("coverage", coverage)]);
    }

    #[test]
    fn coverage_counts_claims_reasons_and_repetitions() {
        assert!(find("combined").unwrap().coverage().is_none());
        let paper = find("li2015").unwrap();
        let without = Paper { claims: Vec::new(), ..paper };
        let Coverage { results, judged, unjudged } = without.coverage().unwrap();
        assert_eq!(judged, 0);
        assert!(0 < unjudged && unjudged < results);
    }
}
