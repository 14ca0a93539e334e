//! Cache hit rates and reservation failures.

use super::run_table;
use crate::document::Section;
use crate::limits::Shown;
use crate::prose::Prose;
use crate::study::Study;

pub fn section(study: &Study, _shown: &Shown) -> anyhow::Result<Section> {
    let columns = [
        "l1_read_miss_rate",
        "l1_miss_rate",
        "l1_reservation_fails",
        "l2_read_miss_rate",
        "l2_miss_rate",
        "l2_reservation_fails",
        "mshr_merge_length_mean",
        "inter_core_locality",
        "queue_length_mean",
        "waiting_ratio",
    ];
    let fails = [
        "l1_reservation_fails_line_alloc",
        "l1_reservation_fails_miss_queue_full",
        "l1_reservation_fails_mshr_entry",
        "l1_reservation_fails_mshr_merge",
        "l2_reservation_fails_line_alloc",
        "l2_reservation_fails_miss_queue_full",
        "l2_reservation_fails_mshr_entry",
        "l2_reservation_fails_mshr_merge",
    ];
    Ok(Section::new("caches", "Caches")
        .text(Prose::new(
            "Miss rates, occupancy of MSHRs and queues of L2 slices, and the cycles in which an access was retried because a resource was full.",
        ))
        .table(run_table(study, "caches", "Caches in each run", &columns)?)
        .table(run_table(study, "reservation-fails", "Retried accesses, by reason", &fails)?.folded()))
}
