//! A paper's experiments as described in its file.

use super::{
    Claim, Configuration, ConfigurationError, Figure, Map, NamedProgram, Setting, Size, Survey,
    published,
};
use crate::suite::{Planned, Suite, SuiteError};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use warpmem_machine::MachineError;
use warpmem_params::{did_you_mean, nearest};

/// Errors in a description.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    #[error("no experiments called `{name}`{}; there are {valid}", did_you_mean(*.nearest))]
    Unknown { name: String, nearest: Option<&'static str>, valid: String },
    #[error("the description of `{name}` is malformed: {message}")]
    Malformed { name: String, message: String },
    #[error("`{name}` runs on its own machine, `{machine}`; --machine is for `survey`")]
    OwnMachine { name: String, machine: String },
    #[error("the claim `{claim}` of `{name}`: {why}")]
    Claim { name: String, claim: String, why: &'static str },
    #[error("the claim `{claim}` of `{name}`: no program `{workload}`")]
    NoProgram { name: String, claim: String, workload: String },
    #[error("the claim `{claim}` of `{name}`: no published result `{result}`")]
    NoResult { name: String, claim: String, result: String },
    #[error("the description of `{name}`")]
    Configuration { name: String, source: Box<ConfigurationError> },
    #[error("the machine of `{name}`")]
    Machine { name: String, source: Box<MachineError> },
    #[error("the workloads of `{name}`")]
    Workloads { name: String, source: Box<SuiteError> },
}

impl PaperError {
    pub(super) fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> PaperError {
        let known: Vec<&str> = known.collect();
        PaperError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, known.iter().copied()),
            valid: known.join(", "),
        }
    }
}

/// Warp instructions per launch in the size `paper` and in quick runs: several hundred for each
/// resident warp of the papers' machines. The papers stop after 10^9 thread instructions of the
/// whole program.
const LAUNCH_INSTRUCTIONS: u32 = 250_000;

/// A paper's experiments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub(super) is_quick: bool,
    #[serde(skip)]
    pub(super) size: Option<Size>,
    #[serde(skip)]
    pub(super) launch_instructions: Option<u32>,
    /// Half of the 95 % interval of the cycles of sampled runs, thousandths.
    #[serde(skip)]
    pub(super) error_permille: Option<u32>,
    /// Authors, title, venue and year.
    pub title: String,
    /// Description of the runs, for readers of the tables. One paragraph.
    #[serde(default)]
    pub about: String,
    /// Preset of the paper's machine.
    pub machine: String,
    pub workloads: Workloads,
    /// The paper's own programs, in the paper's order.
    #[serde(default)]
    pub programs: Vec<NamedProgram>,
    /// Machine overrides (`key=value`) of each scheme, by name.
    #[serde(default)]
    pub schemes: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub settings: BTreeMap<String, Setting>,
    /// Runs that determine the classes of the workloads.
    #[serde(default)]
    pub classified: Option<Classified>,
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
    #[serde(default)]
    pub map: Option<Map>,
    #[serde(default)]
    pub factorial: Option<Factorial>,
    #[serde(default)]
    pub survey: Option<Survey>,
}

/// Workloads of the experiments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workloads {
    /// Names of workloads of the built-in suite, in its size `small`, or of `suite`.
    pub quick: Vec<String>,
    /// Same as `quick` for a full run; all workloads of both suites if empty.
    #[serde(default)]
    pub full: Vec<String>,
    /// Workloads specific to the paper, in the sizes `quick` and `full` where these differ.
    #[serde(default)]
    pub suite: Option<Suite>,
}

/// Schemes whose runs determine the classes; the ideal ones only if the paper's classes need them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classified {
    /// Scheme of the unmodified machine.
    pub plain: String,
    #[serde(default)]
    pub perfect_dram: Option<String>,
    #[serde(default)]
    pub perfect_l1: Option<String>,
}

/// Every combination of two levels of several factors.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factorial {
    /// Machines in addition to the paper's own.
    #[serde(default)]
    pub machines: Vec<String>,
    /// Overrides of every machine, `key=value`.
    #[serde(default)]
    pub set: Vec<String>,
    pub factors: Vec<Factor>,
}

/// A slot of the machine with two policies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// Name of the slot, as in the tables.
    pub slot: String,
    /// The reference policy, and the other.
    pub levels: [String; 2],
}

impl Paper {
    /// # Errors
    /// If the text is not a description, or refers to configurations that it does not define.
    pub fn from_text(name: &str, text: &str) -> Result<Paper, PaperError> {
        Paper::parsed(name, text)?.completed()
    }

    /// Parses a survey, and puts another machine in place of its own.
    ///
    /// # Errors
    /// As [`Paper::from_text`], or if it is no survey.
    pub(super) fn survey_from_text(
        name: &str,
        text: &str,
        machine: &str,
    ) -> Result<Paper, PaperError> {
        let paper = Paper::parsed(name, text)?;
        if paper.survey.is_none() {
            return Err(PaperError::OwnMachine { name: paper.name, machine: paper.machine });
        }
        Paper { machine: machine.to_owned(), ..paper }.completed()
    }

    fn parsed(name: &str, text: &str) -> Result<Paper, PaperError> {
        let paper: Paper = toml::from_str(text).map_err(|error| PaperError::Malformed {
            name: name.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        Ok(Paper { name: name.to_owned(), ..paper })
    }

    /// Adds what the description leaves out, and checks it.
    fn completed(mut self) -> Result<Paper, PaperError> {
        self.refer()?;
        let mut paper = self;
        let name = paper.name.clone();
        paper.claims = paper.claims.into_iter().flat_map(Claim::expanded).collect();
        let paper = paper
            .expanded()
            .map_err(|source| PaperError::Machine { name, source: Box::new(source) })?;
        paper.references().iter().try_for_each(|name| paper.configuration(name).map(drop))?;
        paper.claims.iter().try_for_each(|claim| paper.check(claim))?;
        Ok(paper)
    }

    /// Takes the sources of claims from the published results that they refer to.
    ///
    /// # Errors
    /// If there is no such result.
    fn refer(&mut self) -> Result<(), PaperError> {
        let list = published(&self.name);
        for claim in &mut self.claims {
            for id in &claim.results {
                let (name, what, result) = (self.name.clone(), claim.what.clone(), id.clone());
                let missing = PaperError::NoResult { name, claim: what, result };
                let found = list.iter().find(|one| one.id == *id).ok_or(missing)?;
                if claim.source.is_empty() {
                    claim.source.clone_from(&found.source);
                }
            }
        }
        Ok(())
    }

    /// # Errors
    /// If the claim contradicts itself or names an unknown program.
    fn check(&self, claim: &Claim) -> Result<(), PaperError> {
        let (name, what) = (self.name.clone(), claim.what.clone());
        if let Some(why) = claim.contradiction() {
            return Err(PaperError::Claim { name, claim: what, why });
        }
        match &claim.workload {
            Some(workload) if self.program(workload).is_none() => {
                Err(PaperError::NoProgram { name, claim: what, workload: workload.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns the paper's program of that name.
    pub fn program(&self, name: &str) -> Option<&NamedProgram> {
        self.programs.iter().find(|program| program.name == name)
    }

    /// Returns the program that a workload is, or that it replaces as its stand-in.
    pub fn program_of(&self, workload: &str) -> Option<&NamedProgram> {
        let replaced = |program: &&NamedProgram| program.stand_in.as_deref() == Some(workload);
        self.program(workload).or_else(|| self.programs.iter().find(replaced))
    }

    /// Resolves a scheme with settings, including the instruction limit of launches.
    ///
    /// # Errors
    /// If there is no such configuration.
    pub fn configuration(&self, reference: &str) -> Result<Configuration, PaperError> {
        let failed = |error: ConfigurationError| PaperError::Configuration {
            name: self.name.clone(),
            source: error.into(),
        };
        let configuration =
            Configuration::resolve(&self.schemes, &self.settings, reference).map_err(failed)?;
        if let Some(permille) = self.error_permille {
            return Ok(configuration.with(format!("run.error_permille={permille}")));
        }
        Ok(match self.launch_instructions() {
            Some(limit) => configuration.with(format!("run.launch_instructions={limit}")),
            None => configuration,
        })
    }

    /// Returns the limit of warp instructions per launch, if launches end early.
    fn launch_instructions(&self) -> Option<u32> {
        let is_part = self.is_quick || self.size == Some(Size::Paper);
        self.launch_instructions.or(is_part.then_some(LAUNCH_INSTRUCTIONS))
    }

    /// Limits the launches of all experiments to `warp_instructions`; 0 = unlimited.
    pub fn ending_launches_after(self, warp_instructions: u32) -> Paper {
        Paper { launch_instructions: Some(warp_instructions), ..self }
    }

    /// Samples all runs, so that their cycles are known within `permille` thousandths, in place of ending
    /// launches early.
    pub fn sampled(self, permille: u32) -> Paper {
        Paper { error_permille: Some(permille), ..self }
    }

    /// Reduces the paper to the sweeps and workloads of a quick run.
    pub fn quickly(self) -> Paper {
        Paper { is_quick: true, ..self }
    }

    /// Selects another size of programs and of workloads of the built-in suite.
    pub fn sized(self, size: Size) -> Paper {
        Paper { size: Some(size), ..self }
    }

    /// Returns the size of captured programs: by default `small` in a quick run, otherwise
    /// `medium`.
    pub fn program_size(&self) -> Size {
        let default = if self.is_quick { Size::Small } else { Size::Medium };
        self.size.unwrap_or(default)
    }

    /// Returns the name of the set of workloads: `quick` or `full`, and their size if it is not the
    /// default.
    pub fn set_name(&self) -> String {
        let whole = self.whole();
        self.size.map_or_else(|| whole.to_owned(), |size| format!("{whole}-{}", size.name()))
    }

    fn whole(&self) -> &'static str {
        if self.is_quick { "quick" } else { "full" }
    }

    /// Returns the swept values of a setting; none for an unknown one.
    pub fn swept(&self, setting: &str) -> &[String] {
        match self.settings.get(setting) {
            Some(setting) if self.is_quick && !setting.quick.is_empty() => &setting.quick,
            Some(setting) => &setting.values,
            None => &[],
        }
    }

    /// Returns all distinct configurations, by name.
    ///
    /// # Errors
    /// If a description that was not read by [`Paper::from_text`] refers to a missing
    /// configuration.
    pub fn configurations(&self) -> Result<Vec<Configuration>, PaperError> {
        self.resolved(&self.references())
    }

    /// Returns the distinct configurations of `references`, by name.
    pub(super) fn resolved(&self, references: &[String]) -> Result<Vec<Configuration>, PaperError> {
        let all = references.iter().map(|reference| self.configuration(reference));
        let all: BTreeMap<String, Configuration> =
            all.map(|found| found.map(|c| (c.name.clone(), c))).collect::<Result<_, _>>()?;
        Ok(all.into_values().collect())
    }

    /// Returns the references of classes, claims and figures.
    pub(super) fn references(&self) -> Vec<String> {
        let classified = self.classified.iter().flat_map(Classified::references);
        let claims =
            self.claims.iter().flat_map(|claim| claim.ours.references(|of| self.swept(of)));
        let figures =
            self.figures.iter().flat_map(|figure| figure.drawn.references(|of| self.swept(of)));
        classified.map(str::to_owned).chain(claims).chain(figures).collect()
    }

    /// Returns the workloads, in the size of a quick run or of a full one.
    ///
    /// # Errors
    /// If a name refers to no workload.
    pub fn workloads(&self) -> Result<Vec<Planned>, PaperError> {
        self.planned(if self.is_quick { &self.workloads.quick } else { &self.workloads.full })
    }

    /// Returns the generated workloads that replace `programs`, each once.
    ///
    /// # Errors
    /// If a name refers to no workload.
    pub fn stand_ins(&self, programs: &[NamedProgram]) -> Result<Vec<Planned>, PaperError> {
        let names = programs.iter().filter_map(|program| program.stand_in.clone());
        let names: BTreeSet<String> = names.collect();
        match names.is_empty() {
            true => Ok(Vec::new()),
            false => self.planned(&Vec::from_iter(names)),
        }
    }

    /// Returns workloads of the built-in suite and of the paper's own; all if no names are given.
    fn planned(&self, names: &[String]) -> Result<Vec<Planned>, PaperError> {
        let failed = |error: SuiteError| PaperError::Workloads {
            name: self.name.clone(),
            source: error.into(),
        };
        let plan = |suite: &Suite, size: &str, only: &[String]| {
            let size = suite.sizes().contains(&size).then_some(size);
            suite.plan(size, only).map_err(failed)
        };
        let own = self.workloads.suite.as_ref();
        let own = own.map_or(Ok(Vec::new()), |suite| plan(suite, self.whole(), &[]))?;
        let is_own = |name: &&String| own.iter().any(|planned| planned.name == **name);
        let others: Vec<String> = names.iter().filter(|name| !is_own(name)).cloned().collect();
        let wanted = |planned: &Planned| names.is_empty() || names.contains(&planned.name);
        let size = self.size.unwrap_or(Size::Small).of_suite();
        let mut workloads = match names.is_empty() || !others.is_empty() {
            true => plan(&Suite::built_in(), size, &others)?,
            false => Vec::new(),
        };
        workloads.extend(own.into_iter().filter(wanted));
        Ok(workloads)
    }
}

impl Classified {
    pub fn references(&self) -> impl Iterator<Item = &str> {
        let ideal = [&self.perfect_dram, &self.perfect_l1].into_iter().flatten();
        [&self.plain].into_iter().chain(ideal).map(String::as_str)
    }
}
