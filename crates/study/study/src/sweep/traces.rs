//! Traces of a plan: those that exist, and those to be generated first.

use super::plan::{Part, Plan};
use crate::suite::{GenerateError, Generation, MANIFEST, Manifest, Planned, Suite, SuiteError};
use crate::traces::{NamedTrace, OpenError};
use glob::{GlobError, PatternError};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Reason why the traces of a plan are not available.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    #[error("`{pattern}` is not a glob")]
    NotAGlob { pattern: String, source: PatternError },
    #[error(transparent)]
    Glob(#[from] GlobError),
    #[error("no file matches `{pattern}` ({whole})")]
    NoMatch { pattern: String, whole: String },
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Suite(#[from] SuiteError),
    #[error(transparent)]
    Generate(#[from] GenerateError),
}

impl TracesError {
    /// Returns whether the user stopped the generation of a suite.
    pub fn is_interruption(&self) -> bool {
        matches!(self, TracesError::Generate(error) if error.is_interruption())
    }
}

/// Generates workloads: [`Generation::run`] with a watcher, and the program's messages about it.
pub type Generate<'a> = dyn Fn(&Generation<'_>) -> Result<(), GenerateError> + 'a;

/// Opens the distinct traces of a plan, in the plan's order. Traces of suites missing from `cache`
/// are made with `generate`, on `jobs` threads.
///
/// # Errors
/// If a trace does not exist and cannot be made.
pub fn open(
    plan: &Plan,
    cache: &Path,
    jobs: usize,
    generate: &Generate<'_>,
) -> Result<Vec<NamedTrace>, TracesError> {
    let mut traces = Vec::new();
    for pattern in &plan.traces {
        for path in files(&plan.folder, pattern)? {
            traces.extend(NamedTrace::open_listed(&path)?);
        }
    }
    for part in &plan.suites {
        traces.extend(of_suite(plan, part, cache, jobs, generate)?);
    }
    let mut seen = HashSet::new();
    traces.retain(|named| seen.insert(whole(named.trace.path())));
    Ok(NamedTrace::told_apart(traces, |path| from_folder(&plan.folder, path)))
}

/// Returns a path that is the same however the file is named.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the name of a file in a plan in `folder`, independent of the working directory of the
/// sweep, because tables contain it.
pub(super) fn from_folder(folder: &Path, path: &Path) -> PathBuf {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    pathdiff::diff_paths(whole(path), whole(folder)).unwrap_or_else(|| path.to_owned())
}

/// Returns the files that match a path or a glob relative to `folder`, in alphabetical order.
fn files(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, TracesError> {
    if !pattern.contains(['*', '?', '[']) {
        return Ok(vec![folder.join(pattern)]);
    }
    let folder = glob::Pattern::escape(&folder.to_string_lossy());
    let whole = Path::new(&folder).join(pattern);
    let whole = whole.to_string_lossy();
    let pattern = pattern.to_owned();
    let found = match glob::glob(&whole) {
        Ok(found) => found.collect::<Result<Vec<PathBuf>, _>>()?,
        Err(source) => return Err(TracesError::NotAGlob { pattern, source }),
    };
    if found.is_empty() {
        return Err(TracesError::NoMatch { pattern, whole: whole.into_owned() });
    }
    Ok(found)
}

fn of_suite(
    plan: &Plan,
    part: &Part,
    cache: &Path,
    jobs: usize,
    generate: &Generate<'_>,
) -> Result<Vec<NamedTrace>, TracesError> {
    let suite = match &part.from {
        Some(from) => Suite::open(from, &plan.folder)?,
        None => Suite::built_in(),
    };
    let planned = suite.plan(part.size.as_deref(), &part.workloads)?;
    let folder = cache.join(&suite.name).join(part.size.as_deref().unwrap_or_default());
    generated(&suite.name, &planned, &folder, jobs, generate)
}

/// Opens the workloads of the suite `name` in `folder`, in their order. Missing ones are made with
/// `generate`, on `jobs` threads.
///
/// # Errors
/// If a trace does not exist and cannot be made.
pub fn generated(
    name: &str,
    planned: &[Planned],
    folder: &Path,
    jobs: usize,
    generate: &Generate<'_>,
) -> Result<Vec<NamedTrace>, TracesError> {
    let manifest = folder.join(MANIFEST);
    let mut missing = planned.to_vec();
    if manifest.exists() {
        let listed = Manifest::load(&manifest)?;
        missing.retain(|planned| !is_there(&listed, planned));
    }
    if !missing.is_empty() {
        generate(&Generation { name, planned: &missing, folder, jobs, is_part: true })?;
    }
    let is_planned = |trace: &NamedTrace| planned.iter().any(|planned| planned.name == trace.name);
    let mut traces = NamedTrace::open_listed(&manifest)?;
    traces.retain(is_planned);
    // The manifest lists them in the order of their generation.
    let place = |trace: &NamedTrace| planned.iter().position(|planned| planned.name == trace.name);
    traces.sort_by_key(place);
    Ok(traces)
}

/// Returns whether a manifest lists the planned trace, generated with the same parameters.
fn is_there(listed: &Manifest, planned: &Planned) -> bool {
    let command = planned.request.command().ok();
    listed.workloads.iter().any(|listed| {
        listed.name == planned.name
            && Some(&listed.command) == command.as_ref()
            && listed.trace.exists()
    })
}
