//! Shared memory of the CTAs of a cluster.
//!
//! A shared-memory address holds the rank of its CTA in the cluster, from bit 24, and an offset; it is valid
//! in all CTAs of the cluster, and in the trace.

/// Bits of an offset in shared memory.
const OFFSET_BITS: u32 = 24;

/// Returns the rank of the CTA that owns a shared-memory address.
pub(crate) const fn rank_of(address: u64) -> u64 {
    address >> OFFSET_BITS
}

/// Returns the offset of an address in its CTA's shared memory.
pub(crate) fn offset_of(address: u64) -> u64 {
    address & ((1 << OFFSET_BITS) - 1)
}

/// Returns the address of an offset in a CTA's shared memory.
pub(crate) fn address_in(rank: u64, offset: u64) -> u64 {
    rank << OFFSET_BITS | offset
}

/// State that the CTAs of a cluster share.
#[derive(Debug)]
pub(crate) struct Peers {
    /// Shared memory by rank; that of the executing CTA is taken out.
    memories: Vec<Vec<u8>>,
    /// Completed CTAs, one bit per rank.
    ended: u32,
    /// Whether a warp has arrived at the cluster barrier in its current phase.
    pub has_arrivals: bool,
}

impl Peers {
    pub fn new(ctas: u32, shared_bytes: u32) -> Peers {
        let memories = (0..ctas).map(|_| vec![0; shared_bytes as usize]).collect();
        Peers { memories, ended: 0, has_arrivals: false }
    }

    /// Returns the CTAs of the cluster.
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

    /// Marks a CTA as completed.
    pub fn end(&mut self, rank: usize) {
        self.ended |= 1 << rank;
    }

    /// Returns the shared memory of another CTA; the error gives the reason why it is inaccessible.
    pub fn memory(&mut self, rank: u64) -> Result<&mut [u8], String> {
        let ctas = self.ctas();
        if rank >= ctas as u64 {
            return Err(format!("there is no CTA {rank} in a cluster of {ctas}"));
        }
        if self.has_ended(rank) {
            return Err(format!(
                "CTA {rank} of the cluster has exited: it must wait, for example at the cluster barrier, until no other CTA uses its shared memory"
            ));
        }
        Ok(&mut self.memories[rank as usize])
    }
}
