//! `warpmem suite get`: generates the traces of a suite, and the manifest that lists them.

use super::name::SuiteName;
use crate::cli::files::{NamesFiles, OutputTraces};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::note;
use crate::cli::progress::bar;
use crate::files::claims::{Claims, Clash};
use crate::study::suite::{GenerateError, Generation, MANIFEST, Planned, Recorded, Watcher};
use crate::workload::{Progress, Stop};
use clap::ValueHint;
use indicatif::{HumanBytes, HumanCount, ProgressBar};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};
use warpmem_trace::TraceSummary;

/// Generate the traces of a suite and the manifest that lists them
///
/// The content hash of every trace is compared with the one recorded for this version of a built-in suite, where `suite
/// list` names the size as checked. The manifest, `suite.toml` in the folder, stands for all its traces wherever a
/// command takes a list of traces.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Built-in suite (see `warpmem suite list`), or a file of your own (.toml)
    #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    suite: SuiteName,
    /// Size of the workloads: small, medium or large in the built-in suites, small by default; of a file, by
    /// default the parameters common to all sizes
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,
    /// Workloads to generate; all by default. The manifest keeps the other workloads that it lists
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Workloads to generate at a time, each with its input in memory (up to several GB in size
    /// large); by default one per processor. The traces are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Folder for the traces and their manifest, created if it does not exist; by default the suite's name and the
    /// size, as in `warpmem-small`
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<OutputTraces>,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem suite get warpmem
  warpmem suite get llm --size medium -o llm/
  warpmem suite get warpmem --size medium --only bfs-rmat,spmv-vector-banded -o suite/
  warpmem compare warpmem-small/suite.toml --dram-scheduler fcfs,fr-fcfs --baseline fr-fcfs";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let suite = args.suite.open()?;
    let size = args.size.as_deref().or(args.suite.usual_size());
    let planned = suite.plan(size, &args.only)?;
    let folder = args.output.clone().unwrap_or_else(|| suite.usual_folder(size).into());
    check_files(&args.suite, &folder)?;
    let work = Generation {
        name: &suite.name,
        planned: &planned,
        folder: &folder,
        jobs: args.jobs.map_or(0, NonZeroUsize::get),
        is_part: !args.only.is_empty(),
    };
    generate(&work, &Interrupt::install()?)?;
    if let Some(size) = size.filter(|_| args.suite.is_built_in()) {
        note(&checks(&planned, size));
    }
    Ok(())
}

/// Refuses a folder, named or not, whose traces or manifest would overwrite the suite's file.
fn check_files(suite: &SuiteName, folder: &OutputTraces) -> Result<(), Clash> {
    let mut files = Claims::default();
    suite.claim("NAME|FILE", &mut files);
    folder.claim("--output", &mut files);
    files.check()
}

/// Says how many traces of a built-in suite were compared with their recorded hashes.
fn checks(planned: &[Planned], size: &str) -> String {
    let checked: Vec<&Recorded> = planned.iter().filter_map(|one| one.recorded.as_ref()).collect();
    match checked.first() {
        Some(Recorded { suite, version, .. }) => format!(
            "{} of {} traces have the hashes of `{suite}`, version {version}, size {size}",
            checked.len(),
            planned.len()
        ),
        None => format!("no hashes are recorded for size {size}: the traces were not checked"),
    }
}

/// Generates workloads, shows progress, and prints a summary.
///
/// # Errors
/// If a trace or the manifest cannot be written, or the user interrupts.
pub fn generate(work: &Generation<'_>, interrupt: &Interrupt) -> Result<(), GenerateError> {
    let bar = progress_bar(work.planned.len());
    let watch = SuiteProgress { interrupt: interrupt.clone(), bar };
    let begun = Instant::now();
    let made = work.run(&watch);
    watch.bar.finish_and_clear();
    note(&summary(&made?, begun.elapsed(), &work.folder.join(MANIFEST)));
    Ok(())
}

fn progress_bar(workloads: usize) -> ProgressBar {
    let bar = bar("{bar:30} {pos}/{len} workloads · {msg} · {elapsed}");
    bar.set_length(workloads as u64);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Progress shared by the generators of a suite.
struct SuiteProgress {
    interrupt: Interrupt,
    bar: ProgressBar,
}

impl Watcher for SuiteProgress {
    fn report(&self, workload: &str, progress: &Progress) -> ControlFlow<()> {
        let launch = progress.kernels_done;
        self.bar.set_message(format!("{workload}, launch {launch} ({})", progress.kernel));
        match self.interrupt.is_asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn stop(&self) -> Stop {
        self.interrupt.stop()
    }

    fn made(&self) {
        self.bar.inc(1);
    }
}

/// Formats `9 workloads in 3.2 s: 1,234,567 records, 385,802 per second, 9.10 MiB;
/// suite/suite.toml`.
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
