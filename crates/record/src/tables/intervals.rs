//! The columns of `intervals`: one row per interval of the whole machine.

use crate::column::{Column, count, ratio};
use crate::file::StreamedRow;
use crate::metrics::{self, SM_CYCLES, dram, queue_length_mean, quotient};
use warpmem_gpu::results::IntervalRow;

impl StreamedRow for IntervalRow {
    const TABLE: &'static str = "intervals";
    /// Few, as rows are wide and runs have few of them.
    const GROUP_ROWS: usize = 1 << 12;

    fn columns() -> Vec<Column<IntervalRow>> {
        let mut columns = time_and_work();
        columns.extend(memory());
        columns
    }
}

fn time_and_work() -> Vec<Column<IntervalRow>> {
    let mut columns = vec![
        count(
            "start_cycle",
            "core cycles",
            "First core cycle of the interval.",
            |r: &IntervalRow| r.start_cycle,
        ),
        count(
            "cycles",
            "core cycles",
            "Length. The last interval ends with the last CTA, and its counts of memory with memory: see dram_cycles.",
            |r: &IntervalRow| r.cycles,
        ),
    ];
    columns.extend(metrics::instructions::<IntervalRow>(
        |r| r.counts.sms.warp_instructions,
        |r| r.counts.sms.thread_instructions,
        |r| r.cycles,
    ));
    columns.extend(SM_CYCLES.into_iter().map(|(name, doc, get)| {
        let doc = format!("{doc} Sum over SMs.");
        count(name, "core cycles", &doc, move |r: &IntervalRow| get(&r.counts.sms))
    }));
    columns.push(metrics::schedulable_warps::<IntervalRow>(|r| &r.counts.sms));
    columns.push(count(
        "resident_warps",
        "warps",
        "Warps on the SMs at the end of the interval, those that pause or wait included.",
        |r: &IntervalRow| r.resident_warps,
    ));
    columns
}

fn memory() -> Vec<Column<IntervalRow>> {
    let mut columns = metrics::accesses::<IntervalRow>("l1", |r| &r.counts.sms.l1);
    columns.extend(metrics::accesses::<IntervalRow>("l2", |r| &r.counts.llc));
    columns.push(queue_length_mean(|r: &IntervalRow| &r.counts.llc_queues));
    columns.extend([
        count(
            "read_requests",
            "requests",
            "Read requests that L1 did not answer, merged ones too, and that came back in the interval.",
            |r: &IntervalRow| r.counts.read_requests,
        ),
        ratio(
            "latency_mean",
            "core cycles",
            "Mean latency of the read requests that came back in the interval.",
            |r: &IntervalRow| quotient(r.counts.read_latency, r.counts.read_requests),
        ),
        count(
            "requests_in_flight",
            "requests",
            "Requests anywhere between L1 and DRAM at the end of the interval, what the LLC asks for itself included.",
            |r: &IntervalRow| r.requests_in_flight,
        ),
    ]);
    columns.extend(dram::rows::<IntervalRow>(|r| r.counts.banks.clone()));
    columns.extend(dram::channel::<IntervalRow>(|r| &r.counts.channels));
    columns
}
