//! The columns of `requests`: one row per sampled request.

use crate::column::{Column, count, maybe_count, ratio, text};
use crate::file::GROUP_ROWS;
use crate::file::StreamedRow;
use warpmem_gpu::results::{DramTimes, RequestRow, Requester};

impl StreamedRow for RequestRow {
    const TABLE: &'static str = "requests";
    const GROUP_ROWS: usize = GROUP_ROWS;

    fn columns() -> Vec<Column<RequestRow>> {
        let mut columns = identity();
        columns.extend(times());
        columns
    }
}

fn identity() -> Vec<Column<RequestRow>> {
    let index =
        |name, doc, get: fn(&RequestRow) -> u32| count(name, "", doc, move |r| get(r).into());
    vec![
        of_warp("kernel", "", "Index of the launch in the trace", |r| r.kernel.into()),
        of_warp("cta", "", "Index of the CTA in its kernel", |r| r.cta.into()),
        of_warp("warp_in_cta", "", "Index of the warp in its CTA", |r| r.warp_in_cta.into()),
        of_warp("sm", "", "Index of the SM", |r| r.sm.into()),
        of_warp("warp_slot", "", "Slot of the warp on its SM", |r| r.warp_slot.into()),
        of_warp("pc", "bytes", "Program counter, from the start of the kernel", |r| r.pc),
        count("address", "bytes", "Address of its first sector.", |r: &RequestRow| r.address),
        text(
            "kind",
            "Kind: read, write, atomic, fetch of the rest of a partly written sector, or walk: a load of a page walk.",
            |r: &RequestRow| r.kind.name(),
        ),
        index("slice", "Index of the L2 slice that the SM or the walker accesses.", |r| r.slice),
        index("channel", "Index of the DRAM channel.", |r| r.channel),
        index("bank", "Index of the bank in its channel.", |r| r.bank),
        index("row", "Index of the row in its bank.", |r| r.row),
        index("offchip", "1 for a miss in the L2, else 0.", |r| u32::from(r.dram.is_some())),
    ]
}

/// Builds a column of the instruction of a request, which a load of a page walk has not.
fn of_warp(
    name: &str,
    unit: &'static str,
    doc: &str,
    get: fn(&Requester) -> u64,
) -> Column<RequestRow> {
    let doc = format!("{doc}; null for a walk.");
    maybe_count(name, unit, &doc, move |row: &RequestRow| row.requester.as_ref().map(get))
}

/// Returns the columns of the times at which a request passes each boundary, in order.
fn times() -> Vec<Column<RequestRow>> {
    let time = |name, doc, ticks: fn(&RequestRow) -> u64| {
        ratio(name, "core cycles", doc, move |r: &RequestRow| Some(cycles(r, ticks(r))))
    };
    let in_dram = |name, doc, ticks: fn(&DramTimes) -> u64| {
        let doc = format!("{doc}; null on-chip.");
        ratio(name, "core cycles", &doc, move |r: &RequestRow| {
            r.dram.as_ref().map(|times| cycles(r, ticks(times)))
        })
    };
    vec![
        time(
            "created",
            "Time of coalescing, or of the start of a load of a walk, from the start of the run.",
            |r| r.created,
        ),
        time("l1_missed", "Time of departure from L1 to the network, or from the walker.", |r| {
            r.l1_missed
        }),
        time("l2_arrived", "Time of arrival in the queue of its slice.", |r| r.l2_arrived),
        time("l2_served", "Time of its lookup in the tags of its slice.", |r| r.l2_served),
        in_dram("dram_entered", "Time of entry into the queue of its channel", |t| t.entered),
        in_dram("dram_started", "Time of its first DRAM command", |t| t.started),
        in_dram(
            "dram_finished",
            "Time of completion in DRAM, as defined by `dram.done_with`",
            |t| t.finished,
        ),
        time("replied", "Time of entry of its reply into the reply queue of its slice.", |r| {
            r.replied
        }),
        time("returned", "When it was back at its SM or walker.", |r| r.returned),
    ]
}

fn cycles(row: &RequestRow, ticks: u64) -> f64 {
    ticks as f64 / row.ticks_per_core_cycle as f64
}
