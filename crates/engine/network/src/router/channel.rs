//! The state of virtual channels: at the inputs of routers, and at the outputs of routers and
//! sources.

use super::ids::{InputId, InputVc, LinkId, OutputVc, PacketId, PoolId, RouterId, Sender};
use std::collections::VecDeque;
use warpmem_sim::NetworkCycle;

/// A packet in the buffer of a virtual channel: its number, and the number of its flits there.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferedPacket {
    pub packet: PacketId,
    pub flits: u32,
}

impl BufferedPacket {
    pub const NOTHING: BufferedPacket = BufferedPacket { packet: PacketId::NONE, flits: 0 };
}

/// A virtual channel of a router's input. Its buffer holds packets in sequence, never interleaved.
#[derive(Debug)]
pub(super) struct InputChannel {
    /// First packet of the buffer, or [`BufferedPacket::NOTHING`].
    pub first: BufferedPacket,
    /// Packets after it.
    pub behind: VecDeque<BufferedPacket>,
    /// Output virtual channel that the first packet holds, or none.
    pub output: OutputVc,
    /// Flits of the first packet that have not left, once it holds an output virtual channel.
    pub left: u32,
    /// Pool from which the first packet requests an output virtual channel, or none.
    pub pool: PoolId,
    /// Input that it belongs to.
    pub input: InputId,
    pub router: RouterId,
    /// Number of the input within the router.
    pub local: u8,
    /// Number of the virtual channel within the input.
    pub index: u8,
    /// Output virtual channel at the other end of the link, which receives its credits.
    pub upstream: OutputVc,
}

impl InputChannel {
    /// Adds a flit of `packet`; returns the number of its flits present, if it is the first packet.
    #[inline]
    pub fn arrive(&mut self, packet: PacketId) -> Option<u32> {
        if self.first.packet == PacketId::NONE {
            self.first = BufferedPacket { packet, flits: 1 };
            return Some(1);
        }
        if self.first.packet == packet {
            self.first.flits += 1;
            return Some(self.first.flits);
        }
        match self.behind.back_mut() {
            Some(part) if part.packet == packet => part.flits += 1,
            _ => self.behind.push_back(BufferedPacket { packet, flits: 1 }),
        }
        None
    }

    /// Removes the first packet, all of which has left; returns whether another follows.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.first = self.behind.pop_front().unwrap_or(BufferedPacket::NOTHING);
        self.first.packet != PacketId::NONE
    }
}

/// A virtual channel of the link at an output of a router or source.
#[derive(Clone, Debug)]
pub(super) struct OutputChannel {
    /// Input virtual channel whose packet holds it, or none.
    pub holder: InputVc,
    /// Flits for which the buffer at the end of the link has room; [`u32::MAX`], never consumed, if
    /// the link leads to a node.
    pub credits: u32,
    /// Network cycle since which no packet has held it.
    pub free_since: NetworkCycle,
    /// Whether a packet has requested it since then, but none could have advanced.
    pub blocked: bool,
    /// Link that it belongs to.
    pub link: LinkId,
    /// Start of the link.
    pub sender: Sender,
    /// Input virtual channel at the other end; none if the link leads to a node.
    pub downstream: InputVc,
}

impl OutputChannel {
    /// Returns whether its link leads to a node.
    #[inline]
    pub fn is_exit(&self) -> bool {
        self.downstream == InputVc::NONE
    }

    /// Grants it to the first packet of an input virtual channel in `cycle`.
    #[inline]
    pub fn grant(&mut self, holder: InputVc, cycle: NetworkCycle) {
        debug_assert!(self.holder == InputVc::NONE && self.free_since <= cycle);
        (self.holder, self.blocked) = (holder, false);
    }

    /// Frees it from `cycle` on.
    #[inline]
    pub fn release(&mut self, cycle: NetworkCycle) {
        (self.holder, self.free_since) = (InputVc::NONE, cycle);
    }
}
