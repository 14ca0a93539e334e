//! The metrics of the whole machine over an interval or a kernel.

use super::{SM_CYCLES, accesses, dram, queue_length_mean, schedulable_warps};
use crate::column::{Column, count};
use warpmem_gpu::results::IntervalCounts;

/// Returns the breakdown of the cycles of all SMs.
pub(crate) fn stalls<R: 'static>(of: fn(&R) -> &IntervalCounts) -> Vec<Column<R>> {
    let cycles = SM_CYCLES.into_iter().map(|(name, doc, get)| {
        let doc = format!("{doc} Sum over SMs.");
        count(name, "core cycles", &doc, move |row| get(&of(row).sms))
    });
    let schedulable = schedulable_warps(move |row| &of(row).sms);
    cycles.chain([schedulable]).collect()
}

/// Returns the accesses of all L1s and the L2, and the L2's queue lengths.
pub(crate) fn caches<R: 'static>(of: fn(&R) -> &IntervalCounts) -> Vec<Column<R>> {
    let mut columns = accesses("l1", move |row| &of(row).sms.l1);
    columns.extend(accesses("l2", move |row| &of(row).l2));
    columns.push(queue_length_mean(move |row| &of(row).l2_queues));
    columns
}

/// Returns rows, commands and cycles of all DRAM channels.
pub(crate) fn channels<R: 'static>(of: fn(&R) -> &IntervalCounts) -> Vec<Column<R>> {
    let mut columns = dram::rows(move |row| of(row).banks.clone());
    columns.extend(dram::channel(move |row| &of(row).channels));
    columns
}
