//! Sums of raw counts over units of one kind.

use super::{
    BankResult, CacheCounts, ChannelResult, Histogram, PrefetchCounts, QueueResult, SliceResult,
    SmResult, StreamResult,
};

/// The sum of `units`, count by count.
pub(super) fn total<T: Total>(units: &[T]) -> T {
    units.iter().fold(T::default(), |mut sum, unit| {
        sum.add(unit);
        sum
    })
}

/// Counts that add up over units.
pub(super) trait Total: Default {
    fn add(&mut self, other: &Self);
}

impl Total for u64 {
    fn add(&mut self, other: &u64) {
        *self += other;
    }
}

impl<const N: usize> Total for [u64; N]
where
    [u64; N]: Default,
{
    fn add(&mut self, other: &[u64; N]) {
        self.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += theirs);
    }
}

impl Total for Histogram {
    fn add(&mut self, other: &Histogram) {
        self.merge(other);
    }
}

/// The banks of all channels, one after the other.
impl Total for Vec<BankResult> {
    fn add(&mut self, other: &Vec<BankResult>) {
        self.extend_from_slice(other);
    }
}

/// Adds field by field; the pattern names every field, so that a new one cannot be forgotten.
macro_rules! add_fields {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl Total for $type {
            fn add(&mut self, other: &$type) {
                let $type { $($field),* } = other;
                $(self.$field.add($field);)*
            }
        }
    };
}

add_fields!(CacheCounts {
    read_hits,
    read_misses,
    read_sector_misses,
    read_pending_hits,
    write_hits,
    write_misses,
    write_sector_misses,
    atomics,
    bypasses,
    writebacks,
    write_fetches,
    evictions,
    reservation_fails,
});

add_fields!(SmResult {
    warp_instructions,
    thread_instructions,
    warp_instructions_by_class,
    memory_instructions,
    requesting_instructions,
    requested_channels,
    requested_banks,
    active_cycles,
    no_warp_cycles,
    memory_block_cycles,
    dependency_stall_cycles,
    structural_stall_cycles,
    barrier_cycles,
    ready_warp_cycles,
    ctas,
    l1,
    shared_accesses,
    shared_bank_conflict_cycles,
});

add_fields!(SliceResult { cache, mshr_merge_length, mshr_cycles, queue, prefetches });

add_fields!(QueueResult {
    arrivals,
    critical_fields,
    waiting_arrivals,
    wait_cycles,
    length_cycles,
    occupied_cycles,
    refused_cycles,
    rotations,
});

add_fields!(PrefetchCounts { lines, used, late, redundant, dropped, evicted_unused, unused });

add_fields!(BankResult {
    reads,
    writes,
    activations,
    precharges,
    row_hits,
    row_misses,
    row_conflicts,
    prefetched_lines,
    prefetch_reads,
    row_switches,
    stranded_switches,
    streak_breakers,
});

add_fields!(StreamResult { requests, rows });

add_fields!(ChannelResult {
    cycles,
    data_bus_busy_cycles,
    pending_cycles,
    bank_outstanding_cycles,
    any_bank_outstanding_cycles,
    bank_busy_cycles,
    any_bank_busy_cycles,
    queue_occupancy_cycles,
    open_cycles,
    refreshes,
    bank_refreshes,
    turnarounds,
    write_drains,
    banks,
});
