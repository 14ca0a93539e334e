//! Launches that are alike, of which a few are simulated and the others counted as these are
//! (`run.alike_launches`).
//!
//! The programs of this field launch the same kernels over and over: the layers of a network, the
//! iterations of a solver. Launches are *alike* if they run the same kernel in CTAs of one shape and
//! their numbers of CTAs, instructions and accesses by kind differ by a twentieth at most. Where data
//! lie is not looked at.

use std::collections::HashMap;
use std::sync::Arc;
use warpmem_machine::Machine;
use warpmem_support::random::Random;
use warpmem_trace::{Kernel, Kind, Space};

/// What becomes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShare {
    /// The first launch that it is like; itself, if none is before it.
    pub like: u32,
    /// How many launches it stands for in the counts of the run, itself included; 0 for one that only
    /// brings caches into the state in which the next finds them. None if it is not simulated.
    pub stands_for: Option<u32>,
}

/// What becomes of each launch of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launches(Arc<[LaunchShare]>);

/// Of launches that are alike, by how much of the first one's each number may differ.
const TOLERANCE: f64 = 0.05;
/// Of the draws, the same in every run: policies are compared on the same launches.
const SEED: u64 = 1;

impl Launches {
    /// What `run.alike_launches` of `machine` says of `kernels`, in launch order.
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

    /// Of each launch.
    pub fn iter(&self) -> impl Iterator<Item = &LaunchShare> {
        self.0.iter()
    }

    pub fn is_simulated(&self, launch: usize) -> bool {
        self.0[launch].stands_for.is_some()
    }

    /// The first launch from `from` on that is simulated.
    pub fn next_simulated(&self, from: usize) -> Option<usize> {
        (from..self.0.len()).find(|&launch| self.is_simulated(launch))
    }

    /// Whether every launch counts for itself alone.
    pub fn are_all(&self) -> bool {
        self.0.iter().all(|launch| launch.stands_for == Some(1))
    }
}

/// Launches that are alike, in launch order.
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

/// What is the same in launches that are alike: the kernel's name, its shape, and which kinds of
/// records it has.
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

/// CTAs, instructions and active lanes of them, and records and their lanes by kind.
fn numbers(kernel: &Kernel) -> impl Iterator<Item = u64> {
    let kinds = kernel.records_by_kind.iter().flat_map(|kind| [kind.records, kind.lanes]);
    let all = [u64::from(kernel.ctas), kernel.warp_instructions, kernel.thread_instructions];
    all.into_iter().chain(kinds)
}

fn is_near(first: u64, other: u64) -> bool {
    first.abs_diff(other) as f64 <= TOLERANCE * first as f64
}

/// A group in parts for each of which one launch is drawn, `most` at most: first its first launch, which
/// finds caches as nothing like it has left them, alone; then the others in runs of like length, so that
/// what drifts over the program is covered from its beginning to its end.
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

/// Which launches are simulated: one of each run, drawn at random, so that what alternates from launch
/// to launch is not met at the same beat everywhere; and the one before each, without which it would find
/// caches as some other launch long before has left them.
fn simulated(launches: usize, runs: &[&[usize]]) -> Vec<bool> {
    let mut simulated = vec![false; launches];
    for run in runs {
        let drawn = Random::numbered(SEED, run[0] as u64).below(run.len() as u64);
        let drawn = run[drawn as usize];
        (simulated[drawn], simulated[drawn.saturating_sub(1)]) = (true, true);
    }
    simulated
}

/// How many launches of a run each of those stands for that are simulated behind another.
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
    use warpmem_testing::{TestKernel, compute, machine, trace};
    use warpmem_trace::OpClass;

    /// A kernel of one CTA with so many instructions.
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
    fn every_launch_counts_for_itself_unless_asked() {
        assert!(launches(&[50; 9], 0).iter().all(|launch| launch.1 == Some(1)));
        assert!(launches(&[50; 3], 3).iter().all(|launch| launch.1 == Some(1)));
    }

    #[test]
    fn numbers_may_differ_from_those_of_the_first_by_a_twentieth() {
        let like = |lengths: &[usize]| launches(lengths, 2).iter().map(|l| l.0).collect::<Vec<_>>();
        assert_eq!(like(&[100, 105, 95, 106, 94, 110]), [0, 0, 0, 3, 4, 3]);
    }

    #[test]
    fn other_names_and_shapes_are_other_kernels() {
        let [mut named, mut shaped, mut wide] = [kernel(50), kernel(50), kernel(50)];
        named.name = Some("other".to_owned());
        shaped.shared_bytes = 512;
        wide.threads = 64;
        let trace = trace(&[kernel(50), named, shaped, wide, kernel(50)]);
        let launches = Launches::new(&machine(&["run.alike_launches=2"]), trace.kernels());
        assert_eq!(launches.iter().map(|l| l.like).collect::<Vec<_>>(), [0, 1, 2, 3, 0]);
    }

    #[test]
    fn the_first_stands_for_itself_and_the_others_for_their_runs() {
        for launches in (2..40).map(|n| launches(&vec![50; n], 4)) {
            assert_eq!(launches[0].1, Some(1));
            let counting: Vec<u32> =
                launches.iter().filter_map(|l| l.1).filter(|&n| n > 0).collect();
            assert_eq!(counting.iter().sum::<u32>() as usize, launches.len());
            let others = launches.len() as u32 - 1;
            assert!(counting[1..].iter().all(|&n| n <= others.div_ceil(3)), "{counting:?}");
            assert!(counting.len() >= 4.min(launches.len()), "{counting:?}");
            let simulated = launches.iter().filter(|l| l.1.is_some()).count();
            assert!(simulated <= 7, "one of each run and one before it");
        }
    }

    #[test]
    fn a_launch_counts_only_behind_one_that_is_simulated() {
        let launches = launches(&[[50, 90, 20]; 12].concat(), 3);
        for (at, launch) in launches.iter().enumerate().skip(1) {
            assert!(launch.1.is_none_or(|n| n == 0) || launches[at - 1].1.is_some(), "{at}");
        }
        let cold = launches.iter().filter(|launch| launch.1 == Some(0)).count();
        assert!(cold > 0, "some are simulated for the sake of the next");
        for like in 0..3 {
            let of: u32 = launches.iter().filter(|l| l.0 == like).filter_map(|l| l.1).sum();
            assert_eq!(of, 12);
        }
    }

    #[test]
    fn launches_that_are_simulated_one_and_all_count_one_each() {
        // Of the runs of two, the second are drawn, or the first count too.
        for n in 3..12 {
            let launches = launches(&vec![50; n], n as u32 - 1);
            let all = launches.iter().all(|launch| launch.1.is_some());
            assert!(!all || launches.iter().all(|launch| launch.1 == Some(1)), "{launches:?}");
        }
    }
}
