//! What the slices tell the DRAM controllers of merges into their MSHRs (Li 2015, Section 4.4).

use std::collections::VecDeque;
use warpmem_sim::RequestId;

/// What goes with an item on the way from a slice to DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The request that the numbers are about: itself, or another if this is a dummy request.
    pub about: RequestId,
    /// Requests that wait for its data, as far as they count.
    pub merges: u8,
    /// DRAM cycles that those of them that have not been told of before have waited together.
    pub age: u32,
}

/// What goes with the items in each slice's port to DRAM, in their order.
pub struct MergeNews {
    slices: Vec<VecDeque<Sent>>,
}

impl MergeNews {
    pub(super) fn new(slices: usize) -> MergeNews {
        MergeNews { slices: vec![VecDeque::new(); slices] }
    }

    /// An item has gone into the port of `slice`.
    pub fn push(&mut self, slice: u16, sent: Sent) {
        self.slices[usize::from(slice)].push_back(sent);
    }

    /// What goes with the item at the head of the port of `slice`.
    pub fn head(&self, slice: u16) -> Option<Sent> {
        self.slices[usize::from(slice)].front().copied()
    }

    /// The item at the head has left the port.
    pub fn pop(&mut self, slice: u16) {
        self.slices[usize::from(slice)].pop_front();
    }
}
