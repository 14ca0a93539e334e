//! `warpmem generate suite`: generates the traces of a suite in parallel, and the manifest that
//! lists them.

use super::super::exit::Interrupted;
use super::super::interrupt::Interrupt;
use super::super::output::{note, print};
use super::super::progress::bar;
use anyhow::Context;
use clap::{Args as _, Command, ValueHint};
use indicatif::{HumanBytes, HumanCount, ProgressBar};
use rayon::prelude::*;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use warpmem::files::staged;
use warpmem::study::suite::{Listed, Manifest, Planned, Suite};
use warpmem::workload::{Progress, WorkloadError};
use warpmem_text::aligned;
use warpmem_trace::TraceSummary;

/// Generate a suite of workloads and the manifest that lists them
///
/// The manifest, `suite.toml` in the folder, stands for all its traces wherever a command takes a
/// list of traces.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Size of the workloads: small, medium or large in the built-in suite
    #[arg(long, value_name = "SIZE", required_unless_present_any = ["from", "list"])]
    size: Option<String>,
    /// User-defined suite (.toml) instead of the built-in one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    from: Option<PathBuf>,
    /// Workloads to generate; all by default. The manifest keeps the other workloads that it lists
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Workloads to generate at a time, each with its input in memory (up to some GB in size
    /// large); by default one per processor. The traces are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// List the workloads
    #[arg(long)]
    list: bool,
    /// Folder for the traces and their manifest; created if it does not exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "list")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem generate suite --list
  warpmem generate suite --size small -o suite/
  warpmem generate suite --size medium --only bfs-rmat,spmv-vector -o suite/
  warpmem compare suite/suite.toml --dram-scheduler fcfs,fr-fcfs --baseline fr-fcfs";

/// Name of the manifest in its folder.
pub const MANIFEST: &str = "suite.toml";

pub fn command(name: &'static str) -> Command {
    Args::augment_args(Command::new(name))
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let suite = args.from.as_deref().map_or_else(|| Ok(Suite::built_in()), Suite::load)?;
    let planned = suite.plan(args.size.as_deref(), &args.only)?;
    match &args.output {
        Some(output) if !args.list => {
            let jobs = args.jobs.map_or(0, NonZeroUsize::get);
            let part = !args.only.is_empty();
            generate(&suite.name, &planned, output, jobs, part, &Interrupt::install()?)
        }
        _ => print(&listed(&planned)),
    }
}

fn listed(planned: &[Planned]) -> String {
    let row = |planned: &Planned| {
        [&planned.name, &planned.request.kernel, &planned.about].map(String::clone).to_vec()
    };
    aligned(&planned.iter().map(row).collect::<Vec<_>>(), &[])
}

/// Generates the traces of a suite into a folder, on `jobs` threads or, if 0, one per processor.
/// With `is_part` the manifest keeps the other workloads that it lists.
pub fn generate(
    name: &str,
    planned: &[Planned],
    folder: &Path,
    jobs: usize,
    is_part: bool,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("failed to create folder {}", folder.display()))?;
    let manifest = folder.join(MANIFEST);
    staged::check(&manifest)?;
    let work = Work { folder, interrupt: interrupt.clone(), bar: progress_bar(planned.len()) };
    let begun = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs);
    let pool = pool.build().context("failed to start threads")?;
    let made: anyhow::Result<Vec<(Listed, TraceSummary)>> =
        pool.install(|| planned.par_iter().map(|planned| work.generate(planned)).collect());
    work.bar.finish_and_clear();
    let (mut workloads, summaries): (Vec<_>, Vec<_>) = made?.into_iter().unzip();
    if is_part {
        workloads = listed_before(&manifest, workloads)?;
    }
    let text = Manifest { name: name.to_owned(), workloads }.to_text();
    staged::write(&manifest, |partial| Ok(fs::write(partial, text)?))?;
    note(&summary(&summaries, begun.elapsed(), &manifest));
    Ok(())
}

/// Appends `made` to the workloads of other names that a manifest lists already.
fn listed_before(manifest: &Path, made: Vec<Listed>) -> anyhow::Result<Vec<Listed>> {
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

fn progress_bar(workloads: usize) -> ProgressBar {
    let bar = bar("{bar:30} {pos}/{len} workloads · {msg} · {elapsed}");
    bar.set_length(workloads as u64);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Shared by the generators of a suite.
struct Work<'a> {
    folder: &'a Path,
    interrupt: Interrupt,
    bar: ProgressBar,
}

impl Work<'_> {
    fn generate(&self, planned: &Planned) -> anyhow::Result<(Listed, TraceSummary)> {
        let Planned { name, about, request } = planned;
        let file = format!("{name}.wmt");
        let path = self.folder.join(&file);
        let mut progress = |progress: &Progress| {
            let launch = progress.kernels_done;
            self.bar.set_message(format!("{name}, launch {launch} ({})", progress.kernel));
            match self.interrupt.is_asked() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let summary = request
            .generate(&path, &mut progress)
            .map_err(|error| self.failure(error, &path))?
            .trace;
        self.bar.inc(1);
        let listed = Listed {
            name: name.clone(),
            trace: file.into(),
            about: about.clone(),
            command: request.command()?,
            trace_hash: Some(format!("{:016x}", summary.content_hash)),
            records: Some(summary.records),
        };
        Ok((listed, summary))
    }

    fn failure(&self, error: WorkloadError, path: &Path) -> anyhow::Error {
        match error {
            WorkloadError::Interrupted => {
                let kept = match self.folder.is_dir() {
                    true => "the traces made so far are kept; they have no manifest yet".to_owned(),
                    false => format!("nothing is kept: {} is gone", self.folder.display()),
                };
                Interrupted { kept }.into()
            }
            error => {
                anyhow::Error::new(error).context(format!("failed to generate {}", path.display()))
            }
        }
    }
}

/// `9 workloads in 3.2 s: 1,234,567 records, 385,802 per second, 9.10 MiB; suite/suite.toml`
fn summary(summaries: &[TraceSummary], elapsed: Duration, manifest: &Path) -> String {
    let records: u64 = summaries.iter().map(|summary| summary.records).sum();
    let bytes = summaries.iter().map(|summary| summary.file_bytes).sum();
    let seconds = elapsed.as_secs_f64();
    format!(
        "{} workloads in {seconds:.1} s: {} records, {} per second, {}; {}",
        summaries.len(),
        HumanCount(records),
        HumanCount((records as f64 / seconds) as u64),
        HumanBytes(bytes),
        manifest.display()
    )
}
