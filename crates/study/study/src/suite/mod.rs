//! Sets of workloads: [`Suite`] lists workloads to generate, [`Generation`] generates them, and
//! [`Manifest`] lists existing traces.

mod generate;
mod manifest;
mod plan;
mod recorded;
mod rows;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub use generate::{GenerateError, Generation, MANIFEST, Watcher};
pub use manifest::{Listed, Manifest};
pub use plan::{Planned, Suite, Workload};
pub use recorded::Recorded;
pub use rows::suites;

use warpmem_params::did_you_mean;
use warpmem_workload::WorkloadError;

/// Errors of a suite or a manifest.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    #[error("failed to read {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} is not a {what}: {message}", path.display())]
    Malformed { path: PathBuf, what: &'static str, message: String },
    #[error("{}: workload `{workload}`: {message}", path.display())]
    Workload { path: PathBuf, workload: String, message: String },
    #[error("workload `{workload}`")]
    Request { workload: String, source: WorkloadError },
    #[error("no suite and no file is named `{name}`{}; suites: {valid}", did_you_mean(.nearest.as_deref()))]
    Unknown { name: String, nearest: Option<String>, valid: String },
    #[error("no workload of `{suite}` has the size `{size}`; there are {valid}")]
    UnknownSize { suite: String, size: String, valid: String },
    #[error("`{suite}` has no workload `{name}`{}; there are {valid}", did_you_mean(.nearest.as_deref()))]
    UnknownWorkload { suite: String, name: String, nearest: Option<String>, valid: String },
}

fn read(path: &Path) -> Result<String, SuiteError> {
    warpmem_support::files::text::read(path)
        .map_err(|source| SuiteError::Read { path: path.to_owned(), source })
}

/// Parses a TOML text; `what` names it in messages.
fn parse<T: serde::de::DeserializeOwned>(
    text: &str,
    path: &Path,
    what: &'static str,
) -> Result<T, SuiteError> {
    toml::from_str(text).map_err(|error| SuiteError::Malformed {
        path: path.to_owned(),
        what,
        message: error.to_string().trim_end().to_owned(),
    })
}

/// Checks names, which become file names and column values and must be unique.
fn check_names<'a>(names: impl Iterator<Item = &'a str>, path: &Path) -> Result<(), SuiteError> {
    let mut seen = HashSet::new();
    for name in names {
        let fault = if !is_name(name) {
            "a name consists of letters, digits, `-`, `_`, `+` and `.`, and does not begin with `.`"
        } else if !seen.insert(name) {
            "there are two of this name"
        } else {
            continue;
        };
        let (path, workload) = (path.to_owned(), name.to_owned());
        return Err(SuiteError::Workload { path, workload, message: fault.to_owned() });
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    !name.is_empty() && !name.starts_with('.') && name.chars().all(fits)
}
