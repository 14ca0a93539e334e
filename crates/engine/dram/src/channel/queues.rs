//! The queues of a channel: reads and writes, together or apart.

use crate::queue::{Queue, Queued, Slot};
use crate::request::Request;
use std::collections::VecDeque;
use warpmem_sim::{BankId, DramCycle, RowId};

/// Index of the read queue, which is also the one queue where there is no other.
pub(super) const READS: usize = 0;
pub(super) const WRITES: usize = 1;
/// Index of the queue of prefetches, which enter it with their first command and so never wait in
/// it.
pub(super) const PREFETCHES: usize = 2;

/// The requests of a channel, from arrival to the end of their service.
pub(super) struct Queues {
    /// Requests in each queue, those in service included.
    present: [u32; 2],
    /// 1, or 2 where reads and writes have a queue each.
    used: usize,
    queues: [Queue; 3],
    /// Requests that have arrived.
    arrived: u64,
    /// Strictly in-order schedulers: banks of the requests not yet in service, oldest first.
    order: Option<[VecDeque<BankId>; 2]>,
}

impl Queues {
    /// For `used` queues of these capacities. `in_order`: the order of arrival is kept.
    pub fn new(banks: usize, used: usize, capacity: [u32; 2], in_order: bool) -> Queues {
        // A request in service keeps its slot though it may have left its entry.
        let [reads, writes] = capacity.map(|entries| Queue::new(banks, entries as usize + banks));
        Queues {
            present: [0; 2],
            used,
            queues: [reads, writes, Queue::new(banks, 0)],
            arrived: 0,
            order: in_order.then(Default::default),
        }
    }

    /// Makes room for a prefetch in every bank.
    pub fn allow_prefetches(&mut self, banks: usize) {
        self.queues[PREFETCHES] = Queue::new(banks, banks);
    }

    /// The requests of a queue that are not in service.
    #[inline]
    pub fn of(&self, queue: usize) -> &Queue {
        &self.queues[queue]
    }

    /// Requests in each queue, those in service included.
    #[inline]
    pub fn present(&self) -> [u32; 2] {
        self.present
    }

    /// Requests in the channel.
    #[inline]
    pub fn pending(&self) -> u32 {
        let [reads, writes] = self.present;
        reads + writes
    }

    /// Requests that wait for the bank, of both kinds.
    #[inline]
    pub fn waiting(&self, bank: BankId) -> u32 {
        self.queues[..self.used].iter().map(|queue| queue.waiting(bank)).sum()
    }

    /// Requests that wait for the bank's open row, of both kinds.
    #[inline]
    pub fn hits(&self, bank: BankId) -> u32 {
        self.queues[..self.used].iter().map(|queue| queue.hits(bank)).sum()
    }

    /// A request arrives.
    #[inline]
    pub fn push(&mut self, queue: usize, request: Request, now: DramCycle) -> Slot {
        let queued = Queued { request, arrived: now, order: self.arrived };
        self.arrived += 1;
        self.present[queue] += 1;
        if let Some(order) = &mut self.order {
            order[queue].push_back(request.bank);
        }
        self.queues[queue].push(queued)
    }

    /// The first command of a request issues: it waits no longer.
    #[inline]
    pub fn begin_service(&mut self, queue: usize, slot: Slot) -> &Queued {
        self.queues[queue].take(slot);
        self.queues[queue].get(slot)
    }

    /// The first command of a prefetch issues.
    pub fn begin_prefetch(&mut self, request: Request, now: DramCycle) -> Slot {
        let queue = &mut self.queues[PREFETCHES];
        let slot = queue.push(Queued { request, arrived: now, order: u64::MAX });
        queue.take(slot);
        slot
    }

    /// The last command of a request or a prefetch has issued: it leaves.
    #[inline]
    pub fn leave(&mut self, queue: usize, slot: Slot) -> Queued {
        let queued = *self.queues[queue].get(slot);
        self.queues[queue].free(slot);
        if let Some(present) = self.present.get_mut(queue) {
            *present -= 1;
        }
        queued
    }

    /// The row of a bank was opened or closed.
    #[inline]
    pub fn set_open_row(&mut self, bank: BankId, row: Option<RowId>) {
        let queues = &mut self.queues[..self.used];
        queues.iter_mut().for_each(|queue| queue.set_open_row(bank, row));
    }

    /// The bank of the oldest request of a queue, where the order of arrival is kept.
    #[inline]
    pub fn oldest_bank(&self, queue: usize) -> Option<BankId> {
        self.order.as_ref()?[queue].front().copied()
    }

    /// The oldest request of a queue leaves the order of arrival.
    pub fn leave_order(&mut self, queue: usize) {
        if let Some(order) = &mut self.order {
            order[queue].pop_front();
        }
    }
}
