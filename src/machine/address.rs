//! The fields of `dram.address.map`.

use super::{Address, MachineError};

/// What a group of address bits selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Row,
    Bank,
    Column,
    Channel,
    /// Byte within a column command.
    Burst,
}

/// Adjacent address bits of one field; a field may have several groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitGroup {
    pub field: Field,
    pub bits: u32,
    /// Address bit that holds the group's least significant bit.
    pub shift: u32,
}

/// Most address bits that a map may describe.
const MAX_BITS: u32 = 63;

impl Field {
    const NAMES: [(&'static str, Field); 5] = [
        ("row", Field::Row),
        ("bank", Field::Bank),
        ("column", Field::Column),
        ("channel", Field::Channel),
        ("burst", Field::Burst),
    ];
}

impl Address {
    /// The groups of the map, least significant first.
    ///
    /// # Errors
    /// [`MachineError::Invalid`] when the text is not `field:bits` separated by spaces.
    pub fn bit_groups(&self) -> Result<Vec<BitGroup>, MachineError> {
        let mut shift = 0;
        self.map
            .split_whitespace()
            .rev()
            .map(|word| {
                let (field, bits) = parse_group(word).ok_or_else(|| self.malformed(word))?;
                let group = BitGroup { field, bits, shift };
                shift += bits;
                if shift > MAX_BITS { Err(self.malformed(word)) } else { Ok(group) }
            })
            .collect()
    }

    fn malformed(&self, word: &str) -> MachineError {
        MachineError::Invalid {
            key: "dram.address.map".to_owned(),
            value: format!("\"{}\" (at `{word}`)", self.map),
            valid: format!(
                "`field:bits` separated by spaces, most significant first, bits above 0 and at most {MAX_BITS} \
                 in all, fields row, bank, column, channel, burst"
            ),
        }
    }
}

fn parse_group(word: &str) -> Option<(Field, u32)> {
    let (name, bits) = word.split_once(':')?;
    let &(_, field) = Field::NAMES.iter().find(|(n, _)| *n == name)?;
    let bits = bits.parse().ok().filter(|bits| (1..=MAX_BITS).contains(bits))?;
    Some((field, bits))
}

/// Bits of `field` in all groups.
pub(super) fn bits_of(groups: &[BitGroup], field: Field) -> u32 {
    groups.iter().filter(|g| g.field == field).map(|g| g.bits).sum()
}

#[cfg(test)]
mod tests {
    use super::super::IndexHash;
    use super::*;

    fn address(map: &str) -> Address {
        Address {
            map: map.to_owned(),
            interleave_bytes: 256,
            partition_hash: IndexHash::Linear,
            bank_xor_row: false,
        }
    }

    #[test]
    fn groups_are_listed_from_bit_zero_up() {
        let groups = address("row:12 bank:3 column:4  bank:1 burst:6").bit_groups().unwrap();
        let flat: Vec<_> = groups.iter().map(|g| (g.field, g.bits, g.shift)).collect();
        assert_eq!(
            flat,
            [
                (Field::Burst, 6, 0),
                (Field::Bank, 1, 6),
                (Field::Column, 4, 7),
                (Field::Bank, 3, 11),
                (Field::Row, 12, 14),
            ]
        );
        assert_eq!(bits_of(&groups, Field::Bank), 4);
        assert_eq!(bits_of(&groups, Field::Channel), 0);
    }

    #[test]
    fn malformed_words_are_named() {
        for word in
            ["row", "row:", "row:x", "rwo:3", "row:0", "row:64", "row:-1", ":", "row:4294967296"]
        {
            let error = address(&format!("{word} burst:5")).bit_groups().unwrap_err();
            assert!(error.to_string().contains(&format!("`{word}`")), "{error}");
        }
        assert!(address("row:60 burst:5").bit_groups().is_err());
    }
}
