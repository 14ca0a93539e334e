//! The columns of `intervals`: one row per interval of the whole machine.

use crate::column::{Column, count, ratio};
use crate::file::StreamedRow;
use crate::metrics::{self, quotient};
use warpmem_gpu::results::IntervalRow;

impl StreamedRow for IntervalRow {
    const TABLE: &'static str = "intervals";
    /// Small: rows are wide, and a run has few.
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
            "Length. The last interval ends with the last CTA, its memory counts when memory is idle (dram_cycles).",
            |r: &IntervalRow| r.cycles,
        ),
    ];
    columns.extend(metrics::instructions::<IntervalRow>(
        |r| r.counts.sms.warp_instructions,
        |r| r.counts.sms.thread_instructions,
        |r| r.cycles,
    ));
    columns.extend(metrics::stalls::<IntervalRow>(|r| &r.counts));
    columns.push(count(
        "resident_warps",
        "warps",
        "Resident warps at the end of the interval, paused and waiting ones included.",
        |r: &IntervalRow| r.resident_warps,
    ));
    columns
}

fn memory() -> Vec<Column<IntervalRow>> {
    let mut columns = metrics::caches::<IntervalRow>(|r| &r.counts);
    columns.extend([
        count(
            "read_requests",
            "requests",
            "Read requests that missed in L1, merged ones included, with their reply in the interval.",
            |r: &IntervalRow| r.counts.read_requests,
        ),
        ratio(
            "latency_mean",
            "core cycles",
            "Mean latency of these read requests.",
            |r: &IntervalRow| quotient(r.counts.read_latency, r.counts.read_requests),
        ),
        count(
            "requests_in_flight",
            "requests",
            "Requests in flight between L1 and DRAM at the end of the interval, the L2's own included.",
            |r: &IntervalRow| r.requests_in_flight,
        ),
    ]);
    columns.extend(metrics::channels::<IntervalRow>(|r| &r.counts));
    columns
}
