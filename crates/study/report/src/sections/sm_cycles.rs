//! Breakdown of the SM cycles.

use super::{compared_scopes, run_table};
use crate::columns::POLICY;
use crate::document::Section;
use crate::frame::long;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;
use warpmem_chart::{Axis, Chart, Kind, StackedBars};

/// Columns of the activities of an SM, with their titles.
pub const PARTS: [(&str, &str); 6] = [
    ("active_cycles", "active"),
    ("memory_block_cycles", "memory block"),
    ("dependency_stall_cycles", "dependency stall"),
    ("structural_stall_cycles", "structural stall"),
    ("barrier_cycles", "barrier"),
    ("no_warp_cycles", "no warp"),
];

pub fn section(study: &Study, shown: &Shown) -> anyhow::Result<Section> {
    let mut section = Section::new("sm-cycles", "Cycles of SMs").text(Prose::new(
        "Each cycle of an SM belongs to exactly one class, so the classes add up to the cycles of the run. In a memory block all resident warps wait for memory. In a structural stall the unit or the load/store queue that a ready warp needs is full, which a slow memory system also causes. Numbers are means over SMs.",
    ));
    for scope in compared_scopes(study, shown)? {
        let data = long(&scope.runs, &["trace", POLICY], &PARTS, "what", "cycles")?;
        let bars =
            StackedBars::new("trace", "what", "cycles", Axis::new("cycles", "%")).series(POLICY);
        let caption =
            format!("Activity of the SMs{}, in shares of the cycles of the run.", scope.on);
        let name = format!("sm-cycles{}", scope.file);
        section = section.figure(Chart::new(
            name,
            "Breakdown of SM cycles",
            caption,
            data,
            Kind::StackedBars(bars.shares()),
        ));
    }
    let columns =
        [&["cycles"][..], &PARTS.map(|(column, _)| column), &["schedulable_warps"]].concat();
    Ok(section.table(
        run_table(study, "sm-cycles-by-run", "Cycles of an SM in each run", &columns)?.folded(),
    ))
}
