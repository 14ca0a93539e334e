//! Limits of a run, its progress observer, and its counts.

/// Maximum shared memory of a CTA on any architecture (sm_90 and sm_100), bytes.
pub(crate) const MAX_SHARED: u32 = 227 << 10;

/// Maximum local memory of a thread, bytes (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
pub(crate) const MAX_LOCAL: u64 = 512 << 10;

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Warp instructions after which a kernel is assumed to never end.
    pub instructions: u64,
    /// Host threads that execute CTAs; they never affect the result.
    pub threads: usize,
    /// Instructions of a warp before the next warp of its CTA runs.
    pub warp_quantum: u32,
}

/// Warps of a GPU start at about the same time, and programs that lack a barrier rely on it: a quantum of
/// 4,096 instructions gives wrong results for three programs of Parboil, this one does not.
const WARP_QUANTUM: u32 = 64;

impl Default for Limits {
    fn default() -> Limits {
        Limits { instructions: u64::MAX, threads: 1, warp_quantum: WARP_QUANTUM }
    }
}

/// Observer of a kernel's progress and output, which may stop it.
pub trait Progress {
    /// Called with the completed CTAs and executed warp instructions; returns whether to continue.
    fn advance(&self, ctas: u64, instructions: u64) -> bool;

    /// Called with the text printed by each CTA, in CTA order; discards it by default.
    fn print(&self, _text: &str) {}
}

impl Progress for () {
    fn advance(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// Totals of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub ctas: u64,
    pub warps: u64,
    pub warp_instructions: u64,
}
