//! Guarantees of the writer beyond the records: totals, content hash, atomic output, and refusals.

use std::fs;
use std::path::Path;

use crate::common::{
    Given, GivenCta, sample_bytes, sample_without_clusters, temporary_writer, write,
};
use warpmem_trace::*;

fn compute(class: OpClass) -> Compute {
    Compute { class, deps: vec![], operands: Operands::of([4, 8]) }
}

fn load(pc: u64) -> Instruction {
    Instruction {
        pc,
        kind: Kind::Load,
        space: Space::Global,
        cache_op: CacheOp::Default,
        width: 4,
        barrier: None,
        destinations: 0,
        mbarrier: None,
        l2_policy: None,
        deps: vec![],
        operands: Operands::of([2]),
        use_distance: None,
        address_from: None,
        compute: vec![compute(OpClass::Fp32); 3],
    }
}

fn entries(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

#[test]
fn totals_match_the_records() {
    let (_directory, path, mut writer) = temporary_writer();
    writer.begin_kernel(KernelInfo::default()).unwrap();
    let first = writer.intern(&load(0));
    let end = Instruction {
        kind: Kind::End,
        space: Space::None,
        width: 0,
        compute: vec![compute(OpClass::Integer)],
        ..load(8)
    };
    let end = writer.intern(&end);
    assert_eq!(writer.intern(&load(0)), first);
    let mut cta = CtaBuilder::new();
    let lanes = |class: OpClass, count| {
        let mut lanes = [0; OpClass::COUNT];
        lanes[class as usize] = count;
        lanes
    };
    for x in 0..2 {
        cta.begin([x, 0, 0]);
        cta.begin_warp(0);
        cta.push(first, 0b11, &lanes(OpClass::Fp32, 96), &[0, 4]);
        cta.push(first, 0, &lanes(OpClass::Fp32, 6), &[]);
        cta.push(end, 0, &lanes(OpClass::Integer, 1), &[]);
        writer.cta(&cta).unwrap();
    }
    writer.end_kernel().unwrap();
    let summary = writer.finish().unwrap();

    let trace = Trace::open(&path).unwrap();
    let kernel = &trace.kernels()[0];
    assert_eq!((kernel.ctas, kernel.warps, kernel.records), (2, 2, 6));
    assert_eq!(kernel.compute_by_class[OpClass::Fp32 as usize], 12);
    assert_eq!(kernel.compute_by_class[OpClass::Integer as usize], 2);
    // Two loads and seven compute instructions each; the end record is not an instruction.
    assert_eq!(kernel.warp_instructions, 2 * 9);
    assert_eq!(kernel.thread_instructions, 2 * (2 + 96 + 6 + 1));
    assert_eq!(kernel.count(Kind::Load, Space::Global), 4);
    assert_eq!(kernel.count(Kind::Load, Space::Shared), 0);
    assert_eq!(kernel.memory_records(), 4);
    assert_eq!(summary.thread_instructions, kernel.thread_instructions);
    assert_eq!(summary.file_bytes, fs::metadata(&path).unwrap().len());
}

#[test]
fn content_hash_depends_on_content_only() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hash.wmt");
    let hash = |content: &[Vec<GivenCta>], codec, level, chunk_bytes| {
        write(&path, content, WriterOptions { codec, level, chunk_bytes }).content_hash
    };
    let base = hash(&sample_without_clusters(), Codec::Deflate, 6, 1 << 18);
    assert_eq!(base, hash(&sample_without_clusters(), Codec::Deflate, 0, 1 << 18));
    assert_eq!(base, hash(&sample_without_clusters(), Codec::Zstd, 3, 1));

    type Change = fn(&mut Vec<Vec<GivenCta>>);
    let first: fn(&mut Vec<Vec<GivenCta>>) -> &mut Given = |c| &mut c[0][0].warps[0].1[0];
    let changes: [Change; 7] = [
        |content| content[0][0].block[2] = 1,
        |content| content[0][0].warps[0].0 = 9,
        |content| content[0].swap(0, 1),
        |content| content[0][0].warps.truncate(2),
        |content| content[0][0].warps[0].1[0].addresses[31] += 4,
        |content| content[0][0].warps[0].1[3].lanes[0] -= 1,
        |content| content.push(Vec::new()),
    ];
    let mut hashes = vec![base];
    for change in changes {
        let mut content = sample_without_clusters();
        change(&mut content);
        hashes.push(hash(&content, Codec::Deflate, 6, 1 << 18));
    }
    let mut masked = sample_without_clusters();
    first(&mut masked).mask = 1;
    first(&mut masked).addresses.truncate(1);
    hashes.push(hash(&masked, Codec::Deflate, 6, 1 << 18));
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), changes.len() + 2, "two contents have the same hash");
}

#[test]
fn content_hash_includes_cluster_shapes() {
    let hash = |cluster| {
        let (_directory, _path, mut writer) = temporary_writer();
        writer.begin_kernel(KernelInfo { cluster, ..KernelInfo::default() }).unwrap();
        writer.end_kernel().unwrap();
        writer.finish().unwrap().content_hash
    };
    assert_ne!(hash(None), hash(Some([2, 1, 1])));
    assert_ne!(hash(Some([1, 2, 1])), hash(Some([2, 1, 1])));
}

#[test]
fn equal_content_gives_equal_bytes() {
    assert!(sample_bytes(Codec::Deflate, 9) == sample_bytes(Codec::Deflate, 9));
}

#[test]
fn a_file_appears_only_when_complete() {
    let (directory, path, mut writer) = temporary_writer();
    writer.begin_kernel(KernelInfo::default()).unwrap();
    assert!(!path.exists());
    writer.end_kernel().unwrap();
    writer.finish().unwrap();
    assert!(path.exists());
    assert_eq!(entries(directory.path()), 1);

    let before = fs::read(&path).unwrap();
    let mut writer =
        TraceWriter::create(&path, Provenance::default(), WriterOptions::default()).unwrap();
    writer.begin_kernel(KernelInfo::default()).unwrap();
    assert_eq!(entries(directory.path()), 2);
    drop(writer);
    assert_eq!(entries(directory.path()), 1);
    assert!(fs::read(&path).unwrap() == before, "an unfinished writer changed the file");
}

#[test]
fn impossible_outputs_are_refused_by_name() {
    let create = |path: &Path| {
        let writer = TraceWriter::create(path, Provenance::default(), WriterOptions::default());
        writer.err().unwrap().to_string()
    };
    assert_eq!(create(Path::new("no/such/folder.wmt")), "failed to create no/such/folder.wmt");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let expected = format!("cannot write {}: it exists and is not a regular file", path.display());
    assert_eq!(create(path), expected);
}

/// Returns the error for a kernel with one CTA of one warp with one record.
fn refusal(instruction: &Instruction, mask: u32, lanes: u32, addresses: &[u64]) -> String {
    let (_directory, path, mut writer) = temporary_writer();
    writer.begin_kernel(KernelInfo::default()).unwrap();
    let mut cta = CtaBuilder::new();
    cta.begin([1, 2, 3]);
    cta.begin_warp(5);
    let mut by_class = [0; OpClass::COUNT];
    by_class[OpClass::Fp32 as usize] = lanes;
    cta.push(writer.intern(instruction), mask, &by_class, addresses);
    let error = writer.cta(&cta).unwrap_err().to_string();
    error.replace(&format!("cannot write {}: ", path.display()), "")
}

#[test]
fn records_that_contradict_their_instruction_are_refused() {
    assert_eq!(
        refusal(&load(0), 0b111, 96, &[0, 4]),
        "CTA (1, 2, 3), warp 5: Load with mask 0x00000007 has 2 addresses where 3 belong"
    );
    assert_eq!(
        refusal(&load(0), 1, 97, &[0]),
        "CTA (1, 2, 3), warp 5: 97 active lanes over 3 fp32 instructions of a warp"
    );
    let exit = Instruction { kind: Kind::Exit, space: Space::None, width: 0, ..load(0) };
    assert_eq!(
        refusal(&exit, 1, 0, &[0]),
        "CTA (1, 2, 3), warp 5: Exit with mask 0x00000001 has 1 addresses where 0 belong"
    );
}

#[test]
fn invalid_instructions_are_refused() {
    let refuse = |instruction: Instruction| refusal(&instruction, 0, 0, &[]);
    assert_eq!(
        refuse(Instruction { width: 0, ..load(0x10) }),
        "Load at pc 0x10 with 0 bytes per lane"
    );
    assert_eq!(
        refuse(Instruction { width: MAX_WIDTH + 1, ..load(0x10) }),
        "Load at pc 0x10 with 65537 bytes per lane; at most 65536 are possible"
    );
    assert_eq!(
        refuse(Instruction { width: 256, space: Space::Shared, ..load(0x10) }),
        "Load at pc 0x10 with 256 bytes per lane of Shared space; at most 255 are possible"
    );
    assert_eq!(
        refuse(Instruction { space: Space::None, ..load(0x10) }),
        "Load at pc 0x10 in address space None"
    );
    for deps in [vec![0], vec![65], vec![2, 2], vec![3, 1]] {
        let reason = refuse(Instruction { deps, ..load(0x10) });
        assert_eq!(
            reason,
            "dependences at or before pc 0x10 are not ascending distances of 1 to 64"
        );
    }
    let impossible = Operands { sources: 2, bank_reads: 3, bank_reads_of_2: 3 };
    let reason = "impossible operand counts at or before pc 0x10";
    assert_eq!(refuse(Instruction { operands: impossible, ..load(0x10) }), reason);
    let compute = vec![Compute { operands: impossible, ..compute(OpClass::Fp32) }];
    assert_eq!(refuse(Instruction { compute, ..load(0x10) }), reason);
}

#[test]
fn calls_out_of_order_are_refused() {
    let refused = |result: Result<(), TraceError>, reason: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.ends_with(reason), "{message}");
    };
    let (_directory, _path, mut writer) = temporary_writer();
    let mut cta = CtaBuilder::new();
    cta.begin([0; 3]);
    refused(writer.cta(&cta), "a CTA outside a kernel");
    refused(writer.end_kernel(), "no kernel is open");
    let info = |name: &str| KernelInfo { name: name.into(), ..KernelInfo::default() };
    writer.begin_kernel(info("one")).unwrap();
    refused(writer.begin_kernel(info("two")), "kernel two begins before the previous one ended");
    cta.begin_warp(4);
    cta.begin_warp(4);
    refused(writer.cta(&cta), "warp 4 occurs twice in CTA [0, 0, 0]");
    cta.begin([0; 3]);
    cta.begin_warp(0);
    cta.push(InstructionId(0), 0, &[0; OpClass::COUNT], &[]);
    refused(writer.cta(&cta), "instruction 0 was never interned for this kernel");
    refused(writer.finish().map(drop), "kernel one has not been ended");
}

#[test]
fn an_abandoned_kernel_leaves_no_trace() {
    let write = |abandoned: bool| {
        let (_directory, path, mut writer) = temporary_writer();
        writer.memcpy(0x100, 64);
        kernel(&mut writer, 0, true);
        if abandoned {
            kernel(&mut writer, 8, false);
            writer.memcpy(0x200, 64);
            writer.reset_l2();
            writer.abandon_kernel().unwrap();
        }
        writer.memcpy(0x300, 64);
        kernel(&mut writer, 16, true);
        writer.abandon_kernel().unwrap();
        writer.finish().unwrap();
        fs::read(path).unwrap()
    };
    assert!(write(true) == write(false));
}

#[test]
fn l2_resets_keep_their_following_kernels() {
    let write = |with_resets: bool| {
        let (_directory, path, mut writer) = temporary_writer();
        for number in 0..4 {
            if with_resets && number % 2 == 1 {
                writer.reset_l2();
                writer.reset_l2();
            }
            kernel(&mut writer, 16 * number, true);
        }
        if with_resets {
            writer.reset_l2();
        }
        writer.finish().unwrap();
        Trace::open(&path).unwrap().header().clone()
    };
    let [without, with] = [false, true].map(write);
    assert_eq!((without.version, &without.l2_resets[..]), ((5, 0), &[][..]));
    assert_eq!((with.version, &with.l2_resets[..]), ((5, 1), &[1, 3][..]));
    assert_ne!(without.content_hash, with.content_hash);
}

/// Writes a kernel with enough CTAs for several chunks, and ends it or leaves it open.
fn kernel(writer: &mut TraceWriter, pc: u64, ended: bool) {
    writer.begin_kernel(KernelInfo::default()).unwrap();
    let id = writer.intern(&Instruction { compute: Vec::new(), ..load(pc) });
    let mut cta = CtaBuilder::new();
    for block in 0..3000 {
        cta.begin([block, 0, 0]);
        cta.begin_warp(0);
        let addresses: Vec<u64> =
            (0..32).map(|lane| lane * lane * u64::from(block) * 4099).collect();
        cta.push(id, u32::MAX, &[0; OpClass::COUNT], &addresses);
        writer.cta(&cta).unwrap();
    }
    if ended {
        writer.end_kernel().unwrap();
    }
}
