//! Allocators: how the inputs and outputs of a router are matched. All are separable and input-first: every input
//! chooses one of the outputs it could use, then every output one of the inputs that chose it (Yuan 2009, Figure 7).

mod islip;

use crate::registry::{Entry, Registry};

/// One who chooses: an input among its virtual channels, or an output among inputs.
pub struct Choice<'a> {
    /// Who, counted over all routers of the network.
    pub chooser: usize,
    /// Candidates, one bit each; not empty.
    pub set: &'a [u64],
    /// Since when the packet of a candidate is in the network, network cycles.
    pub since: &'a dyn Fn(usize) -> u64,
}

/// The choices of a network's allocators.
pub trait Allocator: Send {
    /// Iterations of a match: in each, what is still free is matched.
    fn iterations(&self) -> u32;

    /// One of the candidates.
    fn choose(&mut self, choice: &Choice) -> usize;

    /// What `chooser` chose in `iteration`, from 0 on, has come about.
    fn accepted(&mut self, chooser: usize, chosen: usize, iteration: u32);
}

/// What an allocator is built for.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorContext {
    pub choosers: usize,
    /// What chance is drawn from: another in every network.
    pub seed: u64,
}

/// Every allocator.
pub static ALLOCATORS: Registry<dyn Allocator, AllocatorContext> =
    Registry { slot: "allocator", entries: &[islip::ENTRY] };

type AllocatorEntry = Entry<dyn Allocator, AllocatorContext>;

/// The first member of `set` from `first` on, or else its first.
pub(super) fn first_from(set: &[u64], first: usize) -> usize {
    let from = |first: usize| {
        (first / 64..set.len()).find_map(|word| {
            let below = if word == first / 64 { (1u64 << (first % 64)) - 1 } else { 0 };
            let bits = set[word] & !below;
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        })
    };
    from(first).or_else(|| from(0)).expect("there is a candidate")
}
