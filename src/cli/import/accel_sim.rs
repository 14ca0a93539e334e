//! `warpmem import accel-sim`: imports traces of Accel-Sim's tracer.

use super::parse_kernels;
use crate::cli::files::{InputFile, OutputFile};
use crate::cli::format::TextFormat;
use crate::import::{
    EmptyMasks, ImportError, ImportOptions, ImportSummary, Progress, import_accel_sim,
};
use clap::{ValueEnum, ValueHint};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;

#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Kernel list (kernelslist.g), a folder that contains one, or a single kernel file
    #[arg(value_name = "LIST", value_hint = ValueHint::AnyPath)]
    pub list: InputFile,
    /// Trace to write (.wmt)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: OutputFile,
    /// Only these kernels, by their position in the list from 1
    #[arg(long, value_name = "FIRST..LAST", value_parser = parse_kernels)]
    kernels: Option<RangeInclusive<usize>>,
    /// Kernel files read at a time
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// How to treat instructions without active lanes
    #[arg(long, value_name = "CHOICE", value_enum, default_value_t = EmptyMasksChoice::Keep)]
    empty_masks: EmptyMasksChoice,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    pub format: TextFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EmptyMasksChoice {
    /// Keep them; each occupies an issue slot
    Keep,
    /// Leave them out of the trace
    Drop,
}

impl From<EmptyMasksChoice> for EmptyMasks {
    fn from(choice: EmptyMasksChoice) -> EmptyMasks {
        match choice {
            EmptyMasksChoice::Keep => EmptyMasks::Keep,
            EmptyMasksChoice::Drop => EmptyMasks::Drop,
        }
    }
}

const AFTER_HELP: &str = "\
Unknown opcodes are counted and listed. They are imported as instructions without memory traffic.

Examples:
  warpmem import accel-sim traces/kernelslist.g -o k.wmt
  warpmem import accel-sim kernel-7.traceg.xz -o kernel-7.wmt
  warpmem import accel-sim traces/ --kernels 10..19 -o part.wmt --format json";

impl Args {
    pub fn import(&self, progress: &dyn Progress) -> Result<ImportSummary, ImportError> {
        let mut options =
            ImportOptions { kernels: self.kernels.clone(), ..ImportOptions::default() };
        options.jobs = self.jobs.map_or(options.jobs, NonZeroUsize::get);
        options.empty_masks = self.empty_masks.into();
        options.command = format!("warpmem import accel-sim {}", self.list.display());
        import_accel_sim(&self.list, &self.output, &options, progress)
    }
}
