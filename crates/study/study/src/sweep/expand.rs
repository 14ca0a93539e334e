//! Expands a plan into runnable cells.

use super::baseline::Baselines;
use super::error::ExpandError;
use super::plan::{Case, Plan};
use super::planned::{Planned, slot};
use super::traces::from_folder;
use super::values::PolicyNames;
use crate::cells::{Cell, CellError, Refusal, command};
use crate::traces::NamedTrace;
use crate::variants::Variant;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::PathBuf;
use warpmem_gpu::slots::{List, PolicyChoice, PolicyChoices, SLOTS};
use warpmem_machine::{Machine, load, preset_names};
use warpmem_params::PolicyError;

/// Maximum number of reasons listed by a refusal.
const MOST_REASONS: usize = 10;

/// Cells of a plan.
pub struct Expansion<'a> {
    /// Cells in the order of the plan: by machine, trace, point and variant.
    pub cells: Vec<Planned<'a>>,
    /// Number of cells that repeat an earlier run.
    pub repeated: usize,
    /// Reasons for skipped cells, with their numbers.
    pub unfit: Vec<Unfit>,
    pub baselines: Baselines,
}

/// Cells that cannot run for the same reason.
pub struct Unfit {
    pub label: String,
    pub others: usize,
    pub reason: String,
}

/// Changes to a machine.
#[derive(Clone)]
struct Point {
    policies: PolicyChoices,
    overrides: Vec<String>,
    case: Option<String>,
}

/// Reason why a cell cannot run.
struct Problem {
    label: String,
    reason: String,
    /// Whether the cell does not fit the machine; otherwise the plan has a mistake.
    is_unfit: bool,
}

/// # Errors
/// If anything in the plan cannot run, unless the plan asks to skip cells that do not fit a
/// machine.
pub fn expand<'a>(plan: &Plan, traces: &'a [NamedTrace]) -> Result<Expansion<'a>, ExpandError> {
    let machines = machines(plan)?;
    let lists = lists(plan)?;
    let points = points(plan, &lists)?;
    let setups: Vec<(&(String, Machine), &Point)> = machines
        .iter()
        .flat_map(|machine| points.iter().map(move |point| (machine, point)))
        .collect();
    let files = traces.iter().map(|named| from_folder(&plan.folder, named.trace.path()));
    let files: Vec<PathBuf> = files.collect();
    let mut made: Vec<Vec<Vec<Result<Planned<'a>, Problem>>>> = setups
        .into_par_iter()
        .map(|(machine, point)| cells(machine, point, plan, traces, &files))
        .collect();
    // By machine, then by trace, as in `compare`.
    let mut ordered = Vec::new();
    for of_machine in made.chunks_mut(points.len().max(1)) {
        for trace in 0..traces.len() {
            ordered
                .extend(of_machine.iter_mut().flat_map(|cells| std::mem::take(&mut cells[trace])));
        }
    }
    let (mut cells, mut problems) = (Vec::new(), Vec::new());
    for cell in ordered {
        match cell {
            Ok(cell) => cells.push(cell),
            Err(problem) => problems.push(problem),
        }
    }
    let unfit = tell(plan, cells.len() + problems.len(), problems)?;
    if cells.is_empty() {
        return Err(ExpandError::NoCell);
    }
    let machines: Vec<Machine> = machines.into_iter().map(|(_, machine)| machine).collect();
    let baselines = Baselines::choose(plan, &lists, &machines, &overrides(&points))?;
    let all = cells.len();
    let cells = distinct(cells, &baselines);
    if let Some(baseline) = &plan.baseline {
        check_partners(baseline, &cells, &baselines, &unfit)?;
    }
    Ok(Expansion { repeated: all - cells.len(), cells, unfit, baselines })
}

/// Keeps each run once: as the baseline's cell if it is the same run, otherwise as the first.
fn distinct<'a>(cells: Vec<Planned<'a>>, baselines: &Baselines) -> Vec<Planned<'a>> {
    let mut kept: Vec<Planned<'a>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for planned in cells {
        let run_id = planned.cell.key.run_id().to_owned();
        let at = *places.entry(run_id).or_insert(kept.len());
        match kept.get_mut(at) {
            None => kept.push(planned),
            Some(other) if baselines.hold(&planned) && !baselines.hold(other) => *other = planned,
            Some(_) => {}
        }
    }
    kept
}

/// Refuses a plan with a cell that has no baseline, before everything runs without a comparison.
fn check_partners(
    baseline: &str,
    cells: &[Planned<'_>],
    baselines: &Baselines,
    unfit: &[Unfit],
) -> Result<(), ExpandError> {
    let partners = baselines.partners(cells);
    let alone = || cells.iter().zip(&partners).filter(|(_, partner)| partner.is_none());
    let Some((first, _)) = alone().next() else {
        return Ok(());
    };
    let is_beside = |other: &&Planned<'_>| {
        let (own, other) = (&first.cell.key, &other.cell.key);
        (&own.trace, &own.machine.name) == (&other.trace, &other.machine.name)
    };
    let beside = cells.iter().filter(is_beside).take(MOST_REASONS);
    let beside: String = beside.map(|planned| format!("\n    {}", planned.label)).collect();
    let left_out = unfit.iter().take(MOST_REASONS).map(|unfit| format!("\n    {unfit}"));
    let left_out = match left_out.collect::<String>() {
        none if none.is_empty() => none,
        left_out => format!("\n  `skip_unfit` leaves these out:{left_out}"),
    };
    Err(ExpandError::WithoutBaseline(format!(
        "`baseline`: {} of {} cells have no run of `{baseline}` to compare with; the first is {}; nothing was started\n  \
         name one that every cell can be compared with, or none; this trace and machine have:{beside}{left_out}",
        alone().count(),
        cells.len(),
        first.label
    )))
}

/// Opens the machines by the name or path in the plan.
fn machines(plan: &Plan) -> Result<Vec<(String, Machine)>, ExpandError> {
    let mut machines: Vec<(String, Machine)> = Vec::new();
    for name in &plan.machines {
        let is_file = name.ends_with(".toml") && !preset_names().any(|preset| preset == name);
        let file = is_file.then(|| plan.folder.join(name).to_string_lossy().into_owned());
        let machine = load(file.as_ref().unwrap_or(name), &[])?;
        if machines.iter().any(|(_, other)| other.name == machine.name) {
            return Err(ExpandError::SameName { name: machine.name });
        }
        machines.push((name.clone(), machine));
    }
    Ok(machines)
}

/// Returns the policies of the design by slot, in the order of the tables' columns.
fn lists(plan: &Plan) -> Result<Vec<PolicyChoice<Vec<String>>>, ExpandError> {
    let list = |PolicyChoice { slot, given }: PolicyChoice<&PolicyNames>| PolicyChoice {
        slot,
        given: List(given.0.clone()).of(slot),
    };
    let mut lists: Vec<PolicyChoice<Vec<String>>> =
        by_slot(&plan.policies)?.into_iter().map(list).collect();
    lists.sort_by_key(|list| SLOTS.iter().position(|slot| slot.name == list.slot.name));
    Ok(lists)
}

/// Returns the value given for each slot. A name may have dashes or underscores; giving both
/// spellings is an error, because one would be ignored.
fn by_slot<T>(given: &BTreeMap<String, T>) -> Result<Vec<PolicyChoice<&T>>, ExpandError> {
    let mut choices: Vec<PolicyChoice<&T>> = Vec::new();
    for (name, given) in given {
        let slot = slot(name)?;
        if choices.iter().any(|choice| choice.slot.name == slot.name) {
            let (dashes, name) = (slot.option(), slot.name);
            return Err(ExpandError::SlotTwice { dashes, name });
        }
        choices.push(PolicyChoice { slot, given });
    }
    Ok(choices)
}

/// Returns the policies of the design, then those of the cases.
fn points(plan: &Plan, lists: &[PolicyChoice<Vec<String>>]) -> Result<Vec<Point>, ExpandError> {
    let slots: Vec<(String, Vec<String>)> =
        lists.iter().map(|list| (list.slot.name.to_owned(), list.given.clone())).collect();
    let of_design = plan.points(&slots)?.into_iter().map(|levels| {
        let (policies, values) = levels.split_at(lists.len());
        let policies = lists.iter().zip(policies);
        let policies =
            policies.map(|(list, policy)| PolicyChoice { slot: list.slot, given: policy.clone() });
        let overrides =
            plan.parameters.keys().zip(values).map(|(key, value)| format!("{key}={value}"));
        Point {
            policies: PolicyChoices::new(policies.collect()),
            overrides: overrides.collect(),
            case: None,
        }
    });
    let mut points: Vec<Point> = of_design.collect();
    for case in &plan.cases {
        points.push(of_case(case)?);
    }
    Ok(points)
}

fn of_case(case: &Case) -> Result<Point, ExpandError> {
    let failed = |source| ExpandError::Case { case: case.name.clone(), source: Box::new(source) };
    let choices = by_slot(&case.policies).map_err(failed)?;
    let choices = choices
        .into_iter()
        .map(|PolicyChoice { slot, given }| PolicyChoice { slot, given: given.clone() });
    let overrides = case.parameters.iter().map(|(key, value)| format!("{key}={value}"));
    Ok(Point {
        policies: PolicyChoices::new(choices.collect()),
        overrides: overrides.collect(),
        case: Some(case.name.clone()),
    })
}

/// Returns the sets of overrides as written in tables, in the order of the points.
fn overrides(points: &[Point]) -> Vec<String> {
    points.iter().map(|point| point.overrides.join("; ")).collect()
}

/// Makes the cells of a point on a machine, with every trace and in every variant; `files` are the
/// traces' names in the commands.
fn cells<'a>(
    (machine_name, machine): &(String, Machine),
    point: &Point,
    plan: &Plan,
    traces: &'a [NamedTrace],
    files: &[PathBuf],
) -> Vec<Vec<Result<Planned<'a>, Problem>>> {
    let machine = machine.clone().with_overrides(&point.overrides, &plan.folder);
    let variants = machine.map(|mut machine| {
        point.policies.apply(&mut machine);
        Variant::first(&machine, plan.repeat.0, plan.keys())
    });
    let of_trace = |(trace, file): (&'a NamedTrace, &PathBuf)| {
        let label = label(trace, machine_name, point);
        let variants = match &variants {
            Ok(variants) => variants,
            Err(error) => {
                let reason = error.to_string();
                return vec![Err(Problem { label, reason, is_unfit: error.is_invalid_value() })];
            }
        };
        let cell = |variant: &Variant| {
            let label = match variant.number {
                0 => label.clone(),
                number => format!("{label}, variant {number}"),
            };
            let overrides = [point.overrides.as_slice(), &variant.overrides].concat();
            let command = command(file, machine_name, &point.policies, &overrides);
            match Cell::new(trace, variant.machine.clone(), &point.overrides, command) {
                Ok(mut cell) => {
                    cell.key.variant = variant.number;
                    Ok(Planned { cell, case: point.case.clone(), label })
                }
                Err(error) => {
                    let is_unfit = !is_mistake(&error);
                    Err(Problem { label, reason: root_cause(&error).to_string(), is_unfit })
                }
            }
        };
        variants.iter().map(cell).collect()
    };
    traces.iter().zip(files).map(of_trace).collect()
}

/// Returns whether the plan names a policy that no machine could have.
fn is_mistake(error: &CellError) -> bool {
    let CellError::Refused(refused) = error else { return false };
    let Refusal::Policy(error) = &refused.source else { return false };
    matches!(
        error,
        PolicyError::Unknown { .. } | PolicyError::Malformed { .. } | PolicyError::Params { .. }
    )
}

fn root_cause(error: &dyn Error) -> &dyn Error {
    error.source().map_or(error, root_cause)
}

fn label(trace: &NamedTrace, machine: &str, point: &Point) -> String {
    let on = format!("{} on {machine}", trace.name);
    if let Some(case) = &point.case {
        return format!("{on}, case `{case}`");
    }
    let policies = point.policies.iter().map(|choice| choice.given.as_str());
    let overrides = point.overrides.iter().map(String::as_str);
    let parts: Vec<&str> = policies.chain(overrides).collect();
    if parts.is_empty() { on } else { format!("{on} with {}", parts.join(", ")) }
}

/// Groups the problems by reason if they may be skipped, otherwise returns an error that names
/// them.
fn tell(plan: &Plan, cells: usize, problems: Vec<Problem>) -> Result<Vec<Unfit>, ExpandError> {
    let refused = problems.iter().any(|problem| !problem.is_unfit || !plan.skip_unfit);
    let only_unfit = problems.iter().all(|problem| problem.is_unfit);
    let count = problems.len();
    let mut reasons: BTreeMap<String, Unfit> = BTreeMap::new();
    for Problem { label, reason, .. } in problems {
        let known = reasons.entry(reason.clone());
        known.and_modify(|unfit| unfit.others += 1).or_insert(Unfit { label, others: 0, reason });
    }
    if !refused {
        return Ok(reasons.into_values().collect());
    }
    let named = reasons.values().take(MOST_REASONS).map(|unfit| format!("\n  {unfit}"));
    let named = named.collect::<String>();
    let more = match reasons.len().saturating_sub(MOST_REASONS) {
        0 => String::new(),
        more => format!("\n  and {more} more reasons"),
    };
    let way_out = match only_unfit {
        true => "\n  take these out of the plan, or leave them out with `skip_unfit = true`",
        false => "",
    };
    Err(ExpandError::CannotRun(format!(
        "{count} of {cells} cells cannot run; nothing was started{named}{more}{way_out}"
    )))
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let others = match self.others {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        write!(f, "{}{others}: {}", self.label, self.reason)
    }
}
