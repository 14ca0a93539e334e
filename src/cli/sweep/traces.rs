//! The traces of a plan: those that exist, and those that must be generated first.

use super::super::generate::suite::{MANIFEST, generate};
use super::super::interrupt::Interrupt;
use super::super::traces::NamedTrace;
use anyhow::{Context, bail};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use warpmem::study::suite::{Manifest, Planned, Suite};
use warpmem::study::sweep::{Part, Plan};

/// Opens the traces of a plan, each once, in the plan's order. Traces of suites that `cache` lacks
/// are generated on `jobs` threads.
pub fn open(
    plan: &Plan,
    cache: &Path,
    jobs: usize,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<NamedTrace>> {
    let mut traces = Vec::new();
    for pattern in &plan.traces {
        for path in files(&plan.folder, pattern)? {
            traces.extend(NamedTrace::open_listed(&path)?);
        }
    }
    for part in &plan.suites {
        traces.extend(of_suite(plan, part, cache, jobs, interrupt)?);
    }
    let mut seen = HashSet::new();
    traces.retain(|named| seen.insert(whole(named.trace.path())));
    Ok(NamedTrace::told_apart(traces, |path| from_folder(&plan.folder, path)))
}

/// A path that is the same however the file is named.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The name of a file in a plan in `folder`, independent of where the sweep was started, because
/// tables contain it.
pub fn from_folder(folder: &Path, path: &Path) -> PathBuf {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    pathdiff::diff_paths(whole(path), whole(folder)).unwrap_or_else(|| path.to_owned())
}

/// The files that a path or a glob relative to `folder` matches, in alphabetical order.
fn files(folder: &Path, pattern: &str) -> anyhow::Result<Vec<PathBuf>> {
    if !pattern.contains(['*', '?', '[']) {
        return Ok(vec![folder.join(pattern)]);
    }
    let folder = glob::Pattern::escape(&folder.to_string_lossy());
    let whole = Path::new(&folder).join(pattern);
    let whole = whole.to_string_lossy();
    let found = glob::glob(&whole).with_context(|| format!("`{pattern}` is not a glob"))?;
    let found = found.collect::<Result<Vec<PathBuf>, _>>()?;
    if found.is_empty() {
        bail!("no file matches `{pattern}` ({whole})");
    }
    Ok(found)
}

fn of_suite(
    plan: &Plan,
    part: &Part,
    cache: &Path,
    jobs: usize,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<NamedTrace>> {
    let suite = match &part.from {
        Some(file) => Suite::load(&plan.folder.join(file))?,
        None => Suite::built_in(),
    };
    let planned = suite.plan(part.size.as_deref(), &part.workloads)?;
    let folder = cache.join(&suite.name).join(part.size.as_deref().unwrap_or_default());
    generated(&suite.name, &planned, &folder, jobs, interrupt)
}

/// Opens the workloads of the suite `name` in `folder`, in their order. Missing ones are generated
/// on `jobs` threads.
pub fn generated(
    name: &str,
    planned: &[Planned],
    folder: &Path,
    jobs: usize,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<NamedTrace>> {
    let manifest = folder.join(MANIFEST);
    let mut missing = planned.to_vec();
    if manifest.exists() {
        let listed = Manifest::load(&manifest)?;
        missing.retain(|planned| !is_there(&listed, planned));
    }
    if !missing.is_empty() {
        generate(name, &missing, folder, jobs, true, interrupt)?;
    }
    let is_planned = |trace: &NamedTrace| planned.iter().any(|planned| planned.name == trace.name);
    let mut traces = NamedTrace::open_listed(&manifest)?;
    traces.retain(is_planned);
    // The manifest lists them in the order in which they were generated.
    let place = |trace: &NamedTrace| planned.iter().position(|planned| planned.name == trace.name);
    traces.sort_by_key(place);
    Ok(traces)
}

/// Whether a manifest lists the planned trace, generated with the same parameters.
fn is_there(listed: &Manifest, planned: &Planned) -> bool {
    let command = planned.request.command().ok();
    listed.workloads.iter().any(|listed| {
        listed.name == planned.name
            && Some(&listed.command) == command.as_ref()
            && listed.trace.exists()
    })
}
