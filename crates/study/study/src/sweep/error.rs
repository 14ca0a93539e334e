//! Errors of plans and sweeps.

use crate::cells::ThreadsError;
use std::path::{Path, PathBuf};
use warpmem_gpu::slots::BaselineError;
use warpmem_machine::MachineError;
use warpmem_params::{did_you_mean, nearest};
use warpmem_record::ResultsError;
use warpmem_support::files::text::position;

/// Errors in a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    #[error("failed to read plan {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error(
        "{} is a trace, not a plan: a plan is a TOML file that names traces; `warpmem compare` replays traces \
         without one",
        path.display()
    )]
    Trace { path: PathBuf },
    #[error("{}:{line}: {message}", path.display())]
    Malformed { path: PathBuf, line: usize, message: String },
    #[error("`{key}` of the plan: {message}")]
    Invalid { key: String, message: String },
}

impl PlanError {
    pub(super) fn invalid(key: &str, message: impl Into<String>) -> PlanError {
        PlanError::Invalid { key: key.to_owned(), message: message.into() }
    }

    /// Converts the `error` of parsing `text` as a plan.
    pub(super) fn malformed(path: &Path, text: &str, error: &toml::de::Error) -> PlanError {
        let (line, _) = position(text, error.span().map_or(0, |span| span.start));
        PlanError::Malformed { path: path.to_owned(), line, message: explained(error.message()) }
    }
}

/// Reason why a plan cannot be expanded into runnable cells.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("two machines are called `{name}`: give one of them another `name`")]
    SameName { name: String },
    #[error("[policies]: there is no slot `{name}`{meant}; there are {valid}")]
    UnknownSlot { name: String, meant: String, valid: String },
    #[error("[policies]: `{dashes}` and `{name}` are the same slot: give one of them")]
    SlotTwice { dashes: String, name: &'static str },
    #[error("case `{case}`")]
    Case { case: String, source: Box<ExpandError> },
    #[error("the plan has no cell that can run")]
    NoCell,
    /// Cells that cannot run, with the reasons.
    #[error("{0}")]
    CannotRun(String),
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    #[error("the baseline `{unknown}` is not among the overrides of the plan{meant}")]
    UnknownOverrides { unknown: String, meant: String },
    #[error("the baseline `{baseline}` is not a case of the plan{meant}")]
    NotACase { baseline: String, meant: String, source: BaselineError },
    /// Cells without a baseline run to be compared with.
    #[error("{0}")]
    WithoutBaseline(String),
}

/// Errors that stop a sweep.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// The results of a cell cannot be written; `kept` describes the results kept.
    #[error("{kept}")]
    Unwritten { kept: String, source: ResultsError },
    #[error(
        "{} has {left} of {cells} cells, although all have run: something removed the others; run it again to repeat them",
        directory.display()
    )]
    Lost { directory: PathBuf, left: usize, cells: usize },
}

impl SweepError {
    /// Returns whether another process writes the directory.
    pub fn is_in_use(&self) -> bool {
        matches!(self, SweepError::Results(ResultsError::InUse { .. }))
    }
}

/// Extends serde's message about an unknown name with the likely intended name.
fn explained(message: &str) -> String {
    let first_line = message.lines().next().unwrap_or(message);
    let unknown = ["unknown field `", "unknown variant `"].into_iter().find_map(|head| {
        let (name, rest) = first_line.strip_prefix(head)?.split_once('`')?;
        Some((name, rest))
    });
    let Some((name, rest)) = unknown else {
        return first_line.to_owned();
    };
    let valid: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let meant = did_you_mean(nearest(name, valid.iter().copied()));
    format!("unknown key or word `{name}`{meant}; valid: {}", valid.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_get_a_suggestion() {
        let message = "unknown field `tracs`, expected one of `name`, `traces`, `seed`";
        assert_eq!(
            explained(message),
            "unknown key or word `tracs` (did you mean `traces`?); valid: name, traces, seed"
        );
        assert_eq!(explained("invalid type: string"), "invalid type: string");
    }
}
