//! Hashes that spread address bits over a power of two of partitions, banks or sets.

use warpmem_params::{Choice, choice, serde_choice};

choice! {
    /// How a set or partition index is computed from the address.
    #[derive(Debug, PartialEq, Eq)]
    pub enum IndexHash {
        Linear = "linear",
        /// XOR of successive groups of index bits.
        Xor = "xor",
        /// Polynomial hash (Rau 1991).
        Ipoly = "ipoly",
    }
}

serde_choice!(IndexHash);

impl IndexHash {
    /// Returns its name as in a machine file, in quotes.
    pub fn quoted(self) -> String {
        format!("\"{}\"", self.name())
    }
}

/// A primitive polynomial over GF(2) of each degree from 1, lowest coefficient in bit 0.
const PRIMITIVE: [u32; u16::BITS as usize] = [
    0b11, 0b111, 0b1011, 0b1_0011, 0b10_0101, 0x43, 0x83, 0x11d, 0x211, 0x409, 0x805, 0x1053,
    0x201b, 0x4443, 0x8003, 0x1100b,
];

/// Width of the widest index that can be hashed, in bits: that of a table entry.
pub const MAX_INDEX_BITS: u32 = PRIMITIVE.len() as u32;

/// Bits per table lookup, and number of lookups for a whole address.
const DIGIT_BITS: u32 = 4;
const DIGITS: usize = (u64::BITS / DIGIT_BITS) as usize;
const VALUES: usize = 1 << DIGIT_BITS;

/// A hash of the address bits above an index, to be XORed onto that index. Every hash is linear
/// over GF(2), so it is the XOR of one table entry per digit of the address. Digits are small
/// because a machine has many caches, each with its own table.
pub struct Hash {
    tables: Box<[[u16; VALUES]; DIGITS]>,
}

impl Hash {
    /// Creates the hash for an index of `bits` bits, at most [`MAX_INDEX_BITS`]; none if the hash
    /// is always zero.
    pub fn new(kind: IndexHash, bits: u32) -> Option<Hash> {
        if bits == 0 {
            return None;
        }
        let image: fn(u32, u32) -> u16 = match kind {
            IndexHash::Linear => return None,
            IndexHash::Xor => |bit, bits| 1 << (bit % bits),
            IndexHash::Ipoly => |bit, bits| remainder(bit + bits, bits),
        };
        let images: Vec<u16> = (0..u64::BITS).map(|bit| image(bit, bits)).collect();
        let mut tables = Box::new([[0; VALUES]; DIGITS]);
        for (table, images) in tables.iter_mut().zip(images.chunks(DIGIT_BITS as usize)) {
            for (value, entry) in table.iter_mut().enumerate() {
                let set = images.iter().enumerate().filter(|(bit, _)| value >> bit & 1 == 1);
                *entry = set.fold(0, |hash, (_, image)| hash ^ image);
            }
        }
        Some(Hash { tables })
    }

    /// Returns the value to XOR onto the index.
    #[inline]
    pub fn of(&self, above: u64) -> u16 {
        let (mut rest, mut hash) = (above, 0);
        for table in self.tables.iter() {
            hash ^= table[rest as usize % VALUES];
            rest >>= DIGIT_BITS;
            if rest == 0 {
                break;
            }
        }
        hash
    }
}

/// Returns x to the `power` modulo the primitive polynomial of this degree (Rau, ISCA 1991: the
/// index is the remainder of the whole address).
fn remainder(power: u32, degree: u32) -> u16 {
    let polynomial = PRIMITIVE[degree as usize - 1];
    let mut value = 1;
    for _ in 0..power {
        value <<= 1;
        if value >> degree & 1 == 1 {
            value ^= polynomial;
        }
    }
    value as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A polynomial is primitive if the powers of x run through all nonzero remainders.
    #[test]
    fn every_polynomial_is_primitive() {
        for degree in 1..=MAX_INDEX_BITS {
            let period = (1u32 << degree) - 1;
            let returns_after = |power| remainder(power, degree) == 1;
            assert!(returns_after(period), "degree {degree}");
            // A shorter period divides this one.
            let is_part = |power: &u32| period.is_multiple_of(*power);
            assert!(!(1..period).filter(is_part).any(returns_after), "degree {degree}");
        }
    }

    /// Bits of IPOLY(67), by long division of x^6, x^7 and x^11 by x^6 + x + 1.
    #[test]
    fn degree_six_is_67() {
        assert_eq!(PRIMITIVE[5], 67);
        let hash = Hash::new(IndexHash::Ipoly, 6).unwrap();
        assert_eq!(hash.of(1), 0b00_0011);
        assert_eq!(hash.of(2), 0b00_0110);
        assert_eq!(hash.of(1 << 5), 0b10_0011);
        assert_eq!(hash.of(0b10_0001), 0b10_0000);
    }

    #[test]
    fn the_widest_index_uses_every_bit_of_an_entry() {
        for kind in [IndexHash::Xor, IndexHash::Ipoly] {
            let hash = Hash::new(kind, MAX_INDEX_BITS).unwrap();
            assert_eq!((0..64).fold(0, |all, bit| all | hash.of(1 << bit)), u16::MAX, "{kind:?}");
        }
    }

    #[test]
    fn the_xor_hash_folds_groups_of_bits() {
        let hash = Hash::new(IndexHash::Xor, 4).unwrap();
        let above = 0x9_8765_4321;
        assert_eq!(hash.of(above), (1..=9).fold(0, |all, nibble| all ^ nibble));
    }
}
