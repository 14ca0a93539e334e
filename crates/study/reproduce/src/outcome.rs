//! The outcome of a paper's runs: claims, the effects of a survey or of combinations, or a map.

use crate::{
    Change, Effects, Finding, MapResults, Mapped, OfWorkload, Place, Placed, Reproduced, Study,
    by_workload, changes, draw, findings, frame, mapped, open, placed, survey_frame, write,
    write_map, write_survey,
};
use anyhow::Context;
use std::path::Path;
use warpmem_analysis::Results;
use warpmem_analysis::polars::prelude::DataFrame;
use warpmem_machine::load;
use warpmem_study::reproduce::{Map, Paper, Size};
use warpmem_study::traces::NamedTrace;

/// Size and limits of a paper's experiments; none where the paper decides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    /// Fewer and smaller workloads, and fewer values of each sweep.
    pub quick: bool,
    pub size: Option<Size>,
    /// Warp instructions after which a launch ends; 0 means never.
    pub launch_instructions: Option<u32>,
    /// Error within which the cycles of a run are known, in thousandths.
    pub error: Option<u32>,
}

impl Scope {
    /// Returns the paper in this size and with these limits.
    pub fn of(&self, mut paper: Paper) -> Paper {
        if self.quick {
            paper = paper.quickly();
        }
        if let Some(size) = self.size {
            paper = paper.sized(size);
        }
        if let Some(limit) = self.launch_instructions {
            paper = paper.ending_launches_after(limit);
        }
        if let Some(permille) = self.error {
            paper = paper.sampled(permille);
        }
        paper
    }
}

/// The outcome of a paper's runs.
pub enum Outcome {
    Claims(Judged),
    /// Effects of single policies, and the runs.
    Survey(Vec<Change>, Box<Study>),
    Combinations(Effects),
}

impl Outcome {
    /// Runs all experiments of the paper on the traces.
    ///
    /// # Errors
    /// If a run fails, or results cannot be written.
    pub fn of(paper: &Paper, place: &Place<'_>, traces: &[NamedTrace]) -> anyhow::Result<Outcome> {
        if let Some(factorial) = &paper.factorial {
            place.run_factorial(paper, factorial, traces)?;
            let effects = Effects::of(paper, factorial, &Results::open(place.directory)?)?;
            return Ok(Outcome::Combinations(effects));
        }
        if let Some(survey) = &paper.survey {
            let planned = place.run(paper, traces)?;
            let study = open(paper, &Results::open(place.directory)?, &planned)?;
            return Ok(Outcome::Survey(changes(paper, survey, &study)?, Box::new(study)));
        }
        Ok(Outcome::Claims(Judged::of(paper, place, traces)?))
    }

    /// Writes the tables, the figures and the page.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, paper: &Paper, directory: &Path) -> anyhow::Result<()> {
        match (self, &paper.survey) {
            (Outcome::Claims(judged), _) => judged.write(paper, directory),
            (Outcome::Survey(changes, study), Some(survey)) => {
                Ok(write_survey(paper, survey, changes, study, directory)?)
            }
            (Outcome::Survey(..), None) => Ok(()),
            (Outcome::Combinations(effects), _) => Ok(effects.write(paper, directory)?),
        }
    }

    /// Returns a row for each claim, policy or effect.
    ///
    /// # Errors
    /// If a table cannot be evaluated.
    pub fn frame(&self, paper: &Paper) -> anyhow::Result<DataFrame> {
        Ok(match (self, &paper.survey) {
            (Outcome::Claims(judged), _) => frame(&judged.findings)?,
            (Outcome::Survey(changes, _), Some(survey)) => survey_frame(survey, changes)?,
            (Outcome::Survey(..), None) => DataFrame::empty(),
            (Outcome::Combinations(effects), _) => effects.effects.clone(),
        })
    }
}

/// The judged claims of a paper.
pub struct Judged {
    pub study: Study,
    pub findings: Vec<Finding>,
    pub of_workloads: Vec<OfWorkload>,
    /// Workloads that the machine cannot run.
    pub left_out: Vec<String>,
}

impl Judged {
    /// Runs every configuration of the paper on the traces.
    ///
    /// # Errors
    /// If a run fails, or results cannot be written.
    pub fn of(paper: &Paper, place: &Place<'_>, traces: &[NamedTrace]) -> anyhow::Result<Judged> {
        let planned = place.run(paper, traces)?;
        let study = open(paper, &Results::open(place.directory)?, &planned)?;
        let is_left_out = |trace: &&NamedTrace| !study.workloads().contains(&trace.name);
        let left_out = traces.iter().filter(is_left_out).map(|trace| trace.name.clone()).collect();
        let findings = findings(paper, &study)?;
        let of_workloads = by_workload(paper, &study)?;
        Ok(Judged { study, findings, of_workloads, left_out })
    }

    pub fn results<'a>(&'a self, paper: &'a Paper) -> Reproduced<'a> {
        Reproduced {
            paper,
            study: &self.study,
            left_out: &self.left_out,
            findings: &self.findings,
            of_workloads: &self.of_workloads,
        }
    }

    /// Writes the tables, the figures and the page.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, paper: &Paper, directory: &Path) -> anyhow::Result<()> {
        let charts = draw(paper, &self.study, &self.findings)?;
        Ok(write(&self.results(paper), charts, directory)?)
    }
}

/// A paper's gain over the axes of its map, and workloads on it.
pub struct OnMap {
    pub mapped: Mapped,
    pub placed: Vec<Placed>,
}

impl OnMap {
    /// Runs the kernels of the map, and the workloads to position on it.
    ///
    /// # Errors
    /// If the paper has no map, a run fails, or results cannot be written.
    pub fn of(paper: &Paper, place: &Place<'_>, workloads: &[NamedTrace]) -> anyhow::Result<OnMap> {
        let map = map_of(paper)?;
        let mapped = of_kernels(paper, map, place)?;
        if workloads.is_empty() {
            return Ok(OnMap { mapped, placed: Vec::new() });
        }
        NamedTrace::check_distinct(workloads)?;
        let off_map = paper.off_map(map);
        let folder = place.part("placed");
        let planned = place.within(&folder).run(&off_map, workloads)?;
        let study = open(&off_map, &Results::open(&folder)?, &planned)?;
        let machine = load(&paper.machine, &[])?;
        let placed = placed(&off_map, map, &machine, &mapped, &study)?;
        Ok(OnMap { mapped, placed })
    }

    /// Returns the results to write and to show.
    ///
    /// # Errors
    /// If the paper has no map.
    pub fn results<'a>(&'a self, paper: &'a Paper) -> anyhow::Result<MapResults<'a>> {
        let map = map_of(paper)?;
        Ok(MapResults { paper, map, mapped: &self.mapped, placed: &self.placed })
    }

    /// Returns a row for each workload or, without any, for each point of the map.
    ///
    /// # Errors
    /// If a table cannot be evaluated.
    pub fn frame(&self, paper: &Paper) -> anyhow::Result<DataFrame> {
        let results = self.results(paper)?;
        Ok(if self.placed.is_empty() { results.gains()? } else { results.workloads()? })
    }

    /// Writes the tables and the figures.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, paper: &Paper, directory: &Path) -> anyhow::Result<()> {
        Ok(write_map(&self.results(paper)?, directory)?)
    }
}

fn map_of(paper: &Paper) -> anyhow::Result<&Map> {
    paper.map.as_ref().with_context(|| format!("`{}` has no map", paper.name))
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
