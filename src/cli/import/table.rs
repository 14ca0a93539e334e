//! `warpmem import csv`, `jsonl` and `parquet`: imports tables.

use super::assumptions::Assumptions;
use crate::cli::files::{InputFile, OutputFile};
use crate::cli::format::TextFormat;
use crate::import::{ImportError, ImportSummary, Progress, TableOptions};
use clap::ValueHint;
use std::path::Path;
use warpmem_trace::WriterOptions;

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Table to import
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub table: InputFile,
    /// Trace to write (.wmt)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: OutputFile,
    /// Columns to ignore; all others must be known
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    ignore_columns: Vec<String>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    pub format: TextFormat,
    #[command(flatten)]
    assumptions: Assumptions,
}

/// Help with the columns, and the examples of one format.
macro_rules! help {
    ($examples:literal) => {
        concat!(
            "\
Columns, all of which may be missing but addresses or base:
  kernel        Launch, a number or text; its rows stand together [default: one launch]
  name          Name of the kernel [default: that of kernel]
  grid, block   Sizes in the kernel's first row: x, or x y z [default: from the CTAs' warps]
  registers, shared_bytes
                Registers per thread, shared memory per CTA, in the kernel's first row [default: 0]
  cta           x, or x y z [default: 0]
  warp          Number in the CTA [default: 0]
  pc            Program counter [default: one for each distinct operation]
  op            load, store, atomic, reduction, async-copy, prefetch, barrier,
                barrier-arrive, fence, exit,
                integer, fp32, fp64, fp16, sfu, tensor, control, uniform, other, or a SASS opcode
                [default: load]
  space         global, shared, local, constant, texture [default: global, or the opcode's]
  bytes         Bytes per lane: 1, 2, 4, 8, 16, 32 [default: 4, or the opcode's]
  cache         default, all, global, streaming, last-use, volatile, read-only, strong-gpu
  l2            When lines leave L2: evict-normal, evict-first, evict-last, evict-unchanged
  mask          Active lanes [default: as many as have addresses]
  lane          The row is this lane's alone; rows of one instruction stand together, by lane
  addresses     One for each active lane, or 32
  base, stride  In place of addresses: that of lane 0, and bytes from lane to lane [default: bytes]
  dst, src      Registers written and read, by number [default: see --use-distance]
  barrier       Barrier's id [default: 0]
  barrier_warps Warps that the barrier is for [default: all of the CTA]
  count         Number of compute instructions that the row stands for [default: 1]
Numbers are decimal, or hexadecimal with 0x.

Examples:
",
            $examples
        )
    };
}

pub const CSV_HELP: &str = help!(
    "  \
  warpmem import csv accesses.csv -o k.wmt
  warpmem import csv accesses.csv.gz --ignore-columns time,sm -o k.wmt
  warpmem import csv accesses.csv --use-distance 4 --gap 8 -o k.wmt"
);
pub const JSONL_HELP: &str = help!(
    "  \
  warpmem import jsonl accesses.jsonl -o k.wmt
  warpmem import jsonl accesses.jsonl.zst --ignore-columns time -o k.wmt"
);
pub const PARQUET_HELP: &str = help!(
    "  \
  warpmem import parquet accesses.parquet -o k.wmt
  warpmem import parquet accesses.parquet --ignore-columns time --format json -o k.wmt"
);

type Import = fn(&Path, &Path, &TableOptions, &dyn Progress) -> Result<ImportSummary, ImportError>;

impl Args {
    /// Imports the table with the function for its format.
    pub fn import(
        &self,
        format: &str,
        import: Import,
        progress: &dyn Progress,
    ) -> Result<ImportSummary, ImportError> {
        let options = TableOptions {
            ignored_columns: self.ignore_columns.clone(),
            assumptions: (&self.assumptions).into(),
            command: format!("warpmem import {format} {}", self.table.display()),
            writer: WriterOptions::default(),
        };
        import(&self.table, &self.output, &options, progress)
    }
}
