//! Policies of a program of one's own: the traits, types and macros that a policy needs, by slot.
//!
//! A policy is a constant `Entry`: its description ([`PolicyInfo`]), with the parameters that
//! [`params!`](crate::params!) declares, and the constructor of the object that implements the
//! trait of its slot. `warpmem::cli().with(ENTRY)` adds it to the command line; a program without
//! the command line calls [`Policy::add`] before its first simulation.
//!
//! The id of a run under an added policy includes a hash of the program's file. A resumed sweep
//! therefore repeats such runs with every changed program, and only these.
//!
//! `docs/extending.md` has a complete program.

pub use crate::slots::Policy;
pub use warpmem_params::{
    Adaptive, AddError, Choice, Complexity, Counter, Given, PolicyError, PolicyInfo, Registry,
    Shape, bits, choice, params,
};

/// DRAM schedulers: which request a bank serves next.
pub mod dram {
    pub use warpmem_dram::scheduler::{
        BankSet, BankView, ChannelView, Event, Family, Queue, QueueView, Queued, Ready, RowView,
        Scheduler, SchedulerContext, Shared, SharingFamily, Slot, Traits,
    };
    pub use warpmem_dram::{CommandKind, Dram, DramRequest, order_of_service};
    pub use warpmem_sim::{BankId, DramCycle, Needs, RowId};

    /// The entry of a DRAM scheduler.
    pub type Entry = warpmem_params::Entry<dyn Family, SchedulerContext>;
}

/// Page policies: when a row that no request in service needs is closed.
pub mod page {
    pub use warpmem_dram::Dram;
    pub use warpmem_dram::page::{PagePolicy, PageView};
    pub use warpmem_sim::DramCycle;

    /// The entry of a page policy.
    pub type Entry = warpmem_params::Entry<dyn PagePolicy, Dram>;
}

/// Memory-side prefetchers: which lines of an open row a channel prefetches.
pub mod prefetch {
    pub use warpmem_dram::prefetch::{OpenRow, PrefetchContext, Prefetcher, Trigger};

    /// The entry of a prefetcher.
    pub type Entry = warpmem_params::Entry<dyn Prefetcher, PrefetchContext>;
}

/// Warp schedulers: which ready warp issues next.
pub mod warp {
    pub use warpmem_gpu::sm::scheduler::{
        CtaSlot, Needs, ResidentCta, SchedulerId, SmContext, WarpScheduler, WarpView, first_from,
    };
    pub use warpmem_sim::{CoreCycle, SmId, WarpSlot};

    /// The entry of a warp scheduler.
    pub type Entry = warpmem_params::Entry<dyn WarpScheduler, SmContext>;
}

/// CTA schedulers: which SM takes the next CTA.
pub mod cta {
    pub use warpmem_gpu::cta::scheduler::{CtaScheduler, DispatchView, KernelStart};
    pub use warpmem_gpu::sm::{CtaEnd, IdleCycles, Issued};
    pub use warpmem_machine::Machine;
    pub use warpmem_sim::{CoreCycle, SmId};

    /// The entry of a CTA scheduler.
    pub type Entry = warpmem_params::Entry<dyn CtaScheduler, Machine>;
}

/// L2 queues: which waiting request an L2 slice serves next.
pub mod l2 {
    pub use warpmem_gpu::l2::queue::L2Queue;
    pub use warpmem_machine::L2;
    pub use warpmem_sim::{Request, RequestId, RequestKind};

    /// The entry of an L2 queue.
    pub type Entry = warpmem_params::Entry<dyn L2Queue, L2>;
}

/// Topologies: how the networks connect SMs and L2 slices.
pub mod topology {
    pub use warpmem_network::ids::{DestinationId, SourceId};
    pub use warpmem_network::{
        Direction, LinkEnd, LinkResult, Network, NetworkContext, NetworkResult, NodeResult,
        PacketSizes, Placement, Ports, StreamResult, Topology,
    };
    pub use warpmem_sim::{Context, NetworkClock, NetworkCycle, PortId, RequestId};

    /// The entry of a topology.
    pub type Entry = warpmem_params::Entry<dyn Topology, NetworkContext>;
}

/// Arbitration rules: which input an output of a network serves next.
pub mod arbiter {
    pub use warpmem_network::Direction;
    pub use warpmem_network::arbiter::{
        Arbiter, ArbiterContext, Contest, Inputs, Output, PacketView,
    };
    pub use warpmem_sim::{NetworkCycle, RowId};

    /// The entry of an arbitration rule.
    pub type Entry = warpmem_params::Entry<dyn Arbiter, ArbiterContext>;
}

/// Allocators: how a router matches its inputs and outputs.
pub mod allocator {
    pub use warpmem_network::allocator::{Allocator, AllocatorContext, CandidateSet};
    pub use warpmem_sim::NetworkCycle;

    /// The entry of an allocator.
    pub type Entry = warpmem_params::Entry<dyn Allocator, AllocatorContext>;
}

/// Walk schedulers: which pending page walk a free walker takes.
pub mod walk {
    pub use warpmem_sim::{NetworkCycle, SmId, Ticks};
    pub use warpmem_translation::scheduler::{InstructionId, PendingWalk, WalkScheduler, WalkView};

    /// The entry of a walk scheduler.
    pub type Entry = warpmem_params::Entry<dyn WalkScheduler, ()>;
}
