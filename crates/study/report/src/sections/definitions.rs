//! Definitions of the columns of the report's tables.

use crate::document::{Document, Section};
use crate::prose::Prose;
use crate::table::Table;
use polars::prelude::*;
use std::collections::BTreeMap;
use warpmem_analysis::polars;

/// Definitions of every column that some table of `document` shows.
pub fn definitions(document: &Document) -> anyhow::Result<Section> {
    let headings = document.tables().flat_map(|table| &table.headings);
    let defined = headings.filter(|heading| !heading.definition.is_empty());
    let by_name: BTreeMap<&str, (&str, &str)> = defined
        .map(|heading| {
            (heading.title.as_str(), (heading.unit.as_str(), heading.definition.as_str()))
        })
        .collect();
    let frame = df!(
        "column" => by_name.keys().copied().collect::<Vec<_>>(),
        "unit" => by_name.values().map(|(unit, _)| *unit).collect::<Vec<_>>(),
        "definition" => by_name.values().map(|(_, definition)| *definition).collect::<Vec<_>>(),
    )?;
    let sources = "[Li] is inter-core locality 2015, [OWL] 2013, [CaLRS] 2015, [Yuan] 2009, [WMC] Warped-MC 2023. The units distinguish cycles of the core clock, of the networks, of the L2 and of DRAM.";
    let table = Table::new("definitions-of-columns", "Columns of the tables above", frame);
    Ok(Section::new("definitions", "Definitions").text(Prose::new(sources)).table(table))
}
