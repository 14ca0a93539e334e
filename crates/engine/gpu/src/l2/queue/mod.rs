//! Request queues of a slice: in which order waiting requests reach the tags.

mod account;
mod calrs;
mod calrs_ideal;
mod fifo;
mod none;

pub(super) use account::QueueAccount;

use crate::results::CRITICAL_CLASSES;
use warpmem_machine::{L2, Machine};
use warpmem_params::{Counter, Entry, Registry};
use warpmem_sim::{Request, RequestId};

/// The requests that wait for the tags of one slice. Those that arrive know the Critical Field of
/// their instruction ([`Request::critical_field`]).
pub trait L2Queue: Send {
    /// Most requests that wait here.
    fn capacity(&self) -> u32;

    /// Whether this request may enter. A request that may not enter may later only if another has left.
    fn accepts(&self, request: &Request) -> bool;

    /// Adds a request that was accepted.
    fn push(&mut self, id: RequestId, request: &Request);

    /// A request that has arrived was not accepted; it will be offered again, and others wait
    /// behind it. Called in every step of the slice, so a second call must change nothing.
    fn refused(&mut self) {}

    /// Whether the slice takes nothing from the network, whatever room there is. Asked while a
    /// request is refused.
    fn is_blocked(&self) -> bool {
        false
    }

    /// The request that reaches the tags next. Stays the same until [`L2Queue::pop`] or a push.
    fn next(&self) -> Option<RequestId>;

    /// Removes the request that [`L2Queue::next`] named.
    fn pop(&mut self);

    /// Requests waiting.
    fn len(&self) -> usize;

    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether requests wait before the tags. If none do, none is on its way there either: see
    /// [`without_delay_before_tags`].
    fn holds_requests(&self) -> bool {
        true
    }

    /// Queue entries at each cluster of SMs (`network.sms_per_node`) instead of here.
    fn entries_at_clusters(&self) -> u32 {
        0
    }

    /// How often priorities have rotated.
    fn rotations(&self) -> u64 {
        0
    }

    /// Numbers of the policy's own.
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}

/// Every queue policy.
pub static L2_QUEUES: Registry<dyn L2Queue, L2> = Registry {
    slot: "l2_queue",
    entries: &[fifo::ENTRY, calrs::ENTRY, calrs_ideal::ENTRY, none::ENTRY],
};

/// `machine` with the delay before the tags behind them, where hits and misses take as long
/// together. The requests in that delay are a queue of their own, of as many entries as it has
/// cycles.
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

    /// A queue with requests numbered in the order in which they are offered.
    pub(super) struct Rig {
        pub queue: Box<dyn L2Queue>,
        requests: RequestTable,
    }

    impl Rig {
        pub fn new(policy: &str, overrides: &[&str]) -> Rig {
            let machine = warpmem_testing::machine(overrides);
            let queue = L2_QUEUES.build(policy, &machine.l2).unwrap();
            Rig { queue, requests: RequestTable::default() }
        }

        /// Offers a request of this Critical Field; whether it was accepted.
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

        /// Serves one request; its number.
        pub fn serve(&mut self) -> Option<u32> {
            let next = self.queue.next()?;
            self.queue.pop();
            Some(next.0)
        }

        /// Serves so many requests; their Critical Fields.
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
    fn critical_fields_have_the_priorities_of_the_table() {
        // CaLRS 2015, Table 2.
        let priorities: Vec<usize> = (1..=32).map(class_of).collect();
        let table = [vec![0], vec![1], vec![2; 2], vec![3; 4], vec![4; 24]].concat();
        assert_eq!(priorities, table);
    }

    #[test]
    fn every_queue_serves_what_it_has_accepted_and_no_more_than_it_has_room_for() {
        for name in L2_QUEUES.names() {
            let mut rig = Rig::new(name, &["l2.queue=7"]);
            let accepted = (0..100).filter(|n| rig.offer(1 + n % 32)).count();
            assert!(accepted as u64 <= u64::from(rig.queue.capacity()), "{name}");
            assert!(accepted > 0 && rig.queue.len() == accepted, "{name}");
            assert_eq!(rig.serve_fields(1000).len(), accepted, "{name}");
            assert!(rig.queue.is_empty() && rig.queue.next().is_none(), "{name}");
            assert!(!rig.queue.is_blocked() && rig.offer(32), "{name}: empty again");
        }
    }

    /// A slice offers a request that was refused again only when another has left.
    #[test]
    fn what_a_queue_has_refused_it_refuses_until_a_request_has_left() {
        for name in L2_QUEUES.names() {
            for field in 1..=32 {
                let mut rig = Rig::new(name, &["l2.queue=7"]);
                let Some(_) = (0..100).find(|_| !rig.offer(field)) else { continue };
                for other in (1..=32).rev() {
                    rig.offer(other);
                    assert!(!rig.offer(field), "{name}: {field} after {other} was offered");
                }
            }
        }
    }
}
