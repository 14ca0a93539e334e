//! `warpmem correlate` in builds without dataframes or without capture: measured points only.

mod points;

use super::format::Format;
use super::machines::Overrides;
use super::points::Selection;
use crate::cli::files::{InputFile, OutputTraces};
use crate::slots::List;
use clap::ValueHint;
use std::num::NonZeroUsize;

/// Run the workloads of measured points and print the differences
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Measured points (CSV)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    points: InputFile,
    #[command(flatten)]
    selection: Selection,
    /// Only points of these kernels
    #[arg(long, value_name = "KERNEL,…", value_parser = List::parse)]
    only: Option<List>,
    /// Another machine for one of the points; may be repeated
    #[arg(long, value_name = "NAME=MACHINE", value_parser = points::parse_map)]
    map: Vec<(String, String)>,
    #[command(flatten)]
    overrides: Overrides,
    /// Runs at a time; by default one per processor. The results are the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Folder for the traces and the cycles of finished runs; created if it does not exist
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cache: Option<OutputTraces>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let request = points::Request {
        file: &args.points,
        filter: args.selection.filter(args.only.as_ref()),
        map: &args.map,
        overrides: &args.overrides.overrides,
        cache: args.cache.as_deref(),
        jobs: args.jobs,
        format: args.format,
    };
    points::execute(&request, |_| Ok(()))
}
