//! `warpmem sample`: a representative part of a trace.

mod options;
mod report;

use super::format::TextFormat;
use super::interrupt::Interrupt;
use super::output::{note, print};
use super::progress::bar;
use crate::cli::files::{InputFile, OutputFile};
use crate::study::sample::{
    Census, Plan, Progress, ProgressCallback, Taken, estimates, provenance, write,
};
use anyhow::Context;
use clap::ValueHint;
use indicatif::{HumanCount, ProgressBar};
use options::{PartOptions, SizeOptions};
use std::ops::ControlFlow;
use std::path::Path;
use warpmem_trace::{Trace, TraceSummary, WriterOptions};

/// Take a part of a trace: kernels and CTAs by number, or a random sample with its error
///
/// Without --fraction or --ctas-per-kernel everything selected is taken. With one of them, runs of
/// neighbouring CTAs are drawn from strata of launch order and size; estimates from the sample are
/// printed beside the true values.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Trace to sample
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    trace: InputFile,
    /// Trace to write (.wmt)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: OutputFile,
    #[command(flatten)]
    part: PartOptions,
    #[command(flatten)]
    size: SizeOptions,
    /// How to print what was taken
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
}

const AFTER_HELP: &str = "\
Ranges exclude their end: 2..5 is 2, 3 and 4; 5.. is all from 5 on; ..5 is all before 5; 7 is one.
Commas separate several ranges.
The same trace, options and seed give the same file, byte for byte.

Examples:
  warpmem sample long.wmt -o part.wmt --kernels 2..5,7
  warpmem sample long.wmt -o part.wmt --kernel-name spmv --ctas ..512
  warpmem sample long.wmt -o part.wmt --longest
  warpmem sample long.wmt -o small.wmt --fraction 10% --seed 1";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let (path, output): (&Path, &Path) = (&args.trace, &args.output);
    let trace = Trace::open(path)?;
    let selection = args.part.selection();
    let selected = selection.of(&trace)?;
    let watch = SampleProgress::new(Interrupt::install()?);
    let design = args.size.design()?;
    let (part, estimates) = match &design {
        None => (selected.clone(), Vec::new()),
        Some(design) => {
            let census =
                watch.over("CTAs measured", |progress| Census::of(&trace, &selected, progress))?;
            let plan = Plan::new(&selected, &census, design);
            let draw = plan.draw(args.size.seed);
            (plan.part(&selected, &draw), estimates(&plan, &census, &draw))
        }
    };
    let provenance = provenance(&trace, &selection, design.as_ref(), args.size.seed);
    let options = WriterOptions::default();
    let summary = watch
        .over("CTAs written", |progress| {
            write(&trace, &part, output, provenance, options, progress)
        })
        .with_context(|| format!("failed to write {}", output.display()))?;
    note(&line(&summary));
    let taken = Taken { trace: &trace, selected: &selected, part: &part, estimates, summary };
    print(&match args.format {
        TextFormat::Table => report::text(&taken),
        TextFormat::Json => format!("{:#}\n", taken.object()),
    })
}

fn line(summary: &TraceSummary) -> String {
    format!(
        "{}: kernels {}, CTAs {}, records {}, bytes {}",
        summary.path.display(),
        summary.kernels,
        HumanCount(summary.ctas),
        HumanCount(summary.records),
        HumanCount(summary.file_bytes)
    )
}

/// Shows the progress of passes over a trace, and stops them on request.
struct SampleProgress {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl SampleProgress {
    fn new(interrupt: Interrupt) -> SampleProgress {
        SampleProgress { bar: bar("{bar:30} {pos}/{len} {msg}"), interrupt }
    }

    /// Does `work`, a pass that counts `what`.
    fn over<T>(&self, what: &'static str, work: impl FnOnce(&mut ProgressCallback<'_>) -> T) -> T {
        self.bar.set_message(what);
        let done = work(&mut |progress: Progress| {
            self.bar.set_length(progress.all);
            self.bar.set_position(progress.done);
            if self.interrupt.is_asked() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        self.bar.finish_and_clear();
        done
    }
}
