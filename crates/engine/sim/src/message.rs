//! Messages between the SMs of a cluster: requests that no slice sees.

use crate::{Location, Request, RequestId, RequestKind, SmId, WarpId};

/// What changes an mbarrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Arrivals, and bytes that are expected more (fewer, if negative).
    pub count: u32,
    pub bytes: i32,
    /// So many arrivals fewer are expected in later phases, too.
    pub drops: bool,
    /// The mbarrier begins, and expects so many arrivals in each phase.
    pub begins: bool,
}

/// The change of an mbarrier of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Index of the kernel in the trace, and of the CTA in the kernel.
    pub kernel: u32,
    pub cta: u32,
    /// Where the mbarrier lies in the CTA's shared memory.
    pub offset: u32,
    pub arrival: Arrival,
}

/// What an SM asks of the shared memory of another, as a request carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub to: SmId,
    /// Passes that it takes over the banks there.
    pub passes: u8,
    /// Bytes of data that go there.
    pub bytes: u32,
    /// Bytes of data that come back.
    pub answer: u32,
    /// The network makes it of a reply from memory that goes to several SMs: its sender does not
    /// send it.
    pub is_copied: bool,
    /// What it changes when it has been served.
    pub signal: Option<Signal>,
}

impl Message {
    /// The request that carries it from SM `from`, for an instruction in row `access` of its table.
    pub fn into_request(self, from: SmId, access: u32) -> Request {
        let blank = Request::of_slice(u64::from(self.to.0), RequestKind::Message, Location::ZERO);
        let request = Request {
            sm: from,
            access,
            bytes: self.bytes,
            load: self.answer,
            sectors: self.passes,
            own: self.is_copied,
            ..blank
        };
        let Some(Signal { kernel, cta, offset, arrival }) = self.signal else { return request };
        // What these fields are of other requests is of no account here.
        Request {
            critical: true,
            pc: kernel,
            cta,
            warp: WarpId(offset),
            next: [RequestId(arrival.count), RequestId(arrival.bytes as u32)],
            hit_prone: arrival.drops,
            offchip: arrival.begins,
            ..request
        }
    }

    /// The message that a request carries.
    #[inline]
    pub fn of(request: &Request) -> Message {
        debug_assert_eq!(request.kind, RequestKind::Message);
        Message {
            to: SmId(request.address as u16),
            passes: request.sectors,
            bytes: request.bytes,
            answer: request.load,
            is_copied: request.own,
            signal: request.critical.then(|| Signal {
                kernel: request.pc,
                cta: request.cta,
                offset: request.warp.0,
                arrival: Arrival {
                    count: request.next[0].0,
                    bytes: request.next[1].0 as i32,
                    drops: request.hit_prone,
                    begins: request.offchip,
                },
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_carries_a_message_and_its_sender() {
        let arrival = |drops, begins| Arrival { count: 3, bytes: -4096, drops, begins };
        let signal = |arrival| Some(Signal { kernel: 5, cta: 70_000, offset: 1 << 17, arrival });
        let signals = [
            None,
            signal(arrival(false, false)),
            signal(arrival(true, false)),
            signal(arrival(false, true)),
        ];
        for signal in signals {
            for is_copied in [false, true] {
                let message = Message {
                    to: SmId(255),
                    passes: 33,
                    bytes: 64,
                    answer: 128,
                    is_copied,
                    signal,
                };
                let request = message.into_request(SmId(7), 42);
                assert_eq!((request.sm, request.access), (SmId(7), 42));
                assert_eq!(Message::of(&request), message);
            }
        }
    }
}
