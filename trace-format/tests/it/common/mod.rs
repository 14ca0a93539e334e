//! Helpers that the tests of this crate share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use warpmem_trace::*;

/// Creates a writer in a temporary directory, which is removed when the first value is dropped.
pub fn temporary_writer() -> (TempDir, PathBuf, TraceWriter) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("test.wmt");
    let writer = TraceWriter::create(&path, Provenance::default(), WriterOptions::default());
    (directory, path, writer.unwrap())
}

/// Returns an instruction whose other fields are neutral.
pub fn plain(kind: Kind, space: Space, width: u32) -> Instruction {
    Instruction {
        pc: 0,
        kind,
        space,
        cache_op: CacheOp::Default,
        width,
        barrier: None,
        destinations: 0,
        mbarrier: None,
        l2_policy: None,
        deps: Vec::new(),
        operands: Operands::NONE,
        use_distance: None,
        address_from: None,
        compute: Vec::new(),
    }
}

/// Returns the writer's verdict on a kernel with this instruction.
pub fn verdict(instruction: &Instruction) -> Result<(), String> {
    let (_directory, _path, mut writer) = temporary_writer();
    writer.begin_kernel(KernelInfo::default()).unwrap();
    writer.intern(instruction);
    writer.end_kernel().map_err(|error| error.to_string())
}

/// Returns a trace of one warp, built by the assembler.
pub fn one_warp(fill: impl FnOnce(&mut WarpAssembler)) -> Trace {
    let (_directory, path, mut writer) = temporary_writer();
    let (mut assembler, mut cta) = (WarpAssembler::new(), CtaBuilder::new());
    writer.begin_kernel(KernelInfo::default()).unwrap();
    cta.begin([0; 3]);
    cta.begin_warp(0);
    fill(&mut assembler);
    assembler.finish(writer.dictionary(), &mut cta);
    writer.cta(&cta).unwrap();
    writer.end_kernel().unwrap();
    writer.finish().unwrap();
    Trace::from_bytes("one warp", std::fs::read(path).unwrap()).unwrap()
}

/// A CTA's block and the records of one of its warps.
pub type ReadWarp = ([u32; 3], Vec<Record>);

/// Reads every warp of a trace, kernel by kernel: the block of its CTA, and its records.
pub fn read_all(trace: &Trace) -> Result<Vec<ReadWarp>, TraceError> {
    let mut warps = Vec::new();
    for (number, kernel) in trace.kernels().iter().enumerate() {
        for chunk in kernel.chunks.clone() {
            let chunk = trace.chunk(number, chunk)?;
            for (index, cta) in chunk.ctas().iter().enumerate() {
                for warp in 0..cta.warps.len() {
                    let mut cursor = chunk.warp(index, warp);
                    let mut records = Vec::new();
                    let mut record = Record::new();
                    while cursor.next(&mut record)? {
                        records.push(record.clone());
                    }
                    warps.push((cta.block, records));
                }
            }
        }
    }
    Ok(warps)
}

/// A record of a test; the instruction is an index into [`instructions`].
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    pub instruction: usize,
    pub mask: u32,
    pub lanes: [u32; OpClass::COUNT],
    pub addresses: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GivenCta {
    pub block: [u32; 3],
    /// Number in the CTA, unique, and records.
    pub warps: Vec<(u32, Vec<Given>)>,
}

/// Returns one instruction of each kind and several widths, with some compute. After the
/// instructions of [`sample`] come one with compute of every class, a bulk copy, and the cluster
/// instructions.
pub fn instructions() -> Vec<Instruction> {
    let memory = [(Kind::Load, 4), (Kind::Store, 1), (Kind::Atomic, 8), (Kind::AsyncCopy, 16)];
    let memory = memory.iter().map(|&(kind, width)| (kind, Space::Global, width));
    let others = [Kind::Barrier, Kind::Fence, Kind::Exit, Kind::End];
    let others = others.iter().map(|&kind| (kind, Space::None, 0));
    let odd = [(Kind::Load, Space::Shared, 12), (Kind::Load, Space::Local, 7)];
    let all = memory.chain(others).chain(odd).enumerate();
    let instruction = |(index, (kind, space, width)): (usize, (Kind, Space, u32))| Instruction {
        pc: 16 * (index as u64 / 2),
        kind,
        space,
        cache_op: if index % 2 == 0 { CacheOp::Default } else { CacheOp::Streaming },
        width,
        barrier: (kind == Kind::Barrier).then_some(Barrier::of_cta(0)),
        destinations: 0,
        mbarrier: None,
        l2_policy: None,
        deps: if index % 3 == 0 { vec![] } else { vec![1, 64] },
        operands: Operands::of((0..index as u16).map(|number| number * number)),
        use_distance: (index % 2 == 0).then_some(index as u32),
        address_from: (index == 2).then_some(1),
        compute: compute(&OpClass::ALL[..index % 4]),
    };
    let mut all: Vec<Instruction> = all.map(instruction).collect();
    all.push(Instruction { pc: 0x1000, compute: compute(&OpClass::ALL), ..all[0].clone() });
    let copy = Instruction { pc: 0x1010, kind: Kind::AsyncCopy, width: 4096, ..all[0].clone() };
    all.push(copy.clone());
    all.push(Instruction { pc: 0x1020, destinations: 0b11, ..copy.clone() });
    all.push(Instruction { pc: 0x1030, space: Space::Cluster, ..all[0].clone() });
    all.push(Instruction { pc: 0x1040, space: Space::Cluster, ..copy });
    let without_addresses = Instruction { space: Space::None, width: 0, ..all[0].clone() };
    let kinds = [Kind::ClusterArrive, Kind::ClusterWait];
    all.extend(kinds.map(|kind| Instruction { pc: 0x1050, kind, ..without_addresses.clone() }));
    let about = |kind, space, mbarrier| {
        let pc = 0x1060;
        Instruction { pc, kind, space, width: 8, mbarrier: Some(mbarrier), ..all[0].clone() }
    };
    let of_mbarriers = [
        about(Kind::Store, Space::Shared, Mbarrier::Init { arrivals: 300 }),
        about(Kind::Atomic, Space::Shared, Mbarrier::Arrive { arrivals: 1, bytes: -70_000 }),
        about(Kind::Reduction, Space::Cluster, Mbarrier::ArriveAndDrop { arrivals: 2, bytes: 0 }),
        about(Kind::Reduction, Space::Shared, Mbarrier::ArriveAfterCopies { increments: true }),
        about(Kind::Load, Space::Shared, Mbarrier::Wait { parity: true }),
        about(Kind::AsyncCopy, Space::Global, Mbarrier::Signal { offset: 1 << 16 }),
    ];
    all.extend(of_mbarriers);
    let at = |kind, barrier| {
        let (pc, barrier) = (0x1070, Some(barrier));
        Instruction { pc, kind, barrier, ..without_addresses.clone() }
    };
    all.push(at(Kind::Barrier, Barrier::of_warps(15, 32)));
    all.push(at(Kind::BarrierArrive, Barrier::of_warps(1, 2)));
    let (primary, secondary) = (Eviction::Last, Eviction::First);
    let policy = L2Policy { primary, sixteenths: 9, secondary };
    all.push(Instruction { pc: 0x1080, l2_policy: Some(policy), ..all[0].clone() });
    all
}

/// The bulk copy among [`instructions`].
const BULK_COPY: usize = 11;

/// Index of the operation on another CTA's mbarrier.
pub const IN_CLUSTER: usize = 19;

/// Indices of the mbarrier operations.
const OF_MBARRIERS: std::ops::Range<usize> = 17..23;

/// Indices of the barriers for some warps.
const OF_SOME_WARPS: std::ops::Range<usize> = 23..25;

/// Index of the load with an L2 policy.
const WITH_L2_POLICY: usize = 25;

/// Indices of the copy to several CTAs, the load and the copy in a cluster's shared memory, and
/// both halves of the cluster barrier.
pub const OF_CLUSTERS: [usize; 5] = [12, 13, 14, 15, 16];

fn compute(classes: &[OpClass]) -> Vec<Compute> {
    let operands = |class: OpClass| Operands::of([4, 6, 4 << class as u16]);
    let compute = |&class| Compute { class, deps: vec![], operands: operands(class) };
    classes.iter().map(compute).collect()
}

/// Returns [`instructions`] as a trace stores them: version 1 has no operands.
fn instructions_in(trace: &Trace) -> Vec<Instruction> {
    let mut all = instructions();
    if trace.header().version.0 == 1 {
        for instruction in &mut all {
            instruction.operands = Operands::spread(instruction.deps.len());
            for compute in &mut instruction.compute {
                compute.operands = Operands::spread(compute.deps.len());
            }
        }
    }
    all
}

pub fn kernel_info(name: &str) -> KernelInfo {
    KernelInfo { name: name.into(), grid: [2, 3, 1], block: [64, 1, 1], ..KernelInfo::default() }
}

/// Returns the clusters of a kernel: pairs, if it has cluster instructions.
pub fn cluster(ctas: &[GivenCta]) -> Option<[u32; 3]> {
    let mut records = ctas.iter().flat_map(|cta| &cta.warps).flat_map(|(_, records)| records);
    records.any(|record| OF_CLUSTERS.contains(&record.instruction)).then_some([2, 1, 1])
}

pub fn write(path: &Path, kernels: &[Vec<GivenCta>], options: WriterOptions) -> TraceSummary {
    let provenance = Provenance {
        tool: "warpmem 0.1.0".into(),
        source: "a test".into(),
        command: "none".into(),
    };
    let mut writer = TraceWriter::create(path, provenance, options).unwrap();
    let mut cta = CtaBuilder::new();
    for (number, ctas) in kernels.iter().enumerate() {
        writer.memcpy(number as u64, 100);
        let info =
            KernelInfo { cluster: cluster(ctas), ..kernel_info(&format!("kernel {number}")) };
        writer.begin_kernel(info).unwrap();
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

pub fn read_warp(
    chunk: &Arc<Chunk>,
    cta: usize,
    warp: usize,
    dictionary: &[Instruction],
    all: &[Instruction],
) -> Vec<Given> {
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

pub fn read_kernel(trace: &Trace, kernel: usize) -> Vec<GivenCta> {
    let dictionary = trace.instructions(kernel).unwrap();
    let all = instructions_in(trace);
    let mut ctas = Vec::new();
    for number in trace.kernels()[kernel].chunks.clone() {
        let chunk = trace.chunk(kernel, number).unwrap();
        assert_eq!(chunk.first_cta() as usize, ctas.len());
        let end = chunk.first_cta() + chunk.ctas().len() as u32;
        assert_eq!(trace.chunk_ctas(kernel, number).unwrap(), chunk.first_cta()..end);
        for (index, entry) in chunk.ctas().iter().enumerate() {
            let warps = entry.warps.iter().enumerate().map(|(place, warp)| {
                let records = read_warp(&chunk, index, place, &dictionary, &all);
                assert_eq!(records.len(), warp.records as usize);
                (warp.warp_in_cta, records)
            });
            ctas.push(GivenCta { block: entry.block, warps: warps.collect() });
        }
    }
    ctas
}

/// Returns the part of [`sample`] that versions before 3 can hold, without bulk copies.
pub fn sample_without_bulk_copies() -> Vec<Vec<GivenCta>> {
    without(sample_without_clusters(), &[BULK_COPY])
}

/// Returns the part of [`sample`] that version 3 can hold.
pub fn sample_without_clusters() -> Vec<Vec<GivenCta>> {
    let others: Vec<usize> = OF_CLUSTERS.into_iter().chain(OF_MBARRIERS).collect();
    without(sample_of_version_4(), &others)
}

/// Returns the part of [`sample`] that version 4 can hold: barriers for all warps only, and no L2
/// policies.
pub fn sample_of_version_4() -> Vec<Vec<GivenCta>> {
    let others: Vec<usize> = OF_SOME_WARPS.chain([WITH_L2_POLICY]).collect();
    without(sample(), &others)
}

fn without(mut kernels: Vec<Vec<GivenCta>>, instructions: &[usize]) -> Vec<Vec<GivenCta>> {
    for cta in kernels.iter_mut().flatten() {
        for (_, records) in &mut cta.warps {
            records.retain(|record| !instructions.contains(&record.instruction));
        }
    }
    kernels
}

/// Returns a small sample with every address form, mask and lane code, an empty warp and a gap in
/// the warp numbers.
pub fn sample() -> Vec<Vec<GivenCta>> {
    const FULL: u32 = u32::MAX;
    let make = |instruction: usize, mask: u32, lanes_each: u32, address: &dyn Fn(u64) -> u64| {
        let static_part = &instructions()[instruction];
        let mut lanes = [0; OpClass::COUNT];
        for compute in &static_part.compute {
            lanes[compute.class as usize] = lanes_each;
        }
        let active = (0..32).filter(|lane| mask >> lane & 1 == 1 && static_part.kind.is_memory());
        Given { instruction, mask, lanes, addresses: active.map(address).collect() }
    };
    let scattered = |lane: u64| lane.wrapping_mul(0x9e37_79b9) >> 7 & 0xffff;
    let warp = |number: u64| {
        let base = 0x7f00_0000_0000 + 128 * number;
        let mut records = Vec::new();
        for pass in 0..3u64 {
            let at = base + (pass << 16);
            records.extend([
                make(0, FULL, 32, &|lane| at + 4 * lane),
                make(0, FULL, 32, &|_| at),
                make(0, FULL, 32, &|lane| at + 64 * lane),
                make(2, 0x0f0f_3355, 16, &|lane| at - 24 * lane),
                make(1, 0x0f0f_3355, 32, &|lane| at + 4 * scattered(lane)),
                make(1, 0x0000_3355, 16, &|lane| at + 4 * scattered(lane) + 1000),
                make(1, 0x0f0f_3355, 8, &|lane| at + 4 * scattered(lane) + 2000),
                make(3, FULL, 32, &|lane| at + 16 * (lane * lane % 7)),
                make(9, FULL, 5, &|lane| u64::MAX.wrapping_add(lane * lane)),
                make(8, 1 << 31, 1, &|_| u64::MAX - pass),
                make(2, 0, 0, &|_| 0),
                make(4, FULL, 0, &|_| 0),
                make(5, 0x0000_ffff, 16, &|_| 0),
            ]);
        }
        records.push(make(BULK_COPY, 0x11, 0, &|lane| base + 4096 * lane));
        if number < 16 {
            let [several, load, copy, arrive, wait] = OF_CLUSTERS;
            let own = |lane: u64| ClusterAddress { rank: 0, offset: 4 * lane as u32 }.encode();
            let both = |lane: u64| ClusterAddress { rank: lane as u32 % 2, offset: 4092 }.encode();
            records.extend([
                make(several, 1, 0, &|_| base + 8192),
                make(load, FULL, 0, &own),
                make(load, FULL, 0, &both),
                make(copy, 1, 0, &|_| ClusterAddress { rank: 1, offset: 1 << 12 }.encode()),
                make(arrive, FULL, 0, &|_| 0),
                make(wait, FULL, 0, &|_| 0),
            ]);
            records.push(make(WITH_L2_POLICY, FULL, 0, &|lane| base + 4 * lane));
            records.extend(OF_SOME_WARPS.map(|one| make(one, FULL, 0, &|_| 0)));
            records.extend(OF_MBARRIERS.map(|one| make(one, 0x10, 0, &|lane| 8 * lane)));
        }
        records.push(make(6, FULL, 32, &|_| 0));
        records.push(make(7, 0, 8, &|_| 0));
        records
    };
    let cta = |x: u32| GivenCta {
        block: [x, 1, 0],
        warps: vec![(0, warp(4 * u64::from(x))), (1, Vec::new()), (3, warp(4 * u64::from(x) + 3))],
    };
    vec![(0..4).map(cta).collect(), Vec::new(), vec![cta(7)]]
}

/// Returns the sample as a file.
pub fn sample_bytes(codec: Codec, level: u32) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sample.wmt");
    write(&path, &sample(), WriterOptions { codec, level, chunk_bytes: 1200 });
    std::fs::read(&path).unwrap()
}
