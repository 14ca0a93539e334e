//! The baseline: the policies that others are compared with.

use super::{PolicyChoice, PolicySlot, SLOTS};
use thiserror::Error;
use warpmem_machine::Machine;
use warpmem_params::{nearest, policy_name};

/// Column of the overrides, and the name of a run without any.
const OVERRIDES: &str = "overrides";
const NO_OVERRIDES: &str = "none";

/// Reason for refusing a baseline.
#[derive(Debug, Error)]
pub enum BaselineError {
    #[error("the machines have no policy in common")]
    NoneInCommon,
    #[error("the baseline `{part}` is not among the policies to compare{meant}: {given}")]
    Unknown { part: String, meant: String, given: String },
    #[error("the baseline `{part}` is in several slots: write {slots}")]
    Ambiguous { part: String, slots: String },
}

/// The slots that distinguish runs, and the policies that the others are compared with.
pub struct Baseline {
    slots: Vec<&'static PolicySlot>,
    policies: Vec<PolicyChoice<String>>,
    /// Overrides of the baseline; none if runs are compared only at equal overrides.
    overrides: Option<String>,
}

impl Baseline {
    /// Compares runs that differ only in their overrides with those that have these.
    pub fn of_overrides(overrides: String) -> Baseline {
        Baseline { slots: Vec::new(), policies: Vec::new(), overrides: Some(overrides) }
    }

    /// Compares runs that differ in the slots of `policies` with those that have these policies.
    pub fn of_policies(policies: Vec<PolicyChoice<String>>) -> Baseline {
        let slots = policies.iter().map(|policy| policy.slot).collect();
        Baseline { slots, policies, overrides: None }
    }

    /// Compares different overrides too.
    pub fn with_overrides(self, overrides: Option<String>) -> Baseline {
        Baseline { overrides, ..self }
    }

    pub fn policies(&self) -> &[PolicyChoice<String>] {
        &self.policies
    }

    /// Returns the overrides as in the column of the tables.
    pub fn overrides(&self) -> Option<&str> {
        self.overrides.as_deref()
    }

    /// Selects the baseline. `text` names one policy of `lists`, or several of different slots with
    /// slashes between. By default the baseline is the first machine's own policies if they are in
    /// the lists (by name if none has the same parameters), otherwise the first of each list.
    pub fn choose(
        text: Option<&str>,
        lists: &[PolicyChoice<Vec<String>>],
        machines: &[Machine],
    ) -> Result<Baseline, BaselineError> {
        if lists.is_empty() {
            let agreed = agreed(machines).ok_or(BaselineError::NoneInCommon)?;
            let lists = [PolicyChoice { slot: agreed.slot, given: vec![agreed.given] }];
            return Baseline::choose(text, &lists, machines);
        }
        let policies = match text {
            Some(text) => text.split('/').map(|part| named(part.trim(), lists)).collect(),
            None => Ok(lists.iter().map(|list| default(list, machines)).collect()),
        };
        let slots = lists.iter().map(|list| list.slot).collect();
        Ok(Baseline { slots, policies: policies?, overrides: None })
    }

    /// Returns the baseline in the syntax of the comparison: `slot=policy` and `overrides=…` with
    /// slashes between.
    pub fn name(&self) -> String {
        let parts = self
            .policies
            .iter()
            .map(|PolicyChoice { slot, given }| format!("{}={given}", slot.name));
        // Some policies are also called `none`: the column distinguishes them from missing
        // overrides.
        let overrides = self.overrides.iter().map(|overrides| match overrides.as_str() {
            "" => format!("{OVERRIDES}={NO_OVERRIDES}"),
            overrides => format!("{OVERRIDES}={overrides}"),
        });
        parts.chain(overrides).collect::<Vec<_>>().join("/")
    }

    /// Returns the columns that distinguish runs: those of the compared slots, and the overrides if
    /// compared.
    pub fn columns(&self) -> Vec<String> {
        self.columns_of(self.slots.iter().copied())
    }

    /// Returns the same with every slot, compared or not.
    pub fn all_columns(&self) -> Vec<String> {
        self.columns_of(SLOTS.iter())
    }

    fn columns_of<'a>(&self, slots: impl Iterator<Item = &'a PolicySlot>) -> Vec<String> {
        let overrides = self.overrides.iter().map(|_| OVERRIDES);
        slots.map(|slot| slot.name).chain(overrides).map(str::to_owned).collect()
    }
}

/// Returns the first slot with the same policy on all machines.
fn agreed(machines: &[Machine]) -> Option<PolicyChoice<String>> {
    let policy =
        |slot: &PolicySlot, machine: &Machine| slot.policy_of(&mut machine.policy.clone()).clone();
    let (first, rest) = machines.split_first()?;
    let choices = SLOTS.iter().map(|slot| PolicyChoice { slot, given: policy(slot, first) });
    choices.into_iter().find(|own| rest.iter().all(|other| policy(own.slot, other) == own.given))
}

fn default(list: &PolicyChoice<Vec<String>>, machines: &[Machine]) -> PolicyChoice<String> {
    let of = |machine: &Machine| list.slot.policy_of(&mut machine.policy.clone()).clone();
    let own = machines.first().map(of).and_then(|own| meant(&own, &list.given));
    PolicyChoice { slot: list.slot, given: own.unwrap_or(&list.given[0]).clone() }
}

/// Returns the policy of `given` that equals `own`, otherwise the only one of its name.
fn meant<'a>(own: &str, given: &'a [String]) -> Option<&'a String> {
    let same_name = |other: &&String| policy_name(other) == policy_name(own);
    let mut of_name = given.iter().filter(same_name);
    let only = of_name.next().filter(|_| of_name.next().is_none());
    given.iter().find(|&other| other == own).or(only)
}

/// Returns the policy of `lists` that `part` names, as `policy` or `slot=policy`.
fn named(
    part: &str,
    lists: &[PolicyChoice<Vec<String>>],
) -> Result<PolicyChoice<String>, BaselineError> {
    let with_slot =
        part.split_once('=').and_then(|(slot, policy)| Some((PolicySlot::find(slot)?, policy)));
    let (wanted, policy) =
        with_slot.map_or((None, part), |(slot, policy)| (Some(slot.name), policy));
    let lists = lists.iter().filter(|list| wanted.is_none_or(|wanted| wanted == list.slot.name));
    let lists: Vec<&PolicyChoice<Vec<String>>> = lists.collect();
    let holds = |list: &&&PolicyChoice<Vec<String>>| list.given.iter().any(|given| given == policy);
    let found: Vec<&&PolicyChoice<Vec<String>>> = lists.iter().filter(holds).collect();
    match found.as_slice() {
        [list] => Ok(PolicyChoice { slot: list.slot, given: policy.to_owned() }),
        [] => {
            let given = || lists.iter().flat_map(|list| &list.given).map(String::as_str);
            let meant = nearest(policy, given());
            let meant = meant.map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
            let given = given().collect::<Vec<_>>().join(", ");
            Err(BaselineError::Unknown { part: part.to_owned(), meant, given })
        }
        several => {
            let slots = several.iter().map(|list| format!("{}={policy}", list.slot.option()));
            let slots = slots.collect::<Vec<_>>().join(" or ");
            Err(BaselineError::Ambiguous { part: part.to_owned(), slots })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_machine::load;

    fn list(slot: &str, given: &[&str]) -> PolicyChoice<Vec<String>> {
        let given = given.iter().map(|&policy| policy.to_owned()).collect();
        PolicyChoice { slot: PolicySlot::find(slot).unwrap(), given }
    }

    fn choose(text: Option<&str>, lists: &[PolicyChoice<Vec<String>>]) -> Result<String, String> {
        choose_for("li2015", text, lists)
    }

    /// For a machine and another.
    fn choose_for(
        machine: &str,
        text: Option<&str>,
        lists: &[PolicyChoice<Vec<String>>],
    ) -> Result<String, String> {
        let machines = [machine, "warpedmc2023"].map(|name| load(name, &[]).unwrap());
        let baseline = Baseline::choose(text, lists, &machines);
        baseline.map(|baseline| baseline.name()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_baseline_is_found_in_its_slot() {
        let capped = "fr-fcfs(row_hit_cap=4)";
        let lists =
            [list("dram_scheduler", &["fcfs", capped]), list("warp_scheduler", &["lrr", "gto"])];
        let choose = |text| choose(Some(text), &lists);
        assert_eq!(choose("fcfs").unwrap(), "dram_scheduler=fcfs");
        assert_eq!(choose(capped).unwrap(), format!("dram_scheduler={capped}"));
        assert_eq!(choose("fcfs/gto").unwrap(), "dram_scheduler=fcfs/warp_scheduler=gto");
        assert_eq!(choose("warp-scheduler=lrr").unwrap(), "warp_scheduler=lrr");
        let unknown = choose("fcsf").unwrap_err();
        assert!(unknown.contains("did you mean `fcfs`?"), "{unknown}");
        assert!(choose("warp-scheduler=fcfs").is_err());
    }

    #[test]
    fn a_baseline_in_two_slots_is_refused() {
        let lists = [list("arbiter", &["round-robin"]), list("cta_scheduler", &["round-robin"])];
        let error = choose(Some("round-robin"), &lists).unwrap_err();
        assert!(error.contains("arbiter=round-robin"), "{error}");
        assert_eq!(choose(Some("arbiter=round-robin"), &lists).unwrap(), "arbiter=round-robin");
    }

    #[test]
    fn the_default_is_the_policy_of_the_machine_or_the_first() {
        let own = [list("dram_scheduler", &["fcfs", "fr-fcfs"])];
        assert_eq!(choose(None, &own).unwrap(), "dram_scheduler=fr-fcfs");
        let others = [list("dram_scheduler", &["banked-fifo", "fcfs"])];
        assert_eq!(choose(None, &others).unwrap(), "dram_scheduler=banked-fifo");
        assert_eq!(choose(None, &[]).unwrap(), "dram_scheduler=fr-fcfs");
    }

    /// The machine has `fr-fcfs(banks=stepping,picks_per_cycle=1)`.
    #[test]
    fn the_policy_of_the_machine_matches_by_unique_name() {
        let default = |given: &[&str]| {
            let lists = [list("dram_scheduler", given)];
            choose_for("accelsim-qv100", None, &lists).unwrap().replace("dram_scheduler=", "")
        };
        let own = "fr-fcfs(banks=stepping,picks_per_cycle=1)";
        let capped = "fr-fcfs(row_hit_cap=4)";
        assert_eq!(default(&["fcfs", "fr-fcfs"]), "fr-fcfs");
        assert_eq!(default(&["fcfs", capped]), capped);
        assert_eq!(default(&["fcfs", "fr-fcfs", capped]), "fcfs");
        assert_eq!(default(&["fcfs", "fr-fcfs", own]), own);
    }
}
