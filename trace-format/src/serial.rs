//! Serialises the header and the dictionaries; the only module that uses bincode.

use bincode::config;
use bincode::serde::decode_from_slice;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Little endian, variable-length integers.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    bincode::serde::encode_to_vec(value, config::standard())
        .expect("plain data without unsized sequences always encodes")
}

/// Decodes one value that takes up all of `bytes`. Allocates at most a small multiple of
/// `bytes.len()`, whatever lengths the bytes declare.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match read(bytes)? {
        (value, used) if used == bytes.len() => Ok(value),
        (_, used) => Err(format!("{} bytes left over", bytes.len() - used)),
    }
}

/// Decodes a value at the start of `bytes`.
pub(crate) fn decode_front<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    Ok(read(bytes)?.0)
}

/// Returns a value and its encoded length.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, usize), String> {
    // bincode's limit is a constant and counts decoded bytes; one coded byte decodes to at most 8.
    const SMALL: usize = 1 << 16;
    const MEDIUM: usize = 1 << 20;
    const LARGE: usize = 1 << 24;
    const HUGE: usize = 1 << 33;
    let standard = config::standard();
    let decoded = match bytes.len().saturating_mul(8) {
        size if size <= SMALL => decode_from_slice(bytes, standard.with_limit::<SMALL>()),
        size if size <= MEDIUM => decode_from_slice(bytes, standard.with_limit::<MEDIUM>()),
        size if size <= LARGE => decode_from_slice(bytes, standard.with_limit::<LARGE>()),
        _ => decode_from_slice(bytes, standard.with_limit::<HUGE>()),
    };
    decoded.map_err(|error| error.to_string())
}
