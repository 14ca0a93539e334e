//! The metrics of SMs: instructions, work, and the breakdown of cycles.

use super::{ipc, quotient};
use crate::column::{Column, count, ratio};
use crate::run::FinishedRun;
use warpmem_gpu::results::SmResult;
use warpmem_trace::OpClass;

/// Returns instructions, and instructions per core cycle, of a run, a kernel or an SM.
pub(crate) fn instructions<R: 'static>(
    warp_instructions: fn(&R) -> u64,
    thread_instructions: fn(&R) -> u64,
    cycles: fn(&R) -> u64,
) -> Vec<Column<R>> {
    vec![
        ratio(
            "ipc_warp",
            "warp instructions / core cycle",
            "Warp instructions, compute included, over cycles.",
            move |row| ipc(warp_instructions(row), cycles(row)),
        ),
        ratio(
            "ipc_thread",
            "thread instructions / core cycle",
            "Thread instructions (active lanes), compute included, over cycles.",
            move |row| ipc(thread_instructions(row), cycles(row)),
        ),
        count(
            "warp_instructions",
            "warp instructions",
            "Issued warp instructions, compute included.",
            warp_instructions,
        ),
        count(
            "thread_instructions",
            "thread instructions",
            "Active lanes of the issued warp instructions.",
            thread_instructions,
        ),
    ]
}

/// Returns instruction and CTA counts of one SM or all.
pub(crate) fn work<R: 'static>(of: fn(&R) -> &SmResult) -> Vec<Column<R>> {
    let mut columns = vec![
        count("ctas", "CTAs", "CTAs completed.", move |row| of(row).ctas),
        count(
            "memory_instructions",
            "warp instructions",
            "Issued warp instructions that access memory.",
            move |row| of(row).memory_instructions,
        ),
    ];
    columns.extend(OpClass::ALL.into_iter().enumerate().map(|(index, class)| {
        count(
            &format!("warp_instructions_{}", class.name()),
            "warp instructions",
            &format!("Issued warp instructions of class {}.", class.name()),
            move |row| of(row).warp_instructions_by_class[index],
        )
    }));
    columns.extend(OpClass::ALL.into_iter().enumerate().map(|(index, class)| {
        count(
            &format!("thread_instructions_{}", class.name()),
            "thread instructions",
            &format!("Active lanes of warp instructions of class {}.", class.name()),
            move |row| of(row).thread_instructions_by_class[index],
        )
    }));
    columns.extend([
        count(
            "requesting_instructions",
            "warp instructions",
            "Memory instructions with requests: loads, stores and atomics of global and local memory.",
            move |row| of(row).requesting_instructions,
        ),
        ratio(
            "channels_per_instruction",
            "channels",
            "Mean number of distinct channels of the requests of such an instruction.",
            move |row| quotient(of(row).requested_channels, of(row).requesting_instructions),
        ),
        ratio(
            "banks_per_instruction",
            "banks",
            "Mean number of distinct banks of all channels of the requests of such an instruction \
             [Yuan Fig 14].",
            move |row| quotient(of(row).requested_banks, of(row).requesting_instructions),
        ),
        count(
            "instruction_cache_misses",
            "lines",
            "Lines that missed in the instruction cache; fetches of a line in flight do not count.",
            move |row| of(row).instruction_cache_misses,
        ),
        count(
            "constant_cache_misses",
            "lines",
            "Lines that missed in the constant cache; loads of a line in flight do not count.",
            move |row| of(row).constant_cache_misses,
        ),
        count(
            "l1_wavefront_cycles",
            "cycles",
            "Cycles for which memory instructions take the data path of L1: the larger of their data \
             and tag wavefronts; 0 with `l1.data_path` = `sectors`.",
            move |row| of(row).l1_wavefront_cycles,
        ),
        count(
            "shared_accesses",
            "warp instructions",
            "Warp instructions that access shared memory.",
            move |row| of(row).shared_accesses,
        ),
        count(
            "shared_bank_conflict_cycles",
            "passes",
            "Bank-conflict passes: passes of shared-memory instructions beyond the first.",
            move |row| of(row).shared_bank_conflict_cycles,
        ),
        count(
            "cluster_messages",
            "messages",
            "Messages to the shared memory of other SMs: one per remote SM that an instruction accesses, and one per sector that a copy from memory delivers to another SM.",
            move |row| of(row).messages,
        ),
        count(
            "cluster_message_bytes",
            "bytes",
            "Data of these messages and their replies.",
            move |row| of(row).message_bytes,
        ),
    ]);
    columns
}

/// A class of SM cycles: name, definition and count.
pub(crate) type CyclePart = (&'static str, &'static str, fn(&SmResult) -> u64);

/// The classes of SM cycles. `inactive_cycles` is the sum of the five that follow it; the last is a part of
/// one of these.
pub(crate) const SM_CYCLES: [CyclePart; 8] = [
    ("active_cycles", "Cycles in which the SM issues an instruction.", |sm| sm.active_cycles),
    ("inactive_cycles", "Cycles without issue; sum of the next five [OWL CINV].", inactive_cycles),
    ("memory_block_cycles", "No issue: warps are resident and all wait for memory [OWL].", |sm| {
        sm.memory_block_cycles
    }),
    ("no_warp_cycles", "No issue: no warp is resident while the application runs [OWL].", |sm| {
        sm.no_warp_cycles
    }),
    (
        "dependency_stall_cycles",
        "No issue: a warp waits for a compute result [Li Fig 6.7].",
        |sm| sm.dependency_stall_cycles,
    ),
    (
        "structural_stall_cycles",
        "No issue: a ready warp is blocked by a busy unit, a full load/store queue, or the warp scheduler.",
        |sm| sm.structural_stall_cycles,
    ),
    ("barrier_cycles", "No issue: a warp waits at a barrier, the others for memory.", |sm| {
        sm.barrier_cycles
    }),
    (
        "load_store_block_cycles",
        "Part of structural_stall_cycles: each warp waits for memory or at a barrier, or has a memory instruction that is not taken. The load/store queue is full, or the warp scheduler holds the warp back. With memory_block_cycles, the wider reading of [OWL].",
        |sm| sm.load_store_block_cycles,
    ),
];

fn inactive_cycles(sm: &SmResult) -> u64 {
    sm.memory_block_cycles
        + sm.no_warp_cycles
        + sm.dependency_stall_cycles
        + sm.structural_stall_cycles
        + sm.barrier_cycles
}

/// Returns SM schedulability.
pub(crate) fn schedulable_warps<R: 'static>(
    of: impl Fn(&R) -> &SmResult + Send + Sync + 'static,
) -> Column<R> {
    ratio(
        "schedulable_warps",
        "warps",
        "Mean number of ready warps of an SM, over core cycles with resident warps [CaLRS].",
        move |row| {
            let sm = of(row);
            let present = sm.active_cycles + inactive_cycles(sm) - sm.no_warp_cycles;
            quotient(sm.ready_warp_cycles, present)
        },
    )
}

/// Returns Jain's index of the warps of a kernel.
pub(crate) fn warp_fairness() -> Column<FinishedRun> {
    ratio(
        "warp_fairness",
        "fraction",
        "Jain's index of the progress of the warps of a kernel, in instructions per core cycle from launch to end; mean over \
         kernels, weighted by their warps.",
        |run: &FinishedRun| run.result.warp_fairness(),
    )
}
