//! The counts of a run that consume energy.

use warpmem_trace::OpClass;

/// Accesses to the sectors of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Includes reads merged into an outstanding miss.
    pub read_hits: u64,
    /// Misses of lines and of sectors.
    pub read_misses: u64,
    pub write_hits: u64,
    pub write_misses: u64,
}

impl Accesses {
    pub(crate) fn any(self) -> bool {
        self.counts() != [0; 4]
    }

    pub(crate) fn counts(self) -> [u64; 4] {
        [self.read_hits, self.read_misses, self.write_hits, self.write_misses]
    }
}

/// The counts of a run that consume energy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Core cycles, and the core clock in MHz.
    pub cycles: u64,
    pub core_mhz: u32,
    /// SMs, and the cycles of all SMs without a CTA.
    pub sms: u64,
    pub idle_sm_cycles: u64,
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    /// Compute instructions of warps and of threads, by the index of [`OpClass`].
    pub warp_instructions_by_class: [u64; OpClass::COUNT],
    pub lanes_by_class: [u64; OpClass::COUNT],
    /// Passes of shared-memory instructions over the banks.
    pub shared_passes: u64,
    pub l1: Accesses,
    pub l2: Accesses,
    /// Bytes of the flits that enter the request and the reply network.
    pub network_bytes: u64,
    pub dram_read_bytes: u64,
    pub dram_write_bytes: u64,
    /// Precharges, equal to activations.
    pub precharges: u64,
}
