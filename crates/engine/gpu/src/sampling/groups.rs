//! Groups of launches that are alike.
//!
//! GPU programs launch the same kernels repeatedly: layers of a network, iterations of a solver.
//! Launches are *alike* if they run the same kernel with CTAs of one shape, and their numbers of
//! CTAs, instructions and accesses by kind differ by at most 5 %. Addresses are not compared.

use std::collections::HashMap;
use warpmem_trace::{Kernel, Kind, Space};

/// Largest relative difference between launches that are alike.
const TOLERANCE: f64 = 0.05;

/// Groups the launches from `first` on that are alike, in launch order. Launches without CTAs belong to
/// no group.
pub(super) fn groups(kernels: &[Kernel], first: u32) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut of_program: HashMap<Program<'_>, Vec<usize>> = HashMap::new();
    let numbered = kernels.iter().zip(0..).skip(first as usize);
    for (kernel, launch) in numbered.filter(|(kernel, _)| kernel.ctas > 0) {
        let candidates = of_program.entry(program(kernel)).or_default();
        let first = |group: usize| &kernels[groups[group][0] as usize];
        match candidates.iter().find(|&&group| have_like_numbers(first(group), kernel)) {
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

/// Whether all launches of a group have the same numbers.
pub(super) fn are_equal(kernels: &[Kernel], group: &[u32]) -> bool {
    let of = |&launch: &u32| numbers(&kernels[launch as usize]);
    group.iter().all(|launch| of(launch).eq(of(&group[0])))
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

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_testing::{TestKernel, compute, trace};
    use warpmem_trace::OpClass;

    /// A kernel of one CTA with `instructions` instructions.
    fn kernel(instructions: usize) -> TestKernel {
        let warp = vec![compute(OpClass::Integer, &[]); instructions];
        TestKernel { name: Some("k".to_owned()), ..TestKernel::new(vec![vec![warp]]) }
    }

    #[test]
    fn skipped_launches_belong_to_no_group() {
        let kernels = [50, 50, 50].map(kernel);
        assert_eq!(groups(trace(&kernels).kernels(), 1), [vec![1, 2]]);
    }

    fn groups_of(kernels: &[TestKernel]) -> Vec<Vec<u32>> {
        groups(trace(kernels).kernels(), 0)
    }

    #[test]
    fn alike_launches_differ_from_the_first_by_at_most_5_percent() {
        let lengths = [100, 105, 95, 106, 94, 110].map(kernel);
        assert_eq!(groups_of(&lengths), [vec![0, 1, 2], vec![3, 5], vec![4]]);
        let trace = trace(&lengths);
        assert!(are_equal(trace.kernels(), &[4]) && !are_equal(trace.kernels(), &[0, 1, 2]));
    }

    #[test]
    fn kernels_with_other_names_or_shapes_are_not_alike() {
        let [mut named, mut shaped, mut wide] = [kernel(50), kernel(50), kernel(50)];
        named.name = Some("other".to_owned());
        shaped.shared_bytes = 512;
        wide.threads = 64;
        let empty = TestKernel { name: Some("k".to_owned()), ..TestKernel::new(vec![]) };
        let kernels = [kernel(50), named, shaped, wide, empty, kernel(50)];
        assert_eq!(groups_of(&kernels), [vec![0, 5], vec![1], vec![2], vec![3]]);
    }
}
