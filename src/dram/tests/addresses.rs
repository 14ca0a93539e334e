//! The address map.

use super::harness::*;
use crate::dram::{AddressMap, Location};
use crate::machine::{Address, Dram, IndexHash, load, preset_names};
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
    let refused = |dram: &Dram, slices: u32, message: &str| {
        let error = AddressMap::new(dram, slices).err().expect(message);
        assert!(error.to_string().contains(message), "{error}");
    };
    let with_map = |map: &str| {
        let mut dram = hbm2();
        dram.address.map = map.to_owned();
        dram
    };
    refused(&with_map("row:13 bnk:3"), 1, "`bnk:3`");
    refused(&with_map("row:32 row:1"), 1, "dram.address.map: 33 is out of range");
    refused(&hbm2(), 3, "llc.slices_per_channel: 3 is out of range; valid: a power of two");
    refused(
        &hbm2(),
        64,
        "dram.channels: 32 is out of range; valid: with dram.address.partition_hash",
    );
    refused(&Dram { channels: 0, ..gddr5() }, 1, "dram.channels: 0 is out of range");
    refused(&Dram { channels: 4096, ..gddr5() }, 32, "1 to 65536 slices");
    let mut odd = gddr5();
    odd.address.interleave_bytes = 300;
    refused(&odd, 1, "dram.address.interleave_bytes: 300 is out of range");
}

/// Every preset's map can be built.
#[test]
fn presets_have_maps() {
    for name in preset_names() {
        let machine = load(name, &[]).unwrap();
        AddressMap::new(&machine.dram, machine.llc.slices_per_channel).unwrap();
    }
}
