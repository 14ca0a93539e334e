//! Messages between the SMs of a cluster: requests that no slice sees.

use crate::{Location, Request, RequestKind, SmId};

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
}

impl Message {
    /// The request that carries it from SM `from`, for an instruction in row `access` of its table.
    pub fn into_request(self, from: SmId, access: u32) -> Request {
        let place = Location::ZERO;
        Request {
            sm: from,
            access,
            bytes: self.bytes,
            load: self.answer,
            sectors: self.passes,
            own: self.is_copied,
            ..Request::of_slice(u64::from(self.to.0), RequestKind::Message, place)
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_carries_a_message_and_its_sender() {
        for answer in [0, 128] {
            for is_copied in [false, true] {
                let message = Message { to: SmId(255), passes: 33, bytes: 64, answer, is_copied };
                let request = message.into_request(SmId(7), 42);
                assert_eq!((request.sm, request.access), (SmId(7), 42));
                assert_eq!(Message::of(&request), message);
            }
        }
    }
}
