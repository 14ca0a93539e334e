//! How many of a paper's published results are judged, and why others are not.

use crate::error::Result;
use warpmem_analysis::polars::df;
use warpmem_report::{Prose, Section, Table};
use warpmem_study::reproduce::{Coverage, Paper, Published, published};

/// Says how many of the published results have claims; none for a paper without a list of them.
pub fn coverage(paper: &Paper) -> Option<String> {
    let Coverage { results, judged, unjudged } = paper.coverage()?;
    Some(format!("{judged} of {results} published results have claims, {unjudged} are not judged"))
}

/// Makes a section with the results that are not judged, and the reasons; none if there are none.
///
/// # Errors
/// If the dataframe engine fails.
pub(crate) fn unjudged(paper: &Paper) -> Result<Option<Section>> {
    let all = published(&paper.name).into_iter();
    let of = |result: Published| Some((result.what, result.source, result.unjudged?));
    let all: Vec<(String, String, String)> = all.filter_map(of).collect();
    if all.is_empty() {
        return Ok(None);
    }
    let frame = df!(
        "what" => all.iter().map(|(what, ..)| what.as_str()).collect::<Vec<_>>(),
        "paper" => all.iter().map(|(_, source, _)| source.as_str()).collect::<Vec<_>>(),
        "reason" => all.iter().map(|(.., reason)| reason.as_str()).collect::<Vec<_>>(),
    )?;
    let sentence = Prose::new("Published results without a claim.");
    let table = Table::new("unjudged", "Not judged", frame);
    Ok(Some(Section::new("unjudged", "Not judged").text(sentence).table(table)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_study::reproduce::find;

    #[test]
    fn the_sentence_adds_up_and_papers_without_a_list_have_none() {
        let paper = find("owl2013").unwrap();
        let Coverage { results, judged, unjudged } = paper.coverage().unwrap();
        assert_eq!(results, judged + unjudged);
        let sentence = coverage(&paper).unwrap();
        assert!(sentence.starts_with(&format!("{judged} of {results} ")), "{sentence}");
        let survey = find("survey").unwrap();
        assert!(coverage(&survey).is_none());
        assert!(super::unjudged(&survey).unwrap().is_none());
        assert!(super::unjudged(&paper).unwrap().is_some());
    }
}
