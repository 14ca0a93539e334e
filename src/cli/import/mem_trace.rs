//! `warpmem import mem-trace`: imports the output of NVBit's mem_trace.

use super::assumptions::Assumptions;
use super::parse_kernels;
use crate::cli::files::{InputFile, OutputFile};
use crate::cli::format::TextFormat;
use crate::import::{ImportError, ImportSummary, MemTraceOptions, Progress, import_mem_trace};
use clap::ValueHint;
use std::ops::RangeInclusive;
use warpmem_trace::WriterOptions;

#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Output of a program run with mem_trace.so, alone or mixed with the program's own
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    pub log: InputFile,
    /// Trace to write (.wmt)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: OutputFile,
    /// Only these kernels, by the order of their launches from 1
    #[arg(long, value_name = "FIRST..LAST", value_parser = parse_kernels)]
    kernels: Option<RangeInclusive<usize>>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    pub format: TextFormat,
    #[command(flatten)]
    assumptions: Assumptions,
}

const AFTER_HELP: &str = "\
A log holds memory instructions and their addresses, but no other instructions, no registers, no PCs
and no masks. The notes of the summary state the assumed values.

Examples:
  LD_PRELOAD=mem_trace.so ./app > app.log && warpmem import mem-trace app.log -o app.wmt
  warpmem import mem-trace app.log.xz --kernels 1..10 -o part.wmt
  warpmem import mem-trace app.log --use-distance never --gap 8 -o app.wmt";

impl Args {
    pub fn import(&self, progress: &dyn Progress) -> Result<ImportSummary, ImportError> {
        let options = MemTraceOptions {
            kernels: self.kernels.clone(),
            assumptions: (&self.assumptions).into(),
            command: format!("warpmem import mem-trace {}", self.log.display()),
            writer: WriterOptions::default(),
        };
        import_mem_trace(&self.log, &self.output, &options, progress)
    }
}
