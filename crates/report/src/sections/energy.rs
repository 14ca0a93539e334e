//! DRAM energy.

use super::one_run::Run;
use super::{compared_scopes, run_table};
use crate::columns::POLICY;
use crate::document::Section;
use crate::frame::{has_some, long};
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;
use polars::prelude::*;
use warpmem_analysis::polars;
use warpmem_chart::{Axis, Chart, Kind, StackedBars};

const ENERGY: &str = "microjoules";

const PARTS: [(&str, &str); 6] = [
    ("energy_nj_activate", "activate"),
    ("energy_nj_read", "read"),
    ("energy_nj_write", "write"),
    ("energy_nj_refresh", "refresh"),
    ("energy_nj_active_standby", "active standby"),
    ("energy_nj_precharge_standby", "precharge standby"),
];

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let section = Section::new("energy", "DRAM energy");
    if !has_some(&study.runs, "energy_nj") {
        let why = "Not known: some current of the machines' DRAM (";
        return Ok(section
            .note(Prose::new(why).code("dram.power").words(") that it depends on is not given.")));
    }
    let mut section = section.text(Prose::new(
        "Energy of the DRAM devices by DRAMsim3's rules, standby included; interface and power-down are not included.",
    ));
    if let Some(run) = study.only_run() {
        section = of_run(&Run(run))?.into_iter().fold(section, Section::figure);
    }
    for scope in compared_scopes(study, shown)? {
        let data = long(&scope.runs, &["trace", POLICY], &PARTS, "part", ENERGY)?;
        let data = data.lazy().with_columns([col(ENERGY) / lit(1000.0)]).collect()?;
        let bars = StackedBars::new("trace", "part", ENERGY, Axis::new("DRAM energy", "µJ"));
        let caption = format!("Energy of the DRAM devices in each run{}, by component.", scope.on);
        let name = format!("energy{}", scope.file);
        section = section.figure(Chart::new(
            name,
            "DRAM energy",
            caption,
            data,
            Kind::StackedBars(bars.series(POLICY)),
        ));
    }
    let columns =
        [&["energy_pj_per_bit", "energy_nj"][..], &PARTS.map(|(column, _)| column)].concat();
    Ok(section
        .table(run_table(study, "energy-by-run", "DRAM energy of each run", &columns)?.folded()))
}

fn of_run(run: &Run) -> anyhow::Result<Option<Chart>> {
    let parts = PARTS.map(|(column, called)| {
        (called.to_owned(), run.value(column).map(|nanojoules| nanojoules / 1000.0))
    });
    run.bars(
        ("energy", "DRAM energy"),
        "Energy of the DRAM devices, by component.",
        parts.into(),
        Axis::new("DRAM energy", "µJ"),
    )
}
