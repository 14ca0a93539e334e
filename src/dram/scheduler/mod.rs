//! DRAM request schedulers: which request a bank serves next.
//!
//! A policy is one file here and one line of [`SCHEDULERS`].

mod banked_fifo;
mod fcfs;
mod fr_fcfs;

pub use super::queue::Queued;
use crate::machine::Dram;
use crate::registry::Registry;
use std::collections::VecDeque;

/// All DRAM schedulers; the context is the channel's configuration.
pub static SCHEDULERS: Registry<dyn Scheduler, Dram> = Registry {
    slot: "dram_scheduler",
    entries: &[fcfs::ENTRY, banked_fifo::ENTRY, fr_fcfs::ENTRY],
};

/// What a scheduler sees of a bank that is free to start a request.
#[derive(Clone, Copy)]
pub struct BankView<'a> {
    pub now: u64,
    /// Bank within the channel.
    pub bank: u16,
    pub open_row: Option<u32>,
    /// How many of `requests` go to the open row.
    pub hits: u32,
    /// The bank's requests that may start, oldest first, never empty: reads or writes, as the channel
    /// now serves, or both where they share a queue.
    pub requests: &'a VecDeque<Queued>,
    /// The oldest of `requests` is the oldest request that the channel may serve, and no other is
    /// in service. Known only to schedulers that are [`Scheduler::strictly_in_order`].
    pub holds_channel_oldest: bool,
}

impl BankView<'_> {
    /// The oldest request to the open row.
    pub fn first_hit(&self) -> Option<usize> {
        if self.hits == 0 {
            return None;
        }
        self.requests.iter().position(|queued| Some(queued.request.row) == self.open_row)
    }

    /// Row hits first, then the oldest.
    pub fn fr_fcfs(&self) -> usize {
        self.first_hit().unwrap_or(0)
    }
}

/// What a scheduler sees of a queue that a request wants to enter.
#[derive(Clone, Copy, Debug)]
pub struct QueueView {
    /// Requests in the queue, those in service included.
    pub waiting: u32,
    /// Of these, requests to the bank of the one that wants in.
    pub bank_waiting: u32,
    pub capacity: u32,
    /// Banks of the channel.
    pub banks: u32,
}

/// Orders the requests of a channel.
///
/// A bank without a request in service has a *candidate*: what [`pick`](Scheduler::pick) says. The channel
/// issues the command that the candidate needs as soon as timing and the round robin over banks
/// let it; from then on the request is in service, and the bank's, until its last column command.
pub trait Scheduler: Send {
    /// The index in `bank.requests` of the request to serve next, or none to leave the bank idle
    /// for now.
    ///
    /// Decides eligibility and preference only; timing is the channel's. The answer may depend on
    /// the view and on what the hooks below have told, never on how often it is asked: the channel
    /// asks again whenever the bank's requests, its open row, or the kind of request that is served
    /// have changed, and when the bank comes to hold the channel's oldest request.
    fn pick(&mut self, bank: &BankView) -> Option<usize>;

    /// Whether the queue takes one more request. Must be true of an empty queue.
    fn accepts(&self, queue: &QueueView) -> bool {
        queue.waiting < queue.capacity
    }

    /// Whether `pick` and `accepts` also rule a separate write queue; else that is FR-FCFS.
    fn orders_writes(&self) -> bool {
        false
    }

    /// Whether only the channel's oldest request is ever picked, and only when no other is in service.
    fn strictly_in_order(&self) -> bool {
        false
    }

    /// From which cycle on an open row that no request waits for is closed, its last column command
    /// (or its activation) having issued at `last_use`. None: it stays open.
    fn close_idle_row_at(&self, last_use: u64) -> Option<u64> {
        let _ = last_use;
        None
    }

    /// A request has entered the queue.
    fn on_arrival(&mut self, queued: &Queued) {
        let _ = queued;
    }

    /// The first command for `bank.requests[index]` issues; `bank` is as `pick` saw it.
    fn on_service(&mut self, bank: &BankView, index: usize) {
        let _ = (bank, index);
    }

    /// A row has been opened.
    fn on_activate(&mut self, bank: u16, row: u32) {
        let _ = (bank, row);
    }

    /// A column command has issued for a request; `last` if it was its last.
    fn on_column(&mut self, queued: &Queued, last: bool) {
        let _ = (queued, last);
    }
}
