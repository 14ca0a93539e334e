//! Shared memory of the CTAs of a cluster.
//!
//! An address of shared memory is the rank of its CTA in the cluster, from bit 24 on, and an offset:
//! it means the same in all CTAs of the cluster, and in the trace.

/// Bits of an offset in shared memory.
const OFFSET_BITS: u32 = 24;

/// The rank of the CTA to which an address of shared memory belongs.
pub(crate) const fn rank_of(address: u64) -> u64 {
    address >> OFFSET_BITS
}

/// The offset of an address in the shared memory of its CTA.
pub(crate) fn offset_of(address: u64) -> u64 {
    address & ((1 << OFFSET_BITS) - 1)
}

/// The address of an offset in the shared memory of a CTA.
pub(crate) fn address_in(rank: u64, offset: u64) -> u64 {
    rank << OFFSET_BITS | offset
}

/// What the CTAs of a cluster have of each other.
#[derive(Debug)]
pub(crate) struct Peers {
    /// Shared memory by rank. That of the CTA that executes is taken out.
    memories: Vec<Vec<u8>>,
    /// CTAs that have ended, a bit for each rank.
    ended: u32,
    /// A warp has arrived at the barrier in its present phase.
    pub has_arrivals: bool,
}

impl Peers {
    pub fn new(ctas: u32, shared_bytes: u32) -> Peers {
        let memories = (0..ctas).map(|_| vec![0; shared_bytes as usize]).collect();
        Peers { memories, ended: 0, has_arrivals: false }
    }

    /// CTAs of the cluster.
    pub fn ctas(&self) -> usize {
        self.memories.len()
    }

    pub fn take(&mut self, rank: u32) -> Vec<u8> {
        std::mem::take(&mut self.memories[rank as usize])
    }

    pub fn give(&mut self, rank: u32, memory: Vec<u8>) {
        self.memories[rank as usize] = memory;
    }

    pub fn has_ended(&self, rank: u64) -> bool {
        self.ended >> rank & 1 == 1
    }

    /// A CTA has ended.
    pub fn end(&mut self, rank: usize) {
        self.ended |= 1 << rank;
    }

    /// The shared memory of another CTA; the error says why it cannot be reached.
    pub fn memory(&mut self, rank: u64) -> Result<&mut [u8], String> {
        let ctas = self.ctas();
        if rank >= ctas as u64 {
            return Err(format!("there is no CTA {rank} in a cluster of {ctas}"));
        }
        if self.has_ended(rank) {
            return Err(format!(
                "CTA {rank} of the cluster has ended: it must wait, as at the cluster's barrier, \
                 until no other uses its shared memory"
            ));
        }
        Ok(&mut self.memories[rank as usize])
    }
}
