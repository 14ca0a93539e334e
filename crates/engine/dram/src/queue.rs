//! The waiting requests of a channel, by bank and by row.
//!
//! Every query of a scheduler takes constant time, or time linear in its answer: the requests of
//! each bank form a linked list, oldest first, the requests to one row another, and rows are found
//! by hashing.

use super::by_bank::ByBank;
use super::request::DramRequest;
use warpmem_sim::{BankId, DramCycle, RowId, hint, ids};

/// A request in a channel's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    pub request: DramRequest,
    /// Cycle of its arrival in the channel.
    pub arrived: DramCycle,
    /// Number of earlier arrivals in the channel; orders requests that arrived in one cycle.
    pub order: u64,
}

ids! {
    /// Slot of a request in its queue, constant from arrival to the end of its service; below the
    /// queue's capacity.
    pub Slot(u16);
}

impl Slot {
    pub(super) const NONE: Slot = Slot(u16::MAX);

    fn some(self) -> Option<Slot> {
        (self != Slot::NONE).then_some(self)
    }
}

/// A doubly linked list of slots.
#[derive(Clone, Copy)]
struct List {
    first: Slot,
    last: Slot,
    count: u32,
}

const EMPTY: List = List { first: Slot::NONE, last: Slot::NONE, count: 0 };

/// Neighbours of a list member.
#[derive(Clone, Copy)]
struct Links {
    previous: Slot,
    next: Slot,
}

const LOOSE: Links = Links { previous: Slot::NONE, next: Slot::NONE };

/// Position of a request in the lists.
#[derive(Clone, Copy)]
struct Node {
    in_bank: Links,
    in_row: Links,
    /// Index of its row in [`Queue::rows`].
    row: Slot,
}

/// Requests to one row of one bank.
#[derive(Clone, Copy)]
struct RowNode {
    row: RowId,
    bank: BankId,
    requests: List,
    in_bank: Links,
    /// Next row with the same hash.
    next_hashed: Slot,
}

#[derive(Clone, Copy)]
struct BankLists {
    requests: List,
    rows: List,
    open_row: Option<RowId>,
    /// Row node of the open row, if requests wait for it.
    open: Slot,
}

/// The requests to one row of a bank.
#[derive(Clone, Copy, Debug)]
pub struct RowView {
    pub row: RowId,
    /// Number of requests to the row.
    pub count: u32,
    /// Oldest request to the row.
    pub oldest: Slot,
}

/// Requests of one channel that wait for service.
pub struct Queue {
    /// Requests by slot; a free slot keeps its last request. Links are stored apart from requests
    /// so that walking a list touches little memory.
    requests: Vec<Queued>,
    nodes: Box<[Node]>,
    rows: Box<[RowNode]>,
    /// First row of each hash value.
    hashed: Box<[Slot]>,
    lists: ByBank<BankLists>,
    /// Number of banks of the channel.
    banks: usize,
    len: u32,
    /// First free slot and first free entry of `rows`, each linked to the next.
    free: Slot,
    free_row: Slot,
}

/// Multiplier of Fibonacci hashing: 2^64 over the golden ratio.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Queue {
    pub(super) fn new(banks: usize, capacity: usize) -> Queue {
        assert!(capacity < usize::from(u16::MAX), "at most {} requests", u16::MAX - 1);
        // Free entries are used lowest first.
        let next = |entry| if entry + 1 < capacity { Slot::new(entry + 1) } else { Slot::NONE };
        let links = |entry| Links { next: next(entry), ..LOOSE };
        let node = |entry| Node { in_bank: links(entry), in_row: LOOSE, row: Slot::NONE };
        let row = |entry| RowNode {
            row: RowId(0),
            bank: BankId(0),
            requests: EMPTY,
            in_bank: links(entry),
            next_hashed: Slot::NONE,
        };
        let lists = BankLists { requests: EMPTY, rows: EMPTY, open_row: None, open: Slot::NONE };
        let first = if capacity > 0 { Slot(0) } else { Slot::NONE };
        Queue {
            requests: Vec::with_capacity(capacity),
            nodes: (0..capacity).map(node).collect(),
            rows: (0..capacity).map(row).collect(),
            hashed: vec![Slot::NONE; (2 * capacity).next_power_of_two().max(2)].into(),
            lists: ByBank::new(lists),
            banks,
            len: 0,
            free: first,
            free_row: first,
        }
    }

    /// Returns the number of waiting requests of all banks.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the banks of the channel.
    pub fn banks(&self) -> impl ExactSizeIterator<Item = BankId> + Clone + use<> {
        BankId::all(self.banks)
    }

    /// Returns the request in `slot`, which must be occupied.
    #[inline]
    pub fn get(&self, slot: Slot) -> &Queued {
        &self.requests[slot.index()]
    }

    /// Returns the open row of `bank`.
    #[inline]
    pub fn open_row(&self, bank: BankId) -> Option<RowId> {
        self.lists[bank].open_row
    }

    /// Returns the number of requests waiting for `bank`.
    #[inline]
    pub fn waiting(&self, bank: BankId) -> u32 {
        self.lists[bank].requests.count
    }

    /// Returns the number of requests waiting for the open row of `bank`.
    #[inline]
    pub fn hits(&self, bank: BankId) -> u32 {
        match self.lists[bank].open.some() {
            Some(open) => self.rows[open.index()].requests.count,
            None => 0,
        }
    }

    /// Returns the number of requests waiting for the row of the request in `slot`.
    #[inline]
    pub fn row_requests(&self, slot: Slot) -> u32 {
        let row = self.nodes[slot.index()].row;
        self.rows[row.index()].requests.count
    }

    /// Returns the oldest request of `bank`.
    #[inline]
    pub fn oldest(&self, bank: BankId) -> Option<Slot> {
        self.lists[bank].requests.first.some()
    }

    /// Returns the oldest request to the open row of `bank`.
    #[inline]
    pub fn oldest_hit(&self, bank: BankId) -> Option<Slot> {
        let open = self.lists[bank].open.some()?;
        Some(self.rows[open.index()].requests.first)
    }

    /// Iterates over the requests of `bank`, oldest first.
    pub fn requests(&self, bank: BankId) -> impl Iterator<Item = (Slot, &Queued)> {
        let first = self.lists[bank].requests.first;
        self.walk(first, |node| node.in_bank.next)
    }

    /// Iterates over the requests of a bank from that in `slot` on, oldest first.
    pub fn since(&self, slot: Slot) -> impl Iterator<Item = (Slot, &Queued)> {
        self.walk(slot, |node| node.in_bank.next)
    }

    /// Iterates over the requests to a row of `bank`, oldest first.
    pub fn requests_to(&self, bank: BankId, row: RowId) -> impl Iterator<Item = (Slot, &Queued)> {
        let found = self.find(bank, row);
        let first = found.map_or(Slot::NONE, |found| self.rows[found.index()].requests.first);
        self.walk(first, |node| node.in_row.next)
    }

    /// Iterates over the requests to the open row of `bank`, oldest first.
    pub fn hits_of(&self, bank: BankId) -> impl Iterator<Item = (Slot, &Queued)> {
        self.walk(self.oldest_hit(bank).unwrap_or(Slot::NONE), |node| node.in_row.next)
    }

    /// Iterates over the rows of `bank` with waiting requests, in the order of their first waiting
    /// request.
    pub fn rows(&self, bank: BankId) -> impl Iterator<Item = RowView> {
        let mut next = self.lists[bank].rows.first;
        std::iter::from_fn(move || {
            let row = &self.rows[next.some()?.index()];
            next = row.in_bank.next;
            let List { first, count, .. } = row.requests;
            Some(RowView { row: row.row, count, oldest: first })
        })
    }

    /// Iterates over all requests, bank by bank, oldest first in each.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &Queued)> {
        self.banks().flat_map(|bank| self.requests(bank))
    }

    fn walk(
        &self,
        mut next: Slot,
        follow: fn(&Node) -> Slot,
    ) -> impl Iterator<Item = (Slot, &Queued)> {
        std::iter::from_fn(move || {
            let slot = next.some()?;
            next = follow(&self.nodes[slot.index()]);
            Some((slot, self.get(slot)))
        })
    }

    /// Adds a request; a slot must be free.
    #[inline(always)]
    pub(super) fn push(&mut self, queued: Queued) -> Slot {
        let DramRequest { bank, row, .. } = queued.request;
        let row = self.find(bank, row).unwrap_or_else(|| self.add_row(bank, row));
        let slot = self.free.some().expect("a request enters where there is room");
        self.len += 1;
        let node = &mut self.nodes[slot.index()];
        self.free = node.in_bank.next;
        node.row = row;
        match self.requests.get_mut(slot.index()) {
            Some(entry) => *entry = queued,
            None => self.requests.push(queued),
        }
        let nodes = &mut self.nodes;
        append(&mut self.lists[bank].requests, slot, nodes, |node| &mut node.in_bank);
        append(&mut self.rows[row.index()].requests, slot, nodes, |node| &mut node.in_row);
        slot
    }

    /// Removes a request from all lists; its slot stays reserved until [`free`](Queue::free).
    #[inline(always)]
    pub(super) fn take(&mut self, slot: Slot) {
        let bank = self.requests[slot.index()].request.bank;
        let row = self.nodes[slot.index()].row;
        let requests = &mut self.lists[bank].requests;
        unlink(requests, slot, &mut self.nodes, |node| &mut node.in_bank);
        // The next request to the row is likely to be served next.
        if let Some(next) = self.requests.get(self.nodes[slot.index()].in_row.next.index()) {
            hint::will_be_read(next);
        }
        let requests = &mut self.rows[row.index()].requests;
        unlink(requests, slot, &mut self.nodes, |node| &mut node.in_row);
        if requests.count == 0 {
            self.remove_row(row);
        }
        self.len -= 1;
    }

    /// Frees the slot of a request that was taken.
    #[inline]
    pub(super) fn free(&mut self, slot: Slot) {
        self.nodes[slot.index()].in_bank.next = self.free;
        self.free = slot;
    }

    /// Sets the open row of a bank.
    #[inline]
    pub(super) fn set_open_row(&mut self, bank: BankId, open_row: Option<RowId>) {
        let waited_for = open_row.filter(|_| self.waiting(bank) > 0);
        let open = waited_for.and_then(|row| self.find_hashed(bank, row)).unwrap_or(Slot::NONE);
        let bank = &mut self.lists[bank];
        bank.open_row = open_row;
        bank.open = open;
    }

    fn bucket(&self, bank: BankId, row: RowId) -> usize {
        let key = u64::from(row.0) << u16::BITS | u64::from(bank.0);
        let bits = self.hashed.len().trailing_zeros();
        (key.wrapping_mul(SCATTER) >> (u64::BITS - bits)) as usize
    }

    #[inline]
    fn find(&self, bank: BankId, row: RowId) -> Option<Slot> {
        let lists = &self.lists[bank];
        let is_open = lists.open_row == Some(row);
        if is_open { lists.open.some() } else { self.find_hashed(bank, row) }
    }

    fn find_hashed(&self, bank: BankId, row: RowId) -> Option<Slot> {
        let mut next = self.hashed[self.bucket(bank, row)];
        while let Some(slot) = next.some() {
            let node = &self.rows[slot.index()];
            if node.row == row && node.bank == bank {
                return Some(slot);
            }
            next = node.next_hashed;
        }
        None
    }

    fn add_row(&mut self, bank: BankId, row: RowId) -> Slot {
        let slot = self.free_row.some().expect("no more rows than requests");
        let bucket = self.bucket(bank, row);
        let next_hashed = std::mem::replace(&mut self.hashed[bucket], slot);
        let node = &mut self.rows[slot.index()];
        self.free_row = node.in_bank.next;
        *node = RowNode { row, bank, requests: EMPTY, in_bank: LOOSE, next_hashed };
        let lists = &mut self.lists[bank];
        append(&mut lists.rows, slot, &mut self.rows, |node| &mut node.in_bank);
        if lists.open_row == Some(row) {
            lists.open = slot;
        }
        slot
    }

    #[inline]
    fn remove_row(&mut self, slot: Slot) {
        let RowNode { row, bank, next_hashed, .. } = self.rows[slot.index()];
        let bucket = self.bucket(bank, row);
        if self.hashed[bucket] == slot {
            self.hashed[bucket] = next_hashed;
        } else {
            let mut before = self.hashed[bucket];
            while self.rows[before.index()].next_hashed != slot {
                before = self.rows[before.index()].next_hashed;
            }
            self.rows[before.index()].next_hashed = next_hashed;
        }
        let lists = &mut self.lists[bank];
        unlink(&mut lists.rows, slot, &mut self.rows, |node| &mut node.in_bank);
        if lists.open == slot {
            lists.open = Slot::NONE;
        }
        self.rows[slot.index()].in_bank.next = self.free_row;
        self.free_row = slot;
    }
}

fn append<T>(list: &mut List, slot: Slot, table: &mut [T], links: fn(&mut T) -> &mut Links) {
    *links(&mut table[slot.index()]) = Links { previous: list.last, next: Slot::NONE };
    match list.last.some() {
        Some(last) => links(&mut table[last.index()]).next = slot,
        None => list.first = slot,
    }
    list.last = slot;
    list.count += 1;
}

fn unlink<T>(list: &mut List, slot: Slot, table: &mut [T], links: fn(&mut T) -> &mut Links) {
    let Links { previous, next } = *links(&mut table[slot.index()]);
    match previous.some() {
        Some(previous) => links(&mut table[previous.index()]).next = next,
        None => list.first = next,
    }
    match next.some() {
        Some(next) => links(&mut table[next.index()]).previous = previous,
        None => list.last = previous,
    }
    list.count -= 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::read;
    use proptest::prelude::*;

    const BANKS: u16 = 3;
    const CAPACITY: usize = 12;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push {
            bank: BankId,
            row: RowId,
        },
        /// Takes the n-th waiting request, modulo their number.
        Take(usize),
        Open {
            bank: BankId,
            row: Option<RowId>,
        },
    }

    fn step() -> impl Strategy<Value = Step> {
        let (bank, row) = ((0..BANKS).prop_map(BankId), (0u32..4).prop_map(RowId));
        prop_oneof![
            4 => (bank.clone(), row.clone()).prop_map(|(bank, row)| Step::Push { bank, row }),
            3 => (0usize..CAPACITY).prop_map(Step::Take),
            2 => (bank, prop::option::of(row)).prop_map(|(bank, row)| Step::Open { bank, row }),
        ]
    }

    /// The same queue as a plain list.
    #[derive(Default)]
    struct Plain {
        requests: Vec<(Slot, Queued)>,
        open: [Option<RowId>; BANKS as usize],
    }

    impl Plain {
        fn of(&self, bank: BankId, row: Option<RowId>) -> Vec<(Slot, Queued)> {
            let wanted = |queued: &Queued| {
                queued.request.bank == bank && row.is_none_or(|row| queued.request.row == row)
            };
            self.requests.iter().copied().filter(|(_, queued)| wanted(queued)).collect()
        }
    }

    fn owned<'a>(of: impl Iterator<Item = (Slot, &'a Queued)>) -> Vec<(Slot, Queued)> {
        of.map(|(slot, queued)| (slot, *queued)).collect()
    }

    fn agree(queue: &Queue, plain: &Plain) {
        assert_eq!(queue.len(), plain.requests.len());
        assert_eq!(queue.is_empty(), plain.requests.is_empty());
        for bank in queue.banks() {
            let all = plain.of(bank, None);
            assert_eq!(owned(queue.requests(bank)), all);
            for (index, &(slot, _)) in all.iter().enumerate() {
                assert_eq!(owned(queue.since(slot)), all[index..]);
            }
            assert_eq!(queue.waiting(bank) as usize, all.len());
            assert_eq!(queue.oldest(bank), all.first().map(|&(slot, _)| slot));
            let open = plain.open[bank.index()];
            let hits = open.map(|row| plain.of(bank, Some(row))).unwrap_or_default();
            assert_eq!(queue.open_row(bank), open);
            assert_eq!(owned(queue.hits_of(bank)), hits);
            assert_eq!(queue.hits(bank) as usize, hits.len());
            assert_eq!(queue.oldest_hit(bank), hits.first().map(|&(slot, _)| slot));
            let mut rows = 0;
            for RowView { row, count, oldest } in queue.rows(bank) {
                let of_row = plain.of(bank, Some(row));
                assert_eq!(owned(queue.requests_to(bank, row)), of_row);
                assert_eq!((count as usize, oldest), (of_row.len(), of_row[0].0));
                rows += count as usize;
            }
            assert_eq!(rows, all.len());
        }
        let slots: Vec<Slot> = queue.iter().map(|(slot, _)| slot).collect();
        assert!(slots.iter().all(|slot| slot.index() < CAPACITY));
    }

    proptest! {
        #[test]
        fn the_queue_matches_a_plain_list(steps in prop::collection::vec(step(), 1..80)) {
            let mut queue = Queue::new(BANKS.into(), CAPACITY);
            let mut plain = Plain::default();
            for (order, step) in (0..).zip(steps) {
                match step {
                    Step::Push { bank, row } if plain.requests.len() < CAPACITY => {
                        let arrived = DramCycle::new(order);
                        let queued = Queued { request: read(0, bank.0, row.0), arrived, order };
                        let slot = queue.push(queued);
                        prop_assert!(plain.requests.iter().all(|&(taken, _)| taken != slot));
                        plain.requests.push((slot, queued));
                    }
                    Step::Take(n) if !plain.requests.is_empty() => {
                        let (slot, queued) = plain.requests.remove(n % plain.requests.len());
                        queue.take(slot);
                        prop_assert_eq!(*queue.get(slot), queued);
                        queue.free(slot);
                    }
                    Step::Open { bank, row } => {
                        plain.open[bank.index()] = row;
                        queue.set_open_row(bank, row);
                    }
                    _ => {}
                }
                agree(&queue, &plain);
            }
        }
    }
}
