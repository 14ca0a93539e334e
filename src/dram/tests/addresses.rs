//! The address map.

use super::harness::*;
use crate::dram::{AddressError, AddressMap, Location};
use crate::machine::{Address, Dram, IndexHash};
use std::collections::HashSet;

/// Address bits `from..from + bits`.
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

/// The bit positions of the Accel-Sim reference: column 5-7 and 14-16, bank 13 and 17-19, row 20-32,
/// and channel 8-12 with bank bit 0 hashed by the remainder modulo x^6 + x + 1 of the bits from 14 on.
#[test]
fn the_v100_map() {
    let map = AddressMap::new(&hbm2(), 2).unwrap();
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
            channel: (remainder >> 1) as u16,
            slice: remainder as u16,
            bank: (field(address, 13, 1) | field(address, 17, 3) << 1) as u16,
            row: field(address, 20, 13) as u32,
            column: (field(address, 5, 3) | field(address, 14, 3) << 3) as u32,
        };
        assert_eq!(map.locate(address), expected, "{address:#x}");
    }
}

/// Column 5-6 and 12-15, bank 7 and 16-18, channel 8-11, row 19-31; slice = channel, bank bit 0.
#[test]
fn the_rtx2060s_map() {
    let map = AddressMap::new(&rtx2060s(), 2).unwrap();
    for address in addresses(2000) {
        let channel = field(address, 8, 4);
        let expected = Location {
            channel: channel as u16,
            slice: (channel << 1 | field(address, 7, 1)) as u16,
            bank: (field(address, 7, 1) | field(address, 16, 3) << 1) as u16,
            row: field(address, 19, 13) as u32,
            column: (field(address, 5, 2) | field(address, 12, 4) << 2) as u32,
        };
        assert_eq!(map.locate(address), expected, "{address:#x}");
    }
}

fn maps() -> Vec<(Dram, u32)> {
    let mut xor = hbm2();
    xor.address.partition_hash = IndexHash::Xor;
    xor.address.bank_xor_row = true;
    let mut permuted = gddr5();
    permuted.address.bank_xor_row = true;
    vec![
        (hbm2(), 2),
        (hbm2(), 1),
        (rtx2060s(), 2),
        (gddr5(), 2),
        (gddr3(), 1),
        (xor, 4),
        (permuted, 1),
    ]
}

/// No two column commands' worth of bytes lie in one place.
#[test]
fn maps_are_injective() {
    for (dram, slices) in maps() {
        let map = AddressMap::new(&dram, slices).unwrap();
        let burst = u64::from(dram.bus_bytes * dram.burst_length);
        let place = |l: Location| (l.channel, l.bank, l.row, l.column);
        let dense: HashSet<_> = (0..50_000).map(|i| place(map.locate(i * burst))).collect();
        assert_eq!(dense.len(), 50_000);
        // Within the bits of the smallest map, 25 in each of 8 channels.
        let sparse: HashSet<u64> =
            addresses(20_000).map(|a| a % (1 << 28) / burst * burst).collect();
        let places: HashSet<_> = sparse.iter().map(|&a| place(map.locate(a))).collect();
        assert_eq!(places.len(), sparse.len());
        // All bytes of a burst lie together.
        for address in addresses(200) {
            let start = address / burst * burst;
            assert_eq!(map.locate(start), map.locate(start + burst - 1));
        }
    }
}

#[test]
fn locations_are_in_range_and_use_every_bank() {
    for (dram, slices) in maps() {
        let map = AddressMap::new(&dram, slices).unwrap();
        let mut banks = HashSet::new();
        let mut groups = HashSet::new();
        let mut found = HashSet::new();
        for address in addresses(100_000) {
            let l = map.locate(address);
            assert!(u32::from(l.channel) < dram.channels);
            assert_eq!(u32::from(l.slice) / slices, u32::from(l.channel));
            assert!(l.column < dram.row_bytes / (dram.bus_bytes * dram.burst_length));
            banks.insert((l.channel, l.bank));
            groups.insert(u32::from(l.bank) % dram.bank_groups);
            found.insert(l.slice);
        }
        assert_eq!(banks.len() as u32, dram.channels * dram.banks);
        assert_eq!(groups.len() as u32, dram.bank_groups);
        assert_eq!(found.len() as u32, dram.channels * slices);
    }
}

/// Six channels take turns every 256 bytes; within a channel the addresses close up.
#[test]
fn any_number_of_channels_by_turns() {
    let map = AddressMap::new(&gddr5(), 2).unwrap();
    for block in 0..6000u64 {
        let l = map.locate(block * 256 + 77);
        assert_eq!(u64::from(l.channel), block % 6);
        let inner = block / 6 * 256 + 77;
        assert_eq!(u64::from(l.column), field(inner, 6, 5));
        assert_eq!(u64::from(l.bank), field(inner, 11, 4));
        assert_eq!(u64::from(l.row), field(inner, 15, 12));
        assert_eq!(u64::from(l.slice), block % 6 * 2 + field(inner, 11, 1));
    }
}

/// Strides that are powers of two fall on one slice without a hash, and evenly on all with it.
#[test]
fn the_polynomial_hash_spreads_every_stride() {
    let hashed = AddressMap::new(&hbm2(), 2).unwrap();
    let mut linear = hbm2();
    linear.address.partition_hash = IndexHash::Linear;
    let linear = AddressMap::new(&linear, 2).unwrap();
    let slices = |map: &AddressMap, shift: u32| {
        let mut counts = [0; 64];
        (0..64 * 64).for_each(|i| counts[usize::from(map.locate(i << shift).slice)] += 1);
        counts
    };
    for shift in 8..24 {
        assert_eq!(slices(&hashed, shift), [64; 64], "stride 2^{shift}");
    }
    assert_eq!(slices(&linear, 14)[0], 64 * 64);
}

#[test]
fn permutation_moves_rows_of_a_bank_to_other_banks() {
    let mut dram = gddr5();
    dram.address.bank_xor_row = true;
    let map = AddressMap::new(&dram, 1).unwrap();
    let banks: HashSet<u16> = (0..16u64).map(|row| map.locate((row << 15) * 6).bank).collect();
    assert_eq!(banks.len(), 16);
}

#[test]
fn impossible_maps_are_refused() {
    let refused = |change: fn(&mut Dram), slices: u32, message: &str| {
        let mut dram = hbm2();
        change(&mut dram);
        let error = AddressMap::new(&dram, slices).err().expect(message);
        assert!(error.to_string().contains(message), "{error}");
    };
    refused(|d| d.address.map = "row:13 bnk:3".to_owned(), 1, "`bnk:3` is no field");
    refused(|d| d.address.map = "row:0".to_owned(), 1, "`row:0` is no field");
    refused(|d| d.address.map = "row:32 row:1".to_owned(), 1, "33 bits of `row`");
    refused(
        |d| d.address.map = "row:32 bank:20 column:13".to_owned(),
        1,
        "65 bits of `all fields`",
    );
    refused(|d| d.banks = 32, 1, "4 bits of `bank`, but dram.banks = 32 needs 5");
    refused(|d| d.banks = 12, 1, "dram.banks: 12 is not a power of two");
    refused(|d| d.banks = 128, 1, "dram.banks: 128 is out of range; valid: 1 to 64");
    refused(|d| d.bank_groups = 32, 1, "dram.bank_groups: 32 is out of range");
    refused(|d| d.row_bytes = 1024, 1, "6 bits of `column`, but a row of 1024 bytes needs 5");
    refused(|d| d.row_bytes = 16, 1, "dram.row_bytes: 16 is out of range");
    refused(|d| d.bus_bytes = 8, 1, "5 bits of `burst`, but a column command of 16 bytes needs 4");
    refused(|d| d.channels = 16, 1, "5 bits of `channel`, but dram.channels = 16 needs 4");
    refused(|_| (), 32, "llc.slices_per_channel: 32 is out of range");
    refused(|_| (), 3, "llc.slices_per_channel: 3 is not a power of two");
    let mut turns = gddr5();
    turns.address.partition_hash = IndexHash::Ipoly;
    assert_eq!(AddressMap::new(&turns, 1).err(), Some(AddressError::HashWithoutChannel));
    let mut odd = gddr5();
    odd.address.interleave_bytes = 300;
    let error = AddressMap::new(&odd, 1).err().unwrap();
    assert!(error.to_string().contains("interleave_bytes: 300 is not a power of two"));
}
