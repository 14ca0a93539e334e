//! Sampling of launches that are alike (`run.alike_launches`): a few are simulated, and each
//! stands for others in the counts of the run.
//!
//! GPU programs launch the same kernels repeatedly: layers of a network, iterations of a solver.
//! Launches are *alike* if they run the same kernel with CTAs of one shape, and their numbers of
//! CTAs, instructions and accesses by kind differ by at most 5 %. Addresses are not compared.

use std::collections::HashMap;
use std::sync::Arc;
use warpmem_machine::Machine;
use warpmem_support::random::Random;
use warpmem_trace::{Kernel, Kind, Space};

/// Treatment of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShare {
    /// First launch that it is like; itself if there is no earlier one.
    pub like: u32,
    /// Number of launches it stands for in the counts of the run, itself included; 0 if it only
    /// warms the caches for the next launch, none if it is not simulated.
    pub stands_for: Option<u32>,
}

/// Treatment of every launch of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launches(Arc<[LaunchShare]>);

/// Largest relative difference between launches that are alike.
const TOLERANCE: f64 = 0.05;
/// Seed of the draws; constant, so that policies are compared on the same launches.
const SEED: u64 = 1;

impl Launches {
    /// Selects the simulated launches of `kernels`, in launch order, by `run.alike_launches`.
    pub fn new(machine: &Machine, kernels: &[Kernel]) -> Launches {
        let most = machine.run.alike_launches as usize;
        if most == 0 {
            let alone = |launch| LaunchShare { like: launch, stands_for: Some(1) };
            return Launches((0..kernels.len() as u32).map(alone).collect());
        }
        let groups = groups(kernels);
        let runs: Vec<&[usize]> = groups.iter().flat_map(|group| runs(group, most)).collect();
        let simulated = simulated(kernels.len(), &runs);
        let mut launches = vec![LaunchShare { like: 0, stands_for: None }; kernels.len()];
        for group in &groups {
            group.iter().for_each(|&launch| launches[launch].like = group[0] as u32);
        }
        for (launch, _) in simulated.iter().enumerate().filter(|(_, is_simulated)| **is_simulated) {
            launches[launch].stands_for = Some(0);
        }
        for run in runs {
            for (launch, stands_for) in shares(run, &simulated) {
                launches[launch].stands_for = Some(stands_for);
            }
        }
        Launches(launches.into())
    }

    /// Iterates over all launches.
    pub fn iter(&self) -> impl Iterator<Item = &LaunchShare> {
        self.0.iter()
    }

    pub fn is_simulated(&self, launch: usize) -> bool {
        self.0[launch].stands_for.is_some()
    }

    /// Returns the first simulated launch at or after `from`.
    pub fn next_simulated(&self, from: usize) -> Option<usize> {
        (from..self.0.len()).find(|&launch| self.is_simulated(launch))
    }

    /// Whether every launch is simulated and counts for itself alone.
    pub fn are_all(&self) -> bool {
        self.0.iter().all(|launch| launch.stands_for == Some(1))
    }
}

/// Groups launches that are alike, in launch order.
fn groups(kernels: &[Kernel]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut of_program: HashMap<Program<'_>, Vec<usize>> = HashMap::new();
    for (launch, kernel) in kernels.iter().enumerate() {
        let candidates = of_program.entry(program(kernel)).or_default();
        let is_like = |&&group: &&usize| have_like_numbers(&kernels[groups[group][0]], kernel);
        match candidates.iter().find(is_like) {
            Some(&group) => groups[group].push(launch),
            None => {
                candidates.push(groups.len());
                groups.push(vec![launch]);
            }
        }
    }
    groups
}

/// Properties equal among launches that are alike: kernel name, shapes, resources, and kinds of
/// records.
type Program<'k> = (&'k str, [u32; 3], Option<[u32; 3]>, [u32; 2], Vec<(Kind, Space)>);

fn program(kernel: &Kernel) -> Program<'_> {
    let info = &kernel.info;
    let room = [info.shared_bytes, info.registers_per_thread];
    let kinds = kernel.records_by_kind.iter().map(|count| (count.kind, count.space));
    (&info.name, info.block, info.cluster, room, kinds.collect())
}

fn have_like_numbers(first: &Kernel, other: &Kernel) -> bool {
    numbers(first).zip(numbers(other)).all(|(first, other)| is_near(first, other))
}

/// Returns the numbers of CTAs, warp and thread instructions, and records and lanes by kind.
fn numbers(kernel: &Kernel) -> impl Iterator<Item = u64> {
    let kinds = kernel.records_by_kind.iter().flat_map(|kind| [kind.records, kind.lanes]);
    let all = [u64::from(kernel.ctas), kernel.warp_instructions, kernel.thread_instructions];
    all.into_iter().chain(kinds)
}

fn is_near(first: u64, other: u64) -> bool {
    first.abs_diff(other) as f64 <= TOLERANCE * first as f64
}

/// Divides a group into at most `most` runs; one launch is drawn from each. The first launch is a
/// run of its own, as it alone starts with cold caches. The others form runs of similar length, so
/// that the sample covers drift over the program.
fn runs(group: &[usize], most: usize) -> Vec<&[usize]> {
    if group.len() <= most {
        return group.chunks(1).collect();
    }
    let (first, others) = group.split_at(1);
    let runs = most - 1;
    let end = |n: usize| n * others.len() / runs;
    let runs = (0..runs).map(|n| &others[end(n)..end(n + 1)]);
    std::iter::once(first).chain(runs).collect()
}

/// Selects the simulated launches: one of each run, drawn at random to avoid aliasing with
/// periodic behaviour, and its predecessor, which warms the caches.
fn simulated(launches: usize, runs: &[&[usize]]) -> Vec<bool> {
    let mut simulated = vec![false; launches];
    for run in runs {
        let drawn = Random::numbered(SEED, run[0] as u64).below(run.len() as u64);
        let drawn = run[drawn as usize];
        (simulated[drawn], simulated[drawn.saturating_sub(1)]) = (true, true);
    }
    simulated
}

/// Distributes the launches of a run over its simulated launches whose predecessor is simulated.
fn shares(run: &[usize], simulated: &[bool]) -> Vec<(usize, u32)> {
    let counts = |launch: usize| simulated[launch] && (launch == 0 || simulated[launch - 1]);
    let counting: Vec<usize> = run.iter().copied().filter(|&launch| counts(launch)).collect();
    let (each, rest) = (run.len() / counting.len(), run.len() % counting.len());
    let share = |(n, launch)| (launch, (each + usize::from(n < rest)) as u32);
    counting.into_iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;
    use warpmem_testing::{TestKernel, compute, trace};
    use warpmem_trace::OpClass;

    /// A kernel of one CTA with `instructions` instructions.
    fn kernel(instructions: usize) -> TestKernel {
        let warp = vec![compute(OpClass::Integer, &[]); instructions];
        TestKernel { name: Some("k".to_owned()), ..TestKernel::new(vec![vec![warp]]) }
    }

    fn launches(lengths: &[usize], most: u32) -> Vec<(u32, Option<u32>)> {
        let trace = trace(&lengths.iter().map(|&length| kernel(length)).collect::<Vec<_>>());
        let machine = machine(&[&format!("run.alike_launches={most}")]);
        let launches = Launches::new(&machine, trace.kernels());
        launches.iter().map(|launch| (launch.like, launch.stands_for)).collect()
    }

    #[test]
    fn every_launch_counts_for_itself_by_default_and_in_small_groups() {
        assert!(launches(&[50; 9], 0).iter().all(|launch| launch.1 == Some(1)));
        assert!(launches(&[50; 3], 3).iter().all(|launch| launch.1 == Some(1)));
    }

    #[test]
    fn alike_launches_differ_from_the_first_by_at_most_5_percent() {
        let like = |lengths: &[usize]| launches(lengths, 2).iter().map(|l| l.0).collect::<Vec<_>>();
        assert_eq!(like(&[100, 105, 95, 106, 94, 110]), [0, 0, 0, 3, 4, 3]);
    }

    #[test]
    fn kernels_with_other_names_or_shapes_are_not_alike() {
        let [mut named, mut shaped, mut wide] = [kernel(50), kernel(50), kernel(50)];
        named.name = Some("other".to_owned());
        shaped.shared_bytes = 512;
        wide.threads = 64;
        let trace = trace(&[kernel(50), named, shaped, wide, kernel(50)]);
        let launches = Launches::new(&machine(&["run.alike_launches=2"]), trace.kernels());
        assert_eq!(launches.iter().map(|l| l.like).collect::<Vec<_>>(), [0, 1, 2, 3, 0]);
    }

    #[test]
    fn the_first_launch_stands_for_itself_and_drawn_launches_for_their_runs() {
        for launches in (2..40).map(|n| launches(&vec![50; n], 4)) {
            assert_eq!(launches[0].1, Some(1));
            let counting: Vec<u32> =
                launches.iter().filter_map(|l| l.1).filter(|&n| n > 0).collect();
            assert_eq!(counting.iter().sum::<u32>() as usize, launches.len());
            let others = launches.len() as u32 - 1;
            assert!(counting[1..].iter().all(|&n| n <= others.div_ceil(3)), "{counting:?}");
            assert!(counting.len() >= 4.min(launches.len()), "{counting:?}");
            let simulated = launches.iter().filter(|l| l.1.is_some()).count();
            assert!(simulated <= 7, "one launch of each run and its predecessor");
        }
    }

    #[test]
    fn a_launch_counts_only_after_a_simulated_predecessor() {
        let launches = launches(&[[50, 90, 20]; 12].concat(), 3);
        for (at, launch) in launches.iter().enumerate().skip(1) {
            assert!(launch.1.is_none_or(|n| n == 0) || launches[at - 1].1.is_some(), "{at}");
        }
        let cold = launches.iter().filter(|launch| launch.1 == Some(0)).count();
        assert!(cold > 0, "some launches only warm the caches");
        for like in 0..3 {
            let of: u32 = launches.iter().filter(|l| l.0 == like).filter_map(|l| l.1).sum();
            assert_eq!(of, 12);
        }
    }

    #[test]
    fn fully_simulated_traces_count_each_launch_once() {
        // Runs of two draw their second launch, or their first counts too.
        for n in 3..12 {
            let launches = launches(&vec![50; n], n as u32 - 1);
            let all = launches.iter().all(|launch| launch.1.is_some());
            assert!(!all || launches.iter().all(|launch| launch.1 == Some(1)), "{launches:?}");
        }
    }
}
