//! The configuration of a slice, which no step changes.

use super::set_key::SetKey;
use warpmem_cache::{FetchUse, ThroughMiss, WriteAllocate, WritePolicy};
use warpmem_machine::{self as machine, Machine};
use warpmem_sim::{CoreClock, Domain, L2Clock, SliceId, UnitId};

#[derive(Clone, Copy)]
pub(super) struct Spec {
    pub id: SliceId,
    pub unit: UnitId,
    pub clock: L2Clock,
    /// There is a cache (`l2.enabled`).
    pub cached: bool,
    /// Every request hits.
    pub perfect: bool,
    /// Every kernel finds an empty cache (`run.cold_launches`).
    pub cold_launches: bool,
    /// Reads that stores make necessary carry the store's SM, so that merges are counted for that
    /// SM (GPGPU-Sim, `data_cache::wr_miss_wa_naive`).
    pub fetches_have_sm: bool,
    /// L2 cycles of an atomic at the tags, per lane at one address.
    pub atomic_cycles: u32,
    /// Width of the data port and of the fill port, bytes; 0: unlimited.
    pub port_bytes: u32,
    /// Limit on the `evict_last` lines of a set.
    pub most_kept: u32,
    /// Latency from the tags to the DRAM channel, ticks.
    pub to_dram_ticks: u64,
    pub set_key: SetKey,
}

impl Spec {
    /// `core` is the clock of the latencies given in core cycles.
    pub fn new(machine: &Machine, id: SliceId, clock: L2Clock, core: CoreClock) -> Spec {
        let config = &machine.l2;
        Spec {
            id,
            unit: UnitId { domain: Domain::L2, index: id.0.into() },
            clock,
            cached: config.enabled,
            perfect: false,
            cold_launches: machine.run.cold_launches,
            fetches_have_sm: config.cache.write_allocate == WriteAllocate::SendAndFetch,
            atomic_cycles: config.atomic_cycles,
            port_bytes: config.port_bytes,
            most_kept: config.kept_ways,
            to_dram_ticks: u64::from(config.to_dram_latency) * core.period(),
            set_key: SetKey::new(machine),
        }
    }

    /// Returns the cycles in which `bytes` pass the data port or the fill port.
    pub fn port_cycles(&self, bytes: u32) -> u64 {
        match self.port_bytes {
            0 => 1,
            port => bytes.div_ceil(port).max(1).into(),
        }
    }
}

/// Returns the rules in which a slice differs from an L1.
pub(super) fn cache_rules(config: &machine::Cache) -> warpmem_cache::Rules {
    let rules = warpmem_cache::Rules::new(config, FetchUse::Join, ThroughMiss::Pass);
    match config.write {
        // A store updates the line it hits and is forwarded, as under write-through.
        WritePolicy::WriteEvict => {
            warpmem_cache::Rules { write: WritePolicy::WriteThrough, ..rules }
        }
        _ => rules,
    }
}
