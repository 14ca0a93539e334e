//! The requests that wait for one bank.

use super::request::Request;
use std::collections::VecDeque;

/// A request in a channel's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    pub request: Request,
    /// Cycle in which it entered the channel.
    pub arrived: u64,
}

/// Requests of one bank, oldest first, with those to the open row counted.
#[derive(Default)]
pub(super) struct BankQueue {
    requests: VecDeque<Queued>,
    hits: u32,
}

impl BankQueue {
    pub fn requests(&self) -> &VecDeque<Queued> {
        &self.requests
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Requests to the open row.
    pub fn hits(&self) -> u32 {
        self.hits
    }

    pub fn push(&mut self, queued: Queued, open_row: Option<u32>) {
        self.hits += u32::from(open_row == Some(queued.request.row));
        self.requests.push_back(queued);
    }

    pub fn take(&mut self, index: usize, open_row: Option<u32>) -> Option<Queued> {
        let queued = self.requests.remove(index)?;
        self.hits -= u32::from(open_row == Some(queued.request.row));
        Some(queued)
    }

    /// The bank's row was opened or closed.
    pub fn row_changed(&mut self, open_row: Option<u32>) {
        let hit = |queued: &&Queued| open_row == Some(queued.request.row);
        self.hits = match open_row {
            Some(_) => self.requests.iter().filter(hit).count() as u32,
            None => 0,
        };
    }
}
