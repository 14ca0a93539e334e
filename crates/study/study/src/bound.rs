//! Runs under an ideal mode, which bound the effect of the policies of a slot.

use crate::cells::{Cell, Ended, ThreadsError, Watcher, side_by_side};
use std::collections::HashMap;
use warpmem_gpu::results::Discard;
use warpmem_gpu::slots::{Baseline, PolicyChoice, PolicyChoices};
use warpmem_machine::Machine;
use warpmem_record::{Bound, run_row_json};

/// Slots with an ideal mode that makes all their policies equal. The first compared one counts: a
/// perfect L2 sends no request to DRAM.
const IDEALS: [(&str, &str); 5] = [
    ("l2_queue", "perfect-l2"),
    ("prefetcher", "perfect-l2"),
    ("dram_scheduler", "perfect-dram"),
    ("topology", "infinite-bandwidth-noc"),
    ("arbiter", "infinite-bandwidth-noc"),
];

/// The slot of ideal modes, and its value without one.
const IDEAL: &str = "ideal";
const NONE: &str = "none";

/// Returns the ideal mode that bounds the effect of the first of the varied slots that has one; none if
/// ideal modes are compared.
pub fn ideal_of(lists: &[PolicyChoice<Vec<String>>]) -> Option<&'static str> {
    let is_varied =
        |name: &str| lists.iter().any(|list| list.slot.name == name && list.given.len() > 1);
    let ideals = IDEALS.iter().filter(|(slot, _)| !is_varied(IDEAL) && is_varied(slot));
    ideals.map(|(_, ideal)| *ideal).next()
}

/// Returns the baseline's combination of policies: the first that has all of its policies.
pub fn combination_of<'c>(
    baseline: &Baseline,
    combinations: &'c [PolicyChoices],
) -> Option<&'c PolicyChoices> {
    let has_policies = |combination: &&PolicyChoices| {
        baseline.policies().iter().all(|policy| {
            let of_slot = combination.iter().find(|choice| choice.slot.name == policy.slot.name);
            of_slot.is_none_or(|choice| choice.given == policy.given)
        })
    };
    combinations.iter().find(has_policies)
}

/// Returns `machine` under an ideal mode; none if it has one already.
pub fn idealised(machine: &Machine, ideal: &str) -> Option<Machine> {
    let mut idealised = machine.clone();
    let own = std::mem::replace(&mut idealised.policy.ideal, ideal.to_owned());
    (own == NONE).then_some(idealised)
}

/// Runs each of `bounds` on `jobs` threads, and records its IPC in the cells of its workload and
/// machine. A failure stops the others.
///
/// # Errors
/// If no threads can be started.
pub fn bound(
    bounds: &[Cell<'_>],
    cells: &mut [Cell<'_>],
    jobs: usize,
    watcher: &impl Watcher,
) -> Result<Ended, ThreadsError> {
    let run = |_, cell: &Cell<'_>| {
        let result = cell.simulate(&mut Discard, watcher)?;
        let row = run_row_json(&cell.key, &result);
        let ideal = cell.key.machine.policy.ideal.clone();
        Ok(row["ipc_thread"].as_f64().map(|ipc_thread| Bound { ideal, ipc_thread }))
    };
    let ends = side_by_side(bounds, jobs, watcher, run)?;
    let place = |cell: &Cell<'_>| (cell.key.workload.clone(), cell.key.machine.name.clone());
    let mut found: HashMap<(String, String), Bound> = HashMap::new();
    let mut ended = Ended { finished: 0, failure: None };
    for (cell, end) in bounds.iter().zip(ends) {
        match end {
            Ok(bound) => {
                ended.finished += 1;
                found.extend(bound.map(|bound| (place(cell), bound)));
            }
            Err(error) if error.is_interruption() => {}
            Err(error) => ended.failure = ended.failure.or(Some(error)),
        }
    }
    for cell in cells {
        cell.key.bound = found.get(&place(cell)).cloned();
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;
    use warpmem_gpu::slots::combinations;

    fn lists(given: &[(&str, &[&str])]) -> Vec<PolicyChoice<Vec<String>>> {
        let list = |&(slot, given): &(&str, &[&str])| PolicyChoice {
            slot: warpmem_gpu::slots::PolicySlot::find(slot).unwrap(),
            given: given.iter().map(|&policy| policy.to_owned()).collect(),
        };
        given.iter().map(list).collect()
    }

    #[test]
    fn the_ideal_bounds_every_policy_of_the_slot() {
        let ideal = |given: &[(&str, &[&str])]| ideal_of(&lists(given));
        let (dram, l2): (&[&str], &[&str]) = (&["fcfs", "fr-fcfs"], &["fifo", "calrs"]);
        assert_eq!(ideal(&[("dram_scheduler", dram)]), Some("perfect-dram"));
        assert_eq!(ideal(&[("dram_scheduler", dram), ("l2_queue", l2)]), Some("perfect-l2"));
        assert_eq!(ideal(&[("dram_scheduler", &["fcfs"])]), None, "nothing is compared");
        assert_eq!(ideal(&[("warp_scheduler", &["lrr", "gto"])]), None, "there is no ideal");
        let ideals: &[&str] = &["none", "perfect-l2"];
        assert_eq!(ideal(&[("dram_scheduler", dram), ("ideal", ideals)]), None);
    }

    #[test]
    fn the_bound_has_the_policies_of_the_baseline() {
        let lists =
            lists(&[("dram_scheduler", &["fcfs", "fr-fcfs"]), ("warp_scheduler", &["lrr", "gto"])]);
        let baseline = Baseline::choose(Some("fr-fcfs"), &lists, &[machine(&[])]).unwrap();
        let combinations = combinations(&lists);
        let combination = combination_of(&baseline, &combinations).unwrap();
        let policies: Vec<&str> = combination.iter().map(|choice| choice.given.as_str()).collect();
        assert_eq!(policies, ["fr-fcfs", "lrr"]);
    }

    #[test]
    fn a_machine_keeps_the_ideal_that_it_has() {
        let idealised = idealised(&machine(&[]), "perfect-dram").unwrap();
        assert_eq!(idealised.policy.ideal, "perfect-dram");
        assert!(super::idealised(&idealised, "perfect-l2").is_none());
    }
}
