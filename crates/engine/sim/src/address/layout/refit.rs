//! Adapts the map of one DRAM organisation to another.

use super::{Address, AddressSpace, Field, Layout, Piece, placed, spelt_out};

impl AddressSpace {
    /// Adapts the address map of `layout`, written for other DRAM, to this organisation with `rows`
    /// rows per bank.
    ///
    /// Fields keep their order and, from the lowest up, their groups of bits; the highest group of
    /// a field takes the difference in width. Column and burst share the same lowest bits as
    /// before, so that higher fields keep their position where possible. A field that the other
    /// DRAM lacks is inserted: bank and stack below the row, pseudo channel below the bank. The
    /// partition hash takes all higher bits unless the map is unchanged.
    pub fn refit(&self, layout: &Layout, rows: u32) -> Address {
        let interleave = layout.interleave.map_or(self.address.interleave_bytes, |bit| 1 << bit);
        let mut pieces: Vec<Piece> = layout.groups.iter().map(|g| (g.field, g.bits)).collect();
        if interleave > 0 {
            pieces.retain(|&(field, _)| field != Field::Channel);
        }
        pieces.dedup_by(|above, below| {
            let adjacent = above.0 == below.0;
            below.1 += if adjacent { above.1 } else { 0 };
            adjacent
        });
        keep_low_bits(&mut pieces, self.burst_bytes.ilog2());
        ensure(&mut pieces, Field::Bank, Field::Row);
        ensure(&mut pieces, Field::Pseudo, Field::Bank);
        ensure(&mut pieces, Field::Stack, Field::Row);
        let has_group = layout.bits_of(Field::Group) > 0 && self.bank_groups > 1;
        for want in self.wants(has_group) {
            widen(&mut pieces, want.field, want.bits);
        }
        if !has_group {
            widen(&mut pieces, Field::Group, 0);
        }
        widen(&mut pieces, Field::Row, rows.max(1).ilog2());
        let map = spelt_out(&placed(pieces.into_iter()));
        let same = map == self.address.map;
        Address {
            partition_hash_bits: if same {
                self.address.partition_hash_bits.clone()
            } else {
                Vec::new()
            },
            map,
            interleave_bytes: if interleave > 0 { interleave.max(self.burst_bytes) } else { 0 },
            ..self.address.clone()
        }
    }
}

/// Shrinks or widens the column group just above the burst, so that both together keep their width.
fn keep_low_bits(pieces: &mut Vec<Piece>, burst: u32) {
    if pieces[1].0 != Field::Column {
        pieces.insert(1, (Field::Column, 0));
    }
    pieces[1].1 = (pieces[0].1 + pieces[1].1).saturating_sub(burst);
}

/// Inserts an empty field just below `above`, if the field is missing.
fn ensure(pieces: &mut Vec<Piece>, field: Field, above: Field) {
    if pieces.iter().all(|piece| piece.0 != field) {
        let at = pieces.iter().position(|piece| piece.0 == above).unwrap_or(pieces.len());
        pieces.insert(at, (field, 0));
    }
}

/// Sets the total width of a field: its groups keep their width, the highest takes the remainder.
fn widen(pieces: &mut [Piece], field: Field, mut bits: u32) {
    let mut own: Vec<&mut u32> =
        pieces.iter_mut().filter(|piece| piece.0 == field).map(|piece| &mut piece.1).collect();
    let Some(highest) = own.pop() else { return };
    for piece in own {
        *piece = bits.min(*piece);
        bits -= *piece;
    }
    *highest = bits;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IndexHash;

    /// 32 channels of 16 banks in 4 groups, rows of 2048 bytes, bursts of 32.
    fn space(map: &str, interleave_bytes: u32) -> AddressSpace {
        let (partition_hash, bank_hash) = (IndexHash::Linear, IndexHash::Linear);
        let map = map.to_owned();
        AddressSpace {
            channels: 32,
            pseudo_channels: 1,
            stacks: 1,
            banks: 16,
            bank_groups: 4,
            burst_bytes: 32,
            row_bytes: 2048,
            address: Address {
                map,
                interleave_bytes,
                partition_hash,
                partition_hash_bits: Vec::new(),
                bank_hash,
            },
        }
    }

    /// Returns the map of `old` adapted to `new` with 2^16 rows; it must be valid there.
    fn refit(old: &AddressSpace, new: &AddressSpace) -> (String, u32) {
        let address = new.refit(&old.layout().unwrap(), 1 << 16);
        let fitted = AddressSpace { address: address.clone(), ..new.clone() };
        let layout = fitted.layout().unwrap_or_else(|error| panic!("{address:?}: {error}"));
        assert_eq!(layout.bits_of(Field::Row), 16);
        (address.map, address.interleave_bytes)
    }

    const V100: &str = "row:13 bank:3 column:3 bank:1 channel:5 column:3 burst:5";

    #[test]
    fn the_highest_piece_of_a_field_takes_the_difference() {
        let old = space(V100, 0);
        let larger = AddressSpace { banks: 32, row_bytes: 4096, ..old.clone() };
        let map = "row:16 bank:4 column:4 bank:1 channel:5 column:3 burst:5";
        assert_eq!(refit(&old, &larger).0, map);
        let smaller = AddressSpace { banks: 1, bank_groups: 1, row_bytes: 128, ..old.clone() };
        assert_eq!(refit(&old, &smaller).0, "row:16 channel:5 column:2 burst:5");
    }

    #[test]
    fn column_and_burst_share_the_lowest_bits() {
        let old = space(V100, 0);
        let wide = AddressSpace { burst_bytes: 64, ..old.clone() };
        let map = "row:16 bank:3 column:3 bank:1 channel:5 column:2 burst:6";
        assert_eq!(refit(&old, &wide).0, map);
        let low_banks = "row:12 column:5 bank:4 burst:6";
        let old = AddressSpace { address: space(low_banks, 64).address, channels: 6, ..wide };
        let narrow = AddressSpace { burst_bytes: 32, ..old.clone() };
        assert_eq!(
            refit(&old, &narrow),
            ("row:16 column:5 bank:4 column:1 burst:5".to_owned(), 64)
        );
    }

    #[test]
    fn missing_pseudo_channels_and_stacks_are_inserted() {
        let old = space(V100, 0);
        let stacked = AddressSpace { pseudo_channels: 2, stacks: 4, banks: 64, ..old.clone() };
        let map = "row:16 stack:2 bank:2 column:3 bank:1 pseudo:1 channel:5 column:3 burst:5";
        assert_eq!(refit(&old, &stacked).0, map);
        let stacked = AddressSpace { address: space(map, 0).address, ..stacked };
        let stacked = AddressSpace { address: refit_address(&old, &stacked), ..stacked };
        assert_eq!(refit(&stacked, &old).0, V100.replace("row:13", "row:16"));
        let bankless =
            AddressSpace { banks: 1, bank_groups: 1, ..space("row:13 column:6 burst:5", 128) };
        let banked = AddressSpace { banks: 4, bank_groups: 1, ..bankless.clone() };
        assert_eq!(refit(&bankless, &banked).0, "row:16 bank:2 column:6 burst:5");
    }

    fn refit_address(old: &AddressSpace, new: &AddressSpace) -> Address {
        new.refit(&old.layout().unwrap(), 1 << 16)
    }

    #[test]
    fn the_bank_group_field_is_removed_with_the_groups() {
        let old = space("row:13 bank:2 column:3 group:2 channel:5 column:3 burst:5", 0);
        let more = AddressSpace { banks: 64, bank_groups: 8, ..old.clone() };
        let map = "row:16 bank:3 column:3 group:3 channel:5 column:3 burst:5";
        assert_eq!(refit(&old, &more).0, map);
        let none = AddressSpace { banks: 8, bank_groups: 1, ..old.clone() };
        assert_eq!(refit(&old, &none).0, "row:16 bank:3 column:3 channel:5 column:3 burst:5");
    }

    #[test]
    fn the_bits_of_the_partition_hash_are_those_of_the_map() {
        let mut old = space(V100, 0);
        old.address.partition_hash_bits = vec![14, 32];
        let refit = |new: &AddressSpace, rows: u32| {
            new.refit(&old.layout().unwrap(), rows).partition_hash_bits
        };
        assert_eq!(refit(&old, 1 << 13), [14, 32]);
        let wide = AddressSpace { burst_bytes: 64, ..old.clone() };
        assert_eq!(refit(&wide, 1 << 13), [0; 0]);
    }

    #[test]
    fn interleaved_channels_stay_interleaved() {
        let old = space("row:13 bank:4 column:6 burst:5", 128);
        let map = || ("row:16 bank:4 column:6 burst:5".to_owned(), 128);
        assert_eq!(refit(&old, &old), map());
        let six = AddressSpace { channels: 6, ..old.clone() };
        assert_eq!(refit(&six, &six), map());
        let wide = AddressSpace { burst_bytes: 256, row_bytes: 2048, ..old.clone() };
        assert_eq!(refit(&old, &wide), ("row:16 bank:4 column:3 burst:8".to_owned(), 256));
    }
}
