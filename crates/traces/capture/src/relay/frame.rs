//! Encoding of messages: a length of 4 bytes, followed by bincode.

use std::io::{self, Read, Write};

use bincode::config::{self, Configuration, Fixint, Limit, LittleEndian};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum message size, bytes: a CTA of a hundred million records.
const MAX_BYTES: usize = 1 << 31;

/// Fixed-length integers: most of the data are addresses, which use most of their bytes.
const CONFIG: Configuration<LittleEndian, Fixint, Limit<MAX_BYTES>> =
    config::standard().with_fixed_int_encoding().with_limit::<MAX_BYTES>();

/// Sends a value; `buffer` is scratch space, reused between calls.
pub fn send<T: Serialize>(to: &mut impl Write, value: &T, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    buffer.extend([0; 4]);
    let bytes = bincode::serde::encode_into_std_write(value, buffer, CONFIG);
    let bytes = bytes.map_err(io::Error::other)?;
    let length = u32::try_from(bytes).map_err(io::Error::other)?;
    buffer[..4].copy_from_slice(&length.to_le_bytes());
    to.write_all(buffer)
}

/// Receives a value; `None` at the end of the stream.
pub fn receive<T: DeserializeOwned>(
    from: &mut impl Read,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_le_bytes(length);
    buffer.clear();
    // The buffer grows with the received bytes, not with the announced length.
    if from.take(length.into()).read_to_end(buffer)? < length as usize {
        return Ok(None);
    }
    let (value, used) =
        bincode::serde::decode_from_slice(buffer, CONFIG).map_err(io::Error::other)?;
    match used == buffer.len() {
        true => Ok(Some(value)),
        false => Err(io::Error::other("bytes are left over")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::message::{Ended, Message};
    use super::*;

    fn received(bytes: &[u8]) -> io::Result<Option<Message<'static>>> {
        receive(&mut Cursor::new(bytes), &mut Vec::new())
    }

    fn sent(message: &Message<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        send(&mut bytes, message, &mut Vec::new()).unwrap();
        bytes
    }

    #[test]
    fn messages_round_trip() {
        let module = Message::Module { text: ".version 8.0".into() };
        let end = Message::End(Ended { warps: 3, warp_instructions: u64::MAX });
        for message in [module, end, Message::Copy { address: 1 << 45, bytes: 7 }] {
            let back = received(&sent(&message)).unwrap();
            assert_eq!(format!("{back:?}"), format!("{:?}", Some(message)));
        }
    }

    #[test]
    fn a_truncated_message_ends_the_stream() {
        let bytes = sent(&Message::Note { text: "a note".into() });
        for length in 0..bytes.len() {
            assert!(received(&bytes[..length]).unwrap().is_none(), "{length}");
        }
        // An announced length without data allocates nothing.
        assert!(received(&[0xff; 4]).unwrap().is_none());
    }

    #[test]
    fn invalid_messages_are_errors() {
        let bytes = sent(&Message::Note { text: "a note".into() });
        let mut longer = bytes.clone();
        longer[0] += 1;
        longer.push(0);
        assert_eq!(received(&longer).unwrap_err().to_string(), "bytes are left over");
        let mut unknown = bytes;
        unknown[4] = 0xff;
        assert!(received(&unknown).is_err());
    }
}
