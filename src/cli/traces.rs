//! The traces on a command line.

use anyhow::{Context, bail};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use warpmem::study::suite::{Listed, Manifest};
use warpmem_trace::{Kernel, Trace};

/// A trace and its name in tables.
pub struct NamedTrace {
    pub name: String,
    pub trace: Trace,
}

impl NamedTrace {
    /// Named after its file.
    pub fn open(path: &Path) -> anyhow::Result<NamedTrace> {
        if is_manifest(path) {
            bail!("{} is a list of traces: this command takes one of them", path.display());
        }
        Ok(NamedTrace { name: stem(path), trace: Trace::open(path)? })
    }

    /// Each is named after its file, or by its whole path if two have the same name. A file whose
    /// name ends in `.toml` is a manifest and stands for the traces that it lists, by the names
    /// that it gives them.
    pub fn open_all(paths: &[PathBuf]) -> anyhow::Result<Vec<NamedTrace>> {
        let opened = paths.iter().map(|path| NamedTrace::open_listed(path));
        let opened = opened.collect::<anyhow::Result<Vec<_>>>()?;
        Ok(NamedTrace::told_apart(opened.into_iter().flatten().collect(), Path::to_owned))
    }

    /// The trace, or those that a manifest lists.
    pub fn open_listed(path: &Path) -> anyhow::Result<Vec<NamedTrace>> {
        match is_manifest(path) {
            true => open_manifest(path),
            false => Ok(vec![NamedTrace::open(path)?]),
        }
    }

    /// Traces with equal names get their whole paths, as `shown`.
    pub fn told_apart(
        mut traces: Vec<NamedTrace>,
        shown: impl Fn(&Path) -> PathBuf,
    ) -> Vec<NamedTrace> {
        let mut uses: HashMap<String, usize> = HashMap::new();
        for trace in &traces {
            *uses.entry(trace.name.clone()).or_default() += 1;
        }
        for named in traces.iter_mut().filter(|named| uses[&named.name] > 1) {
            named.name = shown(named.trace.path()).display().to_string();
        }
        traces
    }

    pub fn ctas(&self) -> u64 {
        self.sum(|kernel| kernel.ctas.into())
    }

    pub fn warp_instructions(&self) -> u64 {
        self.sum(|kernel| kernel.warp_instructions)
    }

    /// Sum over the kernels.
    pub fn sum(&self, of: impl Fn(&Kernel) -> u64) -> u64 {
        self.trace.kernels().iter().map(of).sum()
    }
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

fn open_manifest(path: &Path) -> anyhow::Result<Vec<NamedTrace>> {
    let open = |listed: Listed| {
        let trace = Trace::open(&listed.trace)?;
        check_hash(&trace, listed.trace_hash.as_deref())?;
        Ok(NamedTrace { name: listed.name, trace })
    };
    let opened = Manifest::load(path)?.workloads.into_iter().map(open);
    opened
        .collect::<anyhow::Result<_>>()
        .with_context(|| format!("failed to open {}", path.display()))
}

fn check_hash(trace: &Trace, expected: Option<&str>) -> anyhow::Result<()> {
    let hash = format!("{:016x}", trace.header().content_hash);
    match expected {
        Some(expected) if expected != hash => bail!(
            "{} is another trace than the one listed: its content is {hash}, that of the list {expected}",
            trace.path().display()
        ),
        _ => Ok(()),
    }
}

fn stem(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
