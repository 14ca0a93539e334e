//! Runs under an ideal mode, which bound the effect of the policies of a slot.

use crate::cells::{Cell, Ended, ThreadsError, Watcher, side_by_side};
use crate::traces::NamedTrace;
use std::collections::{HashMap, HashSet};
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

/// A comparison whose slot is to be bounded.
#[derive(Clone, Copy)]
pub struct Bounds<'b> {
    /// The compared policies, by slot.
    pub lists: &'b [PolicyChoice<Vec<String>>],
    pub baseline: &'b Baseline,
    /// The combinations of the policies.
    pub combinations: &'b [PolicyChoices],
}

impl Bounds<'_> {
    /// Plans the first trace of every workload on every machine under the ideal mode of the compared slot,
    /// with those of the baseline's policies that `are_set`. Machines that cannot have the mode are left
    /// out.
    pub fn cells<'a>(
        &self,
        machines: &[Machine],
        traces: &'a [NamedTrace],
        are_set: impl Fn(&PolicyChoice<String>) -> bool,
    ) -> Vec<Cell<'a>> {
        let Some((ideal, policies)) = self.ideal().zip(self.combination()) else {
            return Vec::new();
        };
        let set = policies.iter().filter(|choice| are_set(choice)).cloned().collect();
        let policies = PolicyChoices::new(set);
        let mut seen = HashSet::new();
        let mut cells = Vec::new();
        for machine in machines {
            let mut machine = machine.clone();
            policies.apply(&mut machine);
            let Some(machine) = idealised(machine, ideal) else { continue };
            let cell = |trace| Cell::new(trace, machine.clone(), &[], String::new()).ok();
            let is_first = |cell: &Cell<'_>| seen.insert(place(cell));
            cells.extend(traces.iter().filter_map(cell).filter(is_first));
        }
        cells
    }

    /// Returns the ideal mode that bounds the effect of the first varied slot that has one; none if ideal
    /// modes are compared.
    fn ideal(&self) -> Option<&'static str> {
        let is_varied = |name: &str| {
            self.lists.iter().any(|list| list.slot.name == name && list.given.len() > 1)
        };
        let ideals = IDEALS.iter().filter(|(slot, _)| !is_varied(IDEAL) && is_varied(slot));
        ideals.map(|(_, ideal)| *ideal).next()
    }

    /// Returns the first combination that has the baseline's policies.
    fn combination(&self) -> Option<&PolicyChoices> {
        let has_policies = |combination: &&PolicyChoices| {
            self.baseline.policies().iter().all(|policy| {
                let of_slot =
                    combination.iter().find(|choice| choice.slot.name == policy.slot.name);
                of_slot.is_none_or(|choice| choice.given == policy.given)
            })
        };
        self.combinations.iter().find(has_policies)
    }
}

/// Returns `machine` under an ideal mode; none if it has one already.
fn idealised(mut machine: Machine, ideal: &str) -> Option<Machine> {
    let own = std::mem::replace(&mut machine.policy.ideal, ideal.to_owned());
    (own == NONE).then_some(machine)
}

/// Returns the workload and the machine of a cell.
fn place(cell: &Cell<'_>) -> (String, String) {
    (cell.key.workload.clone(), cell.key.machine.name.clone())
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
    use warpmem_gpu::slots::{PolicySlot, combinations};
    use warpmem_testing::{TestKernel, compute, trace};
    use warpmem_trace::OpClass::Integer;

    fn lists(given: &[(&str, &[&str])]) -> Vec<PolicyChoice<Vec<String>>> {
        let list = |&(slot, given): &(&str, &[&str])| PolicyChoice {
            slot: PolicySlot::find(slot).unwrap(),
            given: given.iter().map(|&policy| policy.to_owned()).collect(),
        };
        given.iter().map(list).collect()
    }

    fn bounds_of<T>(lists: &[PolicyChoice<Vec<String>>], of: impl Fn(Bounds<'_>) -> T) -> T {
        let baseline = Baseline::choose(None, lists, &[machine(&[])]).unwrap();
        let combinations = combinations(lists);
        of(Bounds { lists, baseline: &baseline, combinations: &combinations })
    }

    #[test]
    fn the_ideal_bounds_every_policy_of_the_slot() {
        let ideal = |given: &[(&str, &[&str])]| bounds_of(&lists(given), |bounds| bounds.ideal());
        let (dram, l2): (&[&str], &[&str]) = (&["fcfs", "fr-fcfs"], &["fifo", "calrs"]);
        assert_eq!(ideal(&[("dram_scheduler", dram)]), Some("perfect-dram"));
        assert_eq!(ideal(&[("dram_scheduler", dram), ("l2_queue", l2)]), Some("perfect-l2"));
        assert_eq!(ideal(&[("dram_scheduler", &["fcfs"])]), None, "nothing is compared");
        assert_eq!(ideal(&[("warp_scheduler", &["lrr", "gto"])]), None, "there is no ideal");
        let ideals: &[&str] = &["none", "perfect-l2"];
        assert_eq!(ideal(&[("dram_scheduler", dram), ("ideal", ideals)]), None);
    }

    #[test]
    fn a_workload_runs_once_on_each_machine_with_the_policies_of_the_baseline() {
        let given: [(&str, &[&str]); 2] =
            [("dram_scheduler", &["fcfs", "fr-fcfs"]), ("warp_scheduler", &["gto", "lrr"])];
        let machines = [machine(&[]), machine(&["name=other", "policy.ideal=perfect-l2"])];
        let kernel = || TestKernel::new(vec![vec![vec![compute(Integer, &[]); 4]]]);
        let named =
            |name: &str, kernels| NamedTrace { name: name.to_owned(), trace: trace(kernels) };
        let traces = [named("a", &[kernel()]), named("b", &[kernel(), kernel()])];
        bounds_of(&lists(&given), |bounds| {
            let cells = bounds.cells(&machines, &traces, |_| true);
            let of = |cell: &Cell<'_>| (cell.key.trace.clone(), cell.key.machine.policy.clone());
            let (names, policies): (Vec<String>, Vec<_>) = cells.iter().map(of).unzip();
            assert_eq!(names, ["a", "b"], "the other machine has an ideal mode already");
            assert_eq!(policies[0].dram_scheduler, machines[0].policy.dram_scheduler);
            assert_eq!(
                (&*policies[0].warp_scheduler, &*policies[0].ideal),
                ("gto", "perfect-dram")
            );
        });
    }
}
