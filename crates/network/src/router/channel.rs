//! Virtual channels: what waits at the inputs of routers, and who holds those of their outputs.

use std::collections::VecDeque;

/// Nothing, in the place of a number.
pub(super) const NONE: u32 = u32::MAX;

/// A packet in the buffer of a virtual channel: its number, and its flits that are there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub packet: u32,
    pub flits: u32,
}

impl Part {
    pub const NOTHING: Part = Part { packet: NONE, flits: 0 };
}

/// A virtual channel of a router's input. Flits of a packet follow each other in it.
#[derive(Debug)]
pub(super) struct InputChannel {
    /// The packet that is first to go, or [`NONE`] and no flits; and those behind it.
    pub first: Part,
    pub behind: VecDeque<Part>,
    /// Output virtual channel that the first packet holds, and its flits that have not left; or the
    /// pool of virtual channels of which it wants one.
    pub output: u32,
    pub left: u32,
    pub pool: u32,
    /// Input that it belongs to, counted over all routers; the router, the input's number there,
    /// and which of the input's virtual channels it is.
    pub input: u32,
    pub router: u16,
    pub local: u8,
    pub index: u8,
    /// Output virtual channel of the router or source before, which gets its credits.
    pub upstream: u32,
}

impl InputChannel {
    /// A flit of `packet` arrives; how many there are of the packet, if it is the first to go.
    #[inline]
    pub fn arrive(&mut self, packet: u32) -> Option<u32> {
        if self.first.packet == NONE {
            self.first = Part { packet, flits: 1 };
            return Some(1);
        }
        if self.first.packet == packet {
            self.first.flits += 1;
            return Some(self.first.flits);
        }
        match self.behind.back_mut() {
            Some(part) if part.packet == packet => part.flits += 1,
            _ => self.behind.push_back(Part { packet, flits: 1 }),
        }
        None
    }

    /// The first packet has gone; whether there is another.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.first = self.behind.pop_front().unwrap_or(Part::NOTHING);
        self.first.packet != NONE
    }
}

/// A virtual channel of the link behind an output of a router or source.
#[derive(Clone, Debug)]
pub(super) struct OutputChannel {
    /// Input virtual channel whose packet has it.
    pub holder: u32,
    /// Flits for which there is room at the end of the link.
    pub credits: u32,
    /// Network cycle from which no packet has had it.
    pub free_since: u64,
    /// Some packet wanted it since, but none could have gone on.
    pub blocked: bool,
    /// Output that it belongs to, counted over all routers and behind them the sources; the router
    /// or source.
    pub link: u32,
    pub unit: u32,
    /// Input virtual channel at the other end; [`NONE`] where the link leads to a node.
    pub downstream: u32,
}
