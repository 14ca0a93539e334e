//! A trace reads back as written, for any records, compression and chunk size.

use crate::common::{Given, GivenCta, IN_CLUSTER, OF_CLUSTERS, instructions, read_kernel, write};
use proptest::prelude::*;
use warpmem_trace::*;

fn mask() -> impl Strategy<Value = u32> {
    prop_oneof![
        3 => Just(u32::MAX),
        2 => any::<u32>(),
        1 => Just(0),
        1 => Just(0x5555_5555),
        1 => (0u32..32).prop_map(|lane| 1 << lane),
        1 => (1u32..32).prop_map(|lanes| (1 << lanes) - 1),
    ]
}

/// Addresses of all lanes; a record uses those of its active lanes.
fn lane_addresses() -> impl Strategy<Value = Vec<u64>> {
    let base = prop_oneof![
        Just(0u64),
        0u64..1 << 40,
        any::<u64>(),
        (0u64..64).prop_map(|low| u64::MAX - low)
    ];
    let line = |stride: i64| {
        move |base: u64| {
            (0..32).map(|lane| base.wrapping_add((stride as u64).wrapping_mul(lane))).collect()
        }
    };
    let stride = prop_oneof![Just(0i64), Just(4), Just(8), -4096i64..4096, any::<i64>()];
    prop_oneof![
        (base.clone(), stride).prop_map(move |(base, stride)| line(stride)(base)),
        prop::collection::vec((0u64..1 << 12).prop_map(|index| 0x1000 + 4 * index), 32),
        prop::collection::vec(0x7f00_0000_0000u64..0x7f10_0000_0000, 32),
        prop::collection::vec(any::<u64>(), 32),
        (base, prop::collection::vec(-8i64..8, 32)).prop_map(|(base, steps)| {
            steps
                .iter()
                .scan(base, |at, step| {
                    *at = at.wrapping_add(*step as u64);
                    Some(*at)
                })
                .collect()
        }),
    ]
}

fn record() -> impl Strategy<Value = Given> {
    let is_alone = |at: &usize| !OF_CLUSTERS.contains(at) && *at != IN_CLUSTER;
    let instruction = (0..instructions().len()).prop_filter("needs a cluster", is_alone);
    let choice = (instruction, mask(), lane_addresses(), any::<prop::sample::Index>());
    choice.prop_map(|(instruction, mask, all, choose)| {
        let static_part = &instructions()[instruction];
        let mut lanes = [0; OpClass::COUNT];
        for compute in &static_part.compute {
            let given = [mask.count_ones(), 32, 17, 0][choose.index(4)];
            lanes[compute.class as usize] += given;
        }
        let active = (0..32).filter(|lane| mask >> lane & 1 == 1 && static_part.kind.is_memory());
        Given { instruction, mask, lanes, addresses: active.map(|lane| all[lane]).collect() }
    })
}

/// Warps that repeat earlier records at shifted addresses, as loops and neighbouring warps do.
fn warp() -> impl Strategy<Value = Vec<Given>> {
    (prop::collection::vec(record(), 0..12), 1usize..4, any::<u16>()).prop_map(
        |(body, times, step)| {
            let shift = |record: &Given, by: u64| Given {
                addresses: record.addresses.iter().map(|a| a.wrapping_add(by)).collect(),
                ..record.clone()
            };
            let step = u64::from(step);
            (0..times as u64).flat_map(|t| body.iter().map(move |r| shift(r, t * step))).collect()
        },
    )
}

fn cta() -> impl Strategy<Value = GivenCta> {
    let warps = prop::collection::btree_map(0u32..64, warp(), 0..5);
    (any::<[u32; 3]>(), warps)
        .prop_map(|(block, warps)| GivenCta { block, warps: warps.into_iter().collect() })
}

fn options() -> impl Strategy<Value = WriterOptions> {
    let codec = prop_oneof![Just(Codec::Deflate), Just(Codec::Zstd)];
    (codec, 0u32..10, prop_oneof![Just(1usize), 1usize..2000, Just(1 << 18)])
        .prop_map(|(codec, level, chunk_bytes)| WriterOptions { codec, level, chunk_bytes })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn written_records_read_back(
        kernels in prop::collection::vec(prop::collection::vec(cta(), 0..6), 0..3),
        options in options(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("random.wmt");
        let summary = write(&path, &kernels, options);
        let trace = Trace::open(&path).unwrap();
        prop_assert_eq!(trace.kernels().len(), kernels.len());
        prop_assert_eq!(trace.header().content_hash, summary.content_hash);
        prop_assert_eq!(trace.file_bytes(), summary.file_bytes);
        for (number, given) in kernels.iter().enumerate() {
            let read = read_kernel(&trace, number);
            prop_assert_eq!(format!("{read:?}"), format!("{given:?}"));
            let records: usize = given.iter().flat_map(|c| &c.warps).map(|(_, r)| r.len()).sum();
            prop_assert_eq!(trace.kernels()[number].records, records as u64);
        }
    }

    /// After a skip from any position, the warp is at its end and other warps read unchanged.
    #[test]
    fn skip_rest_ends_a_warp_and_leaves_others_unchanged(
        kernel in prop::collection::vec(cta(), 1..6),
        read in 0usize..40,
        options in options(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("random.wmt");
        write(&path, std::slice::from_ref(&kernel), options);
        let trace = Trace::open(&path).unwrap();
        let mut record = Record::new();
        for number in 0..trace.kernels()[0].chunks.len() {
            let chunk = trace.chunk(0, number).unwrap();
            for (cta, entry) in chunk.ctas().iter().enumerate() {
                for (warp, header) in entry.warps.iter().enumerate() {
                    let mut cursor = chunk.warp(cta, warp);
                    for _ in 0..read.min(header.records as usize) {
                        prop_assert!(cursor.next(&mut record).unwrap());
                    }
                    cursor.skip_rest();
                    prop_assert_eq!(cursor.remaining(), 0);
                    prop_assert!(!cursor.next(&mut record).unwrap(), "nothing is left");
                }
            }
        }
        prop_assert_eq!(format!("{:?}", read_kernel(&trace, 0)), format!("{kernel:?}"));
    }
}
