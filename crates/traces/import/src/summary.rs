//! Counts of an import.

use std::collections::BTreeMap;

use serde::Serialize;
use warpmem_trace::{Kind, OpClass, Space};

/// Counts over a whole import. Instructions are warp instructions unless stated otherwise.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ImportSummary {
    pub ctas: u64,
    /// Warps with at least one instruction.
    pub warps: u64,
    pub warp_instructions: u64,
    /// Active lanes summed over the warp instructions, after the repair of exit masks.
    pub thread_instructions: u64,
    /// Compute instructions by [`OpClass::name`].
    pub compute: BTreeMap<&'static str, u64>,
    /// Memory instructions by kind and space, including those with no active lane.
    pub memory: Vec<MemoryCount>,
    /// Instructions with no active lane by their nominal class: an [`OpClass::name`], `memory` or
    /// `exit`. Included in the counts above unless dropped.
    pub without_lanes: BTreeMap<&'static str, u64>,
    /// Instructions with no active lane that are omitted from the trace.
    pub dropped: u64,
    pub barriers: u64,
    pub fences: u64,
    pub exits: u64,
    /// Exits whose mask lost lanes because they execute a later instruction of the warp.
    /// [`KernelCounts`] says in which kernels.
    pub repaired_exits: u64,
    /// Lanes removed, summed over those exits.
    pub repaired_lanes: u64,
    /// Memory instructions by the address mode of the input: list, base and stride, base and
    /// deltas.
    pub address_modes: [u64; 3],
    /// Distinct 32 B sectors touched by each global memory instruction, summed.
    pub global_sectors: u64,
    /// All instructions by opcode without modifiers.
    pub opcodes: BTreeMap<String, u64>,
    /// Instructions with an unknown opcode, with modifiers; imported as class `other`.
    pub unknown_opcodes: BTreeMap<String, u64>,
    /// Memory instructions recorded without addresses; imported as compute.
    pub memory_without_addresses: BTreeMap<String, u64>,
    /// Host-to-device copies, kept as metadata.
    pub memcpys: u64,
    /// Bytes of the kernel files on disk.
    pub bytes_in: u64,
    /// Bytes of the kernel files' text, inflated.
    pub text_bytes: u64,
    /// Bytes of the written trace.
    pub bytes_out: u64,
    pub kernels: Vec<KernelCounts>,
    /// Notes on odd input and on assumptions, one sentence each.
    pub notes: Vec<String>,
}

/// Memory instructions of one kind in one space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryCount {
    pub kind: Kind,
    pub space: Space,
    pub instructions: u64,
}

/// Counts of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelCounts {
    /// Position among the kernels of the list, from 1.
    pub number: u64,
    pub name: String,
    /// Name of its file, without the folder.
    pub file: String,
    pub ctas: u64,
    pub warps: u64,
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    /// As [`ImportSummary::repaired_exits`].
    pub repaired_exits: u64,
    /// As [`ImportSummary::repaired_lanes`].
    pub repaired_lanes: u64,
}

impl ImportSummary {
    /// Returns the memory instructions of this kind in this space.
    pub fn memory_count(&self, kind: Kind, space: Space) -> u64 {
        let entry = self.memory.iter().find(|m| m.kind == kind && m.space == space);
        entry.map_or(0, |m| m.instructions)
    }

    /// Returns the memory instructions of all kinds and spaces.
    pub fn memory_instructions(&self) -> u64 {
        self.memory.iter().map(|m| m.instructions).sum()
    }

    /// Returns the instructions with no active lane, of any class.
    pub fn all_without_lanes(&self) -> u64 {
        self.without_lanes.values().sum()
    }

    /// Returns the input text per byte of output; `None` without output.
    pub fn ratio(&self) -> Option<f64> {
        (self.bytes_out > 0).then(|| self.text_bytes as f64 / self.bytes_out as f64)
    }

    pub(super) fn add_compute(&mut self, class: OpClass, instructions: u64) {
        if instructions > 0 {
            *self.compute.entry(class.name()).or_default() += instructions;
        }
    }

    pub(super) fn add_memory(&mut self, kind: Kind, space: Space, instructions: u64) {
        match self.memory.iter_mut().find(|m| m.kind == kind && m.space == space) {
            Some(entry) => entry.instructions += instructions,
            None => self.memory.push(MemoryCount { kind, space, instructions }),
        }
    }
}
