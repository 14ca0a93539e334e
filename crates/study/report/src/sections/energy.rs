//! Energy of DRAM and of the whole GPU.

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

/// An energy model: DRAM alone or the whole GPU.
struct Account {
    /// Name of the section and its charts, and its title.
    name: &'static str,
    title: &'static str,
    /// Noun for captions: the consumer of the energy.
    of: &'static str,
    /// Description of the model.
    about: &'static str,
    /// Column of the total, and of each part with its name.
    total: &'static str,
    parts: &'static [(&'static str, &'static str)],
    /// Column of the quantity that the energy is related to.
    ratio: &'static str,
    /// Reason for an unknown value: words around a key.
    unknown: [&'static str; 3],
}

const DRAM: Account = Account {
    name: "energy",
    title: "DRAM energy",
    of: "the DRAM devices",
    about: "Energy of the DRAM devices by DRAMsim3's model, including standby, excluding interface and power-down.",
    total: "energy_nj",
    parts: &[
        ("energy_nj_activate", "activate"),
        ("energy_nj_read", "read"),
        ("energy_nj_write", "write"),
        ("energy_nj_refresh", "refresh"),
        ("energy_nj_active_standby", "active standby"),
        ("energy_nj_precharge_standby", "precharge standby"),
    ],
    ratio: "energy_pj_per_bit",
    unknown: ["Unknown: some current of the machines' DRAM (", "dram.power", ") is missing."],
};

const GPU: Account = Account {
    name: "gpu-energy",
    title: "GPU energy",
    of: "the whole GPU",
    about: "Energy of the whole GPU by AccelWattch's model, including board and DRAM. Its DRAM energy is AccelWattch's, not that of the previous section.",
    total: "gpu_energy_nj",
    parts: &[
        ("gpu_energy_nj_constant", "constant"),
        ("gpu_energy_nj_static", "static"),
        ("gpu_energy_nj_idle_sms", "idle SMs"),
        ("gpu_energy_nj_issue", "issue"),
        ("gpu_energy_nj_registers", "registers"),
        ("gpu_energy_nj_units", "functional units"),
        ("gpu_energy_nj_shared", "shared memory"),
        ("gpu_energy_nj_l1", "L1"),
        ("gpu_energy_nj_l2", "L2"),
        ("gpu_energy_nj_network", "networks"),
        ("gpu_energy_nj_dram", "DRAM"),
    ],
    ratio: "gpu_power_w",
    unknown: ["Unknown: the machines define no energies (", "energy.table", ")."],
};

pub fn dram(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    DRAM.section(study, shown)
}

pub fn gpu(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    GPU.section(study, shown)
}

impl Account {
    fn section(&self, study: &Study, shown: &Shown) -> anyhow::Result<Section> {
        let section = Section::new(self.name, self.title);
        if !has_some(&study.runs, self.total) {
            let [before, key, after] = self.unknown;
            return Ok(section.note(Prose::new(before).code(key).words(after)));
        }
        let mut section = section.text(Prose::new(self.about));
        if let Some(run) = study.only_run() {
            section = self.of_run(&Run(run))?.into_iter().fold(section, Section::figure);
        }
        for scope in compared_scopes(study, shown)? {
            let data = long(&scope.runs, &["trace", POLICY], self.parts, "part", ENERGY)?;
            let data = data.lazy().with_columns([col(ENERGY) / lit(1000.0)]).collect()?;
            let bars = StackedBars::new("trace", "part", ENERGY, Axis::new(self.title, "µJ"));
            let caption = format!("Energy of {} in each run{}, by component.", self.of, scope.on);
            let name = format!("{}{}", self.name, scope.file);
            let kind = Kind::StackedBars(bars.series(POLICY));
            section = section.figure(Chart::new(name, self.title, caption, data, kind));
        }
        let parts = self.parts.iter().map(|(column, _)| *column);
        let columns: Vec<&str> = [self.ratio, self.total].into_iter().chain(parts).collect();
        let (name, title) =
            (format!("{}-by-run", self.name), format!("{} of each run", self.title));
        Ok(section.table(run_table(study, &name, &title, &columns)?.folded()))
    }

    fn of_run(&self, run: &Run) -> anyhow::Result<Option<Chart>> {
        let parts = self.parts.iter().map(|(column, called)| {
            ((*called).to_owned(), run.value(column).map(|nanojoules| nanojoules / 1000.0))
        });
        run.bars(
            (self.name, self.title),
            &format!("Energy of {}, by component.", self.of),
            parts.collect(),
            Axis::new(self.title, "µJ"),
        )
    }
}
