//! The network between the SMs of a GPC: a crossbar of its own in each, without buffers inside.

use crate::Direction;
use crate::arbiter::Inputs;
use warpmem_sim::{Context, Message, NetworkClock, NetworkCycle, PortId, Request, SmId, bits};

/// What an SM reads and writes, and until when.
struct End {
    /// Where what it sends waits.
    from: PortId,
    /// Where what comes to it waits.
    to: PortId,
    /// The first cycles in which it can send, and take, the next message.
    sends: NetworkCycle,
    takes: NetworkCycle,
}

/// The links between the SMs of one direction, questions or answers. An SM sends and takes so many
/// bytes a cycle, at least one message in one; a message has come `latency` cycles after its last
/// byte has left.
pub struct SmLinks {
    direction: Direction,
    /// Number of its unit in the network domain.
    unit: usize,
    clock: NetworkClock,
    latency: u64,
    /// Bytes a cycle; none: no limit.
    port_bytes: Option<u64>,
    /// By SM.
    ends: Vec<End>,
    /// SMs that have something to send, one bit each.
    waiting: Inputs,
    /// The SM that comes first: the one behind the last that has sent.
    first: usize,
}

/// How fast links between SMs are.
#[derive(Clone, Copy, Debug)]
pub struct SmLinkTimes {
    /// From the last byte sent to its arrival, network cycles.
    pub latency: u32,
    /// That an SM sends and takes in a network cycle; none: no limit.
    pub port_bytes: Option<u32>,
}

impl SmLinks {
    /// `ports` by SM: the port in which it sends, and the one in which it takes. `unit` is the
    /// number of the links in the network domain.
    pub fn new(
        direction: Direction,
        unit: usize,
        clock: NetworkClock,
        times: SmLinkTimes,
        ports: impl Iterator<Item = (PortId, PortId)>,
    ) -> SmLinks {
        let end =
            |(from, to)| End { from, to, sends: NetworkCycle::ZERO, takes: NetworkCycle::ZERO };
        SmLinks {
            direction,
            unit,
            clock,
            latency: times.latency.into(),
            port_bytes: times.port_bytes.map(u64::from),
            ends: ports.map(end).collect(),
            waiting: Inputs::default(),
            first: 0,
        }
    }

    /// Simulates network cycle `cycle`; returns the next cycle that must be simulated if nothing
    /// arrives before.
    pub fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let arrived = ctx.take_arrivals(self.unit);
        self.waiting.iter_mut().zip(arrived).for_each(|(all, word)| *all |= word);
        let (waiting, first) = (self.waiting, self.first);
        let order = bits::members(&waiting).filter(|&sm| sm >= first);
        let order = order.chain(bits::members(&waiting).filter(|&sm| sm < first));
        order.filter_map(|sm| self.send(sm, cycle, ctx)).min()
    }

    /// Sends what SM `sm` can send; returns when it can go on. Where the other end lacks room, it is
    /// woken when there is some.
    fn send(&mut self, sm: usize, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let now = self.clock.at(cycle);
        let from = self.ends[sm].from;
        while let Some(id) = ctx.ready(from, now) {
            let request = ctx.request(id);
            let (to, bytes, is_copied) = self.way(request);
            let free = if is_copied { cycle } else { self.ends[sm].sends };
            let free = free.max(self.ends[to.index()].takes);
            if free > cycle {
                return Some(free);
            }
            if !ctx.room_or_wake(self.ends[to.index()].to) {
                return None;
            }
            ctx.pop(from, now);
            let taken = self.port_bytes.map_or(0, |width| bytes.div_ceil(width).max(1));
            if !is_copied {
                self.ends[sm].sends = cycle + taken;
            }
            self.ends[to.index()].takes = cycle + taken;
            let sent = (cycle + taken).max(cycle + 1);
            ctx.push(self.ends[to.index()].to, id, self.clock.at(sent + self.latency));
            self.first = (sm + 1) % self.ends.len();
        }
        let Some((ready, _)) = ctx.head(from) else {
            bits::remove(&mut self.waiting, sm);
            return None;
        };
        Some(self.clock.cycle_from(ready))
    }

    /// Where a message goes, its bytes of data, and whether its sender does not send it.
    fn way(&self, request: &Request) -> (SmId, u64, bool) {
        let message = Message::of(request);
        match self.direction {
            Direction::Request => (message.to, message.bytes.into(), message.is_copied),
            Direction::Reply => (request.sm, message.answer.into(), false),
        }
    }
}
