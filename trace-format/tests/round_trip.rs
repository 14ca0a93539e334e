//! What is written is what is read, whatever the records, the compression and the chunk size.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use warpmem_trace::*;

/// A record as a test states it: instruction by its index in [`instructions`].
#[derive(Clone, Debug, PartialEq)]
struct Given {
    instruction: usize,
    mask: u32,
    lanes: [u32; OpClass::COUNT],
    addresses: Vec<u64>,
}

#[derive(Clone, Debug)]
struct GivenCta {
    block: [u32; 3],
    /// Number in the CTA and records; numbers differ.
    warps: Vec<(u32, Vec<Given>)>,
}

/// One instruction of each kind and several widths, with some compute.
fn instructions() -> Vec<Instruction> {
    let memory = [(Kind::Load, 4), (Kind::Store, 1), (Kind::Atomic, 8), (Kind::AsyncCopy, 16)];
    let memory = memory.iter().map(|&(kind, width)| (kind, Space::Global, width));
    let others = [Kind::Barrier, Kind::Fence, Kind::Exit, Kind::End];
    let others = others.iter().map(|&kind| (kind, Space::None, 0));
    let odd = [(Kind::Load, Space::Shared, 12), (Kind::Load, Space::Local, 7)];
    let all = memory.chain(others).chain(odd).enumerate();
    let instruction = |(index, (kind, space, width)): (usize, (Kind, Space, u8))| Instruction {
        pc: 16 * (index as u64 / 2),
        kind,
        space,
        cache_op: if index % 2 == 0 { CacheOp::Default } else { CacheOp::Streaming },
        width,
        barrier: 0,
        deps: if index % 3 == 0 { vec![] } else { vec![1, 64] },
        use_distance: (index % 2 == 0).then_some(index as u32),
        address_from: (index == 2).then_some(1),
        compute: OpClass::ALL[..index % 4]
            .iter()
            .map(|&class| Compute { class, deps: vec![] })
            .collect(),
    };
    all.map(instruction).collect()
}

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

/// Addresses of all lanes; the mask takes its own out of them.
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
    let choice = (0..instructions().len(), mask(), lane_addresses(), any::<prop::sample::Index>());
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

/// Warps that repeat earlier records some bytes further on, as loops and neighbouring warps do.
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

fn kernel_info(name: &str) -> KernelInfo {
    KernelInfo { name: name.into(), grid: [2, 3, 1], block: [64, 1, 1], ..KernelInfo::default() }
}

fn write(path: &Path, kernels: &[Vec<GivenCta>], options: WriterOptions) -> TraceSummary {
    let mut writer = TraceWriter::create(path, Provenance::default(), options).unwrap();
    let mut cta = CtaBuilder::new();
    for (number, ctas) in kernels.iter().enumerate() {
        writer.memcpy(number as u64, 100);
        writer.begin_kernel(kernel_info(&format!("kernel {number}"))).unwrap();
        for given in ctas {
            cta.begin(given.block);
            for (number, records) in &given.warps {
                cta.begin_warp(*number);
                for record in records {
                    let id = writer.intern(&instructions()[record.instruction]);
                    cta.push(id, record.mask, &record.lanes, &record.addresses);
                }
            }
            writer.cta(&cta).unwrap();
        }
        writer.end_kernel().unwrap();
    }
    writer.finish().unwrap()
}

fn read_warp(
    chunk: &Arc<Chunk>,
    cta: usize,
    warp: usize,
    dictionary: &[Instruction],
) -> Vec<Given> {
    let all = instructions();
    let mut cursor = chunk.warp(cta, warp);
    let mut record = Record::new();
    let mut records = Vec::new();
    while cursor.next(&mut record).unwrap() {
        if let AddressForm::Stride(stride) = record.form {
            let pairs = record.active_addresses().windows(2);
            assert!(pairs.into_iter().all(|pair| pair[1].wrapping_sub(pair[0]) == stride as u64));
        }
        let static_part = &dictionary[record.instruction.0 as usize];
        records.push(Given {
            instruction: all.iter().position(|one| one == static_part).unwrap(),
            mask: record.mask,
            lanes: record.compute_lanes,
            addresses: record.active_addresses().to_vec(),
        });
    }
    assert!(!cursor.next(&mut record).unwrap(), "the end stays the end");
    records
}

fn read_kernel(trace: &Trace, kernel: usize) -> Vec<GivenCta> {
    let dictionary = trace.instructions(kernel).unwrap();
    let mut ctas = Vec::new();
    for number in trace.kernels()[kernel].chunks.clone() {
        let chunk = trace.chunk(kernel, number).unwrap();
        assert_eq!(chunk.first_cta() as usize, ctas.len());
        for (index, entry) in chunk.ctas().iter().enumerate() {
            let warps = entry.warps.iter().enumerate().map(|(place, warp)| {
                let records = read_warp(&chunk, index, place, &dictionary);
                assert_eq!(records.len(), warp.records as usize);
                (warp.warp_in_cta, records)
            });
            ctas.push(GivenCta { block: entry.block, warps: warps.collect() });
        }
    }
    ctas
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_what_is_read(
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
}
