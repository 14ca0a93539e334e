//! What the slices send to the DRAM controllers about merges into their MSHRs (Li 2015, Section
//! 4.4).

use std::collections::VecDeque;
use warpmem_sim::{RequestId, SliceId};

/// The merge information that travels with an item from a slice to DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The request that the numbers describe: the item itself, or another if the item is a dummy.
    pub about: RequestId,
    /// Requests that wait for its data, of the kind that is counted.
    pub merges: u8,
    /// Sum of the DRAM cycles that those requests have waited which were not reported before.
    pub age: u32,
}

/// What goes with the items in each slice's port to DRAM, in their order.
pub struct MergeUpdates {
    slices: Vec<VecDeque<Sent>>,
}

impl MergeUpdates {
    pub(super) fn new(slices: usize) -> MergeUpdates {
        MergeUpdates { slices: vec![VecDeque::new(); slices] }
    }

    /// An item has gone into the port of `slice`.
    pub fn push(&mut self, slice: SliceId, sent: Sent) {
        self.slices[slice.index()].push_back(sent);
    }

    /// What goes with the item at the head of the port of `slice`.
    pub fn head(&self, slice: SliceId) -> Option<Sent> {
        self.slices[slice.index()].front().copied()
    }

    /// The item at the head has left the port.
    pub fn pop(&mut self, slice: SliceId) {
        self.slices[slice.index()].pop_front();
    }
}
