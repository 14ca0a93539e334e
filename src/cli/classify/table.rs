//! Classes as a table.

use super::super::run_row::shown;
use crate::study::classify::{Classified, Ideal};
use warpmem_support::text::aligned;

/// A column: its heading, in three lines, and its cells.
struct Column {
    heading: [&'static str; 3],
    cell: fn(&Classified) -> String,
}

const fn column(heading: [&'static str; 3], cell: fn(&Classified) -> String) -> Column {
    Column { heading, cell }
}

/// Name of the trace, then for each paper its metrics and its class.
const COLUMNS: [Column; 17] = [
    column(["", "", "trace"], |t| t.key.trace.clone()),
    column(["thread", "IPC", "1/cycle"], |t| shown(&t.metric("ipc_thread").into(), "")),
    column(["ideal", "DRAM", "×"], |t| number(t.speedup(Ideal::Dram), 2)),
    column(["inter-", "core", "%"], |t| percent(t.metric("inter_core_locality"))),
    column(["", "", "Li"], |t| name(t.li2015().map(|class| class.name()))),
    column(["ideal", "L1", "×"], |t| number(t.speedup(Ideal::L1), 2)),
    column(["", "", "OWL"], |t| name(t.owl2013().map(|class| class.name()))),
    column(["ideal", "L2", "×"], |t| number(t.speedup(Ideal::L2), 2)),
    column(["off-", "chip/", "load"], |t| number(t.metric("offchip_per_load"), 3)),
    column(["", "", "WMC"], |t| name(t.warpedmc2023().map(|class| class.name()))),
    column(["of", "peak", "%"], |t| percent(Some(t.ipc_over_peak()))),
    column(["DRAM", "used", "%"], |t| percent(t.metric("bandwidth_utilization"))),
    column(["DRAM", "eff.", "%"], |t| percent(t.dram_efficiency)),
    column(["", "", "Yuan"], |t| name(t.yuan2009().is_memory_bound().then_some("bound"))),
    column(["", "", "TD"], |t| name(t.translation().map(|class| class.name()))),
    column(["CTAs", "per", "row"], |t| number(t.metric("ctas_per_row"), 1)),
    column(["conse-", "cutive", "%"], |t| percent(t.metric("consecutive_cta_row_sharing"))),
];

const LEGEND: &str = "
×     cycles on the machine over those with DRAM, L1 or L2 perfect
Li    insensitive: less than 1.2 × with perfect DRAM; else HIL (high inter-core locality) above 10 % of
      cycles with requests of several SMs in an L2 MSHR entry, or LIL; sensitive without an L2
OWL   Type-1: at least 1.4 × with a perfect L1; else Type-2
WMC   off-chip requests per load: LOA below 1, MOA 1 to 8, HOA above (the paper names none between 1 and 2)
Yuan  bound: IPC below 75 % of its peak, DRAM used above 20 % and DRAM efficiency below 90 %
TD    translation divergence, pages of 4 KiB per instruction: LTD below 2, MTD 2 to less than 8, HTD from 8
CTAs  per DRAM row, and the share of them with a neighbour there (OWL, Table 4)
";

/// Formats the setting, a line for each trace, and the meaning of the classes.
pub fn text(setting: &str, classified: &[Classified]) -> String {
    let heading = |line: usize| COLUMNS.map(|column| column.heading[line].to_owned()).to_vec();
    let row = |trace| COLUMNS.map(|column| (column.cell)(trace)).to_vec();
    let lines: Vec<Vec<String>> = (0..3).map(heading).chain(classified.iter().map(row)).collect();
    let right: Vec<usize> = (1..COLUMNS.len()).filter(|&at| !COLUMNS[at].is_name()).collect();
    format!("{setting}\n\n{}{LEGEND}", aligned(&lines, &right))
}

impl Column {
    /// Returns whether the column holds names, which are left-aligned and have no unit; numbers are
    /// right-aligned.
    fn is_name(&self) -> bool {
        self.heading[1].is_empty()
    }
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(NOTHING.to_owned(), |value| format!("{value:.digits$}"))
}

fn percent(fraction: Option<f64>) -> String {
    number(fraction.map(|fraction| 100.0 * fraction), 1)
}

fn name(class: Option<&'static str>) -> String {
    class.unwrap_or(NOTHING).to_owned()
}

const NOTHING: &str = "–";
