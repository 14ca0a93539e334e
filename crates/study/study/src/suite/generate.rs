//! Generates the traces of a suite in parallel, and the manifest that lists them.

use super::{Listed, Manifest, Planned, Recorded, SuiteError};
use rayon::prelude::*;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::error::Error;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use warpmem_support::files::staged;
use warpmem_trace::TraceSummary;
use warpmem_workload::{Progress, Stop, WorkloadError};

/// File name of the manifest.
pub const MANIFEST: &str = "suite.toml";

/// Reason why a suite could not be generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    #[error("failed to create folder {}", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error(transparent)]
    Manifest(#[from] SuiteError),
    /// The manifest cannot be written.
    #[error(transparent)]
    Write(Box<dyn Error + Send + Sync>),
    #[error("failed to start threads")]
    Threads(#[from] ThreadPoolBuildError),
    #[error("failed to generate {}", trace.display())]
    Failed { trace: PathBuf, source: WorkloadError },
    #[error(transparent)]
    Command(WorkloadError),
    #[error(transparent)]
    Changed(Box<Changed>),
    /// Stopped by the watcher; `kept` describes the results kept.
    #[error("interrupted: {kept}")]
    Interrupted { kept: String },
}

/// A trace without the content hash that its suite records.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: its content hash is {found}, but version {} of the suite `{}` records {} in size {}: \
     the generator `{kernel}` has changed since that version. The trace is not kept; \
     `warpmem generate {kernel}` makes one without this check",
    trace.display(), recorded.version, recorded.suite, recorded.hash, recorded.size
)]
pub struct Changed {
    trace: PathBuf,
    kernel: String,
    recorded: Recorded,
    /// Content hash of the trace, 16 hexadecimal digits.
    found: String,
}

impl GenerateError {
    pub fn is_interruption(&self) -> bool {
        matches!(self, GenerateError::Interrupted { .. })
    }
}

/// Watches the generation of a suite, and can stop it.
pub trait Watcher: Sync {
    /// Reports the progress of a workload.
    fn report(&self, workload: &str, progress: &Progress) -> ControlFlow<()>;

    /// Stops when `report` would, also between its calls.
    fn stop(&self) -> Stop;

    /// Reports that the trace of a workload is complete.
    fn made(&self);
}

/// Workloads to generate into a folder.
pub struct Generation<'a> {
    /// The name of the suite.
    pub name: &'a str,
    pub planned: &'a [Planned],
    pub folder: &'a Path,
    /// Number of concurrent workloads; 0 means one per processor.
    pub jobs: usize,
    /// Whether the manifest keeps the other workloads that it lists.
    pub is_part: bool,
}

impl Generation<'_> {
    /// # Errors
    /// If a trace or the manifest cannot be written, a trace has another hash than its suite records, or the
    /// watcher stops it.
    pub fn run(&self, watcher: &impl Watcher) -> Result<Vec<TraceSummary>, GenerateError> {
        let folder = self.folder;
        fs::create_dir_all(folder)
            .map_err(|source| GenerateError::Folder { folder: folder.to_owned(), source })?;
        let manifest = folder.join(MANIFEST);
        staged::check(&manifest).map_err(written)?;
        let pool = ThreadPoolBuilder::new().num_threads(self.jobs).build()?;
        let generate = |planned| self.generate(planned, watcher);
        let made: Result<Vec<(Listed, TraceSummary)>, GenerateError> =
            pool.install(|| self.planned.par_iter().map(generate).collect());
        let (mut workloads, summaries): (Vec<_>, Vec<_>) = made?.into_iter().unzip();
        if self.is_part {
            workloads = listed_before(&manifest, workloads)?;
        }
        let text = Manifest { name: self.name.to_owned(), workloads }.to_text();
        staged::write(&manifest, |partial| Ok(fs::write(partial, text)?)).map_err(written)?;
        Ok(summaries)
    }

    fn generate(
        &self,
        planned: &Planned,
        watcher: &impl Watcher,
    ) -> Result<(Listed, TraceSummary), GenerateError> {
        let Planned { name, about, request, .. } = planned;
        let file = format!("{name}.wmt");
        let path = self.folder.join(&file);
        let summary = request
            .generate_until(&watcher.stop(), &path, &mut |progress| watcher.report(name, progress))
            .map_err(|error| self.failure(error, &path))?
            .trace;
        let trace_hash = format!("{:016x}", summary.content_hash);
        self.check_recorded(planned, &path, &trace_hash)?;
        watcher.made();
        let listed = Listed {
            name: name.clone(),
            trace: file.into(),
            about: about.clone(),
            command: request.command().map_err(GenerateError::Command)?,
            trace_hash: Some(trace_hash),
            records: Some(summary.records),
        };
        Ok((listed, summary))
    }

    /// Removes and refuses a trace without the hash that its suite records.
    fn check_recorded(
        &self,
        planned: &Planned,
        trace: &Path,
        found: &str,
    ) -> Result<(), GenerateError> {
        let Some(recorded) = planned.recorded.clone().filter(|recorded| recorded.hash != found)
        else {
            return Ok(());
        };
        fs::remove_file(trace).map_err(written)?;
        Err(GenerateError::Changed(Box::new(Changed {
            trace: trace.to_owned(),
            kernel: planned.request.kernel.clone(),
            recorded,
            found: found.to_owned(),
        })))
    }

    fn failure(&self, error: WorkloadError, path: &Path) -> GenerateError {
        match error {
            WorkloadError::Interrupted => {
                let kept = match self.folder.is_dir() {
                    true => "the finished traces are kept, without a manifest".to_owned(),
                    false => format!("nothing is kept: {} is gone", self.folder.display()),
                };
                GenerateError::Interrupted { kept }
            }
            source => GenerateError::Failed { trace: path.to_owned(), source },
        }
    }
}

fn written<E: Into<Box<dyn Error + Send + Sync>>>(error: E) -> GenerateError {
    GenerateError::Write(error.into())
}

/// Appends `made` to the workloads of other names already listed by a manifest.
fn listed_before(manifest: &Path, made: Vec<Listed>) -> Result<Vec<Listed>, SuiteError> {
    let mut workloads = match manifest.exists() {
        true => Manifest::load(manifest)?.workloads,
        false => Vec::new(),
    };
    workloads.retain(|listed| !made.iter().any(|made| made.name == listed.name));
    let folder = manifest.parent().unwrap_or(Path::new(""));
    for listed in &mut workloads {
        if let Ok(inside) = listed.trace.strip_prefix(folder) {
            listed.trace = inside.to_owned();
        }
    }
    workloads.extend(made);
    Ok(workloads)
}
