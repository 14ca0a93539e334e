//! `warpmem query`: SQL over the tables of results.

use super::output::{note, print, width};
use super::tables::note_without_checksum;
use crate::cli::files::{InputFile, NamesFiles, OutputFile};
use crate::files::claims::Claims;
use crate::files::{staged, text};
use crate::params::nearest;
use crate::record::is_part_of_results;
use anyhow::{Context, bail};
use clap::{ValueEnum, ValueHint};
use std::path::Path;
use std::{fs, io};
use warpmem_analysis::polars::prelude::{DataFrame, col};
use warpmem_analysis::{
    Error, Results, table_to_csv, table_to_json, table_to_latex, table_to_markdown,
    table_to_string, write_csv, write_ipc, write_json, write_parquet,
};

/// Query the tables of results with SQL
///
/// Every table is available under its name: runs, kernels, sms, slices, channels, banks, loads and
/// so on. docs/schema.md describes their columns; docs/analysis.md has the dialect and examples.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Directories of results, read as one, followed by the query; `-` reads the query from
    /// standard input
    #[arg(value_name = "DIR… SQL", required = true, value_hint = ValueHint::AnyPath)]
    words: Vec<Word>,
    /// Read the query from a file; all other arguments are directories
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<InputFile>,
    /// List the tables with their rows and columns
    #[arg(long, conflicts_with = "file")]
    tables: bool,
    /// Format of the answer; by default a table, or the format of the output's file name
    #[arg(long, value_enum)]
    format: Option<QueryFormat>,
    /// File to write instead of printing
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<OutputFile>,
}

/// A results directory, or the query.
#[derive(Clone, Debug)]
pub struct Word(String);

impl From<String> for Word {
    fn from(word: String) -> Word {
        Word(word)
    }
}

impl AsRef<Path> for Word {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl NamesFiles for Word {
    fn claim(&self, option: &str, claims: &mut Claims) {
        let path = Path::new(&self.0);
        match path.is_dir() {
            true => claims.read_folder(option, path, is_part_of_results),
            false => claims.read(option, path),
        }
    }
}

const AFTER_HELP: &str = "\
Examples:
  warpmem query results/ --tables
  warpmem query results/ 'SELECT trace, dram_scheduler, ipc_thread FROM runs ORDER BY ipc_thread DESC'
  warpmem query shard-*/ 'SELECT pc, avg(divergence) FROM loads GROUP BY pc' -o divergence.csv
  warpmem query results/ --file query.sql --format latex -o table.tex";

/// Output formats of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum QueryFormat {
    /// Aligned text for people
    Table,
    /// A table for LaTeX, with the package booktabs
    Latex,
    /// A table of GitHub's Markdown
    Markdown,
    /// A heading and a line per row
    Csv,
    /// An array with an object per row
    Json,
    /// An Apache Parquet file
    Parquet,
    /// An Arrow IPC file, also known as Feather
    Ipc,
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let format = format(args)?;
    let (directories, sql) = directories_and_query(args)?;
    if let Some(output) = &args.output {
        staged::check(output)?;
    }
    let results = Results::open_all(directories)?;
    match sql {
        None => print(&tables(&results)?),
        Some(sql) => {
            let table = query(&results, &sql)?;
            note_without_checksum(&results);
            answer(&table, format, args.output.as_deref())
        }
    }
}

fn answer(frame: &DataFrame, format: QueryFormat, output: Option<&Path>) -> anyhow::Result<()> {
    let Some(output) = output else {
        return print(&rendered(frame, format)?);
    };
    staged::write(output, |partial| match format {
        QueryFormat::Table | QueryFormat::Latex | QueryFormat::Markdown => {
            Ok(fs::write(partial, rendered(frame, format)?)?)
        }
        QueryFormat::Csv => Ok(write_csv(frame, partial)?),
        QueryFormat::Json => Ok(write_json(frame, partial)?),
        QueryFormat::Parquet => Ok(write_parquet(frame, partial)?),
        QueryFormat::Ipc => Ok(write_ipc(frame, partial)?),
    })?;
    let (rows, columns) = frame.shape();
    note(&format!("{rows} rows of {columns} columns in {}", output.display()));
    Ok(())
}

fn rendered(frame: &DataFrame, format: QueryFormat) -> anyhow::Result<String> {
    Ok(match format {
        QueryFormat::Latex => table_to_latex(frame)?,
        QueryFormat::Markdown => table_to_markdown(frame)?,
        QueryFormat::Csv => table_to_csv(frame)?,
        QueryFormat::Json => table_to_json(frame)?,
        _ => table_to_string(frame, width())?,
    })
}

/// Returns the requested format, otherwise that of the output's file name.
fn format(args: &Args) -> anyhow::Result<QueryFormat> {
    let Some(output) = &args.output else {
        return match args.format {
            Some(QueryFormat::Parquet | QueryFormat::Ipc) => {
                bail!("this format cannot be printed to a terminal: name a file with --output")
            }
            format => Ok(format.unwrap_or(QueryFormat::Table)),
        };
    };
    if args.tables {
        bail!("--tables prints its list: leave out --output");
    }
    args.format.map_or_else(|| format_of(output), Ok)
}

fn format_of(output: &Path) -> anyhow::Result<QueryFormat> {
    let extension = output.extension().map(|extension| extension.to_string_lossy());
    Ok(match extension.as_deref().unwrap_or("txt") {
        "txt" => QueryFormat::Table,
        "tex" => QueryFormat::Latex,
        "md" => QueryFormat::Markdown,
        "csv" => QueryFormat::Csv,
        "json" => QueryFormat::Json,
        "parquet" => QueryFormat::Parquet,
        "arrow" | "feather" | "ipc" => QueryFormat::Ipc,
        other => bail!(
            "{}: no format has the extension `.{other}`; use .txt, .tex, .md, .csv, .json, .parquet, .arrow, .feather or .ipc, or give --format",
            output.display()
        ),
    })
}

/// Splits directories and query; without a query if tables are to be listed.
fn directories_and_query(args: &Args) -> anyhow::Result<(&[Word], Option<String>)> {
    if args.tables {
        return Ok((&args.words, None));
    }
    if let Some(file) = &args.file {
        return Ok((&args.words, Some(read(file)?)));
    }
    match args.words.split_last() {
        Some((Word(sql), directories)) if !directories.is_empty() && !Path::new(sql).is_dir() => {
            let sql = if sql == "-" { read(Path::new("-"))? } else { sql.clone() };
            Ok((directories, Some(sql)))
        }
        _ => bail!("give directories and a query: warpmem query results/ 'SELECT trace FROM runs'"),
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    let text = match file.to_str() {
        Some("-") => text::read_from(io::stdin()),
        _ => text::read(file),
    };
    text.with_context(|| format!("failed to read the query from {}", file.display()))
}

fn query(results: &Results, sql: &str) -> anyhow::Result<DataFrame> {
    results.query(sql).map_err(|error| match hint(&error) {
        Some(hint) => anyhow::Error::new(error).context(hint),
        None => error.into(),
    })
}

/// Suggests a likely intended name.
fn hint(error: &Error) -> Option<String> {
    let (what, name, available) = match error {
        Error::UnknownTable { table, available } => ("table", table, available),
        Error::UnknownColumn { column, available } => ("column", column, available),
        _ => return None,
    };
    let available = || available.iter().map(String::as_str);
    // Metrics of one family share a prefix.
    let family = format!("{name}_");
    let mut meant: Vec<&str> = available().filter(|one| one.starts_with(&family)).collect();
    if meant.is_empty() {
        meant.extend(nearest(name, available()));
    }
    meant.sort_unstable();
    meant.dedup();
    let (last, others) = meant.split_last()?;
    let others: String = others.iter().map(|one| format!("`{one}`, ")).collect();
    let or = if others.is_empty() { "" } else { "or " };
    Some(format!("there is no {what} `{name}`: did you mean {others}{or}`{last}`?"))
}

/// Formats each table with its rows, and its columns below.
fn tables(results: &Results) -> anyhow::Result<String> {
    let mut text = String::new();
    for name in results.tables()? {
        let mut table = results.table(name)?;
        let schema = table.collect_schema().map_err(Error::from)?;
        let counted = schema.iter_names().next().map(|column| col(column.clone()));
        let rows = table.select(counted.into_iter().collect::<Vec<_>>()).collect();
        let rows = rows.map_err(Error::from)?.height();
        let columns = schema.iter_names().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        text.push_str(&format!("{name}: {rows} rows of {} columns\n", schema.len()));
        text.push_str(&format!("{}\n", indented(&columns, width())));
    }
    if text.is_empty() {
        bail!("no tables in these directories: `warpmem run TRACE -o DIR` writes some");
    }
    Ok(text)
}

/// Wraps words into lines indented by two blanks that end before `width`.
fn indented(words: &str, width: usize) -> String {
    let mut lines = vec![String::from(" ")];
    for word in words.split(' ') {
        let line = lines.last_mut().map_or(0, |line| line.chars().count());
        if line + 1 + word.chars().count() > width && line > 1 {
            lines.push(String::from(" "));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n")
}
