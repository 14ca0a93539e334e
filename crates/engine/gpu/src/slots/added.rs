//! Policies that a program adds to the built-in ones.

use super::SLOTS;
use crate::cta::scheduler::{CTA_SCHEDULERS, CtaScheduler};
use crate::l2::queue::{L2_QUEUES, L2Queue};
use crate::sm::scheduler::{SmContext, WARP_SCHEDULERS, WarpScheduler};
use std::iter;
use warpmem_dram::Dram;
use warpmem_dram::page::{PAGE_POLICIES, PagePolicy};
use warpmem_dram::prefetch::{PREFETCHERS, PrefetchContext, Prefetcher};
use warpmem_dram::scheduler::{Family, SCHEDULERS, SchedulerContext};
use warpmem_machine::{L2, Machine};
use warpmem_network::allocator::{ALLOCATORS, Allocator, AllocatorContext};
use warpmem_network::arbiter::{ARBITERS, Arbiter, ArbiterContext};
use warpmem_network::{NetworkContext, TOPOLOGIES, Topology};
use warpmem_params::{AddError, Entry};
use warpmem_translation::scheduler::{WALK_SCHEDULERS, WalkScheduler};

/// A policy that a program can add: the entry of any slot.
pub trait Policy {
    /// Adds the policy to the built-in ones of its slot.
    ///
    /// # Errors
    /// [`AddError`] if its name is not valid or taken, or the program has already read the policies
    /// of the slot.
    fn add(self) -> Result<(), AddError>;
}

macro_rules! policies {
    ($($policy:ty, $context:ty => $registry:ident;)*) => {
        $(
            impl Policy for Entry<$policy, $context> {
                fn add(self) -> Result<(), AddError> {
                    $registry.add(self)
                }
            }
        )*

        /// Returns the names of all added policies.
        fn added() -> Vec<&'static str> {
            iter::empty()$(.chain($registry.added()))*.collect()
        }
    };
}

policies! {
    dyn Family, SchedulerContext => SCHEDULERS;
    dyn PagePolicy, Dram => PAGE_POLICIES;
    dyn Prefetcher, PrefetchContext => PREFETCHERS;
    dyn WarpScheduler, SmContext => WARP_SCHEDULERS;
    dyn CtaScheduler, Machine => CTA_SCHEDULERS;
    dyn L2Queue, L2 => L2_QUEUES;
    dyn Topology, NetworkContext => TOPOLOGIES;
    dyn Arbiter, ArbiterContext => ARBITERS;
    dyn Allocator, AllocatorContext => ALLOCATORS;
    dyn WalkScheduler, () => WALK_SCHEDULERS;
}

/// Returns whether a machine names a policy that the program has added, in a slot or as a parameter
/// of another policy, as in `fr-fcfs(page=own)`.
pub fn uses_added_policy(machine: &Machine) -> bool {
    let added = added();
    if added.is_empty() {
        return false;
    }
    let mut policies = machine.policy.clone();
    let in_slots = SLOTS.iter().map(|slot| slot.policy_of(&mut policies).clone());
    let others = [machine.dram.page.clone(), machine.network.allocator.clone()];
    let ends_name = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    in_slots.chain(others).any(|text| text.split(ends_name).any(|name| added.contains(&name)))
}
