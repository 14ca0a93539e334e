//! Counts of the second-level TLB and of the page walks.

use serde::Serialize;
use warpmem_sim::add_fields;

/// The shared part of address translation over the run. Cycles are network cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TranslationResult {
    /// Lookups and hits in the TLBs of groups.
    pub group_lookups: u64,
    pub group_hits: u64,
    /// Lookups in the second-level TLB: the sum of hits, merges and walks.
    pub lookups: u64,
    pub hits: u64,
    /// Misses to a page whose walk was outstanding.
    pub merges: u64,
    /// Walks: one per miss that did not merge.
    pub walks: u64,
    /// Walks that filled the bypass cache in place of the TLB.
    pub diverted: u64,
    /// Loads of the walks; walk caches save the others.
    pub loads: u64,
    /// Loads of the walks that missed in the L2.
    pub offchip_loads: u64,
    /// Loads of the walks that allocated no line in the L2, by `vm.walk.l2_bypass`.
    pub bypassing_loads: u64,
    /// Time from the miss to the start of its walk, summed over walks.
    pub queue_cycles: u64,
    /// Time from the start to the end of a walk, summed over walks.
    pub walk_cycles: u64,
    /// Walks that waited, summed over the starts of walks.
    pub waiting: u64,
    /// Walks that started before an older one.
    pub overtakes: u64,
}

add_fields!(TranslationResult {
    group_lookups,
    group_hits,
    lookups,
    hits,
    merges,
    walks,
    diverted,
    loads,
    offchip_loads,
    bypassing_loads,
    queue_cycles,
    walk_cycles,
    waiting,
    overtakes,
});

impl TranslationResult {
    /// Whether nothing was looked up.
    pub fn is_empty(&self) -> bool {
        self.lookups + self.group_lookups == 0
    }
}
