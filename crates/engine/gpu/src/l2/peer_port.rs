//! State of the connection between a slice and its peer.

use crate::ports::DuplexPorts;
use warpmem_cache::LineSlot;
use warpmem_params::Counter;
use warpmem_sim::{Location, PeerSlices, SliceId, bits};

/// The connection of a slice to its peer, and the state of the copies that both keep.
pub(super) struct PeerPort {
    pub peers: PeerSlices,
    pub own: SliceId,
    pub ports: DuplexPorts,
    /// The tags last served a request of the peer.
    pub served_last: bool,
    /// The request at the head of its port could not be served, and nothing has changed since.
    pub blocked: bool,
    /// The slice's own request has not been retried since the tags served the peer.
    pub retry_own: bool,
    /// The reply at the head of its port waits for an entry of the queue to DRAM.
    pub reply_blocked: bool,
    /// Slots of home lines of which the peer may have a copy, one bit each.
    copied: Vec<u64>,
    /// Sectors in flight from the peer that a store has overtaken: they are not kept.
    pub stale: Vec<u64>,
    pub counts: Counts,
}

#[derive(Default)]
pub(super) struct Counts {
    pub hits: u64,
    pub misses: u64,
    pub dropped: u64,
    pub invalidations: u64,
    pub full_cycles: u64,
}

impl PeerPort {
    /// `lines` is the capacity of slice `own`.
    pub fn new(peers: PeerSlices, own: SliceId, ports: DuplexPorts, lines: usize) -> PeerPort {
        PeerPort {
            peers,
            own,
            ports,
            served_last: false,
            blocked: false,
            retry_own: false,
            reply_blocked: false,
            copied: vec![0; lines.div_ceil(bits::WORD)],
            stale: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Returns whether the home of a line is in the remote partition.
    #[inline]
    pub fn is_remote(&self, place: Location) -> bool {
        !self.peers.is_home(self.own, place.channel)
    }

    /// Records that the peer has a copy of the line in `slot`.
    #[inline]
    pub fn note_copied(&mut self, slot: LineSlot) {
        bits::insert(&mut self.copied, slot.index());
    }

    /// Returns whether the peer may have a copy of the line in `slot`, and forgets it.
    #[inline]
    pub fn take_copied(&mut self, slot: LineSlot) -> bool {
        let was_copied = bits::contains(&self.copied, slot.index());
        bits::remove(&mut self.copied, slot.index());
        was_copied
    }

    /// Returns the counters of copies of remote lines.
    pub fn counters(&self) -> [Counter; 5] {
        let Counts { hits, misses, dropped, invalidations, full_cycles } = self.counts;
        let counter = |name, value| Counter { name, value };
        [
            counter("copy_hits", hits),
            counter("copy_misses", misses),
            counter("copies_dropped", dropped),
            counter("invalidations_sent", invalidations),
            counter("peer_queue_full_cycles", full_cycles),
        ]
    }
}
