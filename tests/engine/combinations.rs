//! Policies of different slots combined: every pair occurs in some row of a covering array. A
//! [long](warpmem_testing::is_long) run simulates every row, a short one each policy in several.

use crate::recording::{bandwidth_over_peak, check_kernels};
use crate::trace::{Kernel, Step, machine, mixed, run, write};
use std::collections::BTreeSet;
use warpmem::dram::checker::check;
use warpmem::dram::prefetch::PREFETCHERS;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::gpu::cta::scheduler::CTA_SCHEDULERS;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::ideal::IDEALS;
use warpmem::gpu::l2::queue::L2_QUEUES;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::gpu::sm::scheduler::WARP_SCHEDULERS;
use warpmem::machine::Machine;
use warpmem::network::TOPOLOGIES;
use warpmem::network::arbiter::ARBITERS;
use warpmem::translation::scheduler::WALK_SCHEDULERS;
use warpmem_testing::is_sampled;
use warpmem_trace::{Barrier, OpClass, Trace};

/// Two choices, each a slot and one of its policies, both by index.
type Pair = [(usize, usize); 2];

/// A choice for every slot.
type Row = Vec<usize>;

/// Returns a pairwise covering array: every two choices of different slots share a row. `sizes` are
/// the numbers of choices per slot. Each row starts from the first uncovered pair; each further
/// slot takes the choice that covers the most pairs.
fn covering_array(sizes: &[usize]) -> Vec<Row> {
    let mut missing = all_pairs(sizes);
    let mut rows = Vec::new();
    while let Some(&first) = missing.first() {
        let mut chosen: Vec<Option<usize>> = vec![None; sizes.len()];
        first.iter().for_each(|&(slot, choice)| chosen[slot] = Some(choice));
        for slot in 0..sizes.len() {
            if chosen[slot].is_none() {
                let gain = |choice: usize| {
                    pairs_with((slot, choice), &chosen)
                        .filter(|pair| missing.contains(pair))
                        .count()
                };
                // Rotate, because the last of several maxima would always be the same choice.
                let rotated = (0..sizes[slot]).map(|choice| (choice + rows.len()) % sizes[slot]);
                chosen[slot] = rotated.max_by_key(|&choice| gain(choice));
            }
        }
        let row: Row = chosen.into_iter().flatten().collect();
        for pair in pairs_of(&row) {
            missing.remove(&pair);
        }
        rows.push(row);
    }
    rows
}

fn all_pairs(sizes: &[usize]) -> BTreeSet<Pair> {
    let choices = |slot: usize| (0..sizes[slot]).map(move |choice| (slot, choice));
    let slots =
        (0..sizes.len()).flat_map(|one| (one + 1..sizes.len()).map(move |other| (one, other)));
    slots
        .flat_map(|(one, other)| {
            choices(one).flat_map(move |one| choices(other).map(move |other| [one, other]))
        })
        .collect()
}

/// Returns the pairs of a choice with those already chosen.
fn pairs_with(choice: (usize, usize), chosen: &[Option<usize>]) -> impl Iterator<Item = Pair> + '_ {
    let others = chosen.iter().enumerate().filter_map(|(slot, other)| Some((slot, (*other)?)));
    others.map(move |other| if other.0 < choice.0 { [other, choice] } else { [choice, other] })
}

fn pairs_of(row: &[usize]) -> impl Iterator<Item = Pair> + '_ {
    (0..row.len()).flat_map(move |one| {
        (one + 1..row.len()).map(move |other| [(one, row[one]), (other, row[other])])
    })
}

#[test]
fn a_covering_array_has_every_pair() {
    for sizes in [&[1, 1][..], &[3, 2], &[2, 2, 2], &[5, 1, 3, 4], &[24, 12, 6, 4, 5, 6, 3, 5]] {
        let rows = covering_array(sizes);
        let mut missing = all_pairs(sizes);
        for row in &rows {
            assert!(row.iter().zip(sizes).all(|(choice, size)| choice < size), "{row:?}");
            missing.retain(|pair| !pairs_of(row).any(|met| met == *pair));
        }
        assert!(missing.is_empty(), "{sizes:?}: {missing:?}");
        let mut largest = sizes.to_vec();
        largest.sort_unstable_by(|one, other| other.cmp(one));
        let least = largest[0] * largest[1];
        assert!(rows.len() <= least + least / 2, "{sizes:?}: {} rows", rows.len());
    }
}

#[test]
fn pairs_are_counted_by_hand() {
    // 2 x 3 + 2 x 4 + 3 x 4.
    assert_eq!(all_pairs(&[2, 3, 4]).len(), 26);
    let row = [1, 0, 3];
    let expected: [Pair; 3] = [[(0, 1), (1, 0)], [(0, 1), (2, 3)], [(1, 0), (2, 3)]];
    assert_eq!(pairs_of(&row).collect::<Vec<_>>(), expected);
    let with: Vec<Pair> = pairs_with((1, 0), &[Some(1), None, Some(3)]).collect();
    assert_eq!(with, [[(0, 1), (1, 0)], [(1, 0), (2, 3)]]);
}

/// Returns the slots with the names of their policies from the registries.
fn slots() -> Vec<(&'static str, Vec<&'static str>)> {
    macro_rules! slots {
        ($($registry:ident),* $(,)?) => {
            vec![$(($registry.slot, $registry.names().collect())),*]
        };
    }
    slots![
        SCHEDULERS,
        WARP_SCHEDULERS,
        CTA_SCHEDULERS,
        L2_QUEUES,
        TOPOLOGIES,
        ARBITERS,
        PREFETCHERS,
        WALK_SCHEDULERS,
        IDEALS,
    ]
}

/// Small resources, so that everything stalls, with the prerequisites of policies: a ring needs two
/// virtual channels.
const SMALL: &[&str] = &[
    "sm.count=3",
    "sm.max_ctas=2",
    "l1.cache.size_bytes=2048",
    "l1.cache.mshr_entries=4",
    "network.memory_nodes=[]",
    "network.virtual_channels=2",
    "l2.cache.size_bytes=4096",
    "l2.cache.mshr_entries=4",
    "l2.queue=10",
    "dram.channels=2",
    "dram.read_queue=16",
];

/// Returns the policy with parameters under which it acts in short runs.
fn acting(policy: &str) -> &str {
    match policy {
        "ccws" => "ccws(base=50,throttle=300)",
        "swl" => "swl(warps=2)",
        "two-level" => "two-level(warps=2)",
        "two-level-active" => "two-level-active(warps=2)",
        "mascar" => "mascar(headroom=3)",
        "dyncta" => "dyncta(period=50,t_idle=20,t_mem_low=5,t_mem_high=20)",
        "delay" => "delay(requests=50,cycles=40,every=2,locality=without)",
        other => other,
    }
}

/// Counters that show that a throttling policy has acted.
const ACTS: [(&str, &str); 7] = [
    ("ccws", "victim_tag_hits"),
    ("ccws", "issues_past_held_loads"),
    ("mascar", "saturated_issues"),
    ("dyncta", "cta_limits_lowered"),
    ("delay", "delayed_requests"),
    ("calrs", "block_signals"),
    ("two-level-active", "promotions"),
];

/// Makes the machine with these policies, and its label for failures.
fn combination(slots: &[(&str, Vec<&str>)], row: &[usize]) -> (Machine, String) {
    let policies = slots.iter().zip(row);
    let policies: Vec<String> = policies
        .map(|((slot, names), &choice)| format!("policy.{slot}={}", acting(names[choice])))
        .collect();
    let overrides: Vec<&str> =
        SMALL.iter().copied().chain(policies.iter().map(String::as_str)).collect();
    (machine("li2015", &overrides), policies.join(" "))
}

/// Makes kernels with loads, stores and atomics near and far, immediately used results, and
/// barriers.
fn kernels() -> [Kernel; 2] {
    let with_barriers = |mut kernel: Kernel| {
        for warp in kernel.ctas.iter_mut().flatten() {
            let needed = Step::Compute { class: OpClass::Fp32, dest: 2, source: 1 };
            if let Step::Memory(access) = &mut warp[0] {
                access.dest = Some(1);
            }
            warp.insert(1, needed);
            warp.insert(3, Step::Barrier(Barrier::of_cta(0)));
        }
        kernel
    };
    [mixed(7, 5, 1 << 18), mixed(5, 4, 1 << 13)].map(with_barriers)
}

fn assert_sound(result: &RunResult, trace: &Trace, context: &str) {
    let of_trace = trace.kernels().iter();
    let expected: (u64, u64) =
        of_trace.fold((0, 0), |sum, k| (sum.0 + k.warp_instructions, sum.1 + u64::from(k.ctas)));
    let sms = result.sms.iter();
    let issued = sms.fold((0, 0), |sum, sm| (sum.0 + sm.warp_instructions, sum.1 + sm.ctas));
    assert_eq!(issued, expected, "{context}");
    check_kernels(result);
    assert!(result.kernels.iter().all(|kernel| kernel.counts.is_some()), "{context}");
}

/// Interval, in rows, of a short run; rows with a policy that has not run or acted yet are run too.
const SAMPLED: usize = 6;

/// Interval, in runs, at which a run is repeated on several threads.
const SHARED: usize = 3;

/// Interval, in runs, at which every unit is also stepped in every cycle, which is slow.
const POLLED: usize = 8;

#[test]
fn every_two_policies_run_together() {
    let slots = slots();
    let sizes: Vec<usize> = slots.iter().map(|(_, names)| names.len()).collect();
    let file = write(&kernels());
    let mut acted = [0; ACTS.len()];
    let mut met = BTreeSet::new();
    let mut number = 0;
    for (at, row) in covering_array(&sizes).into_iter().enumerate() {
        let has_acted =
            |policy: &str| acted.iter().zip(ACTS).all(|(sum, (of, _))| *sum > 0 || of != policy);
        let is_done = |choice: &(usize, usize)| {
            met.contains(choice) && has_acted(slots[choice.0].1[choice.1])
        };
        if row.iter().copied().enumerate().all(|choice| is_done(&choice))
            && !is_sampled(at, 0, SAMPLED)
        {
            continue;
        }
        met.extend(row.iter().copied().enumerate());
        number += 1;
        let (machine, context) = combination(&slots, &row);
        let simulation = || Simulation::new(&machine, &file.trace);
        let (result, logs) =
            simulation().run_with_commands().unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_sound(&result, &file.trace, &context);
        assert!(bandwidth_over_peak(&machine, &result) <= 1.0, "{context}");
        for (sum, (policy, name)) in acted.iter_mut().zip(ACTS) {
            let counters = result.counters.iter();
            let of = counters.filter(|c| (c.policy.as_str(), c.counter) == (policy, name));
            *sum += of.map(|counter| counter.value).sum::<u64>();
        }
        for log in &logs {
            assert_eq!(check(&machine.dram, log).first(), None, "{context}");
        }
        if is_sampled(number, 0, SHARED) {
            let threads = 2 + number / SHARED % 3;
            let shared = simulation().threads(threads).run(&mut Discard);
            assert!(shared.unwrap() == result, "{threads} threads: {context}");
        }
        if is_sampled(number, 1, POLLED) {
            let polled = simulation().every_cycle().run(&mut Discard).unwrap();
            assert!(RunResult { steps: result.steps, ..polled } == result, "{context}");
        }
    }
    for (sum, what) in acted.iter().zip(ACTS) {
        assert!(*sum > 0, "{what:?} never");
    }
}

/// The runs exercise every level of the hierarchy.
#[test]
fn combinations_miss_in_every_level() {
    let slots = slots();
    let file = write(&kernels());
    let result = run(&combination(&slots, &vec![0; slots.len()]).0, &file.trace);
    let banks = || result.channels.iter().flat_map(|channel| &channel.banks);
    assert!(banks().map(|bank| bank.reads).sum::<u64>() > 100);
    assert!(banks().map(|bank| bank.writes).sum::<u64>() > 20);
    assert!(banks().map(|bank| bank.row_conflicts).sum::<u64>() > 20);
    assert!(result.sms.iter().map(|sm| sm.l1.atomics).sum::<u64>() > 20);
    assert!(result.slices.iter().any(|slice| slice.mshr_merge_length.max() > Some(1)));
    assert!(result.sms.iter().all(|sm| sm.ctas > 2));
}
