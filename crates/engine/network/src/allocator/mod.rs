//! Allocators: the matching of inputs and outputs of a router. All are separable and input-first:
//! every input chooses one of the outputs that it could use, then every output chooses one of the
//! inputs that chose it (Yuan 2009, Figure 7). An allocator keeps only its pointers; requests and
//! flits belong to the router.

mod islip;
mod oldest_first;
mod pim;
mod round_robin;
#[cfg(test)]
mod tests;

use warpmem_params::{Entry, Registry, params};
use warpmem_sim::{NetworkCycle, bits};
use warpmem_support::random::Random;

/// A choice to make: by an input among its virtual channels, or by an output among inputs.
pub struct CandidateSet<'a> {
    /// Number of the choosing input or output, over all routers of the network.
    pub chooser: usize,
    /// Candidates, one bit each; not empty.
    pub set: &'a [u64],
    /// Network cycle in which the packet of a candidate could first enter the network.
    pub since: &'a dyn Fn(usize) -> NetworkCycle,
}

/// An allocator of a network, shared by all its routers.
pub trait Allocator: Send {
    /// Returns the iterations per match: each matches the inputs and outputs that are still free.
    fn iterations(&self) -> u32;

    /// Chooses one of the candidates.
    fn choose(&mut self, choice: &CandidateSet) -> usize;

    /// Reports that `chooser` has been matched with `chosen` in `iteration`, counted from 0.
    fn accepted(&mut self, _chooser: usize, _chosen: usize, _iteration: u32) {}
}

/// The properties of the network that an allocator is built from.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorContext {
    pub choosers: usize,
    /// Seed of its random choices; differs between networks.
    pub seed: u64,
}

/// All allocators.
pub static ALLOCATORS: Registry<dyn Allocator, AllocatorContext> = Registry::new(
    "allocator",
    &[islip::ENTRY, pim::ENTRY, round_robin::ENTRY, oldest_first::ENTRY],
);

type AllocatorEntry = Entry<dyn Allocator, AllocatorContext>;

params! {
    /// The parameter of every allocator.
    struct Parameters {
        /// matching iterations per cycle, each over the free inputs and outputs
        iterations: u32 = 1, in 1..=16, unit "iterations";
    }
}

/// Returns the first member of `set` at or after `first`, cyclically.
pub(super) fn first_from(set: &[u64], first: usize) -> usize {
    bits::round_robin(set, first).expect("there is a candidate")
}

/// Returns the member of `set` that has waited longest, the first of equals.
pub(super) fn oldest(set: &[u64], since: impl Fn(usize) -> NetworkCycle) -> usize {
    bits::members(set).min_by_key(|&member| since(member)).expect("there is a candidate")
}

/// Returns a random member of `set`, all equally likely.
pub(super) fn any(set: &[u64], random: &mut Random) -> usize {
    let count = set.iter().map(|word| word.count_ones()).sum();
    bits::members(set).nth(random.index(count) as usize).expect("there is a candidate")
}
