//! Request queues of a slice: the order in which waiting requests reach the tags.

mod account;
mod calrs;
mod calrs_ideal;
mod fifo;
mod none;
mod slice_queue;

pub(super) use account::QueueAccount;
pub(super) use slice_queue::SliceQueue;

use crate::results::CRITICAL_CLASSES;
use fifo::Fifo;
use warpmem_machine::{L2, Machine};
use warpmem_params::{Chosen, Counter, Entry, Registry};
use warpmem_sim::{Request, RequestId};

/// The requests that wait for the tags of a slice. Every request has the Critical Field of its
/// instruction ([`Request::critical_field`]).
pub trait L2Queue: Send {
    /// Returns the capacity in requests.
    fn capacity(&self) -> u32;

    /// Returns whether this request may enter. A refused request stays refused until another has
    /// left.
    fn accepts(&self, request: &Request) -> bool;

    /// Adds a request that was accepted.
    fn push(&mut self, id: RequestId, request: &Request);

    /// Called when the arriving request was refused. It is offered again, and later requests wait
    /// behind it. Called in every step of the slice, so a second call must change nothing.
    fn refused(&mut self) {}

    /// Returns whether the slice must accept nothing from the network, whatever the room. Called
    /// while a request is refused.
    fn is_blocked(&self) -> bool {
        false
    }

    /// Returns the next request for the tags. The result may change only with [`L2Queue::pop`] or a
    /// push.
    fn next(&self) -> Option<RequestId>;

    /// Removes the request from [`L2Queue::next`].
    fn pop(&mut self);

    /// Returns the number of waiting requests.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether requests wait before the tags. If not, none is in flight to the tags either:
    /// see [`without_delay_before_tags`].
    fn holds_requests(&self) -> bool {
        true
    }

    /// Returns the queue entries at each node of SMs (`network.sms_per_node`) that replace those of
    /// the slice.
    fn entries_at_nodes(&self) -> u32 {
        0
    }

    /// Returns the same queue, if the policy is first in, first out: slices call it directly.
    #[doc(hidden)]
    fn as_fifo(&self) -> Option<Fifo> {
        None
    }

    /// Returns the number of priority rotations.
    fn rotations(&self) -> u64 {
        0
    }

    /// Returns the counters of the policy.
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}

/// Every queue policy.
pub static L2_QUEUES: Registry<dyn L2Queue, L2> =
    Registry::new("l2_queue", &[fifo::ENTRY, calrs::ENTRY, calrs_ideal::ENTRY, none::ENTRY]);

/// Moves the delay before the tags behind them, with the same total latency of hits and of misses.
/// Requests in the delay before the tags would otherwise form a queue with one entry per cycle.
pub fn without_delay_before_tags(machine: &Machine) -> Machine {
    let mut machine = machine.clone();
    let periods = machine.clocks.periods();
    let delay = std::mem::take(&mut machine.l2.input_latency);
    let ticks = u64::from(delay) * periods.core;
    machine.l2.latency += ticks.div_ceil(periods.l2) as u32;
    machine.l2.to_dram_latency += delay;
    machine
}

type QueueEntry = Entry<dyn L2Queue, L2>;

/// The queue policy that a machine chooses.
pub type ChosenQueue = Chosen<dyn L2Queue, L2>;

/// The class of a Critical Field, most critical first: 1, 2, 3 to 4, 5 to 8, 9 to 32 (CaLRS 2015,
/// Table 2).
fn class_of(critical_field: u8) -> usize {
    let class = u8::BITS - critical_field.saturating_sub(1).leading_zeros();
    (class as usize).min(CRITICAL_CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_sim::{Location, RequestKind, RequestTable, Ticks};

    /// A queue, and requests numbered in order of arrival.
    pub(super) struct QueueBench {
        pub queue: Box<dyn L2Queue>,
        requests: RequestTable,
    }

    impl QueueBench {
        pub fn new(policy: &str, overrides: &[&str]) -> QueueBench {
            let machine = crate::testing::machine(overrides);
            let queue = L2_QUEUES.build(policy, &machine.l2).unwrap();
            QueueBench { queue, requests: RequestTable::default() }
        }

        /// Offers a request of this Critical Field; returns whether it was accepted.
        pub fn offer(&mut self, critical_field: u8) -> bool {
            let request = Request::of_slice(0, RequestKind::Read, Location::ZERO);
            let request = Request { critical_field, ..request };
            let accepts = self.queue.accepts(&request);
            if accepts {
                self.queue.push(self.requests.add(request, Ticks(0)), &request);
            } else {
                self.queue.refused();
            }
            accepts
        }

        /// Serves one request; returns its number.
        pub fn serve(&mut self) -> Option<u32> {
            let next = self.queue.next()?;
            self.queue.pop();
            Some(next.0)
        }

        /// Serves `count` requests; returns their Critical Fields.
        pub fn serve_fields(&mut self, count: usize) -> Vec<u8> {
            (0..count).map_while(|_| self.serve().map(|id| self.field(id))).collect()
        }

        pub fn field(&self, id: u32) -> u8 {
            self.requests.get(RequestId(id)).critical_field
        }

        pub fn counter(&self, name: &str) -> u64 {
            let counters = self.queue.counters();
            counters.iter().find(|counter| counter.name == name).unwrap().value
        }
    }

    #[test]
    fn critical_fields_have_the_priorities_of_table_2() {
        // CaLRS 2015, Table 2.
        let priorities: Vec<usize> = (1..=32).map(class_of).collect();
        let table = [vec![0], vec![1], vec![2; 2], vec![3; 4], vec![4; 24]].concat();
        assert_eq!(priorities, table);
    }

    #[test]
    fn every_queue_serves_exactly_the_requests_it_accepted() {
        for name in L2_QUEUES.names() {
            let mut bench = QueueBench::new(name, &["l2.queue=7"]);
            let accepted = (0..100).filter(|n| bench.offer(1 + n % 32)).count();
            assert!(accepted as u64 <= u64::from(bench.queue.capacity()), "{name}");
            assert!(accepted > 0 && bench.queue.len() == accepted, "{name}");
            assert_eq!(bench.serve_fields(1000).len(), accepted, "{name}");
            assert!(bench.queue.is_empty() && bench.queue.next().is_none(), "{name}");
            assert!(!bench.queue.is_blocked() && bench.offer(32), "{name}: empty again");
        }
    }

    /// A slice offers a refused request again only when another has left.
    #[test]
    fn a_refused_request_stays_refused_until_another_has_left() {
        for name in L2_QUEUES.names() {
            for field in 1..=32 {
                let mut bench = QueueBench::new(name, &["l2.queue=7"]);
                let Some(_) = (0..100).find(|_| !bench.offer(field)) else { continue };
                for other in (1..=32).rev() {
                    bench.offer(other);
                    assert!(!bench.offer(field), "{name}: {field} after {other} was offered");
                }
            }
        }
    }
}
