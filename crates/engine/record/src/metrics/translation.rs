//! The metrics of address translation, of one SM or all, and of the unit that SMs share. All are null
//! or 0 on a machine without translation.

use super::quotient;
use crate::column::{Column, count, ratio};
use crate::run::FinishedRun;
use warpmem_gpu::results::TlbCounts;
use warpmem_translation::TranslationResult;

/// Returns the metrics of a first-level TLB, or of all.
pub(crate) fn tlb<R: 'static>(of: fn(&R) -> &TlbCounts) -> Vec<Column<R>> {
    vec![
        ratio(
            "pages_per_instruction",
            "pages",
            "Distinct pages of the requests of a memory instruction, mean [Shin].",
            move |row| quotient(of(row).pages, of(row).instructions),
        ),
        count(
            "tlb_lookups",
            "lookups",
            "Lookups in first-level TLBs, once per page of an instruction.",
            move |row| of(row).lookups,
        ),
        ratio("tlb_hit_rate", "fraction", "Hits over lookups in first-level TLBs.", move |row| {
            quotient(of(row).hits, of(row).lookups)
        }),
        count(
            "tlb_misses",
            "pages",
            "Pages that SMs asked the translation unit for; lookups that neither hit nor asked merged.",
            move |row| of(row).misses,
        ),
        count(
            "translation_held_requests",
            "requests",
            "Requests that waited for a translation after L1.",
            move |row| of(row).held_requests,
        ),
        ratio(
            "translation_held_cycles_mean",
            "core cycles",
            "Mean wait of these requests; part of the latency in stage `l1`.",
            move |row| quotient(of(row).held_cycles, of(row).held_requests),
        ),
    ]
}

/// Returns the metrics of the translation unit.
pub(crate) fn walks() -> Vec<Column<FinishedRun>> {
    fn of(run: &FinishedRun) -> &TranslationResult {
        &run.result.translation
    }
    vec![
        ratio(
            "translation_divergence_mean",
            "core cycles",
            "Difference between the longest and the shortest wait for a translation of a load, over loads with two or more, \
             mean [Shin].",
            |run: &FinishedRun| {
                let loads = &run.result.loads;
                quotient(loads.translation_divergence, loads.translation_divergent)
            },
        ),
        ratio(
            "group_tlb_hit_rate",
            "fraction",
            "Hits over lookups in the TLBs of groups.",
            |run| quotient(of(run).group_hits, of(run).group_lookups),
        ),
        ratio("l2_tlb_hit_rate", "fraction", "Hits over lookups in the second-level TLB.", |run| {
            quotient(of(run).hits, of(run).lookups)
        }),
        count(
            "l2_tlb_merges",
            "lookups",
            "Lookups in the second-level TLB that found their page being walked.",
            |run| of(run).merges,
        ),
        count("page_walks", "walks", "Page walks.", |run| of(run).walks),
        count(
            "walks_diverted",
            "walks",
            "Walks that filled the bypass cache of `vm.tokens` in place of the TLB.",
            |run| of(run).diverted,
        ),
        ratio(
            "loads_per_walk",
            "loads",
            "Loads of page-table entries per walk; page walk caches save the others.",
            |run| quotient(of(run).loads, of(run).walks),
        ),
        count("walk_loads_offchip", "loads", "Loads of walks that missed in the L2.", |run| {
            of(run).offchip_loads
        }),
        count(
            "walk_loads_bypassing",
            "loads",
            "Loads of walks that allocated no line in L2, by `vm.walk.l2_bypass`.",
            |run| of(run).bypassing_loads,
        ),
        ratio(
            "walk_queue_cycles_mean",
            "network cycles",
            "Mean time of a walk in the walk queue.",
            |run| quotient(of(run).queue_cycles, of(run).walks),
        ),
        ratio(
            "walk_cycles_mean",
            "network cycles",
            "Mean time of a walk from its start to its last entry.",
            |run| quotient(of(run).walk_cycles, of(run).walks),
        ),
        ratio(
            "walk_queue_length_mean",
            "walks",
            "Pending walks whenever one started, itself included: mean.",
            |run| quotient(of(run).waiting, of(run).walks),
        ),
        ratio("walk_overtakes", "fraction", "Starts of walks that overtook an older one.", |run| {
            quotient(of(run).overtakes, of(run).walks)
        }),
    ]
}
