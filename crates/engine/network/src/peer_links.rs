//! Links between the slices of two partitions, one from each slice to its peer.

use crate::arbiter::Inputs;
use crate::{Direction, PacketSizes};
use warpmem_sim::{Context, NetworkClock, NetworkCycle, PortId, bits};

/// A link: the port that it reads and the port that it writes.
struct Link {
    from: PortId,
    to: PortId,
    /// First cycle in which it accepts another packet.
    free: NetworkCycle,
    /// Cycle in which the packet at its start can leave; any past cycle if that is not known.
    next: NetworkCycle,
}

/// The links of all slices in one direction, requests or replies. A link moves a flit every
/// `interval` cycles, and a packet arrives `latency` cycles after its last flit has left.
pub struct PeerLinks {
    direction: Direction,
    /// Number of its unit in the network domain.
    unit: usize,
    clock: NetworkClock,
    packets: PacketSizes,
    latency: u64,
    interval: u64,
    /// Links by the slice at which they start.
    links: Vec<Link>,
    /// Links with packets to read, one bit each.
    waiting: Inputs,
}

/// Latencies of a link, network cycles.
#[derive(Clone, Copy, Debug)]
pub struct LinkTimes {
    pub latency: u32,
    /// Interval between two flits; 0: unlimited, a packet counts as one flit.
    pub interval: u32,
}

impl PeerLinks {
    /// Builds the links. `ports` gives, by slice, the port that its link reads and the one that it
    /// writes. `unit` is the number of the links in the network domain.
    pub fn new(
        direction: Direction,
        unit: usize,
        clock: NetworkClock,
        packets: PacketSizes,
        times: LinkTimes,
        ports: impl Iterator<Item = (PortId, PortId)>,
    ) -> PeerLinks {
        let start = NetworkCycle::ZERO;
        let link = |(from, to)| Link { from, to, free: start, next: start };
        PeerLinks {
            direction,
            unit,
            clock,
            packets,
            latency: times.latency.into(),
            interval: times.interval.into(),
            links: ports.map(link).collect(),
            waiting: Inputs::default(),
        }
    }

    /// Simulates network cycle `cycle`; returns the next cycle that must be simulated without an
    /// earlier arrival.
    pub fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let arrived = ctx.take_arrivals(self.unit);
        self.waiting.iter_mut().zip(arrived).for_each(|(all, word)| *all |= word);
        let waiting = self.waiting;
        let next = bits::members(&waiting).filter_map(|slice| self.step_link(slice, cycle, ctx));
        next.min()
    }

    /// Sends the packets that the link of a slice can take; returns the cycle of the next attempt.
    /// A link without room at its end is woken when there is some.
    fn step_link(
        &mut self,
        slice: usize,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) -> Option<NetworkCycle> {
        let link = &mut self.links[slice];
        if link.next > cycle {
            return Some(link.next);
        }
        let now = self.clock.at(cycle);
        while link.free <= cycle && ctx.ready(link.from, now).is_some() {
            if !ctx.room_or_wake(link.to) {
                return None;
            }
            let request = ctx.pop(link.from, now);
            let flits = self.packets.flits(self.direction, ctx.request(request));
            link.free = cycle + flits * self.interval;
            let sent = link.free.max(cycle + 1);
            ctx.push(link.to, request, self.clock.at(sent + self.latency));
        }
        let Some((ready, _)) = ctx.head(link.from) else {
            bits::remove(&mut self.waiting, slice);
            return None;
        };
        link.next = link.free.max(self.clock.cycle_from(ready));
        Some(link.next)
    }
}
