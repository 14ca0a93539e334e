//! Channel counts that are not a power of two, rotated by a hash.

use crate::Dram;
use crate::tests::harness::*;
use std::collections::HashSet;
use warpmem_sim::{AddressMap, ChannelId, IndexHash, Location, SliceId};

/// Channels and slices that are not a power of two, by machine: a100, h100, h200, and l40s and
/// rtx4090.
const ROTATED: [(u32, u32); 4] = [(40, 4), (80, 2), (96, 2), (24, 4)];

/// Returns any number of channels, with 512 B of a row below the slice.
fn rotated(channels: u32, hash: IndexHash) -> Dram {
    let mut dram = Dram { channels, ..gddr5() };
    dram.address.map = "row:14 bank:2 column:2 bank:2 column:3 burst:6".to_owned();
    dram.address.partition_hash = hash;
    dram
}

/// Returns the number of slices and of channels that hold `count` addresses at a distance of
/// `1 << shift`, and the number of these addresses in the busiest channel.
fn spread(map: &AddressMap, shift: u32, count: u64) -> [usize; 3] {
    let places: Vec<Location> = (0..count).map(|i| map.locate(i << shift)).collect();
    let slices: HashSet<SliceId> = places.iter().map(|place| place.slice).collect();
    let channels: HashSet<ChannelId> = places.iter().map(|place| place.channel).collect();
    let mut load = vec![0; 256];
    places.iter().for_each(|place| load[place.channel.index()] += 1);
    [slices.len(), channels.len(), load.into_iter().max().unwrap()]
}

/// Power-of-two strides concentrate on few channels without a hash. With one they reach all
/// channels and slices, and the busiest channel has at most 1.5 times its share.
#[test]
fn hashed_rotation_spreads_every_stride_over_any_number_of_channels() {
    for (channels, slices) in ROTATED {
        let plain = rotated(channels, IndexHash::Linear).address_map(slices).unwrap();
        let hashed = rotated(channels, IndexHash::Ipoly).address_map(slices).unwrap();
        let count = u64::from(channels * slices) * 64;
        // 4 KB are 16 positions of a round: the channels over the greatest common divisor.
        let few = channels >> channels.trailing_zeros().min(4);
        assert_eq!(spread(&plain, 12, count)[1], few as usize);
        for shift in 8..24 {
            let [used_slices, used_channels, most] = spread(&hashed, shift, count);
            let what = format!("{channels} channels, stride 2^{shift}");
            assert_eq!(used_channels, channels as usize, "{what}");
            assert_eq!(used_slices, (channels * slices) as usize, "{what}");
            assert!(2 * most <= 3 * 64 * slices as usize, "{what}: {most}");
        }
    }
}

/// Each round over all channels contains every channel once, so an array read from its first byte
/// to its last uses all channels equally, and a row as before.
#[test]
fn rotation_keeps_the_content_of_a_round_and_rows_and_columns() {
    for hash in [IndexHash::Xor, IndexHash::Ipoly] {
        let plain = rotated(40, IndexHash::Linear).address_map(4).unwrap();
        let hashed = rotated(40, hash).address_map(4).unwrap();
        for round in 0..5000u64 {
            let places = (0..40).map(|position| (round * 40 + position) * 256);
            let channels: HashSet<_> = places.clone().map(|a| hashed.locate(a).channel).collect();
            assert_eq!(channels.len(), 40, "{hash:?}: round {round}");
            for address in places {
                let (a, b) = (plain.locate(address), hashed.locate(address));
                assert_eq!((a.row, a.column, a.bank), (b.row, b.column, b.bank));
                assert_eq!(hashed.unhashed(address), a);
            }
        }
    }
}

/// Round r begins at channel r modulo 40 while r fits the hash, which folds by 16 bits.
#[test]
fn the_rotation_by_hand() {
    let map = rotated(40, IndexHash::Xor).address_map(4).unwrap();
    let first = |round: u64| u64::from(map.locate(round * 40 * 256).channel.0);
    for round in [0, 1, 39, 40, 41, 1000, 65535] {
        assert_eq!(first(round), round % 40);
    }
    assert_eq!(first(1 << 16 | 5), 1 ^ 5);
    let mut wrong = rotated(40, IndexHash::Xor);
    wrong.address.partition_hash_bits = vec![20, 27];
    let message = wrong.address_map(4).err().unwrap().to_string();
    assert!(message.contains("[], as `dram.channels` is no power of two"), "{message}");
}
