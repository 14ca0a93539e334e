//! Sums of raw counts over units of one kind, and differences between two times.

use super::{IntervalCounts, PrefetchCounts, QueueLength, QueueResult, SliceResult, SmResult};
use warpmem_cache::CacheCounts;
use warpmem_dram::{BankResult, ChannelResult};
use warpmem_network::StreamResult;
use warpmem_sim::Histogram;

/// The sum of `units`, count by count.
pub fn total<T: Total>(units: &[T]) -> T {
    units.iter().fold(T::default(), |mut sum, unit| {
        sum.add(unit);
        sum
    })
}

/// Counts that add up over units.
pub trait Total: Default {
    fn add(&mut self, other: &Self);
}

/// Counts that only grow.
pub trait Since {
    /// Subtracts `before`, an earlier state of the same counts.
    fn subtract(&mut self, before: &Self);
}

impl Since for u64 {
    fn subtract(&mut self, before: &u64) {
        *self -= before;
    }
}

impl<const N: usize> Since for [u64; N] {
    fn subtract(&mut self, before: &[u64; N]) {
        self.iter_mut().zip(before).for_each(|(mine, theirs)| *mine -= theirs);
    }
}

impl<T: Since> Since for Vec<T> {
    fn subtract(&mut self, before: &Vec<T>) {
        self.iter_mut().zip(before).for_each(|(mine, theirs)| mine.subtract(theirs));
    }
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

/// By value of something: that of a longer list is 0 in a shorter.
impl Total for Vec<u64> {
    fn add(&mut self, other: &Vec<u64>) {
        self.resize(self.len().max(other.len()), 0);
        self.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += theirs);
    }
}

impl Total for BankResult {
    fn add(&mut self, other: &BankResult) {
        *self += other;
    }
}

impl Total for ChannelResult {
    fn add(&mut self, other: &ChannelResult) {
        *self += other;
    }
}

/// Adds and subtracts field by field; the patterns name every field, so that a new one cannot be
/// forgotten.
macro_rules! count_fields {
    ($type:ident { $($field:ident),* $(,)? }) => {
        add_fields!($type { $($field),* });
        subtract_fields!($type { $($field),* });
    };
}

/// Subtracts field by field.
macro_rules! subtract_fields {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl Since for $type {
            fn subtract(&mut self, before: &$type) {
                let $type { $($field),* } = before;
                $(self.$field.subtract($field);)*
            }
        }
    };
}

/// Adds field by field.
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

count_fields!(CacheCounts {
    read_hits,
    read_misses,
    read_sector_misses,
    read_pending_hits,
    write_hits,
    write_misses,
    write_sector_misses,
    atomics,
    atomic_hits,
    atomic_misses,
    atomic_pending_hits,
    bypasses,
    writebacks,
    write_fetches,
    evictions,
    reservation_fails,
});

count_fields!(SmResult {
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

add_fields!(SliceResult {
    cache,
    dram_queue_full_cycles,
    mshr_merge_length,
    mshr_cycles,
    queue,
    prefetches,
});

add_fields!(QueueResult {
    arrivals,
    critical_fields,
    waiting_arrivals,
    wait_cycles,
    length,
    refused_cycles,
    rotations,
});

count_fields!(QueueLength { length_cycles, occupied_cycles });

add_fields!(PrefetchCounts { lines, used, late, redundant, dropped, evicted_unused, unused });

subtract_fields!(BankResult {
    reads,
    writes,
    activations,
    precharges,
    auto_precharges,
    row_hits,
    row_misses,
    row_conflicts,
    prefetched_lines,
    prefetch_reads,
    row_switches,
    stranded_switches,
    streak_breakers,
    outstanding_cycles,
    busy_cycles,
});

add_fields!(StreamResult { requests, rows });

subtract_fields!(ChannelResult {
    cycles,
    read_requests,
    write_requests,
    data_bus_busy_cycles,
    pending_cycles,
    bank_outstanding_cycles,
    any_bank_outstanding_cycles,
    bank_busy_cycles,
    any_bank_busy_cycles,
    occupancy_cycles,
    open_cycles,
    refreshes,
    bank_refreshes,
    turnarounds,
    write_drains,
    banks,
});

count_fields!(IntervalCounts {
    sms,
    read_requests,
    read_latency,
    llc,
    llc_queues,
    channels,
    banks
});
