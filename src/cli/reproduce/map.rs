//! `reproduce NAME --map`: maps a paper's gain, and positions workloads on it.

use super::runs::Place;
use super::{Args, Printed, programs};
use crate::cli::output::note;
use crate::machine::load;
use crate::study::reproduce::{Map, Paper};
use crate::study::traces::NamedTrace;
use anyhow::Context;
use warpmem_analysis::{Results, table_to_csv, table_to_json, table_to_string};
use warpmem_report::Table;
use warpmem_report::markdown::rows;
use warpmem_reproduce::{MapResults, Mapped, mapped, open, placed, write_map};
use warpmem_support::text::aligned;

/// Runs the kernels of the paper's map, and the workloads to position on it; returns the text to
/// print.
///
/// # Errors
/// If the paper has no map, a run fails, or results cannot be written.
pub fn reproduce(args: &Args, paper: &Paper, place: &Place<'_>) -> anyhow::Result<String> {
    let map = paper.map.as_ref();
    let map = map.with_context(|| format!("`{}` has no map", paper.name))?;
    let machine = load(&paper.machine, &[])?;
    let mapped = of_kernels(paper, map, place)?;
    let workloads = workloads(args, paper, place)?;
    let placed = match workloads.is_empty() {
        true => Vec::new(),
        false => {
            NamedTrace::check_distinct(&workloads)?;
            let off_map = paper.off_map(map);
            let folder = place.part("placed");
            let planned = place.within(&folder).run(&off_map, &workloads)?;
            let study = open(&off_map, &Results::open(&folder)?, &planned)?;
            placed(&off_map, map, &machine, &mapped, &study)?
        }
    };
    let results = MapResults { paper, map, mapped: &mapped, placed: &placed };
    if args.output.is_some() {
        write_map(&results, place.directory)?;
    }
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

/// Runs the kernels of a map.
///
/// # Errors
/// If a run fails, or results cannot be written.
pub fn of_kernels(paper: &Paper, map: &Map, place: &Place<'_>) -> anyhow::Result<Mapped> {
    let kernels = place.generated(paper, &paper.map_workloads(map)?)?;
    let on_map = paper.on_map(map);
    let cells = place.part("map");
    let planned = place.within(&cells).run(&on_map, &kernels)?;
    let study = open(&on_map, &Results::open(&cells)?, &planned)?;
    Ok(mapped(&on_map, map, &study)?)
}

/// Returns the workloads to position on the map: none unless named.
fn workloads(args: &Args, paper: &Paper, place: &Place<'_>) -> anyhow::Result<Vec<NamedTrace>> {
    Ok(match &args.programs {
        Some(folder) => programs::open(args, paper, folder, place)?,
        None => NamedTrace::open_all(&args.traces)?,
    })
}
