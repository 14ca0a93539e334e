//! The policies of a machine, chosen once: from planning a run to building its units.

use crate::cta::scheduler::{CTA_SCHEDULERS, ChosenCtaScheduler};
use crate::ideal::{IDEALS, Ideal};
use crate::l2::queue::{ChosenQueue, L2_QUEUES};
use crate::sm::scheduler::{SmContext, WARP_SCHEDULERS, WarpScheduler};
use warpmem_dram::page::PAGE_POLICIES;
use warpmem_dram::prefetch::{PREFETCHERS, PrefetchContext, Prefetcher};
use warpmem_dram::scheduler::{Family, SCHEDULERS, SchedulerContext};
use warpmem_machine::Machine;
use warpmem_network::arbiter::ArbiterContext;
use warpmem_network::{self as network, Direction, NetworkPolicies};
use warpmem_params::{Chosen, PolicyError};
use warpmem_sim::SmId;
use warpmem_translation::scheduler::{WALK_SCHEDULERS, WalkScheduler};

/// The policy of every slot, with valid values of its parameters. A run builds each unit's policy
/// from it; the text of the machine's configuration is parsed here alone.
#[derive(Clone)]
pub struct ChosenPolicies {
    pub dram_scheduler: Chosen<dyn Family, SchedulerContext>,
    pub warp_scheduler: Chosen<dyn WarpScheduler, SmContext>,
    pub cta_scheduler: ChosenCtaScheduler,
    pub l2_queue: ChosenQueue,
    pub network: NetworkPolicies,
    pub prefetcher: Chosen<dyn Prefetcher, PrefetchContext>,
    pub walk_scheduler: Chosen<dyn WalkScheduler, ()>,
    pub ideal: Chosen<Ideal, Machine>,
}

impl ChosenPolicies {
    /// Chooses the policies that `machine` names.
    ///
    /// # Errors
    /// If a policy or a parameter does not exist, or a value is not valid.
    pub fn choose(machine: &Machine) -> Result<ChosenPolicies, PolicyError> {
        let policy = &machine.policy;
        Ok(ChosenPolicies {
            dram_scheduler: SCHEDULERS.choose(&policy.dram_scheduler)?,
            warp_scheduler: WARP_SCHEDULERS.choose(&policy.warp_scheduler)?,
            cta_scheduler: CTA_SCHEDULERS.choose(&policy.cta_scheduler)?,
            l2_queue: L2_QUEUES.choose(&policy.l2_queue)?,
            network: NetworkPolicies::choose(&machine.network_spec())?,
            prefetcher: PREFETCHERS.choose(&policy.prefetcher)?,
            walk_scheduler: WALK_SCHEDULERS.choose(&policy.walk_scheduler)?,
            ideal: IDEALS.choose(&policy.ideal)?,
        })
    }

    /// Checks that the policies and the page policy fit `machine`: that each builds one unit.
    ///
    /// # Errors
    /// If one does not fit.
    pub fn check(&self, machine: &Machine) -> Result<(), PolicyError> {
        PAGE_POLICIES.build(&machine.dram.page, &machine.dram)?;
        self.dram_scheduler.build(&machine.scheduler_context())?;
        self.warp_scheduler.build(&SmContext::of(machine, SmId(0)))?;
        self.cta_scheduler.build(machine)?;
        self.l2_queue.build(&machine.l2)?;
        network::routers(&machine.network_spec(), &self.network)?;
        let (direction, routers, outputs, banks) = (Direction::Request, 1, 1, 1);
        self.network.arbiter.build(&ArbiterContext { direction, routers, outputs, banks })?;
        self.prefetcher.build(&machine.prefetch_context())?;
        self.walk_scheduler.build(&())?;
        self.ideal.build(machine).map(drop)
    }
}
