//! Baselines of the cells of a plan.

use super::design::Design;
use super::error::ExpandError;
use super::plan::{Case, Plan};
use super::planned::{Planned, slot};
use std::collections::HashMap;
use warpmem_gpu::slots::{Baseline, BaselineError, PolicyChoice, PolicySlot, SLOTS};
use warpmem_machine::Machine;
use warpmem_params::{did_you_mean, nearest};
use warpmem_support::text::known_parts;

/// Baseline of each machine, by name. In slots that a case leaves unset, its policy is the
/// machine's.
#[derive(Default)]
pub struct Baselines(Vec<(String, Baseline)>);

impl Baselines {
    /// Chooses the policies and overrides named by `plan.baseline`, or the case of that name. By
    /// default, the policies follow the rules of [`Baseline::choose`], and the first of the
    /// `overrides` is taken if nothing else varies. In a one-at-a-time design, anything the plan
    /// does not name is that of the first point. The design has the policies of `lists`.
    pub(super) fn choose(
        plan: &Plan,
        lists: &[PolicyChoice<Vec<String>>],
        machines: &[Machine],
        overrides: &[String],
    ) -> Result<Baselines, ExpandError> {
        let all = with_cases(lists, plan, machines)?;
        let choosing = Choosing { plan, design: lists, lists: &all, machines, overrides };
        let chosen = |machine: &Machine| Ok((machine.name.clone(), choosing.of_machine(machine)?));
        machines.iter().map(chosen).collect::<Result<_, _>>().map(Baselines)
    }

    fn of(&self, planned: &Planned<'_>) -> Option<&Baseline> {
        let machine = &planned.cell.key.machine.name;
        self.0.iter().find_map(|(name, baseline)| (name == machine).then_some(baseline))
    }

    /// Returns whether this cell is a baseline.
    pub(super) fn hold(&self, planned: &Planned<'_>) -> bool {
        self.of(planned).is_some_and(|baseline| side(planned, baseline).is_baseline)
    }

    /// Returns the index of each cell's baseline, if there is one.
    pub fn partners(&self, cells: &[Planned<'_>]) -> Vec<Option<usize>> {
        let sides = cells.iter().map(|planned| Some(side(planned, self.of(planned)?)));
        let sides: Vec<Option<Side>> = sides.collect();
        let baselines = sides.iter().enumerate().filter_map(|(at, side)| {
            side.as_ref().filter(|side| side.is_baseline).map(|side| (&side.equal, at))
        });
        let baselines: HashMap<&Vec<String>, usize> = baselines.collect();
        let partner = |side: &Option<Side>| baselines.get(&side.as_ref()?.equal).copied();
        sides.iter().map(partner).collect()
    }

    /// Returns the distinct baselines, each with the names of the machines compared with it.
    pub fn groups(&self) -> Vec<(&Baseline, Vec<&str>)> {
        let mut groups: Vec<(&Baseline, Vec<&str>)> = Vec::new();
        for (machine, baseline) in &self.0 {
            match groups.iter_mut().find(|(other, _)| other.name() == baseline.name()) {
                Some((_, machines)) => machines.push(machine),
                None => groups.push((baseline, vec![machine])),
            }
        }
        groups
    }
}

/// Properties of a cell that its baseline must share, and whether the others equal the baseline's.
struct Side {
    equal: Vec<String>,
    is_baseline: bool,
}

fn side(planned: &Planned<'_>, baseline: &Baseline) -> Side {
    let key = &planned.cell.key;
    let equal = vec![key.trace.clone(), key.machine.name.clone(), key.variant.to_string()];
    let mut side = Side { equal, is_baseline: true };
    for (slot, policy) in planned.policies() {
        match baseline.policies().iter().find(|own| own.slot.name == slot) {
            Some(own) => side.is_baseline &= own.given == policy,
            None => side.equal.push(policy),
        }
    }
    match baseline.overrides() {
        Some(own) => side.is_baseline &= own == key.overrides(),
        None => side.equal.push(key.overrides().to_owned()),
    }
    side
}

/// Candidates for a baseline.
struct Choosing<'a> {
    plan: &'a Plan,
    /// Policies of the design, and policies of the design and the cases together.
    design: &'a [PolicyChoice<Vec<String>>],
    lists: &'a [PolicyChoice<Vec<String>>],
    machines: &'a [Machine],
    overrides: &'a [String],
}

impl Choosing<'_> {
    fn of_machine(&self, machine: &Machine) -> Result<Baseline, ExpandError> {
        let Choosing { plan, lists, machines, overrides, .. } = *self;
        let is_named = |case: &&Case| Some(&case.name) == plan.baseline.as_ref();
        if let Some(case) = plan.cases.iter().find(is_named) {
            return Ok(self.of_case(case, machine));
        }
        let (policies, named) = parted(plan, overrides);
        if let Some(unknown) = named.as_ref().filter(|named| !overrides.contains(named)) {
            let meant = did_you_mean(nearest(unknown, overrides.iter().map(String::as_str)));
            return Err(ExpandError::UnknownOverrides { unknown: unknown.clone(), meant });
        }
        let first = || overrides.iter().find(|first| overrides.iter().any(|other| other != *first));
        if lists.is_empty() && policies.is_none() {
            return match named.or_else(|| first().cloned()) {
                Some(overrides) => Ok(Baseline::of_overrides(overrides)),
                None => Ok(Baseline::choose(None, lists, machines)?),
            };
        }
        let centre = || first().filter(|_| plan.design == Design::OneAtATime).cloned();
        let baseline = self.of_policies(policies.as_deref(), machine);
        let baseline = baseline.map_err(|source| refusal(plan, source));
        Ok(baseline?.with_overrides(named.or_else(centre)))
    }

    fn of_case(&self, case: &Case, machine: &Machine) -> Baseline {
        let policies = self.everywhere(machine, |slot| {
            let is_of_slot =
                |name: &str| PolicySlot::find(name).is_some_and(|of| of.name == slot.name);
            case.policies.iter().find_map(|(name, policy)| is_of_slot(name).then_some(policy))
        });
        let overrides = case.parameters.iter().map(|(key, value)| format!("{key}={value}"));
        let overrides = overrides.collect::<Vec<_>>().join("; ");
        Baseline::of_policies(policies).with_overrides(Some(overrides))
    }

    fn of_policies(
        &self,
        named: Option<&str>,
        machine: &Machine,
    ) -> Result<Baseline, BaselineError> {
        let Choosing { plan, design, lists, machines, .. } = *self;
        let chosen = match named {
            Some(named) => Baseline::choose(Some(named), lists, machines)?,
            None if design.is_empty() || plan.design == Design::OneAtATime => {
                Baseline::of_policies(Vec::new())
            }
            None => Baseline::choose(None, design, machines)?,
        };
        // Slots that the baseline does not name are held equal, unless every cell is compared with
        // one point.
        if named.is_some() && plan.design != Design::OneAtATime {
            return Ok(chosen);
        }
        let first = |slot: &PolicySlot| design.iter().find(|list| list.slot.name == slot.name);
        let policies = self.everywhere(machine, |slot| {
            let chosen = chosen.policies().iter().find(|chosen| chosen.slot.name == slot.name);
            chosen.map(|chosen| &chosen.given).or_else(|| first(slot).map(|list| &list.given[0]))
        });
        Ok(Baseline::of_policies(policies))
    }

    /// Returns a policy for every slot that varies: the given one, otherwise the machine's own.
    fn everywhere<'s>(
        &self,
        machine: &Machine,
        given: impl Fn(&PolicySlot) -> Option<&'s String>,
    ) -> Vec<PolicyChoice<String>> {
        let policy = |list: &PolicyChoice<Vec<String>>| {
            let given = given(list.slot).cloned().unwrap_or_else(|| own(list.slot, machine));
            PolicyChoice { slot: list.slot, given }
        };
        self.lists.iter().map(policy).collect()
    }
}

/// Explains why there is no baseline; in a plan with cases, because it names none of them.
fn refusal(plan: &Plan, source: BaselineError) -> ExpandError {
    let Some(baseline) = plan.baseline.clone().filter(|_| !plan.cases.is_empty()) else {
        return source.into();
    };
    let names = plan.cases.iter().map(|case| case.name.as_str());
    let meant = did_you_mean(nearest(&baseline, names));
    ExpandError::NotACase { baseline, meant, source }
}

/// Splits the plan's baseline into parts that name policies and parts that name overrides.
fn parted(plan: &Plan, overrides: &[String]) -> (Option<String>, Option<String>) {
    let is_known = |part: &str| overrides.iter().any(|known| known == part);
    let parts = plan.baseline.iter().flat_map(|text| known_parts(text, is_known));
    let is_override = |part: &&str| {
        part.split_once('=').is_some_and(|(key, _)| plan.parameters.contains_key(key.trim()))
    };
    let (overrides, policies): (Vec<&str>, Vec<&str>) = parts.partition(is_override);
    let joined = |parts: Vec<&str>| (!parts.is_empty()).then(|| parts.join("/"));
    (joined(policies), joined(overrides))
}

/// Adds the policies of the cases to those of the design. In slots that a case leaves unset, its
/// policy is the machine's.
fn with_cases(
    lists: &[PolicyChoice<Vec<String>>],
    plan: &Plan,
    machines: &[Machine],
) -> Result<Vec<PolicyChoice<Vec<String>>>, ExpandError> {
    let mut lists = lists.to_vec();
    for (name, policy) in plan.cases.iter().flat_map(|case| &case.policies) {
        add(&mut lists, slot(name)?, policy);
    }
    if !plan.cases.is_empty() {
        let slots: Vec<&'static PolicySlot> = lists.iter().map(|list| list.slot).collect();
        for slot in slots {
            machines.iter().for_each(|machine| add(&mut lists, slot, &own(slot, machine)));
        }
    }
    lists.sort_by_key(|list| SLOTS.iter().position(|slot| slot.name == list.slot.name));
    Ok(lists)
}

fn add(lists: &mut Vec<PolicyChoice<Vec<String>>>, slot: &'static PolicySlot, policy: &str) {
    match lists.iter_mut().find(|list| list.slot.name == slot.name) {
        Some(list) if list.given.iter().any(|given| given == policy) => {}
        Some(list) => list.given.push(policy.to_owned()),
        None => lists.push(PolicyChoice { slot, given: vec![policy.to_owned()] }),
    }
}

/// Returns the machine's policy in the slot.
fn own(slot: &PolicySlot, machine: &Machine) -> String {
    slot.policy_of(&mut machine.policy.clone()).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_path_in_an_override_is_not_parted() {
        let text = "traces = ['t.wmt']\nbaseline = 'fcfs/dram.standard=ddr/a.toml/gto'\n\
            [parameters]\n'dram.standard' = ['ddr/a.toml', 'ddr/b.toml']";
        let plan = Plan::from_text(text, Path::new("plan.toml")).unwrap();
        let overrides = ["a", "b"].map(|name| format!("dram.standard=ddr/{name}.toml"));
        let (policies, named) = parted(&plan, &overrides);
        assert_eq!(policies.as_deref(), Some("fcfs/gto"));
        assert_eq!(named.as_ref(), Some(&overrides[0]));
    }
}
