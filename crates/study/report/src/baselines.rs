//! The slots that distinguish runs, and the default baseline of each machine.

use crate::columns::{NO_OVERRIDE, OVERRIDES};
use crate::frame::{distinct, is_one_of};

use anyhow::Context;
use polars::prelude::*;
use warpmem_analysis::polars;
use warpmem_gpu::slots::{Baseline, PolicyChoice, SLOTS};
use warpmem_machine::{Machine, load};

/// Machines with the same baseline.
pub struct Group {
    pub baseline: String,
    pub machines: Vec<String>,
}

/// Returns the slots that have several policies on some machine; a difference between machines
/// alone does not count. Without such a slot: the overrides if they vary on some machine, otherwise
/// a slot that is equal in all runs.
pub fn varied(runs: &DataFrame) -> anyhow::Result<Vec<String>> {
    let varied = varied_slots(runs, &["machine"])?;
    if !varied.is_empty() {
        return Ok(varied);
    }
    if !varying(runs, &[OVERRIDES], &["machine"])?.is_empty() {
        return Ok(vec![OVERRIDES.to_owned()]);
    }
    let different = varied_slots(runs, &[])?;
    let same = SLOTS.iter().find(|slot| !different.iter().any(|name| name == slot.name));
    Ok(vec![same.unwrap_or(&SLOTS[0]).name.to_owned()])
}

fn varied_slots(runs: &DataFrame, keys: &[&str]) -> anyhow::Result<Vec<String>> {
    varying(runs, &SLOTS.each_ref().map(|slot| slot.name), keys)
}

/// Returns the `columns` that have several values in some group of runs with the same `keys`.
fn varying(runs: &DataFrame, columns: &[&str], keys: &[&str]) -> anyhow::Result<Vec<String>> {
    let keys = [lit(0).alias("all")].into_iter().chain(keys.iter().map(|key| col(*key)));
    let counts = columns.iter().map(|name| col(*name).n_unique()).collect::<Vec<_>>();
    let groups = runs.clone().lazy().group_by(keys.collect::<Vec<_>>()).agg(counts);
    let most = groups.select(columns.iter().map(|name| col(*name).max()).collect::<Vec<_>>());
    let most = most.collect()?;
    let varies = |name: &&&str| {
        most.column(name).and_then(Column::u32).is_ok_and(|most| most.get(0) > Some(1))
    };
    Ok(columns.iter().filter(varies).map(|name| (*name).to_owned()).collect())
}

/// Chooses baselines as `compare` and `sweep` do: the policies of the first machine where some run
/// has them, otherwise the first; for a machine without runs of that policy, its own. Slots that
/// vary only together with overrides are held equal.
pub fn usual(runs: &DataFrame, slots: &[String]) -> anyhow::Result<Vec<Group>> {
    let machines = distinct(runs, "machine")?;
    if slots.iter().any(|slot| slot == OVERRIDES) {
        let first = distinct(runs, OVERRIDES)?.swap_remove(0);
        let baseline = if first.is_empty() { NO_OVERRIDE.to_owned() } else { first };
        return Ok(vec![Group { baseline, machines }]);
    }
    let compared = varied_slots(runs, &["machine", OVERRIDES])?;
    let slots = if compared.is_empty() { slots } else { &compared };
    let list = |slot: &String| {
        let found = SLOTS.iter().find(|known| known.name == slot).context("slots are known")?;
        Ok(PolicyChoice { slot: found, given: distinct(runs, slot)? })
    };
    let lists = slots.iter().map(list).collect::<anyhow::Result<Vec<_>>>()?;
    let known: Vec<Machine> = machines.iter().filter_map(|name| load(name, &[]).ok()).collect();
    let common = Baseline::choose(None, &lists, &known)?;
    let mut groups: Vec<Group> = Vec::new();
    for machine in machines {
        let own = known.iter().find(|known| known.name == machine);
        let baseline = on_machine(runs, &common, &machine, own)?.name();
        match groups.iter_mut().find(|group| group.baseline == baseline) {
            Some(group) => group.machines.push(machine),
            None => groups.push(Group { baseline, machines: vec![machine] }),
        }
    }
    Ok(groups)
}

/// Returns the policies of `common`, replaced by the machine's own in slots where `machine` did not
/// run with these.
fn on_machine(
    runs: &DataFrame,
    common: &Baseline,
    machine: &String,
    own: Option<&Machine>,
) -> anyhow::Result<Baseline> {
    let runs = runs.clone().lazy().filter(is_one_of("machine", std::slice::from_ref(machine)));
    let runs = runs.collect()?;
    let policy = |choice: &PolicyChoice<String>| {
        let present = distinct(&runs, choice.slot.name)?;
        let own = own.map(|own| choice.slot.policy_of(&mut own.policy.clone()).clone());
        let wanted = [Some(&choice.given), own.as_ref()].into_iter().flatten();
        let given = wanted.into_iter().find(|policy| present.contains(policy));
        Ok(PolicyChoice { slot: choice.slot, given: given.unwrap_or(&choice.given).clone() })
    };
    let policies = common.policies().iter().map(policy).collect::<anyhow::Result<_>>()?;
    Ok(Baseline::of_policies(policies))
}
