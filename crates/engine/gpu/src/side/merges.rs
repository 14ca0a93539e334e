//! Merge reports from the slices to the DRAM controllers (Li 2015, Section 4.4).

use std::collections::VecDeque;
use warpmem_sim::{RequestId, SliceId};

/// The merge report of an item from a slice to DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The request that the report describes: the item itself, or another if the item is a dummy.
    pub about: RequestId,
    /// Merged requests of the counted kind.
    pub merges: u8,
    /// Total wait of the unreported ones among them, DRAM cycles.
    pub age: u32,
}

/// The reports of the items in the port of each slice to DRAM, in order.
pub struct MergeUpdates {
    slices: Vec<VecDeque<Sent>>,
}

impl MergeUpdates {
    pub(super) fn new(slices: usize) -> MergeUpdates {
        MergeUpdates { slices: vec![VecDeque::new(); slices] }
    }

    /// Adds the report of an item pushed into the port of `slice`.
    pub fn push(&mut self, slice: SliceId, sent: Sent) {
        self.slices[slice.index()].push_back(sent);
    }

    /// Returns the report of the item at the head of the port of `slice`.
    pub fn head(&self, slice: SliceId) -> Option<Sent> {
        self.slices[slice.index()].front().copied()
    }

    /// Removes the report of the item at the head.
    pub fn pop(&mut self, slice: SliceId) {
        self.slices[slice.index()].pop_front();
    }
}
