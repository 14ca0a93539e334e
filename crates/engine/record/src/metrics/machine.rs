//! The metrics of the whole machine in a part of a run: in an interval, or of a kernel.

use super::{SM_CYCLES, accesses, dram, queue_length_mean, schedulable_warps};
use crate::column::{Column, count};
use warpmem_gpu::results::IntervalCounts;

/// Where the cycles of all SMs go.
pub(crate) fn stalls<R: 'static>(of: fn(&R) -> &IntervalCounts) -> Vec<Column<R>> {
    let cycles = SM_CYCLES.into_iter().map(|(name, doc, get)| {
        let doc = format!("{doc} Sum over SMs.");
        count(name, "core cycles", &doc, move |row| get(&of(row).sms))
    });
    let schedulable = schedulable_warps(move |row| &of(row).sms);
    cycles.chain([schedulable]).collect()
}

/// Accesses of all L1s and of the L2, and the length of its queues.
pub(crate) fn caches<R: 'static>(of: fn(&R) -> &IntervalCounts) -> Vec<Column<R>> {
    let mut columns = accesses("l1", move |row| &of(row).sms.l1);
    columns.extend(accesses("l2", move |row| &of(row).l2));
    columns.push(queue_length_mean(move |row| &of(row).l2_queues));
    columns
}

/// Rows, commands and cycles of all DRAM channels.
pub(crate) fn channels<R: 'static>(of: fn(&R) -> &IntervalCounts) -> Vec<Column<R>> {
    let mut columns = dram::rows(move |row| of(row).banks.clone());
    columns.extend(dram::channel(move |row| &of(row).channels));
    columns
}
