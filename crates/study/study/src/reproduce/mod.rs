//! Descriptions of the experiments of papers: machine, workloads, policies and sweeps, and the
//! pairs of our and published results to compare. Nothing is simulated here.
//!
//! A paper is one TOML file here and one line of [`PAPERS`].

mod captured;
mod claim;
mod configuration;
mod coverage;
mod figure;
mod map;
mod mapped;
mod paper;
mod program;
mod published;
mod survey;
mod surveyed;
mod text;
mod variants;

#[cfg(test)]
mod tests;

pub use captured::Captured;
pub use claim::{
    Best, Bits, Claim, Counted, Direction, Each, Mean, MeanError, Ours, Runs, Shown, Streamed,
};
pub use configuration::{Configuration, ConfigurationError, Setting};
pub use coverage::Coverage;
pub use figure::{Drawn, Figure, Line, Lines, LoadTimes, Many, Metrics, Scatter};
pub use map::{Axis, Map, Place};
pub use paper::{Classified, Factor, Factorial, Paper, PaperError, Workloads};
pub use program::{Input, NamedProgram, Program, Size, library};
pub use published::{Published, published};
pub use survey::{Survey, Surveyed};

/// All descriptions by name.
const PAPERS: [(&str, &str); 7] = [
    ("li2015", include_str!("li2015.toml")),
    ("owl2013", include_str!("owl2013.toml")),
    ("calrs2015", include_str!("calrs2015.toml")),
    ("yuan2009", include_str!("yuan2009.toml")),
    ("warpedmc2023", include_str!("warpedmc2023.toml")),
    ("combined", include_str!("combined.toml")),
    ("survey", include_str!("survey.toml")),
];

/// Returns the names of all descriptions in listing order.
pub fn names() -> impl Iterator<Item = &'static str> {
    PAPERS.iter().map(|(name, _)| *name)
}

/// Returns the description named `name`.
///
/// # Errors
/// [`PaperError::Unknown`] if there is none.
pub fn find(name: &str) -> Result<Paper, PaperError> {
    let (name, text) = described(name)?;
    Paper::from_text(name, text)
}

/// Returns the survey named `name` on another machine, a name or a file.
///
/// # Errors
/// As [`find`], and if it is no survey, or there is no such machine.
pub fn find_on(name: &str, machine: &str) -> Result<Paper, PaperError> {
    let (name, text) = described(name)?;
    Paper::survey_from_text(name, text, machine)
}

/// Returns a name and its description.
fn described(name: &str) -> Result<(&'static str, &'static str), PaperError> {
    let found = PAPERS.iter().find(|(known, _)| *known == name);
    found.copied().ok_or_else(|| PaperError::unknown(name, names()))
}
