//! The network between the SMs of a GPC: one crossbar per GPC, without internal buffers.

use crate::Direction;
use crate::arbiter::Inputs;
use warpmem_sim::{Context, Message, NetworkClock, NetworkCycle, PortId, Request, SmId, bits};

/// The ports of an SM, and the cycles until which they are busy.
struct End {
    /// Port that holds the messages to send.
    from: PortId,
    /// Port that receives messages.
    to: PortId,
    /// First cycles in which it can send and receive the next message.
    sends: NetworkCycle,
    takes: NetworkCycle,
}

/// The links between the SMs of one direction, requests or replies. An SM sends and takes
/// `port_bytes` bytes per cycle, one message at a time; a message arrives `latency` cycles after
/// its last byte has left.
pub struct SmLinks {
    direction: Direction,
    /// Number of its unit in the network domain.
    unit: usize,
    clock: NetworkClock,
    latency: u64,
    /// Bytes per cycle; none = unlimited.
    port_bytes: Option<u64>,
    /// Ports and busy cycles, by SM.
    ends: Vec<End>,
    /// SMs with a message to send, one bit each.
    waiting: Inputs,
    /// Round-robin pointer: the SM after the last one that has sent.
    first: usize,
}

/// Speed of the links between SMs.
#[derive(Clone, Copy, Debug)]
pub struct SmLinkTimes {
    /// Latency from the last byte sent to its arrival, network cycles.
    pub latency: u32,
    /// Bytes that an SM sends and takes per network cycle; none = unlimited.
    pub port_bytes: Option<u32>,
}

impl SmLinks {
    /// Builds the links. `ports` gives the sending and the receiving port by SM. `unit` is the
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

    /// Simulates network cycle `cycle`; returns the next cycle that must be simulated without an
    /// earlier arrival.
    pub fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let arrived = ctx.take_arrivals(self.unit);
        self.waiting.iter_mut().zip(arrived).for_each(|(all, word)| *all |= word);
        let (waiting, first) = (self.waiting, self.first);
        let order = bits::members(&waiting).filter(|&sm| sm >= first);
        let order = order.chain(bits::members(&waiting).filter(|&sm| sm < first));
        order.filter_map(|sm| self.send(sm, cycle, ctx)).min()
    }

    /// Sends the messages of SM `sm` that can leave; returns the cycle of the next attempt. If the
    /// other end lacks room, the SM is woken when there is some.
    fn send(&mut self, sm: usize, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let now = self.clock.at(cycle);
        let from = self.ends[sm].from;
        while let Some(id) = ctx.ready(from, now) {
            let request = ctx.request(id);
            let (to, bytes, is_copied) = self.route(request);
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

    /// Returns the destination of a message, its bytes of data, and whether the network copies it
    /// without occupying its sender.
    fn route(&self, request: &Request) -> (SmId, u64, bool) {
        let message = Message::of(request);
        match self.direction {
            Direction::Request => (message.to, message.bytes.into(), message.is_copied),
            Direction::Reply => (request.sm, message.answer.into(), false),
        }
    }
}
