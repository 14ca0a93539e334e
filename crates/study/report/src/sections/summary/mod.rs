//! The answer, before everything else: the best policy and its gain, or the limiting factor of a
//! single run.

mod charts;
mod outcome;
mod standings;
mod verdict;
mod warnings;

use super::parameters;
use crate::document::Section;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;
use standings::Standings;

/// Number of parameters whose effect is stated.
const PARAMETERS: usize = 3;
/// Number of sentences on whether policies can matter.
const SENTENCES: usize = 4;

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let mut section = Section::new("summary", "Summary");
    for warning in warnings::of(study)? {
        section = section.warning(warning);
    }
    let section = match study.is_single() {
        true => outcome::add(section, study, shown)?,
        false => add_comparison(section, study, shown)?,
    };
    Ok(match shown.left_out(study) {
        Some(note) => section.note(note),
        None => section,
    })
}

fn add_comparison(mut section: Section, study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let standings = Standings::of(study)?;
    for sentence in study.leverage.iter().take(SENTENCES) {
        section = section.text(Prose::new(sentence.as_str()));
    }
    for verdict in verdict::verdicts(study, shown, &standings)? {
        section = section.text(verdict);
    }
    if !study.compares_overrides() {
        let effects = parameters::effects(study)?;
        section = effects.into_iter().take(PARAMETERS).fold(section, Section::text);
    }
    for chart in charts::charts(&standings, study, shown)? {
        section = section.figure(chart);
    }
    Ok(section.table(standings.table(study)?))
}
