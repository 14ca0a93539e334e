//! The address map.

use crate::Dram;
use crate::tests::harness::*;
use proptest::prelude::*;
use std::collections::HashSet;
use warpmem_sim::{
    Address, AddressMap, BankId, ChannelId, Field, IndexHash, Location, RowId, SliceId,
};

/// Returns address bits `from..from + bits`.
fn field(address: u64, from: u32, bits: u32) -> u64 {
    address >> from & ((1 << bits) - 1)
}

fn addresses(count: u64) -> impl Iterator<Item = u64> {
    let mut random = Random(11);
    (0..count).map(move |_| random.below(1 << 33))
}

fn rtx2060s() -> Dram {
    Dram {
        channels: 16,
        bus_bytes: 2,
        burst_length: 16,
        address: Address {
            map: "row:13 bank:3 column:4 channel:4 bank:1 column:2 burst:5".to_owned(),
            partition_hash: IndexHash::Linear,
            ..hbm2().address
        },
        ..hbm2()
    }
}

/// The bit positions of the Accel-Sim reference: column 5-7 and 14-16, bank 13 and 17-19, row
/// 20-32, and channel 8-12 with bank bit 0 hashed by the remainder modulo x^6 + x + 1 of the bits
/// from 14 on.
#[test]
fn the_v100_map() {
    let map = hbm2().address_map(2).unwrap();
    for address in addresses(2000) {
        let mut remainder = field(address, 8, 5) << 1 | field(address, 13, 1);
        for bit in 14..33 {
            let mut power = if field(address, bit, 1) == 1 { 1u64 } else { 0 };
            for _ in 0..bit - 14 + 6 {
                power <<= 1;
                power ^= if power & 64 != 0 { 0b100_0011 } else { 0 };
            }
            remainder ^= power;
        }
        let expected = Location {
            channel: ChannelId((remainder >> 1) as u16),
            slice: SliceId(remainder as u16),
            bank: BankId((field(address, 13, 1) | field(address, 17, 3) << 1) as u16),
            row: RowId(field(address, 20, 13) as u32),
            column: (field(address, 5, 3) | field(address, 14, 3) << 3) as u16,
        };
        assert_eq!(map.locate(address), expected, "{address:#x}");
    }
}

/// Column 5-6 and 12-15, bank 7 and 16-18, channel 8-11, row 19-31; slice = channel, bank bit 0.
#[test]
fn the_rtx2060s_map() {
    let map = rtx2060s().address_map(2).unwrap();
    for address in addresses(2000) {
        let channel = field(address, 8, 4);
        let expected = Location {
            channel: ChannelId(channel as u16),
            slice: SliceId((channel << 1 | field(address, 7, 1)) as u16),
            bank: BankId((field(address, 7, 1) | field(address, 16, 3) << 1) as u16),
            row: RowId(field(address, 19, 13) as u32),
            column: (field(address, 5, 2) | field(address, 12, 4) << 2) as u16,
        };
        assert_eq!(map.locate(address), expected, "{address:#x}");
    }
}

/// The reference's rows of the hash: the address bits that enter each bit of the slice, with the
/// bit that holds it before the hash.
#[test]
fn the_rtx3070_map_hashes_some_bits() {
    const ROWS: [(u32, &[u32]); 5] = [
        (7, &[13, 16, 18, 19, 22, 23, 24, 25, 26]),
        (8, &[14, 17, 19, 20, 23, 24, 25, 26, 27]),
        (9, &[13, 15, 16, 19, 20, 21, 22, 23, 27]),
        (10, &[14, 16, 17, 20, 21, 22, 23, 24]),
        (11, &[15, 17, 18, 21, 22, 23, 24, 25]),
    ];
    let mut dram = rtx2060s();
    dram.address.partition_hash = IndexHash::Ipoly;
    dram.address.partition_hash_bits = vec![13, 27];
    let map = dram.address_map(2).unwrap();
    for address in addresses(2000) {
        let bit = |at: u32| field(address, at, 1) as u16;
        let hashed = |&(plain, bits): &(u32, &[u32])| {
            bits.iter().fold(bit(plain), |sum, &other| sum ^ bit(other))
        };
        let slice = ROWS.iter().rev().fold(0, |slice, row| slice << 1 | hashed(row));
        let place = map.locate(address);
        assert_eq!((place.slice.0, place.channel.0), (slice, slice >> 1), "{address:#x}");
        let bank = bit(7) | (field(address, 16, 3) << 1) as u16;
        assert_eq!(place.bank.0, bank, "{address:#x}: the bank is not hashed");
        assert_eq!(map.address(&place), (address % map.capacity()) & !31);
    }
}

/// Widths of the fields of a map.
#[derive(Clone, Copy, Debug)]
struct Shape {
    channels: u32,
    pseudo: u32,
    stack: u32,
    group: u32,
    bank: u32,
    row: u32,
    column: u32,
    burst: u32,
    slice: u32,
    hashes: [IndexHash; 2],
}

impl Shape {
    fn banks(&self) -> u32 {
        self.pseudo + self.stack + self.group + self.bank
    }

    fn dram(&self, map: String, interleave_bytes: u32) -> Dram {
        let [partition_hash, bank_hash] = self.hashes;
        Dram {
            channels: self.channels,
            pseudo_channels: 1 << self.pseudo,
            stacks: 1 << self.stack,
            banks: 1 << self.banks(),
            bank_groups: 1 << self.group,
            bus_bytes: 1 << self.burst,
            burst_length: 1,
            transfers_per_clock: 1,
            row_bytes: 1 << (self.column + self.burst),
            address: Address {
                map,
                interleave_bytes,
                partition_hash,
                partition_hash_bits: Vec::new(),
                bank_hash,
            },
            ..gddr5()
        }
    }

    /// Returns the bits of an address within a channel.
    fn bits(&self) -> u32 {
        self.banks() + self.row + self.column + self.burst
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    let hash = || prop::sample::select(vec![IndexHash::Linear, IndexHash::Xor, IndexHash::Ipoly]);
    let channels = prop_oneof![prop::sample::select(vec![1u32, 2, 8, 32]), 1..13u32];
    let banks = (0..2u32, 0..2u32, 0..3u32, 0..3u32);
    let bits = (1..8u32, 0..5u32, 5..8u32, 0..3u32);
    (channels, banks, bits, hash(), hash()).prop_map(
        |(channels, banks, bits, partition, by_row)| {
            let ((pseudo, stack, group, bank), (row, column, burst, slice)) = (banks, bits);
            let slice = slice.min(pseudo + stack + group + bank);
            let hashes = [partition, by_row];
            Shape { channels, pseudo, stack, group, bank, row, column, burst, slice, hashes }
        },
    )
}

/// Position of the channel in a map.
#[derive(Clone, Copy, Debug)]
enum ChannelIn {
    Field,
    Rotation(u32),
}

/// Generates a channel field, or a rotation for channel counts that are not a power of two.
fn channel_in(shape: &Shape) -> impl Strategy<Value = ChannelIn> + use<> {
    let rotation = (shape.burst..=shape.bits()).prop_map(ChannelIn::Rotation);
    match shape.channels > 1 && shape.channels.is_power_of_two() {
        true => prop_oneof![Just(ChannelIn::Field), rotation].boxed(),
        false => rotation.boxed(),
    }
}

/// Generates all orders of these words, each repeated as its number says.
fn any_order(words: &[(&'static str, u32)]) -> impl Strategy<Value = Vec<&'static str>> + use<> {
    let all = words.iter().flat_map(|&(word, times)| vec![word; times as usize]);
    Just(all.collect::<Vec<_>>()).prop_shuffle()
}

fn interleave(channel: ChannelIn) -> u32 {
    match channel {
        ChannelIn::Field => 0,
        ChannelIn::Rotation(bit) => 1 << bit,
    }
}

/// Generates maps of `field:1` in any order, with or without group fields.
fn by_fields(shape: Shape) -> impl Strategy<Value = (Dram, u32)> {
    (channel_in(&shape), any::<bool>()).prop_flat_map(move |(channel, grouped)| {
        let channels = match channel {
            ChannelIn::Field => shape.channels.ilog2(),
            ChannelIn::Rotation(_) => 0,
        };
        let group = if grouped { shape.group } else { 0 };
        let bank = shape.group + shape.bank - group;
        let words = [
            ("row:1", shape.row),
            ("bank:1", bank),
            ("group:1", group),
            ("stack:1", shape.stack),
            ("pseudo:1", shape.pseudo),
            ("column:1", shape.column),
            ("channel:1", channels),
        ];
        any_order(&words).prop_map(move |words| {
            let map = format!("{} burst:{}", words.join(" "), shape.burst);
            (shape.dram(map, interleave(channel)), 1 << shape.slice)
        })
    })
}

fn by_scheme(shape: Shape) -> impl Strategy<Value = (Dram, u32)> {
    (channel_in(&shape), any::<bool>(), any::<bool>()).prop_flat_map(
        move |(channel, grouped, ranked)| {
            let words = [
                ("Ro", 1),
                ("Co", 1),
                ("Ba", 1),
                ("bg", u32::from(grouped)),
                ("Ra", u32::from(ranked)),
                ("si", u32::from(!ranked)),
                ("PC", u32::from(!ranked)),
                ("Ch", u32::from(matches!(channel, ChannelIn::Field))),
            ];
            any_order(&words).prop_map(move |words| {
                let map = format!("{} row:{}", words.concat(), shape.row);
                (shape.dram(map, interleave(channel)), 1 << shape.slice)
            })
        },
    )
}

/// Generates masks of GPGPU-Sim, which has neither pseudo channels nor stacks.
fn by_mask(shape: Shape) -> impl Strategy<Value = (Dram, u32)> {
    let shape =
        Shape { pseudo: 0, stack: 0, slice: shape.slice.min(shape.group + shape.bank), ..shape };
    channel_in(&shape).prop_flat_map(move |channel| {
        let letters = match channel {
            ChannelIn::Field => shape.channels.ilog2(),
            ChannelIn::Rotation(_) => 0,
        };
        let words = [("R", shape.row), ("B", shape.banks()), ("C", shape.column), ("D", letters)];
        any_order(&words).prop_map(move |words| {
            let letters = format!("{}{}", words.concat(), "S".repeat(shape.burst as usize));
            let at = match channel {
                ChannelIn::Field => String::new(),
                ChannelIn::Rotation(bit) => format!("dramid@{bit};"),
            };
            (shape.dram(format!("{at}{letters:0>64}"), 0), 1 << shape.slice)
        })
    })
}

fn any_map() -> impl Strategy<Value = (Dram, u32)> {
    shape().prop_flat_map(|shape| prop_oneof![by_fields(shape), by_scheme(shape), by_mask(shape)])
}

proptest! {
    /// Maps the addresses of the capacity to (channel, bank, row, column, byte of the burst) and
    /// back.
    #[test]
    fn every_map_is_a_bijection((dram, slices) in any_map(), samples in prop::collection::vec(any::<u64>(), 100)) {
        let map = dram.address_map(slices).unwrap();
        let rows = 1u64 << map.layout().bits_of(Field::Row);
        let burst = u64::from(dram.burst_bytes());
        let columns = u64::from(dram.row_bytes) / burst;
        let banks = u64::from(dram.banks);
        prop_assert_eq!(map.capacity(), u64::from(dram.channels) * banks * rows * columns * burst);
        for sample in samples {
            let address = sample % map.capacity();
            let place = map.locate(address);
            prop_assert!(u32::from(place.channel.0) < dram.channels && u64::from(place.bank.0) < banks);
            prop_assert!(u64::from(place.row.0) < rows && u64::from(place.column) < columns);
            prop_assert_eq!(u32::from(place.slice.0) / slices, u32::from(place.channel.0));
            prop_assert_eq!(map.address(&place) + address % burst, address);
        }
    }

    /// Columns of a row are found from any of its addresses, independent of the bits above the map.
    #[test]
    fn columns_of_a_row_are_found_from_any_address_in_it(
        (dram, slices) in any_map(),
        samples in prop::collection::vec((any::<u64>(), any::<u32>()), 100),
    ) {
        let map = dram.address_map(slices).unwrap();
        let columns = dram.row_bytes / dram.burst_bytes();
        for (address, column) in samples {
            let (address, column) = (address >> 1, (column % columns) as u16);
            let place = map.locate(address);
            let beside = map.beside(address, column).unwrap();
            let found = map.locate(beside);
            prop_assert_eq!(found, Location { column, slice: found.slice, ..place });
            let burst = address % u64::from(dram.burst_bytes());
            prop_assert_eq!(map.beside(beside, place.column), Some(address - burst));
        }
    }

    /// Checks whole maps without the inverse.
    #[test]
    fn no_two_addresses_of_a_small_map_share_a_location((dram, slices) in any_map()) {
        let map = dram.address_map(slices).unwrap();
        let burst = u64::from(dram.burst_bytes());
        let bursts = map.capacity() / burst;
        prop_assume!(bursts <= 1 << 12);
        let places: HashSet<_> = (0..bursts)
            .map(|i| Location { slice: SliceId(0), ..map.locate(i * burst) })
            .collect();
        prop_assert_eq!(places.len() as u64, bursts);
        let used: HashSet<_> = (0..bursts).map(|i| map.locate(i * burst).slice).collect();
        prop_assert_eq!(used.len() as u32, dram.channels * slices);
    }
}

/// Six channels alternate every 256 bytes; the addresses within a channel are contiguous.
#[test]
fn any_number_of_channels_rotates() {
    let map = gddr5().address_map(2).unwrap();
    for block in 0..6000u64 {
        let l = map.locate(block * 256 + 77);
        assert_eq!(u64::from(l.channel.0), block % 6);
        let inner = block / 6 * 256 + 77;
        assert_eq!(u64::from(l.column), field(inner, 6, 5));
        assert_eq!(u64::from(l.bank.0), field(inner, 11, 4));
        assert_eq!(u64::from(l.row.0), field(inner, 15, 12));
        assert_eq!(u64::from(l.slice.0), block % 6 * 2 + field(inner, 11, 1));
    }
}

/// The capacity is not a multiple of six channels: the last row of some ends early.
#[test]
fn addresses_beyond_the_capacity_have_no_columns() {
    let map = gddr5().address_map(2).unwrap();
    let place = map.locate(u64::MAX);
    let columns = (0..32).map(|column| map.beside(u64::MAX, column));
    let (there, beyond): (Vec<_>, Vec<_>) = columns.partition(Option::is_some);
    assert!(!there.is_empty() && !beyond.is_empty(), "{there:x?}");
    assert!(there.into_iter().flatten().all(|a| map.locate(a).row == place.row));
}

/// Power-of-two strides fall on one slice without a hash, and evenly on all with it.
#[test]
fn the_polynomial_hash_spreads_every_stride() {
    let hashed = hbm2().address_map(2).unwrap();
    let mut linear = hbm2();
    linear.address.partition_hash = IndexHash::Linear;
    let linear = linear.address_map(2).unwrap();
    let slices = |map: &AddressMap, shift: u32| {
        let mut counts = [0; 64];
        (0..64 * 64).for_each(|i| counts[map.locate(i << shift).slice.index()] += 1);
        counts
    };
    for shift in 8..24 {
        assert_eq!(slices(&hashed, shift), [64; 64], "stride 2^{shift}");
    }
    assert_eq!(slices(&linear, 14)[0], 64 * 64);
}

/// For any stride in rows a bank hash sends successive rows to other banks: the XOR of the row's
/// bits by fours for 16 successive rows and for every 16th row; the polynomial for strides between
/// too.
#[test]
fn bank_hashes_move_rows_to_other_banks() {
    let mut dram = gddr5();
    let mut banks = |hash, stride: u64| {
        dram.address.bank_hash = hash;
        let map = dram.address_map(1).unwrap();
        let banks = (0..16).map(|row| map.locate((row * stride) * (6 << 15)).bank);
        banks.collect::<HashSet<BankId>>().len()
    };
    let strides = [1, 2, 4, 8, 16, 32, 64, 128];
    assert_eq!(strides.map(|stride| banks(IndexHash::Linear, stride)), [1; 8]);
    assert_eq!(strides.map(|stride| banks(IndexHash::Xor, stride)), [16; 8]);
    assert_eq!(strides.map(|stride| banks(IndexHash::Ipoly, stride)), [16; 8]);
    assert_eq!((banks(IndexHash::Xor, 17), banks(IndexHash::Ipoly, 17)), (1, 16));
}

/// 16 banks by x^4 + x + 1: row bits 0 to 4 change the bank by x^4 to x^8 modulo the polynomial.
/// The slice uses the bank before the hash.
#[test]
fn the_bank_hash_by_hand() {
    let mut dram = gddr5();
    dram.address.bank_hash = IndexHash::Ipoly;
    let map = dram.address_map(2).unwrap();
    let images = [0b0011, 0b0110, 0b1100, 0b1011, 0b0101];
    for (bit, image) in images.into_iter().enumerate() {
        let place = map.locate((1 << (15 + bit) | 5 << 11) * 6 / 256 * 256);
        assert_eq!((place.row.0, place.bank.0, place.slice.0), (1 << bit, 5 ^ image, 1));
    }
}

/// From its highest bit down the bank number consists of pseudo channel, stack, bank of the group,
/// and group.
#[test]
fn the_bank_number_is_composed_of_its_fields() {
    let mut dram = Dram { channels: 1, pseudo_channels: 2, stacks: 2, banks: 64, ..gddr5() };
    dram.address.map = "stack:1 row:4 group:2 pseudo:1 bank:2 column:5 burst:6".to_owned();
    let bank = |address: u64| dram.address_map(1).unwrap().locate(address).bank.0;
    assert_eq!(bank(1 << 20), 0b01_00_00);
    assert_eq!(bank(0b10 << 14), 0b00_00_10);
    assert_eq!(bank(1 << 13), 0b10_00_00);
    assert_eq!(bank(0b01 << 11), 0b00_01_00);
}

/// Bits above the map have no effect unless the partition hash includes them.
#[test]
fn bits_above_the_map_are_ignored() {
    let (linear, hashed) = (gddr5(), hbm2());
    for (dram, stays) in [(linear, true), (hashed, false)] {
        let map = dram.address_map(2).unwrap();
        let both = |address| (address, address + map.capacity());
        let pairs: Vec<_> = addresses(200).map(|a| both(a % map.capacity())).collect();
        assert_eq!(pairs.iter().all(|&(a, b)| map.locate(a) == map.locate(b)), stays);
        assert!(pairs.iter().all(|&(a, b)| map.unhashed(a) == map.unhashed(b)));
    }
}

#[test]
fn impossible_maps_are_refused() {
    let refused = |dram: &Dram, slices: u32, message: &str| {
        let error = dram.address_map(slices).err().expect(message);
        assert!(error.to_string().contains(message), "{error}");
    };
    let with_map = |map: &str| {
        let mut dram = hbm2();
        dram.address.map = map.to_owned();
        dram
    };
    refused(&with_map("row:13 bnk:3"), 1, "`bnk:3`");
    refused(&hbm2(), 3, "`l2.slices_per_channel` = 3 is not valid: expected a power of two");
    refused(
        &hbm2(),
        32,
        "`l2.slices_per_channel` = 32 is not valid: expected at most one per bank",
    );
    let many = "row:13 bank:4 column:3 channel:14 column:3 burst:5";
    let many = Dram { channels: 16384, ..with_map(many) };
    refused(&many, 8, "`dram.channels` = 16384 is not valid: expected at most 2^16 slices in all");
    refused(&Dram { channels: 4097, ..gddr5() }, 16, "expected at most 2^16 slices in all");
}

/// Builds the map of every preset.
#[test]
fn presets_have_maps() {
    for name in preset_names() {
        preset(&name).address_map(2).unwrap();
    }
}
