//! The command queue of a bank: its selected requests in service order.

use super::super::Slot;
use super::sorter::Member;
use std::collections::VecDeque;
use warpmem_sim::RowId;

/// Cost of a request to the row that is then open, in units of about 12 ns. `ROW_MISS` is the cost
/// to another row.
const ROW_HIT: u32 = 1;
const ROW_MISS: u32 = 3;

/// Returns the cost of a number of requests, `misses` of which open a row.
pub fn cost(requests: usize, misses: usize) -> u32 {
    ROW_HIT * (requests - misses) as u32 + ROW_MISS * misses as u32
}

/// Returns the distinct rows of a group's requests to one bank.
pub fn rows(members: &[Member]) -> impl Iterator<Item = RowId> {
    members.chunk_by(|one, other| one.row == other.row).map(|same| same[0].row)
}

#[derive(Default)]
pub struct CommandQueue {
    /// Waiting requests with their costs.
    waiting: VecDeque<(Slot, u32)>,
    /// Cost of the waiting requests and the one in service.
    work: u32,
    /// Cost of the request in service.
    in_service: u32,
    /// Row of the last appended request.
    last_row: RowId,
    /// Column commands since activation.
    pub bursts: u32,
}

impl CommandQueue {
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub fn first(&self) -> Option<Slot> {
        self.waiting.front().map(|&(slot, _)| slot)
    }

    /// Returns the cost of the selected requests that have not been served.
    pub fn work(&self) -> u32 {
        self.work
    }

    /// Returns the row that will be open after all selected requests, where `open` is open now.
    pub fn row_then(&self, open: Option<RowId>) -> Option<RowId> {
        if self.work > 0 { Some(self.last_row) } else { open }
    }

    /// Appends requests of a group: first those to the row that will be open, then row by row.
    pub fn append(&mut self, members: &[Member], open: Option<RowId>) {
        let mut row = self.row_then(open);
        let then = row;
        let (hits, others) = (
            members.iter().filter(|member| Some(member.row) == then),
            members.iter().filter(|member| Some(member.row) != then),
        );
        for member in hits.chain(others) {
            let cost = if Some(member.row) == row { ROW_HIT } else { ROW_MISS };
            self.waiting.push_back((member.slot, cost));
            self.work += cost;
            row = Some(member.row);
            self.last_row = member.row;
        }
    }

    /// Starts the service of a request. Returns false if it was not selected, in which case it is a
    /// row hit.
    pub fn start(&mut self, slot: Slot) -> bool {
        let place = self.waiting.iter().position(|&(waiting, _)| waiting == slot);
        let selected = place.and_then(|place| self.waiting.remove(place));
        self.in_service = selected.map_or(ROW_HIT, |(_, cost)| cost);
        if selected.is_none() {
            self.work += ROW_HIT;
        }
        selected.is_some()
    }

    /// Completes the request in service.
    pub fn finish(&mut self) {
        self.work -= self.in_service;
    }
}
