//! The queues of a channel: one for reads and writes, or one for each.

use crate::queue::{Queue, Queued, Slot};
use crate::request::DramRequest;
use std::collections::VecDeque;
use warpmem_sim::{BankId, DramCycle, RowId};

/// Index of the read queue, or of the shared queue.
pub(super) const READS: usize = 0;
pub(super) const WRITES: usize = 1;
/// Index of the queue of prefetches. They enter it with their first command and never wait in it.
pub(super) const PREFETCHES: usize = 2;

/// Requests of a channel, from arrival to the end of their service.
pub(super) struct Queues {
    /// Requests in each queue, including those in service.
    present: [u32; 2],
    /// Number of queues: 1, or 2 with separate reads and writes.
    used: usize,
    queues: [Queue; 3],
    /// Number of arrived requests.
    arrived: u64,
    /// Strictly in-order schedulers: banks of the requests not yet in service, oldest first.
    order: Option<[VecDeque<BankId>; 2]>,
}

impl Queues {
    /// Builds `used` queues of these capacities. `in_order` keeps the order of arrival.
    pub fn new(banks: usize, used: usize, capacity: [u32; 2], in_order: bool) -> Queues {
        // A request in service keeps its slot even after it has freed its entry.
        let [reads, writes] = capacity.map(|entries| Queue::new(banks, entries as usize + banks));
        Queues {
            present: [0; 2],
            used,
            queues: [reads, writes, Queue::new(banks, 0)],
            arrived: 0,
            order: in_order.then(Default::default),
        }
    }

    /// Adds room for one prefetch per bank.
    pub fn allow_prefetches(&mut self, banks: usize) {
        self.queues[PREFETCHES] = Queue::new(banks, banks);
    }

    /// Returns the requests of a queue that are not in service.
    #[inline]
    pub fn of(&self, queue: usize) -> &Queue {
        &self.queues[queue]
    }

    /// Returns the requests in each queue, including those in service.
    #[inline]
    pub fn present(&self) -> [u32; 2] {
        self.present
    }

    /// Returns the number of requests in the channel.
    #[inline]
    pub fn pending(&self) -> u32 {
        let [reads, writes] = self.present;
        reads + writes
    }

    /// Returns the number of reads and writes waiting for the bank.
    #[inline]
    pub fn waiting(&self, bank: BankId) -> u32 {
        self.queues[..self.used].iter().map(|queue| queue.waiting(bank)).sum()
    }

    /// Returns the number of reads and writes waiting for the bank's open row.
    #[inline]
    pub fn hits(&self, bank: BankId) -> u32 {
        self.queues[..self.used].iter().map(|queue| queue.hits(bank)).sum()
    }

    /// Enqueues an arriving request.
    #[inline]
    pub fn push(&mut self, queue: usize, request: DramRequest, now: DramCycle) -> Slot {
        let queued = Queued { request, arrived: now, order: self.arrived };
        self.arrived += 1;
        self.present[queue] += 1;
        if let Some(order) = &mut self.order {
            order[queue].push_back(request.bank);
        }
        self.queues[queue].push(queued)
    }

    /// Moves a request into service with its first command.
    #[inline]
    pub fn begin_service(&mut self, queue: usize, slot: Slot) -> &Queued {
        self.queues[queue].take(slot);
        self.queues[queue].get(slot)
    }

    /// Adds a prefetch with its first command.
    pub fn begin_prefetch(&mut self, request: DramRequest, now: DramCycle) -> Slot {
        let queue = &mut self.queues[PREFETCHES];
        let slot = queue.push(Queued { request, arrived: now, order: u64::MAX });
        queue.take(slot);
        slot
    }

    /// Removes a request or a prefetch whose last command has issued.
    #[inline]
    pub fn leave(&mut self, queue: usize, slot: Slot) -> Queued {
        let queued = *self.queues[queue].get(slot);
        self.queues[queue].free(slot);
        if let Some(present) = self.present.get_mut(queue) {
            *present -= 1;
        }
        queued
    }

    /// Sets the open row of a bank.
    #[inline]
    pub fn set_open_row(&mut self, bank: BankId, row: Option<RowId>) {
        let queues = &mut self.queues[..self.used];
        queues.iter_mut().for_each(|queue| queue.set_open_row(bank, row));
    }

    /// Returns the bank of the oldest request of a queue, if the order of arrival is kept.
    #[inline]
    pub fn oldest_bank(&self, queue: usize) -> Option<BankId> {
        self.order.as_ref()?[queue].front().copied()
    }

    /// Removes the oldest request of a queue from the order of arrival.
    pub fn leave_order(&mut self, queue: usize) {
        if let Some(order) = &mut self.order {
            order[queue].pop_front();
        }
    }
}
