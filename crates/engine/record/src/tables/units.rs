//! The columns of kernels, SMs, L2 slices, DRAM channels, banks and policy counters.

use super::rows::{BankRow, CounterRow, UnitRow};
use crate::column::{Column, count, ratio, text};
use crate::metrics::{self, SM_CYCLES, dram, energy, l2, network, quotient};
use warpmem_gpu::results::IntervalCounts;
use warpmem_sim::total;

const STANDS_FOR: &str = "Launches that it represents in the counts of the run, itself included \
     ([sampled runs](sampling.md#sampled-runs)).";

const ALIKE: &str = "Index of the first launch that is alike, which names the group of a [sampled run](sampling.md#sampled-runs); \
     its own index if nothing is sampled.";

/// Returns the columns of `kernels`: one row per kernel launch.
pub(crate) fn kernel_columns() -> Vec<Column<UnitRow>> {
    let mut columns = metrics::key::<UnitRow>(|row| &row.run.key);
    columns.extend([
        count("kernel", "", "Index of the launch in the trace.", |row: &UnitRow| {
            row.kernel().launch.into()
        }),
        text("name", "Name of the kernel.", |row: &UnitRow| &row.kernel().name),
        count("alike", "", ALIKE, |row: &UnitRow| row.kernel().like.into()),
        count("stands_for", "launches", STANDS_FOR, |row: &UnitRow| row.kernel().stands_for.into()),
        count(
            "start_cycle",
            "core cycles",
            "Launch of its first CTA; of a profiled kernel (`run.launch`), its start.",
            |row: &UnitRow| row.kernel().start_cycle,
        ),
        count("end_cycle", "core cycles", "Completion of its last CTA.", |row: &UnitRow| {
            row.kernel().end_cycle
        }),
        count(
            "cycles",
            "core cycles",
            "end_cycle - start_cycle; extrapolated if not all CTAs are simulated.",
            kernel_cycles,
        ),
        count("ctas", "CTAs", "CTAs of the launch.", |row: &UnitRow| row.kernel().ctas),
        count(
            "simulated_ctas",
            "CTAs",
            "Simulated CTAs; the others are extrapolated from them.",
            |row: &UnitRow| row.kernel().simulated_ctas,
        ),
    ]);
    columns.extend(metrics::instructions::<UnitRow>(
        |row| row.kernel().warp_instructions,
        |row| row.kernel().thread_instructions,
        kernel_cycles,
    ));
    columns
        .extend(counted_columns().into_iter().map(|column| column.null_unless(UnitRow::is_alone)));
    columns
}

/// Returns the columns of the units' counts from the start of a kernel to the start of the next.
fn counted_columns() -> Vec<Column<UnitRow>> {
    let mut columns = metrics::stalls::<UnitRow>(UnitRow::kernel_counts);
    columns.extend(metrics::caches::<UnitRow>(UnitRow::kernel_counts));
    columns.extend([
        count(
            "read_requests",
            "requests",
            "Read requests that missed in L1, merged ones included.",
            |row: &UnitRow| row.kernel_counts().read_requests,
        ),
        ratio("latency_mean", "core cycles", "Mean latency of these read requests.", |row| {
            let counts: &IntervalCounts = UnitRow::kernel_counts(row);
            quotient(counts.read_latency, counts.read_requests)
        }),
    ]);
    columns.extend(metrics::channels::<UnitRow>(UnitRow::kernel_counts));
    columns.extend(dram::data::<UnitRow>(
        |row| row.kernel_counts().banks.clone(),
        |row| &row.run,
        kernel_dram_cycles,
    ));
    columns.extend(energy::<UnitRow>(
        |row| row.run.energy(&row.kernel_counts().channels, &row.kernel_counts().banks),
        |row| row.run.bytes(&row.kernel_counts().banks),
    ));
    columns
}

/// Returns the DRAM cycles of a channel over which a kernel was counted.
fn kernel_dram_cycles(row: &UnitRow) -> u64 {
    let channels = row.run.result.channels.len().max(1) as u64;
    row.kernel_counts().channels.cycles / channels
}

fn kernel_cycles(row: &UnitRow) -> u64 {
    metrics::kernel_cycles(row.kernel())
}

/// Returns the columns of `sms`: one row per SM.
pub(crate) fn sm_columns() -> Vec<Column<UnitRow>> {
    let mut columns = unit_key("sm", "Index of the SM.");
    columns.extend(metrics::instructions::<UnitRow>(
        |row| row.sm().warp_instructions,
        |row| row.sm().thread_instructions,
        |row| row.run.result.core_cycles,
    ));
    columns.extend(metrics::work::<UnitRow>(UnitRow::sm));
    columns.extend(SM_CYCLES.into_iter().map(|(name, doc, get)| {
        count(name, "core cycles", doc, move |row: &UnitRow| get(row.sm()))
    }));
    columns.push(metrics::schedulable_warps::<UnitRow>(UnitRow::sm));
    columns.extend(metrics::cache::<UnitRow>("l1", |row| &row.sm().l1));
    columns.extend(metrics::tlb::<UnitRow>(|row| &row.sm().tlb));
    columns.push(network::row_locality_before::<UnitRow>(|row| {
        network::requests(&row.run)?.before.get(row.unit)
    }));
    columns
}

/// Returns the columns of `slices`: one row per L2 slice.
pub(crate) fn slice_columns() -> Vec<Column<UnitRow>> {
    let mut columns = unit_key("slice", "Index of the L2 slice.");
    columns.push(count("channel", "", "Index of the slice's DRAM channel.", |row: &UnitRow| {
        row.unit as u64 / u64::from(row.run.key.machine.l2.slices_per_channel.max(1))
    }));
    columns.extend(l2::<UnitRow>(UnitRow::slice));
    columns
}

/// Returns the columns of `channels`: one row per DRAM channel.
pub(crate) fn channel_columns() -> Vec<Column<UnitRow>> {
    let mut columns = unit_key("channel", "Index of the DRAM channel.");
    columns.extend(dram::bank::<UnitRow>(|row| total(&row.channel().banks)));
    columns.push(network::row_locality_after::<UnitRow>(|row| {
        network::requests(&row.run)?.after.get(row.unit)
    }));
    columns.extend(dram::channel::<UnitRow>(UnitRow::channel));
    columns.extend(dram::data::<UnitRow>(
        |row| total(&row.channel().banks),
        |row| &row.run,
        |row| row.run.dram_cycles(),
    ));
    columns.extend(energy::<UnitRow>(
        |row| row.run.energy(row.channel(), &total(&row.channel().banks)),
        |row| row.run.bytes(&total(&row.channel().banks)),
    ));
    columns
}

/// Returns the columns of `banks`: one row per DRAM bank.
pub(crate) fn bank_columns() -> Vec<Column<BankRow>> {
    let mut columns = metrics::key::<BankRow>(|row| &row.run.key);
    columns.extend([
        count("channel", "", "Index of the DRAM channel.", |row: &BankRow| row.channel as u64),
        count("bank", "", "Index of the bank in its channel.", |row: &BankRow| row.bank as u64),
    ]);
    columns.extend(dram::bank::<BankRow>(|row| row.counts().clone()));
    columns
}

/// Returns the columns of `policy_counters`: one row per unit and counter of a policy.
pub(crate) fn counter_columns() -> Vec<Column<CounterRow>> {
    let mut columns = metrics::key::<CounterRow>(|row| &row.run.key);
    columns.extend([
        text("unit", "Kind of the unit: channel, slice, sm or machine.", |row: &CounterRow| {
            row.counter().unit
        }),
        count("index", "", "Index of the unit.", |row: &CounterRow| row.counter().index.into()),
        text("policy", "Policy of the counter.", |row: &CounterRow| &row.counter().policy),
        text(
            "counter",
            "Name of the counter, defined on the policy's page.",
            |row: &CounterRow| row.counter().counter,
        ),
        count("value", "", "Value, in the unit of its definition.", |row: &CounterRow| {
            row.counter().value
        }),
    ]);
    columns
}

fn unit_key(name: &str, doc: &str) -> Vec<Column<UnitRow>> {
    let mut columns = metrics::key::<UnitRow>(|row| &row.run.key);
    columns.push(count(name, "", doc, |row: &UnitRow| row.unit as u64));
    columns
}
