//! Sizes of packets.

use super::Direction;
use crate::NetworkSpec;
use warpmem_sim::{Request, RequestKind};

/// Flits of each kind of packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketSizes {
    header: u64,
    data: u64,
    /// Flits of the largest request: a whole line if L1 writes lines back.
    largest_request: u64,
    sector_bytes: u64,
    header_bytes: u64,
    flit_bytes: u64,
}

impl PacketSizes {
    pub fn new(spec: &NetworkSpec) -> PacketSizes {
        let sector_bytes = u64::from(spec.sector_bytes);
        let header_bytes = u64::from(spec.network.header_bytes);
        let flit_bytes = u64::from(spec.network.flit_bytes);
        let most_bytes = u64::from(spec.largest_request_bytes);
        PacketSizes {
            header: header_bytes.div_ceil(flit_bytes).max(1),
            data: (header_bytes + sector_bytes).div_ceil(flit_bytes),
            largest_request: (header_bytes + most_bytes).div_ceil(flit_bytes),
            sector_bytes,
            header_bytes,
            flit_bytes,
        }
    }

    /// Returns the flits of the largest packet between SMs and slices.
    pub fn largest(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Request => self.largest_request,
            Direction::Reply => self.data,
        }
    }

    /// Gives every packet this number of flits.
    pub fn fixed(flits: u64) -> PacketSizes {
        PacketSizes {
            header: flits,
            data: flits,
            largest_request: flits,
            sector_bytes: 0,
            header_bytes: flits,
            flit_bytes: 1,
        }
    }

    /// Returns the flits of a packet. Stores, write-backs and atomics carry data down; reads and
    /// atomics carry data up.
    #[inline]
    pub fn flits(&self, direction: Direction, request: &Request) -> u64 {
        match (direction, request.kind) {
            (_, RequestKind::Atomic) => self.data,
            (Direction::Request, RequestKind::Writeback) => {
                let bytes =
                    self.header_bytes + u64::from(request.sectors.count_ones()) * self.sector_bytes;
                bytes.div_ceil(self.flit_bytes)
            }
            (Direction::Request, RequestKind::Write) => self.data,
            (Direction::Request, _)
            | (Direction::Reply, RequestKind::Write | RequestKind::Invalidate) => self.header,
            (Direction::Reply, _) => self.data,
        }
    }
}
