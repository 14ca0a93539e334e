//! The leading columns of every table.

use crate::RunKey;
use crate::column::{Column, text};

/// Returns the key of a run in every table: run id, trace, machine and the policy of every slot.
pub fn key<R: 'static>(of: fn(&R) -> &RunKey) -> Vec<Column<R>> {
    vec![
        text(
            "run_id",
            "64-bit FNV-1a hash of trace content, machine parameters, policies and engine version, \
             in hexadecimal.",
            move |row| of(row).run_id(),
        ),
        text("trace", "Name of the trace.", move |row| &of(row).trace),
        text("machine", "Name of the machine.", move |row| &of(row).machine.name),
        text(
            "overrides",
            "Overrides of machine parameters, `key=value` separated by semicolons; empty without any.",
            move |row| of(row).overrides(),
        ),
        text("dram_scheduler", "DRAM scheduler and its parameters.", move |row| {
            &of(row).machine.policy.dram_scheduler
        }),
        text("warp_scheduler", "Warp scheduler and its parameters.", move |row| {
            &of(row).machine.policy.warp_scheduler
        }),
        text("cta_scheduler", "CTA scheduler and its parameters.", move |row| {
            &of(row).machine.policy.cta_scheduler
        }),
        text("l2_queue", "Queue policy of the L2 slices and its parameters.", move |row| {
            &of(row).machine.policy.l2_queue
        }),
        text("topology", "Network topology and its parameters.", move |row| {
            &of(row).machine.policy.topology
        }),
        text("arbiter", "Arbitration rule of the network and its parameters.", move |row| {
            &of(row).machine.policy.arbiter
        }),
        text("prefetcher", "Prefetcher and its parameters.", move |row| {
            &of(row).machine.policy.prefetcher
        }),
        text("walk_scheduler", "Scheduler of page walks and its parameters.", move |row| {
            &of(row).machine.policy.walk_scheduler
        }),
        text("ideal", "Idealisation of the machine, and its parameters.", move |row| {
            &of(row).machine.policy.ideal
        }),
    ]
}

/// Returns the key columns of tables with a file per run.
pub(crate) fn run_key_columns() -> Vec<Column<RunKey>> {
    key::<RunKey>(|key| key)
}
