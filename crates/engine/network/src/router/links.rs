//! The links: flits and credits in flight, and the flits that each link has carried.

use super::ids::{InputVc, LinkId, OutputVc, PacketId};
use std::collections::VecDeque;
use warpmem_sim::{NetworkCycle, Table};

/// A flit in flight to an input virtual channel.
#[derive(Clone, Copy)]
pub(super) struct Flit {
    pub channel: InputVc,
    pub packet: PacketId,
}

/// Flits or credits in flight, by cycle of arrival.
type InFlight<T> = VecDeque<(NetworkCycle, T)>;

/// All links of a network.
pub(super) struct Links {
    /// Flits from sources to routers, and from routers to routers: the latencies differ, so each
    /// queue is in the order of arrival.
    injections: InFlight<Flit>,
    flits: InFlight<Flit>,
    /// Output virtual channels that receive a credit.
    credits: InFlight<OutputVc>,
    /// Flits carried, by link.
    carried: Table<LinkId, u64>,
}

impl Links {
    pub fn new(links: usize) -> Links {
        Links {
            injections: InFlight::new(),
            flits: InFlight::new(),
            credits: InFlight::new(),
            carried: Table::from_fn(links, |_| 0),
        }
    }

    /// Counts a flit on a link.
    #[inline]
    pub fn count(&mut self, link: LinkId) {
        self.carried[link] += 1;
    }

    /// Sends a flit from a source to its router.
    #[inline]
    pub fn inject(&mut self, flit: Flit, arrival: NetworkCycle) {
        self.injections.push_back((arrival, flit));
    }

    /// Sends a flit from one router to another.
    #[inline]
    pub fn send(&mut self, flit: Flit, arrival: NetworkCycle) {
        self.flits.push_back((arrival, flit));
    }

    /// Returns a credit to an output virtual channel.
    #[inline]
    pub fn return_credit(&mut self, output: OutputVc, arrival: NetworkCycle) {
        self.credits.push_back((arrival, output));
    }

    /// Takes a flit that has arrived by `cycle`; those of sources come first.
    #[inline]
    pub fn take_flit(&mut self, cycle: NetworkCycle) -> Option<Flit> {
        take(&mut self.injections, cycle).or_else(|| take(&mut self.flits, cycle))
    }

    /// Takes a credit that has arrived by `cycle`; returns the output virtual channel that receives
    /// it.
    #[inline]
    pub fn take_credit(&mut self, cycle: NetworkCycle) -> Option<OutputVc> {
        take(&mut self.credits, cycle)
    }

    /// Returns the cycle in which the next flit or credit arrives, or [`NetworkCycle::NEVER`] if
    /// none is in flight.
    pub fn next_arrival(&self) -> NetworkCycle {
        let flits = [&self.injections, &self.flits].map(|flits| flits.front().map(|&(at, _)| at));
        let credits = self.credits.front().map(|&(at, _)| at);
        flits.into_iter().chain([credits]).flatten().min().unwrap_or(NetworkCycle::NEVER)
    }

    /// Returns the flits that a link has carried.
    pub fn carried(&self, link: LinkId) -> u64 {
        self.carried[link]
    }
}

#[inline]
fn take<T: Copy>(queue: &mut InFlight<T>, cycle: NetworkCycle) -> Option<T> {
    let &(at, thing) = queue.front()?;
    if at > cycle {
        return None;
    }
    queue.pop_front();
    Some(thing)
}
