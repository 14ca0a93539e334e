//! How much the compared policies can matter: the use of their unit, and the IPC with an ideal one.

use crate::load::{BUS, IDLE, Load, MEASURES, QUEUE, READY_WARPS};
use crate::row::Row;

/// The run of the baseline on a workload and machine.
#[derive(Clone, Debug)]
pub(crate) struct Leverage {
    /// Index of the baseline's first run of the workload among the rows.
    pub(crate) row: usize,
    pub(crate) load: Load,
    /// Name of an ideal mode, and the IPC under it over the baseline's.
    pub(crate) bound: Option<(String, f64)>,
}

/// Finds the first run of the baseline on each workload and machine; `place` names the latter.
pub(crate) fn leverages(
    rows: &[Row],
    partners: &[Option<usize>],
    place: impl Fn(&Row) -> String,
) -> Vec<Leverage> {
    let mut seen: Vec<(String, &str)> = Vec::new();
    let mut leverages = Vec::new();
    for (at, row) in rows.iter().enumerate().filter(|(at, _)| partners[*at] == Some(*at)) {
        let workload = (place(row), row.repeat.workload.as_str());
        if !seen.contains(&workload) {
            seen.push(workload);
            let bound = row.bound_ideal().zip(row.bound_ratio());
            leverages.push(Leverage { row: at, load: row.load, bound });
        }
    }
    leverages
}

/// A slot in words.
pub(crate) struct Slot {
    pub(crate) column: &'static str,
    /// Name in a sentence, singular.
    pub(crate) name: &'static str,
    /// Positions of the measures that matter to it.
    measures: &'static [usize],
    /// Ideal modes under which its policies are equal.
    pub(crate) ideals: &'static [&'static str],
    /// Experiments that load it more, a sentence without its full stop.
    pub(crate) stress: &'static str,
}

const SLOTS: [Slot; 8] = [
    Slot {
        column: "dram_scheduler",
        name: "DRAM scheduler",
        measures: &[BUS, QUEUE, IDLE],
        ideals: &["perfect-dram", "perfect-l2"],
        stress: "Inputs larger than the L2, or a machine with less DRAM bandwidth for its SMs, load DRAM more",
    },
    Slot {
        column: "warp_scheduler",
        name: "warp scheduler",
        measures: &[READY_WARPS, IDLE],
        ideals: &[],
        stress: "Larger grids and CTAs, with more warps on each SM, leave it more to choose from",
    },
    Slot {
        column: "cta_scheduler",
        name: "CTA scheduler",
        measures: &[READY_WARPS, IDLE],
        ideals: &[],
        stress: "Grids of many more CTAs than the machine holds at once leave it more to choose from",
    },
    Slot {
        column: "l2_queue",
        name: "L2 queue policy",
        measures: &[BUS, 2, IDLE],
        ideals: &["perfect-l2"],
        stress: "Larger inputs with less reuse in L1, or a machine with fewer slices for its SMs, load the L2 more",
    },
    Slot {
        column: "topology",
        name: "topology",
        measures: &[BUS, 2, IDLE],
        ideals: &["infinite-bandwidth-noc"],
        stress: "Kernels with more misses in L1 for each instruction load the network more",
    },
    Slot {
        column: "arbiter",
        name: "arbiter",
        measures: &[BUS, 2, IDLE],
        ideals: &["infinite-bandwidth-noc"],
        stress: "Kernels with more misses in L1 for each instruction load the network more",
    },
    Slot {
        column: "prefetcher",
        name: "prefetcher",
        measures: &[BUS, QUEUE, IDLE],
        ideals: &["perfect-l2"],
        stress: "Inputs larger than the L2 load DRAM more",
    },
    Slot {
        column: "walk_scheduler",
        name: "walk scheduler",
        measures: &[3, IDLE],
        ideals: &[],
        stress: "Inputs beyond the reach of the TLBs cause more walks",
    },
];

/// Returns the compared slots in words.
pub(crate) fn slots_of(columns: &[String]) -> Vec<&'static Slot> {
    SLOTS.iter().filter(|slot| columns.iter().any(|column| column == slot.column)).collect()
}

/// Returns the positions of the measures that matter to slots, in order.
pub(crate) fn measures_of(slots: &[&Slot]) -> Vec<usize> {
    let matters = |at: &usize| slots.iter().any(|slot| slot.measures.contains(at));
    (0..MEASURES.len()).filter(matters).collect()
}
