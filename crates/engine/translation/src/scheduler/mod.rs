//! Walk schedulers: which pending page walk a free walker takes.

mod fcfs;
mod simt_aware;
mod sjf;
mod warp_oldest;

use warpmem_params::{Entry, Registry};
use warpmem_sim::{NetworkCycle, SmId, Ticks};

/// A warp instruction in flight: its SM, and its row in the table of memory instructions there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionId {
    pub sm: SmId,
    pub access: u32,
}

/// A page walk that waits for a walker.
#[derive(Clone, Copy, Debug)]
pub struct PendingWalk {
    /// Instruction whose miss it serves; the first one if several merged.
    pub instruction: InstructionId,
    /// Time at which the first request of this instruction was created of those that wait here.
    pub issued: Ticks,
    /// Arrival at the queue.
    pub arrived: NetworkCycle,
    /// Loads that the walk needs, by the state of the walk caches at its arrival.
    pub loads: u32,
    /// Sum of these loads over all pending walks of its instruction.
    pub instruction_loads: u32,
    /// Younger walks that have started before it.
    pub overtaken: u32,
}

/// The pending walks as a scheduler sees them.
pub struct WalkView<'a> {
    /// In the order of arrival; not empty.
    pub pending: &'a [PendingWalk],
    /// Instruction of the walk that has started last.
    pub last: Option<InstructionId>,
}

impl WalkView<'_> {
    /// Returns the oldest walk whose instruction needs the fewest loads.
    fn shortest(&self) -> usize {
        let walks = self.pending.iter().enumerate();
        let (at, _) =
            walks.min_by_key(|(_, walk)| walk.instruction_loads).expect("a walk is pending");
        at
    }
}

/// A policy of the walk queue.
pub trait WalkScheduler: Send {
    /// Returns the index of the walk to start.
    fn choose(&mut self, view: &WalkView) -> usize;
}

/// All walk schedulers.
pub static WALK_SCHEDULERS: Registry<dyn WalkScheduler, ()> = Registry::new(
    "walk_scheduler",
    &[fcfs::ENTRY, sjf::ENTRY, simt_aware::ENTRY, warp_oldest::ENTRY],
);

type WalkEntry = Entry<dyn WalkScheduler, ()>;

#[cfg(test)]
mod testing {
    use super::*;

    /// Pending walks as (access, issued, loads of the instruction, overtaken), in the order of
    /// arrival.
    pub fn pending(walks: &[(u32, u64, u32, u32)]) -> Vec<PendingWalk> {
        let walk = |(at, &(access, issued, instruction_loads, overtaken)): (
            usize,
            &(u32, u64, u32, u32),
        )| {
            PendingWalk {
                instruction: InstructionId { sm: SmId(0), access },
                issued: Ticks(issued),
                arrived: NetworkCycle::new(at as u64),
                loads: 1,
                instruction_loads,
                overtaken,
            }
        };
        walks.iter().enumerate().map(walk).collect()
    }

    /// Returns the choice of `policy` after the start of a walk of instruction `last`.
    pub fn choice(policy: &str, last: u32, walks: &[(u32, u64, u32, u32)]) -> usize {
        let last = Some(InstructionId { sm: SmId(0), access: last });
        let mut scheduler = WALK_SCHEDULERS.build(policy, &()).unwrap();
        scheduler.choose(&WalkView { pending: &pending(walks), last })
    }
}
