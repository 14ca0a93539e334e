//! `warpmem generate suite`: generates the traces of a suite, and the manifest that lists them.

use super::super::interrupt::Interrupt;
use super::super::output::{note, print};
use super::super::progress::bar;
use crate::cli::files::{InputFile, OutputTraces};
use crate::study::suite::{GenerateError, Generation, MANIFEST, Planned, Suite, Watcher};
use crate::workload::{Progress, Stop};
use clap::{Args as _, Command, ValueHint};
use indicatif::{HumanBytes, HumanCount, ProgressBar};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};
use warpmem_support::text::aligned;
use warpmem_trace::TraceSummary;

/// Generate a suite of workloads and the manifest that lists them
///
/// The manifest, `suite.toml` in the folder, stands for all its traces wherever a command takes a
/// list of traces.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Size of the workloads: small, medium or large in the built-in suites
    #[arg(long, value_name = "SIZE", required_unless_present_any = ["from", "list"])]
    size: Option<String>,
    /// Another suite: `llm`, built in, of LLM inference, or a file of your own (.toml)
    #[arg(long, value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    from: Option<InputFile>,
    /// Workloads to generate; all by default. The manifest keeps the other workloads that it lists
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Workloads to generate at a time, each with its input in memory (up to several GB in size
    /// large); by default one per processor. The traces are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// List the workloads
    #[arg(long)]
    list: bool,
    /// Folder for the traces and their manifest; created if it does not exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "list")]
    output: Option<OutputTraces>,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem generate suite --list
  warpmem generate suite --size small -o suite/
  warpmem generate suite --from llm --size medium -o llm/
  warpmem generate suite --size medium --only bfs-rmat,spmv-vector -o suite/
  warpmem compare suite/suite.toml --dram-scheduler fcfs,fr-fcfs --baseline fr-fcfs";

pub fn command(name: &'static str) -> Command {
    Args::augment_args(Command::new(name))
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let open = |from: &Path| Suite::open(from, Path::new(""));
    let suite = args.from.as_deref().map_or_else(|| Ok(Suite::built_in()), open)?;
    let planned = suite.plan(args.size.as_deref(), &args.only)?;
    match &args.output {
        Some(output) if !args.list => {
            let work = Generation {
                name: &suite.name,
                planned: &planned,
                folder: output,
                jobs: args.jobs.map_or(0, NonZeroUsize::get),
                is_part: !args.only.is_empty(),
            };
            Ok(generate(&work, &Interrupt::install()?)?)
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
