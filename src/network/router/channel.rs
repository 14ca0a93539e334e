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

/// A virtual channel of a router's input. Flits of a packet follow each other in it.
#[derive(Debug)]
pub(super) struct InputChannel {
    pub parts: VecDeque<Part>,
    /// Output virtual channel that the first packet holds, and its flits that have not left; or the pool of virtual
    /// channels of which it wants one.
    pub output: u32,
    pub left: u32,
    pub pool: u32,
    /// Input that it belongs to, and which of its virtual channels it is.
    pub input: u32,
    pub index: u32,
}

impl InputChannel {
    pub fn new(input: u32, index: u32) -> InputChannel {
        InputChannel { parts: VecDeque::new(), output: NONE, left: 0, pool: NONE, input, index }
    }

    /// A flit of `packet` arrives; whether it is the first of a packet that now is the first to go.
    #[inline]
    pub fn arrive(&mut self, packet: u32) -> bool {
        match self.parts.back_mut() {
            Some(part) if part.packet == packet => {
                part.flits += 1;
                false
            }
            _ => {
                self.parts.push_back(Part { packet, flits: 1 });
                self.parts.len() == 1
            }
        }
    }

    /// A flit of the first packet is there.
    #[inline]
    pub fn has_flit(&self) -> bool {
        self.parts.front().is_some_and(|part| part.flits > 0)
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
    /// Link that it belongs to, and which of its virtual channels it is.
    pub link: u32,
    pub index: u32,
}

impl OutputChannel {
    pub fn new(credits: u32, link: u32, index: u32) -> OutputChannel {
        OutputChannel { holder: NONE, credits, free_since: 0, blocked: false, link, index }
    }
}
