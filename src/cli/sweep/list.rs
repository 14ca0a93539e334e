//! The cells of a plan as a list, for `--dry-run`.

use super::super::format::{Format, csv, json};
use crate::study::sweep::Listed;
use indicatif::HumanCount;
use serde_json::{Map, Value};
use warpmem_support::text::aligned;

fn row(listed: &Listed<'_, '_>) -> Map<String, Value> {
    let key = &listed.planned.cell.key;
    let mut row = Map::new();
    for (name, value) in [
        ("run_id", key.run_id()),
        ("trace", &key.trace),
        ("machine", &key.machine.name),
        ("overrides", key.overrides()),
    ] {
        row.insert(name.to_owned(), value.into());
    }
    row.insert("variant".to_owned(), key.variant.into());
    row.insert("case".to_owned(), listed.planned.case.clone().into());
    for (slot, policy) in listed.planned.policies() {
        row.insert(slot.to_owned(), policy.into());
    }
    let instructions = listed.planned.cell.warp_instructions();
    row.insert("warp_instructions".to_owned(), instructions.into());
    row.insert("finished".to_owned(), listed.is_there.into());
    row.insert("command".to_owned(), key.command.clone().into());
    row
}

pub fn text(cells: &[Listed<'_, '_>], format: Format) -> String {
    let rows = || cells.iter().map(row).collect::<Vec<_>>();
    match format {
        Format::Table => table(cells),
        Format::Json => json(&rows()),
        Format::Csv => csv(&rows()),
    }
}

fn table(cells: &[Listed<'_, '_>]) -> String {
    let heading = ["run", "warp instructions", "", "cell"].map(str::to_owned).to_vec();
    let row = |listed: &Listed<'_, '_>| {
        let instructions = listed.planned.cell.warp_instructions();
        vec![
            listed.planned.cell.key.run_id().to_owned(),
            HumanCount(instructions).to_string(),
            if listed.is_there { "finished" } else { "missing" }.to_owned(),
            listed.planned.label.clone(),
        ]
    };
    aligned(&[vec![heading], cells.iter().map(row).collect()].concat(), &[1])
}

/// Summarizes `36 cells, 2,940,390 warp instructions; 12 cells already exist`.
pub fn summary(cells: &[Listed<'_, '_>]) -> String {
    let instructions: u64 =
        cells.iter().map(|listed| listed.planned.cell.warp_instructions()).sum();
    let there = cells.iter().filter(|listed| listed.is_there).count();
    format!(
        "{} cells, {} warp instructions; {there} cells already exist",
        cells.len(),
        HumanCount(instructions)
    )
}
