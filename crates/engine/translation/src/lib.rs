//! Address translation: TLBs, page walks and their schedulers. A request that misses in the TLB of
//! its SM asks the [`Mmu`], which all SMs share; the loads of its page walks are requests to the L2
//! slices.

mod config;
mod counts;
mod groups;
mod misses;
mod mmu;
mod page_table;
mod placement;
pub mod scheduler;
mod second_level;
#[cfg(test)]
mod tests;
mod tlb;
mod tokens;
mod turns;
mod walk_cache;
mod walk_queue;
mod walkers;

pub use config::{GroupTlb, L1Tlb, L2Tlb, MAX_LEVELS, Tokens, Vm, Walk};
pub use counts::TranslationResult;
pub use mmu::Mmu;
pub use placement::Placement;
pub use tlb::Tlb;
pub use walkers::WalkLoad;
use warpmem_sim::PortId;

/// The ports between an SM and the translation unit.
#[derive(Clone, Copy, Debug)]
pub struct SmPorts {
    /// Pages that missed in the SM.
    pub requests: PortId,
    /// Their translations.
    pub replies: PortId,
}

/// The ports between the walkers and an L2 slice.
#[derive(Clone, Copy, Debug)]
pub struct SlicePorts {
    /// Loads of walks.
    pub requests: PortId,
    /// Their replies.
    pub replies: PortId,
}
