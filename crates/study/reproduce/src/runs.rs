//! Runs required by a paper's claims and figures.

use crate::error::Result;
use crate::study::Planned;
use warpmem_machine::{Machine, load};
use warpmem_record::RunKey;
use warpmem_study::reproduce::{Configuration, Factorial, Paper};
use warpmem_study::sweep::{Case, Plan, PolicyNames, Scalar, Values};
use warpmem_study::traces::NamedTrace;

/// Plans every configuration of a paper on every trace, and lists the runs. Traces that cannot run
/// on the paper's machine are omitted.
///
/// # Errors
/// If a configuration is not valid for the machine.
pub fn plan(paper: &Paper, traces: &[NamedTrace]) -> Result<(Plan, Vec<Planned>)> {
    let mut machines: Vec<Machine> = Vec::new();
    let mut cases = Vec::new();
    let mut planned = Vec::new();
    for configuration in all(paper)? {
        let machine = load(&paper.machine, &configuration.overrides)?;
        planned.extend(traces.iter().map(|trace| run_of(trace, &machine, &configuration)));
        // Sweep values equal to the machine's own give the same machine under another name.
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
    Ok((plan, planned))
}

/// Plans every combination on every machine.
pub fn factorial_plan(paper: &Paper, factorial: &Factorial) -> Plan {
    let factors = factorial.factors.iter();
    let policies = factors.map(|factor| (factor.slot.clone(), PolicyNames(factor.levels.to_vec())));
    let parameter = |text: &String| {
        let (key, value) = text.split_once('=')?;
        Some((key.to_owned(), Values::List(vec![Scalar::new(value)])))
    };
    Plan {
        name: paper.name.clone(),
        machines: [&paper.machine].into_iter().chain(&factorial.machines).cloned().collect(),
        policies: policies.collect(),
        parameters: factorial.set.iter().filter_map(parameter).collect(),
        ..Plan::default()
    }
}

/// Returns the configurations of claims and figures, and variants of those that claims compare.
fn all(paper: &Paper) -> Result<Vec<Configuration>> {
    let mut all = paper.configurations()?;
    for compared in paper.compared()? {
        let machine = load(&paper.machine, &compared.overrides)?;
        all.extend(paper.varied(&compared, &machine));
    }
    Ok(all)
}

fn run_of(trace: &NamedTrace, machine: &Machine, configuration: &Configuration) -> Planned {
    let hash = trace.trace.header().content_hash;
    let key = RunKey::new(&trace.name, hash, machine.clone(), "");
    Planned {
        workload: trace.name.clone(),
        configuration: configuration.name.clone(),
        run_id: key.run_id().to_owned(),
    }
}

/// Converts a configuration to a plan's case: policies by slot, and other parameters.
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
