//! Clusters of CTAs: refusals of the writer, and records of the assembler.

use crate::common::{plain, temporary_writer};
use warpmem_trace::*;

fn pairs() -> KernelInfo {
    KernelInfo { cluster: Some([2, 1, 1]), ..KernelInfo::default() }
}

fn empty(block: [u32; 3]) -> CtaBuilder {
    let mut cta = CtaBuilder::new();
    cta.begin(block);
    cta
}

#[test]
fn writer_refuses_incomplete_or_unordered_clusters() {
    let (_directory, _path, mut writer) = temporary_writer();
    let shapeless = KernelInfo { cluster: Some([4, 0, 1]), ..KernelInfo::default() };
    let error = writer.begin_kernel(shapeless).unwrap_err().to_string();
    assert!(error.ends_with("a cluster of 4 x 0 x 1 CTAs; 1 to 16 are possible"), "{error}");
    writer.begin_kernel(pairs()).unwrap();
    let error = writer.cta(&empty([1, 0, 0])).unwrap_err().to_string();
    assert!(
        error.contains("CTA (1, 0, 0) has rank 1 in its cluster where rank 0 comes"),
        "{error}"
    );
    writer.cta(&empty([4, 0, 0])).unwrap();
    let error = writer.end_kernel().unwrap_err().to_string();
    assert!(error.ends_with("1 CTAs in clusters of 2: the last cluster is incomplete"), "{error}");
}

#[test]
fn writer_refuses_ranks_beyond_the_cluster() {
    let (_directory, _path, mut writer) = temporary_writer();
    writer.begin_kernel(pairs()).unwrap();
    let load = writer.intern(&plain(Kind::Load, Space::Cluster, 4));
    let mut cta = empty([0; 3]);
    cta.begin_warp(0);
    let in_third = ClusterAddress { rank: 2, offset: 0 }.encode();
    cta.push(load, 1, &[0; OpClass::COUNT], &[in_third]);
    let error = writer.cta(&cta).unwrap_err().to_string();
    assert!(error.ends_with("an address beyond the CTAs of its cluster"), "{error}");
    writer.abandon_kernel().unwrap();

    writer.begin_kernel(pairs()).unwrap();
    let copy = plain(Kind::AsyncCopy, Space::Global, 128);
    writer.intern(&Instruction { destinations: 0b100, ..copy });
    let error = writer.end_kernel().unwrap_err().to_string();
    assert!(error.contains("into CTAs 0b100 of a cluster of 2"), "{error}");
}

#[test]
fn only_async_copies_have_destinations_and_wide_lanes() {
    let refused = |instruction: Instruction| {
        let (_directory, _path, mut writer) = temporary_writer();
        writer.begin_kernel(pairs()).unwrap();
        writer.intern(&instruction);
        writer.cta(&empty([0; 3])).is_err()
    };
    let copy = plain(Kind::AsyncCopy, Space::Global, 128);
    assert!(!refused(Instruction { destinations: 3, ..copy.clone() }));
    assert!(refused(Instruction { destinations: 3, space: Space::Cluster, ..copy }));
    let load = plain(Kind::Load, Space::Global, 4);
    assert!(refused(Instruction { destinations: 3, ..load }));
    assert!(!refused(plain(Kind::AsyncCopy, Space::Cluster, 4096)));
    assert!(refused(plain(Kind::Store, Space::Cluster, 4096)));
    assert!(refused(plain(Kind::ClusterWait, Space::None, 4)));
}

#[test]
fn the_assembler_keeps_destinations_and_both_halves_of_the_barrier() {
    let (_directory, path, mut writer) = temporary_writer();
    let mut assembler = WarpAssembler::new();
    writer.begin_kernel(pairs()).unwrap();
    let cache_op = CacheOp::Global;
    let op = MemoryOp { kind: Kind::AsyncCopy, space: Space::Global, width: 64, cache_op };
    for x in 0..2 {
        let mut cta = empty([x, 0, 0]);
        cta.begin_warp(0);
        assembler.memory(0, op, 1, Registers::new(&[], &[]), &[4096]);
        assembler.copied_to(0b10);
        assembler.memory(16, op, 1, Registers::new(&[], &[]), &[4096]);
        assembler.cluster_arrive(32, 0xff);
        assembler.cluster_wait(48, 0xff);
        assembler.finish(writer.dictionary(), &mut cta);
        writer.cta(&cta).unwrap();
    }
    writer.end_kernel().unwrap();
    writer.finish().unwrap();
    let trace = Trace::open(&path).unwrap();
    assert_eq!(trace.kernels()[0].info.cluster, Some([2, 1, 1]));
    let dictionary = trace.instructions(0).unwrap();
    let parts: Vec<_> = dictionary.iter().map(|one| (one.pc, one.kind, one.destinations)).collect();
    let copy = Kind::AsyncCopy;
    let expected =
        [(0, copy, 2), (16, copy, 0), (32, Kind::ClusterArrive, 0), (48, Kind::ClusterWait, 0)];
    assert_eq!(parts, expected);
}
