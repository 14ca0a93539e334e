//! Named traces: single files, and those listed by a manifest.

use crate::suite::{Listed, Manifest, SuiteError};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use warpmem_trace::{Kernel, Trace, TraceError};
use warpmem_workload::Seeded;

/// Reason why traces cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{} is a list of traces: this command takes a single trace", path.display())]
    List { path: PathBuf },
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Manifest(#[from] SuiteError),
    #[error("failed to open {}", list.display())]
    Listed { list: PathBuf, source: Box<OpenError> },
    #[error(
        "{} is not the listed trace: its content hash is {hash}, the listed one {expected}",
        path.display()
    )]
    Other { path: PathBuf, hash: String, expected: String },
    #[error("{} and {} hold the same trace: give it once", one.display(), two.display())]
    Twice { one: PathBuf, two: PathBuf },
}

/// A trace and its name in tables.
pub struct NamedTrace {
    pub name: String,
    pub trace: Trace,
}

impl NamedTrace {
    /// Opens a trace and names it after its file.
    ///
    /// # Errors
    /// If the file is not a trace, for instance a manifest, or is damaged.
    pub fn open(path: &Path) -> Result<NamedTrace, OpenError> {
        if is_manifest(path) {
            return Err(OpenError::List { path: path.to_owned() });
        }
        Ok(NamedTrace { name: stem(path), trace: Trace::open(path)? })
    }

    /// Opens traces, each named after its file, or by its whole path if two have the same name. A
    /// file whose name ends in `.toml` is a manifest and stands for the traces that it lists, under
    /// the names given there.
    ///
    /// # Errors
    /// If a trace cannot be opened, or two are the same.
    pub fn open_all<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<NamedTrace>, OpenError> {
        let opened = paths.iter().map(|path| NamedTrace::open_listed(path.as_ref()));
        let opened: Vec<NamedTrace> =
            opened.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        NamedTrace::check_distinct(&opened)?;
        Ok(NamedTrace::told_apart(opened, Path::to_owned))
    }

    /// Opens a trace, or the traces listed by a manifest.
    ///
    /// # Errors
    /// If a trace cannot be opened or differs from the one listed.
    pub fn open_listed(path: &Path) -> Result<Vec<NamedTrace>, OpenError> {
        match is_manifest(path) {
            true => open_manifest(path),
            false => Ok(vec![NamedTrace::open(path)?]),
        }
    }

    /// Refuses a trace that is given twice, because means would count it twice.
    ///
    /// # Errors
    /// If two traces are the same.
    pub fn check_distinct(traces: &[NamedTrace]) -> Result<(), OpenError> {
        let mut seen: HashMap<u64, &Path> = HashMap::new();
        for named in traces {
            let two = named.trace.path();
            if let Some(one) = seen.insert(named.trace.header().content_hash, two) {
                return Err(OpenError::Twice { one: one.to_owned(), two: two.to_owned() });
            }
        }
        Ok(())
    }

    /// Gives traces with equal names their whole paths, as `shown`.
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

    /// Returns the workload that the trace is a repeat of, and its seed; none if no generator made it.
    pub fn seeded(&self) -> Option<Seeded> {
        Seeded::of(&self.trace.header().provenance)
    }

    pub fn ctas(&self) -> u64 {
        self.sum(|kernel| kernel.ctas.into())
    }

    pub fn warp_instructions(&self) -> u64 {
        self.sum(|kernel| kernel.warp_instructions)
    }

    /// Sums over the kernels.
    pub fn sum(&self, of: impl Fn(&Kernel) -> u64) -> u64 {
        self.trace.kernels().iter().map(of).sum()
    }
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

fn open_manifest(path: &Path) -> Result<Vec<NamedTrace>, OpenError> {
    let open = |listed: Listed| {
        let trace = Trace::open(&listed.trace)?;
        check_hash(&trace, listed.trace_hash)?;
        Ok(NamedTrace { name: listed.name, trace })
    };
    let opened = Manifest::load(path)?.workloads.into_iter().map(open);
    let failed = |source| OpenError::Listed { list: path.to_owned(), source: Box::new(source) };
    opened.collect::<Result<_, OpenError>>().map_err(failed)
}

fn check_hash(trace: &Trace, expected: Option<String>) -> Result<(), OpenError> {
    let hash = format!("{:016x}", trace.header().content_hash);
    match expected {
        Some(expected) if expected != hash => {
            Err(OpenError::Other { path: trace.path().to_owned(), hash, expected })
        }
        _ => Ok(()),
    }
}

fn stem(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
