//! What bounds a run, who is told of it, and what it counts.

/// Bytes of shared memory that a CTA can have on any architecture (sm_90 and sm_100).
pub(crate) const MOST_SHARED: u32 = 227 << 10;

/// Bytes of local memory of a thread (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
pub(crate) const MOST_LOCAL: u64 = 512 << 10;

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Warp instructions after which a kernel is taken to run for ever.
    pub instructions: u64,
    /// Threads that execute CTAs. What a kernel does does not depend on them.
    pub threads: usize,
    /// Instructions that a warp executes before the next one of its CTA does.
    pub warp_turn: u32,
}

/// Warps of a GPU begin at about the same time, and programs that lack a barrier rely on it: turns of
/// 4,096 instructions give wrong results of three programs of Parboil, these do not.
const WARP_TURN: u32 = 64;

impl Default for Limits {
    fn default() -> Limits {
        Limits { instructions: u64::MAX, threads: 1, warp_turn: WARP_TURN }
    }
}

/// Told how far a kernel is and what it prints; may stop it.
pub trait Progress {
    /// CTAs that have ended, and warp instructions executed. Whether the kernel is to go on.
    fn advance(&self, ctas: u64, instructions: u64) -> bool;

    /// What the threads of a CTA print, CTA after CTA; it is lost unless somebody wants it.
    fn print(&self, _text: &str) {}
}

impl Progress for () {
    fn advance(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub ctas: u64,
    pub warps: u64,
    pub warp_instructions: u64,
}
