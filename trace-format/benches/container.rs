//! Measures the throughput of assembling, writing and reading records.
//!
//! `cargo bench -p warpmem-trace`

use std::hint::black_box;
use std::path::PathBuf;

use divan::Bencher;
use divan::counter::ItemsCount;
use warpmem_trace::*;

const CTAS: u32 = 200;
const WARPS: u32 = 8;
const ITERATIONS: u64 = 32;

const LOAD: MemoryOp =
    MemoryOp { kind: Kind::Load, space: Space::Global, width: 4, cache_op: CacheOp::Default };

fn main() {
    divan::main();
}

/// The address pattern of the lanes.
#[derive(Clone, Copy, Debug)]
enum Access {
    Coalesced,
    /// Uniformly random over 2^20 words.
    Gather,
}

fn addresses(access: Access, warp: u64, iteration: u64) -> [u64; 32] {
    let first = (warp * ITERATIONS + iteration) * 32;
    std::array::from_fn(|lane| {
        let index = first + lane as u64;
        0x7f00_0000_0000
            + 4 * match access {
                Access::Coalesced => index,
                Access::Gather => mix(index) >> 44,
            }
    })
}

/// The finaliser of MurmurHash3.
fn mix(mut value: u64) -> u64 {
    value = (value ^ value >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    value = (value ^ value >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ value >> 33
}

/// A loop of two loads, an addition and a store: a grid-stride vector addition.
fn write(access: Access) -> (tempfile::TempDir, PathBuf, TraceSummary) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bench.wmt");
    let mut writer =
        TraceWriter::create(&path, Provenance::default(), WriterOptions::default()).unwrap();
    writer.begin_kernel(KernelInfo::default()).unwrap();
    let (mut cta, mut warp) = (CtaBuilder::new(), WarpAssembler::new());
    for block in 0..CTAS {
        cta.begin([block, 0, 0]);
        for number in 0..WARPS {
            cta.begin_warp(number);
            let index = u64::from(block * WARPS + number);
            for iteration in 0..ITERATIONS {
                let lanes = addresses(access, index, iteration);
                let next = Registers::new(&[Reg(1)], &[Reg(1)]);
                warp.compute(OpClass::Integer, u32::MAX, next);
                warp.memory(0x10, LOAD, u32::MAX, Registers::new(&[Reg(2)], &[Reg(1)]), &lanes);
                let second = lanes.map(|address| address + (1 << 30));
                warp.memory(0x20, LOAD, u32::MAX, Registers::new(&[Reg(3)], &[Reg(1)]), &second);
                let sum = Registers::new(&[Reg(4)], &[Reg(2), Reg(3)]);
                warp.compute(OpClass::Fp32, u32::MAX, sum);
                let third = lanes.map(|address| address + (1 << 31));
                let store = MemoryOp { kind: Kind::Store, ..LOAD };
                let stored = Registers::new(&[], &[Reg(1), Reg(4)]);
                warp.memory(0x40, store, u32::MAX, stored, &third);
            }
            warp.exit(0x50, u32::MAX);
            warp.finish(writer.dictionary(), &mut cta);
        }
        writer.cta(&cta).unwrap();
    }
    writer.end_kernel().unwrap();
    let summary = writer.finish().unwrap();
    (directory, path, summary)
}

#[divan::bench(args = [Access::Coalesced, Access::Gather], sample_count = 10)]
fn assemble_and_write(bencher: Bencher, access: Access) {
    let records = write(access).2.records;
    bencher.counter(ItemsCount::new(records)).bench(|| write(access));
}

#[divan::bench(args = [Access::Coalesced, Access::Gather], sample_count = 20)]
fn inflate(bencher: Bencher, access: Access) {
    let (_directory, path, summary) = write(access);
    let trace = Trace::open(&path).unwrap();
    bencher.counter(ItemsCount::new(summary.records)).bench(|| {
        for chunk in trace.kernels()[0].chunks.clone() {
            black_box(trace.chunk(0, chunk).unwrap());
        }
    });
}

#[divan::bench(args = [Access::Coalesced, Access::Gather], sample_count = 20)]
fn next(bencher: Bencher, access: Access) {
    let (_directory, path, summary) = write(access);
    let trace = Trace::open(&path).unwrap();
    let chunks = trace.kernels()[0].chunks.clone();
    let chunks: Vec<_> = chunks.map(|chunk| trace.chunk(0, chunk).unwrap()).collect();
    let mut record = Record::new();
    bencher.counter(ItemsCount::new(summary.records)).bench_local(|| {
        for chunk in &chunks {
            for (index, cta) in chunk.ctas().iter().enumerate() {
                for warp in 0..cta.warps.len() {
                    let mut cursor = chunk.warp(index, warp);
                    while cursor.next(&mut record).unwrap() {
                        black_box(&record);
                    }
                }
            }
        }
    });
}
