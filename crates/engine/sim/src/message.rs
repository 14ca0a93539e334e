//! Messages between the SMs of a cluster: requests that reach no slice.

use crate::{Location, Request, RequestId, RequestKind, SmId, WarpId};

/// An update of an mbarrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Arrivals.
    pub count: u32,
    /// Change of the expected transaction bytes.
    pub bytes: i32,
    /// Also lowers the expected arrivals of later phases by `count`.
    pub drops: bool,
    /// Initialises the mbarrier, with `count` expected arrivals per phase.
    pub begins: bool,
}

/// The update of an mbarrier of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Index of the kernel in the trace.
    pub kernel: u32,
    /// Index of the CTA in the kernel.
    pub cta: u32,
    /// Offset of the mbarrier in the shared memory of the CTA, bytes.
    pub offset: u32,
    pub arrival: Arrival,
}

/// An access to the shared memory of another SM, carried by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub to: SmId,
    /// Passes over the banks of the receiver.
    pub passes: u8,
    /// Bytes of data sent.
    pub bytes: u32,
    /// Bytes of data returned.
    pub answer: u32,
    /// A copy of a multicast reply from memory, made by the network and not sent by an SM.
    pub is_copied: bool,
    /// Update after the access.
    pub signal: Option<Signal>,
}

impl Message {
    /// Returns the request that carries it from SM `from`, for the instruction in row `access` of the
    /// table there.
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
        // These fields have other meanings in other requests.
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

    /// Returns the message that a request carries.
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
