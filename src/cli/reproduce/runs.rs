//! The runs that a paper's claims and figures need.

use super::super::exit::Interrupted;
use super::super::generate::suite::generate;
use super::super::interrupt::Interrupt;
use super::super::sweep::execute::{Options, complete, run_on};
use super::study::Planned;
use std::path::Path;
use warpmem::machine::{Machine, load};
use warpmem::record::RunKey;
use warpmem::study::reproduce::{Configuration, Factorial, Paper};
use warpmem::study::suite::Generation;
use warpmem::study::sweep::{Case, Plan, PolicyNames, Scalar, Values, generated};
use warpmem::study::traces::NamedTrace;

/// Options of the runs.
pub struct Place<'a> {
    pub directory: &'a Path,
    /// Deleted when the command ends.
    pub is_temporary: bool,
    pub jobs: usize,
    pub interrupt: Interrupt,
}

impl Place<'_> {
    /// The workloads of a paper; missing ones are generated.
    ///
    /// # Errors
    /// If one cannot be generated.
    pub fn workloads(&self, paper: &Paper) -> anyhow::Result<Vec<NamedTrace>> {
        let folder = self.directory.join("traces").join(paper.size());
        let generate = |work: &Generation<'_>| generate(work, &self.interrupt);
        Ok(generated(&paper.name, &paper.workloads()?, &folder, self.jobs, &generate)?)
    }

    /// Runs every configuration of a paper on every trace, except runs whose results exist. A trace
    /// that cannot run on the paper's machine is left out.
    ///
    /// # Errors
    /// If a run fails, or results cannot be written.
    pub fn run(&self, paper: &Paper, traces: &[NamedTrace]) -> anyhow::Result<Vec<Planned>> {
        let mut machines: Vec<Machine> = Vec::new();
        let mut cases = Vec::new();
        let mut planned = Vec::new();
        for configuration in all(paper)? {
            let machine = load(&paper.machine, &configuration.overrides)?;
            planned.extend(traces.iter().map(|trace| run_of(trace, &machine, &configuration)));
            // Values of a sweep that the machine has anyway give the same machine under another
            // name.
            if !machines.contains(&machine) {
                cases.push(case(&configuration));
                machines.push(machine);
            }
        }
        let plan = Plan {
            name: paper.name.clone(),
            machines: vec![paper.machine.clone()],
            cases,
            skip_unfit: true,
            ..Plan::default()
        };
        self.execute(&plan, traces)?;
        Ok(planned)
    }

    /// Runs every combination on every machine and trace, except runs whose results exist.
    ///
    /// # Errors
    /// If a run fails, or results cannot be written.
    pub fn run_factorial(
        &self,
        paper: &Paper,
        factorial: &Factorial,
        traces: &[NamedTrace],
    ) -> anyhow::Result<()> {
        let factors = factorial.factors.iter();
        let policies =
            factors.map(|factor| (factor.slot.clone(), PolicyNames(factor.levels.to_vec())));
        let parameter = |text: &String| {
            let (key, value) = text.split_once('=')?;
            Some((key.to_owned(), Values::List(vec![Scalar::new(value)])))
        };
        let plan = Plan {
            name: paper.name.clone(),
            machines: [&paper.machine].into_iter().chain(&factorial.machines).cloned().collect(),
            policies: policies.collect(),
            parameters: factorial.set.iter().filter_map(parameter).collect(),
            ..Plan::default()
        };
        self.execute(&plan, traces)
    }

    fn execute(&self, plan: &Plan, traces: &[NamedTrace]) -> anyhow::Result<()> {
        let options = Options { jobs: self.jobs, shard: None, cache: None, prune: false };
        let outcome = run_on(plan, traces, self.directory, &options, &self.interrupt)?;
        if outcome.interrupted && self.is_temporary {
            let (finished, cells) = (outcome.finished, outcome.cells);
            let kept =
                format!("{finished} of {cells} runs finished; --output would have kept them");
            return Err(Interrupted { kept }.into());
        }
        complete(outcome, self.directory).map(drop)
    }
}

/// The configurations of the claims, and the baselines with other orders of SMs.
fn all(paper: &Paper) -> anyhow::Result<Vec<Configuration>> {
    let mut all = paper.configurations()?;
    for baseline in &paper.baselines {
        let baseline = paper.configuration(baseline)?;
        let machine = load(&paper.machine, &baseline.overrides)?;
        all.extend(paper.reordered(&baseline, &machine));
    }
    Ok(all)
}

fn run_of(trace: &NamedTrace, machine: &Machine, configuration: &Configuration) -> Planned {
    let hash = trace.trace.header().content_hash;
    let key = RunKey::new(&trace.name, hash, machine.clone(), "", None);
    Planned {
        workload: trace.name.clone(),
        configuration: configuration.name.clone(),
        run_id: key.run_id().to_owned(),
    }
}

/// In the form of plans: policies by slot, and other parameters.
fn case(configuration: &Configuration) -> Case {
    let mut case = Case { name: configuration.name.clone(), ..Case::default() };
    for (key, value) in configuration.overrides.iter().filter_map(|text| text.split_once('=')) {
        match key.strip_prefix("policy.") {
            Some(slot) => drop(case.policies.insert(slot.to_owned(), value.to_owned())),
            None => drop(case.parameters.insert(key.to_owned(), Scalar::new(value))),
        }
    }
    case
}
