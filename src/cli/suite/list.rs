//! `warpmem suite list`: the suites, their workloads, and public programs to capture.

use super::name::SuiteName;
use crate::cli::format::{self, Format};
use crate::cli::output::{note, print};
use crate::cli::program_size::ProgramSize;
use crate::study::reproduce::library;
use crate::study::suite::suites;
use clap::ValueHint;
use serde_json::{Map, Value};
use warpmem_support::text::aligned;

/// List the suites, the workloads of one, or public programs to capture
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Suite whose workloads are listed, or a file of your own (.toml); the suites by default
    #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    suite: Option<SuiteName>,
    /// List the public programs of the papers, and the command that captures each in the folder of its source;
    /// JSON and CSV have their inputs too
    #[arg(long, conflicts_with = "suite")]
    programs: bool,
    /// Size of the programs' inputs; medium by default
    #[arg(long, value_enum, requires = "programs")]
    size: Option<ProgramSize>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem suite list
  warpmem suite list llm
  warpmem suite list warpmem --format json
  warpmem suite list --programs --size paper";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let (rows, columns) = listed(args)?;
    if args.programs && args.format == Format::Table {
        note(
            "run each command in the folder of its compiled program; docs/capture.md says how to compile one",
        );
    }
    print(&match args.format {
        Format::Json => format::json(&rows),
        Format::Csv => format::csv(&rows),
        Format::Table => table(&rows, columns),
    })
}

/// A row of a list, by column.
type Row = Map<String, Value>;

/// Returns the rows of the list, and the columns that its table shows.
fn listed(args: &Args) -> anyhow::Result<(Vec<Row>, &'static [&'static str])> {
    if args.programs {
        let size = args.size.unwrap_or(ProgramSize::Medium);
        return Ok((programs(size), &["trace", "suite", "program", "command"]));
    }
    let Some(from) = &args.suite else {
        let columns = &["name", "version", "workloads", "sizes", "checked", "about"];
        return Ok((suites(), columns));
    };
    let suite = from.open()?;
    Ok((suite.rows(), &["name", "kernel", "about"]))
}

fn row<const N: usize>(cells: [(&str, Value); N]) -> Row {
    cells.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the public programs that have an input of this size.
fn programs(size: ProgramSize) -> Vec<Row> {
    let size = size.into();
    let rows = library().into_iter().filter_map(|(id, program)| {
        let command = program.capture(&id, size)?;
        let input = program.sizes.get(&size)?.input.as_str();
        Some(row([
            ("trace", id.into()),
            ("suite", program.suite.as_str().into()),
            ("program", program.program.as_str().into()),
            ("about", program.about.as_str().into()),
            ("size", size.name().into()),
            ("input", input.into()),
            ("command", command.into()),
        ]))
    });
    rows.collect()
}

/// Formats these columns of the rows as aligned text.
fn table(rows: &[Row], columns: &[&str]) -> String {
    let cell = |row: &Row, column: &str| match &row[column] {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let headings = columns.iter().map(|column| (*column).to_owned()).collect();
    let lines = rows.iter().map(|row| columns.iter().map(|column| cell(row, column)).collect());
    aligned(&std::iter::once(headings).chain(lines).collect::<Vec<_>>(), &[])
}
