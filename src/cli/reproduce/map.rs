//! `reproduce NAME --map`: maps a paper's gain, and positions workloads on it.

use super::{Args, Printed, programs};
use crate::cli::output::note;
use crate::study::reproduce::Paper;
use crate::study::traces::NamedTrace;
use warpmem_analysis::{table_to_csv, table_to_json, table_to_string};
use warpmem_report::Table;
use warpmem_report::markdown::rows;
use warpmem_reproduce::{MapResults, OnMap, Place};
use warpmem_support::text::aligned;

/// Runs the kernels of the paper's map, and the workloads to position on it; returns the text to
/// print.
///
/// # Errors
/// If the paper has no map, a run fails, or results cannot be written.
pub fn reproduce(args: &Args, paper: &Paper, place: &Place<'_>) -> anyhow::Result<String> {
    let on_map = OnMap::of(paper, place, &workloads(args, paper, place)?)?;
    if args.output.is_some() {
        on_map.write(paper, place.directory)?;
    }
    let results = on_map.results(paper)?;
    let MapResults { map, mapped, placed, .. } = &results;
    if !placed.is_empty() {
        let near = placed.iter().filter(|one| one.is_as_mapped()).count();
        note(&format!("{near} of {} workloads gain as mapped", placed.len()));
    }
    let (gains, workloads) = (results.gains()?, results.workloads()?);
    Ok(match args.format {
        Printed::Table => {
            let text = aligned(&mapped.rows(map), &[]);
            match placed.is_empty() {
                true => text,
                false => format!("{text}\n{}", table_to_string(&workloads, super::width())?),
            }
        }
        Printed::Json => table_to_json(if placed.is_empty() { &gains } else { &workloads })?,
        Printed::Csv => table_to_csv(if placed.is_empty() { &gains } else { &workloads })?,
        Printed::Markdown => {
            let tables = [("map", gains), ("workloads", workloads)];
            let text = tables.map(|(name, frame)| rows(&Table::new(name, "", frame)));
            let [gains, workloads] = text;
            if placed.is_empty() { gains? } else { format!("{}\n{}", gains?, workloads?) }
        }
    })
}

/// Returns the workloads to position on the map: none unless named.
fn workloads(args: &Args, paper: &Paper, place: &Place<'_>) -> anyhow::Result<Vec<NamedTrace>> {
    Ok(match &args.programs {
        Some(folder) => programs::open(args, paper, folder, place)?,
        None => NamedTrace::open_all(&args.traces)?,
    })
}
