//! The columns of `loads`: one row per load warp instruction.

use crate::column::{Column, count, maybe_count, maybe_signed};
use crate::file::GROUP_ROWS;
use crate::file::StreamedRow;
use warpmem_gpu::results::LoadRow;

impl StreamedRow for LoadRow {
    const TABLE: &'static str = "loads";
    const GROUP_ROWS: usize = GROUP_ROWS;

    fn columns() -> Vec<Column<LoadRow>> {
        let counted = |name, unit, doc, get: fn(&LoadRow) -> u64| count(name, unit, doc, get);
        vec![
            counted("kernel", "", "Index of the launch in the trace.", |l| l.kernel.into()),
            counted("cta", "", "Index of the CTA in its kernel.", |l| l.cta.into()),
            counted("warp_in_cta", "", "Index of the warp in its CTA.", |l| l.warp_in_cta.into()),
            counted("sm", "", "Index of the SM.", |l| l.sm.into()),
            counted("warp_slot", "", "Slot of the warp on its SM.", |l| l.warp_slot.into()),
            counted("pc", "bytes", "Program counter, from the start of the kernel.", |l| l.pc),
            counted("issue_cycle", "core cycles", "Issue, from the start of the run.", |l| {
                l.issue_cycle
            }),
            counted(
                "load_time",
                "core cycles",
                "Latency from issue to the last datum [WMC Fig 4b].",
                |l| l.load_time,
            ),
            counted("requests", "requests", "Requests after coalescing [CaLRS Fig 4].", |l| {
                l.requests.into()
            }),
            counted(
                "offchip_requests",
                "requests",
                "Off-chip requests: misses in the L2 [WMC Fig 3].",
                |l| l.offchip_requests.into(),
            ),
            counted(
                "channels",
                "channels",
                "Distinct channels of the requests [Yuan Fig 14].",
                |l| l.channels.into(),
            ),
            counted("banks", "banks", "Distinct banks of the requests [Yuan Fig 14].", |l| {
                l.banks.into()
            }),
            counted(
                "pages",
                "pages",
                "Distinct pages of the requests; 0 without address translation.",
                |l| l.pages.into(),
            ),
            counted(
                "translation_cycles",
                "core cycles",
                "Longest wait of a request for its translation.",
                |l| l.translation_cycles.into(),
            ),
            maybe_count(
                "translation_divergence",
                "core cycles",
                "Longest minus shortest wait of its requests that waited for translations, or of its pages in front of L1 \
                 [Shin]; null with fewer than two of them.",
                |l: &LoadRow| l.translation_divergence.map(u64::from),
            ),
            maybe_count(
                "divergence",
                "core cycles",
                "Difference in turnaround between the slowest and the fastest off-chip request [WMC Fig 4a]; null with fewer \
                 than two of them.",
                |l: &LoadRow| l.divergence,
            ),
            maybe_signed(
                "in_mc_divergence",
                "core cycles",
                "Difference in memory-controller time between the slowest and the fastest off-chip request; over \
                 divergence, the load's in_mc_fraction [WMC Fig 6].",
                |l: &LoadRow| l.in_mc_divergence,
            ),
        ]
    }
}
