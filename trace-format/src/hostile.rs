//! Files with valid checksums and invalid content. Readers may refuse them or read wrong records,
//! but must neither panic nor allocate much more memory than the file justifies.

use std::sync::Arc;

use proptest::prelude::*;
use serde::Serialize;

use crate::barrier::Barrier;
use crate::block::{Block, Codec, MAX_DECODED, MAX_INFLATED, Packer};
use crate::chunk::{Chunk, Origin};
use crate::dictionary::Sites;
use crate::header::{
    ChunkIndex, Footer, Head, Index, Kernel, KernelIndex, KindCount, MAJOR, MINOR, Provenance,
};
use crate::l2_policy::L2Policy;
use crate::mbarrier::Mbarrier;
use crate::operands::Operands;
use crate::reader::Trace;
use crate::record::{
    CacheOp, Compute, Instruction, Kind, MAX_WIDTH, Memcpy, OpClass, Record, Space,
};
use crate::{TraceError, serial};

const GOLDEN: &[u8] = include_bytes!("../tests/golden/v5.wmt");

fn golden() -> Trace {
    Trace::from_bytes("golden", GOLDEN.to_vec()).unwrap()
}

/// Returns the inflated blocks of the golden file, in order, and its index.
fn blocks() -> (Vec<Vec<u8>>, Index) {
    let footer = Footer::decode(GOLDEN.last_chunk().unwrap()).unwrap();
    let start = footer.offset as usize;
    let index = &GOLDEN[start..start + footer.index.stored as usize];
    let index: Index = serial::decode(&footer.index.unpack(index, MAX_INFLATED).unwrap()).unwrap();
    let mut at = Head::BYTES;
    let mut blocks = Vec::new();
    for kernel in &index.kernels {
        let chunks = kernel.chunks.iter().map(|chunk| chunk.block);
        for block in chunks.chain([kernel.dictionary]) {
            let stored = &GOLDEN[at..at + block.stored as usize];
            blocks.push(block.unpack(stored, MAX_INFLATED).unwrap());
            at += stored.len();
        }
    }
    (blocks, index)
}

/// Returns a block and its bytes in the file.
fn pack(bytes: &[u8], codec: Codec, level: u32) -> (Block, Vec<u8>) {
    let mut packer = Packer::new(codec, level).unwrap();
    let mut stored = Vec::new();
    let block = packer.pack(bytes, &mut stored).unwrap();
    (block, stored)
}

/// Returns a file with a valid head, footer and index checksum.
fn file(head: &Head, blocks: &[u8], index: &[u8]) -> Vec<u8> {
    let mut bytes = head.encode().to_vec();
    bytes.extend_from_slice(blocks);
    let offset = bytes.len() as u64;
    let (index, stored) = pack(index, Codec::Deflate, 6);
    bytes.extend_from_slice(&stored);
    bytes.extend_from_slice(&Footer { offset, index }.encode());
    bytes
}

const HEAD: Head = Head { major: MAJOR, minor: 0 };

/// Reads the whole trace, up to the first error.
fn exhaust(trace: &Trace) -> Result<(), TraceError> {
    for (number, kernel) in trace.kernels().iter().enumerate() {
        for chunk in kernel.chunks.clone() {
            exhaust_chunk(&trace.chunk(number, chunk)?);
        }
    }
    Ok(())
}

fn exhaust_chunk(chunk: &Arc<Chunk>) {
    let mut record = Record::new();
    for (index, cta) in chunk.ctas().iter().enumerate() {
        for warp in 0..cta.warps.len() {
            let mut cursor = chunk.warp(index, warp);
            // Reading on after an error may give wrong records but must not panic.
            for _ in 0..=cta.warps[warp].records {
                let _ = cursor.next(&mut record);
            }
        }
    }
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)
}

/// Applies changes to `bytes`, which must not be empty.
fn change(bytes: &mut [u8], changes: &[(prop::sample::Index, u8)]) {
    for (at, value) in changes {
        let at = at.index(bytes.len());
        bytes[at] = *value;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn changed_chunks_never_panic(block in 0usize..6, changes in changes(), cut in any::<prop::sample::Index>()) {
        let (blocks, index) = blocks();
        let mut data = blocks[block % blocks.len()].clone();
        change(&mut data, &changes);
        if changes.len() == 1 {
            data.truncate(cut.index(data.len() + 1));
        }
        let sites = Arc::new(Sites::of(&golden().instructions(0).unwrap(), 2));
        for ctas in [0, 1, index.kernels[0].chunks[0].ctas] {
            let origin = Origin { path: Arc::from(std::path::Path::new("x")), offset: 0, ctas: 0..ctas };
            if let Ok(chunk) = Chunk::parse(data.clone(), Arc::clone(&sites), origin) {
                exhaust_chunk(&Arc::new(chunk));
            }
        }
    }

    #[test]
    fn changed_dictionaries_never_panic(changes in changes()) {
        let mut bytes = serial::encode(&golden().instructions(0).unwrap().to_vec());
        change(&mut bytes, &changes);
        if let Ok(instructions) = serial::decode::<Vec<Instruction>>(&bytes) {
            let _ = instructions.iter().try_for_each(crate::dictionary::check);
        }
    }

    #[test]
    fn changed_indexes_never_panic(changes in changes(), garbage in prop::collection::vec(any::<u8>(), 0..40)) {
        let footer = Footer::decode(GOLDEN.last_chunk().unwrap()).unwrap();
        let mut index = serial::encode(&blocks().1);
        change(&mut index, &changes);
        let body = &GOLDEN[Head::BYTES..footer.offset as usize];
        for bytes in [file(&HEAD, body, &index), file(&HEAD, &garbage, &garbage)] {
            if let Ok(trace) = Trace::from_bytes("x", bytes) {
                let _ = exhaust(&trace);
            }
        }
    }
}

#[test]
fn the_golden_file_uses_every_code() {
    use crate::context::{control, form};
    let trace = golden();
    let mut controls = Vec::new();
    for kernel in 0..3 {
        for chunk in trace.kernels()[kernel].chunks.clone() {
            controls.extend(trace.chunk(kernel, chunk).unwrap().controls());
        }
    }
    for form in form::NONE..=form::FOLLOW {
        assert!(controls.iter().any(|code| code & control::FORM == form), "form {form}");
    }
    for two_bits in 0..4u8 {
        let masks = controls.iter().any(|code| code & control::MASK == two_bits << 4);
        let lanes = controls.iter().any(|code| code & control::LANES == two_bits << 6);
        assert!(masks && lanes, "{two_bits}");
    }
    assert!(controls.iter().any(|code| code & control::UNALIGNED != 0));
}

/// Reads the kernel of the golden file that has clusters of two as if they had `size` CTAs.
fn golden_in_clusters_of(size: u32) -> Vec<Result<bool, TraceError>> {
    let (blocks, index) = blocks();
    let sites = Arc::new(Sites::of(&golden().instructions(0).unwrap(), size));
    let ctas = 0..index.kernels[0].chunks[0].ctas;
    let origin = Origin { path: Arc::from(std::path::Path::new("x")), offset: 16, ctas };
    let chunk = Arc::new(Chunk::parse(blocks[0].clone(), sites, origin).unwrap());
    let mut cursor = chunk.warp(0, 0);
    let mut record = Record::new();
    std::iter::repeat_with(|| cursor.next(&mut record)).take(60).collect()
}

#[test]
fn an_address_beyond_the_cluster_is_refused() {
    assert!(golden_in_clusters_of(2).iter().all(Result::is_ok));
    let error = golden_in_clusters_of(1).into_iter().find_map(Result::err).unwrap().to_string();
    let expected = "x is damaged at byte 16: chunk: warp 0: an address beyond the CTAs of its \
                    cluster";
    assert_eq!(error, expected);
}

#[test]
fn incomplete_or_empty_clusters_are_refused() {
    let with = |cluster| with_kernel(|kernel| kernel.info.cluster = Some(cluster));
    assert!(Trace::from_bytes("x", with([2, 2, 1])).is_ok());
    let error = open_error(with([3, 1, 1]));
    assert!(
        error.ends_with(
            "kernel 0, `kernel 0`: 4 CTAs in clusters of 3: the last cluster is incomplete"
        ),
        "{error}"
    );
    for cluster in [[0, 1, 1], [4, 5, 1], [u32::MAX; 3]] {
        let error = open_error(with(cluster));
        assert!(error.ends_with("CTAs; 1 to 16 are possible"), "{error}");
    }
    // A copy into CTA 1 of a cluster of one.
    let error = Trace::from_bytes("x", with([1; 3])).unwrap().instructions(0).unwrap_err();
    assert!(error.to_string().contains("into CTAs 0b11 of a cluster of 1"), "{error}");
}

fn open_error(bytes: Vec<u8>) -> String {
    Trace::from_bytes("x.wmt", bytes).err().unwrap().to_string()
}

#[test]
fn a_newer_major_version_is_refused_with_advice() {
    let index = serial::encode(&Index::default());
    let newer = file(&Head { major: MAJOR + 1, minor: 3 }, &[], &index);
    assert_eq!(
        open_error(newer),
        "x.wmt has trace format version 6.3, and this program reads versions up to 5.x: update \
         warpmem, or write the trace again with this version"
    );
    let never = file(&Head { major: 0, minor: 9 }, &[], &index);
    assert_eq!(open_error(never), "x.wmt is damaged at byte 8: version 0 never existed");
}

#[test]
fn a_newer_minor_version_may_have_trailing_fields() {
    let [_, mut index] = indexes(&[]);
    index.extend_from_slice(b"more");
    let of_minor = |minor| file(&Head { major: MAJOR, minor }, &[], &index);
    let trace = Trace::from_bytes("x", of_minor(MINOR + 1));
    assert_eq!(trace.unwrap().header().version, (MAJOR, MINOR + 1));
    let same = open_error(of_minor(MINOR));
    assert!(same.ends_with("index: 4 bytes left over"), "{same}");
}

/// Returns an index without kernels in minor version 0, and in minor version 1 with these L2
/// resets.
fn indexes(l2_resets: &[u32]) -> [Vec<u8>; 2] {
    let index = Index::default();
    [serial::encode(&index), serial::encode(&(&index, l2_resets))]
}

#[test]
fn l2_resets_need_minor_version_1_and_existing_kernels() {
    let of_minor = |minor, index: &[u8]| file(&Head { major: MAJOR, minor }, &[], index);
    let [without, with] = indexes(&[]);
    assert!(Trace::from_bytes("x", of_minor(1, &with)).is_ok());
    let more = open_error(of_minor(0, &with));
    assert!(more.ends_with("index: 1 bytes left over"), "{more}");
    assert!(open_error(of_minor(1, &without)).contains("index: "));
    let beyond = open_error(of_minor(1, &indexes(&[0])[1]));
    let reason = "L2 resets not in ascending order of existing kernels";
    assert!(beyond.ends_with(reason), "{beyond}");
    // In a trace of three kernels.
    let with = |l2_resets: &[u32]| {
        let (_, index) = blocks();
        let index = Index { l2_resets: l2_resets.to_vec(), ..index };
        Index::decode(&index.encode(), 1)
    };
    assert_eq!(blocks().1.kernels.len(), 3);
    assert_eq!(with(&[0, 2]).unwrap().l2_resets, [0, 2]);
    for wrong in [&[0, 3][..], &[1, 0], &[1, 1]] {
        assert_eq!(with(wrong), Err(reason.to_owned()));
    }
}

fn empty_block() -> Block {
    Block { codec: Codec::Deflate, stored: 0, inflated: 0, crc: 0 }
}

fn one_kernel(chunks: Vec<ChunkIndex>, dictionary: Block, ctas: u32) -> Index {
    let kernel = Kernel { ctas, ..Kernel::default() };
    Index { kernels: vec![KernelIndex { kernel, chunks, dictionary }], ..Index::default() }
}

/// Returns the index of versions 2 and 3 for [`one_kernel`] without CTAs.
fn one_old_kernel(dictionary: Block) -> Vec<u8> {
    let info = ("", 0u64, [[0u32; 3]; 2], [0u32; 3]);
    let totals = (0u32, [0u64; 4], [0u64; OpClass::COUNT], Vec::<KindCount>::new());
    let kernels = vec![((info, totals), Vec::<ChunkIndex>::new(), dictionary)];
    serial::encode(&(Provenance::default(), Vec::<Memcpy>::new(), 0u64, kernels))
}

/// Decodes the bytes per lane of an instruction whose other fields are all neutral.
fn width_read<W: Serialize>(head: &Head, width: W) -> Result<u32, String> {
    let none: Vec<u8> = Vec::new();
    let rest = (Operands::NONE, None::<u32>, None::<u32>, Vec::<Compute>::new());
    let place = (0u64, Kind::Load, Space::Global, CacheOp::Default);
    let of_clusters = (0u16, None::<Mbarrier>);
    let of_lines = None::<L2Policy>;
    let dictionary = match head.major {
        ..4 => serial::encode(&vec![(place, width, 0u8, none, rest)]),
        4 => serial::encode(&vec![(place, width, (0u8, of_clusters), none, rest)]),
        _ => {
            let newer = (None::<Barrier>, of_clusters, of_lines);
            serial::encode(&vec![(place, width, newer, none, rest)])
        }
    };
    let (block, stored) = pack(&dictionary, Codec::Deflate, 6);
    let index = match head.major {
        ..4 => one_old_kernel(block),
        _ => serial::encode(&one_kernel(vec![], block, 0)),
    };
    let trace = Trace::from_bytes("x", file(head, &stored, &index)).unwrap();
    let instructions = trace.instructions(0).map_err(|error| error.to_string())?;
    Ok(instructions[0].width)
}

/// Version 2 uses one byte for any value.
#[test]
fn bytes_per_lane_are_read_per_version_and_bounded() {
    let second = Head { major: 2, minor: 0 };
    assert_eq!([4u8, 251, 255].map(|width| width_read(&second, width).unwrap()), [4, 251, 255]);
    let third = Head { major: 3, minor: 0 };
    assert_eq!([4u32, 4096].map(|width| width_read(&third, width).unwrap()), [4, 4096]);
    let widths = [4, 251, 4096, MAX_WIDTH];
    for head in [Head { major: 4, minor: 0 }, HEAD] {
        assert_eq!(widths.map(|width| width_read(&head, width).unwrap()), widths);
    }
    for width in [MAX_WIDTH + 1, u32::MAX] {
        let error = width_read(&HEAD, width).unwrap_err();
        assert!(error.contains("at most 65536 are possible"), "{error}");
    }
}

#[test]
fn blocks_must_fill_the_file() {
    let beyond = Block { stored: 100, ..empty_block() };
    let index = serial::encode(&one_kernel(vec![], beyond, 0));
    let short = open_error(file(&HEAD, &[], &index));
    assert!(short.ends_with("index: blocks end at 116, the index begins at 16"), "{short}");
    let index = serial::encode(&Index::default());
    let gap = open_error(file(&HEAD, &[0; 5], &index));
    assert!(gap.ends_with("index: blocks end at 16, the index begins at 21"), "{gap}");
}

#[test]
fn chunks_must_hold_the_ctas_of_their_kernel() {
    let chunk = |ctas| ChunkIndex { block: empty_block(), ctas };
    let check = |chunks: Vec<ChunkIndex>, ctas, reason: &str| {
        let index = serial::encode(&one_kernel(chunks, empty_block(), ctas));
        let error = open_error(file(&HEAD, &[], &index));
        assert!(error.ends_with(reason), "{error}");
    };
    check(vec![chunk(2)], 3, "index: 2 CTAs in chunks of a kernel of 3");
    check(vec![chunk(2), chunk(u32::MAX)], 3, "index: chunks exceed a kernel");
}

/// Returns the golden file with one count of its index changed and all checksums valid.
fn with_kernel(change: impl Fn(&mut Kernel)) -> Vec<u8> {
    let footer = Footer::decode(GOLDEN.last_chunk().unwrap()).unwrap();
    let mut index = blocks().1;
    change(&mut index.kernels[0].kernel);
    file(&HEAD, &GOLDEN[Head::BYTES..footer.offset as usize], &serial::encode(&index))
}

#[test]
fn wrong_counts_are_found_and_named() {
    golden().check_counts().unwrap();
    let counted = |change: fn(&mut Kernel)| {
        let trace = Trace::from_bytes("x.wmt", with_kernel(change)).unwrap();
        trace.check_counts().unwrap_err().to_string()
    };
    let name = golden().kernels()[0].info.name.clone();
    let (warps, threads) = (golden().kernels()[0].warps, golden().kernels()[0].thread_instructions);
    let error = counted(|kernel| kernel.warps += 1);
    let expected =
        format!("index: {} warps in kernel 0, `{name}`, where its chunks hold {warps}", warps + 1);
    assert!(error.ends_with(&expected), "{error}");
    let error = counted(|kernel| kernel.thread_instructions -= 1);
    assert!(error.contains(&format!(": {} thread instructions in", threads - 1)), "{error}");
    let error = counted(|kernel| {
        kernel.warp_instructions += 1;
        kernel.compute_by_class[0] += 1;
    });
    assert!(error.contains(" warp instructions in kernel 0"), "{error}");
}

#[test]
fn contradictory_counts_are_refused_on_open() {
    let error = open_error(with_kernel(|kernel| kernel.warp_instructions += 5));
    assert!(error.contains("warp instructions in kernel 0"), "{error}");
    let error = open_error(with_kernel(|kernel| kernel.records -= 1));
    assert!(error.contains("records in kernel 0"), "{error}");
    let error = open_error(with_kernel(|kernel| kernel.thread_instructions = u64::MAX));
    assert!(error.contains("64 bits"), "{error}");
}

#[test]
fn hostile_lengths_do_not_allocate() {
    // A string of 2^62 bytes at the start of the index.
    let mut index = vec![253];
    index.extend_from_slice(&(1u64 << 62).to_le_bytes());
    assert!(open_error(file(&HEAD, &[], &index)).contains("index: "));
    // 2^62 CTAs.
    let mut chunk = Vec::new();
    crate::varint::put(&mut chunk, 1 << 62);
    let origin =
        Origin { path: Arc::from(std::path::Path::new("x")), offset: 7, ctas: 0..u32::MAX };
    let error = Chunk::parse(chunk, Arc::default(), origin).err().unwrap().to_string();
    assert_eq!(
        error,
        "x is damaged at byte 7: chunk: 4611686018427387904 CTAs cannot lie in 0 bytes"
    );
}

/// Files of a few kilobytes whose dictionary or index would decode to gigabytes.
#[test]
fn oversized_decodings_are_refused_before_allocation() {
    let zeros = vec![0; MAX_DECODED + 1];
    let (dictionary, stored) = pack(&zeros, Codec::Zstd, 19);
    let index = serial::encode(&one_kernel(vec![], dictionary, 0));
    let bytes = file(&HEAD, &stored, &index);
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    let trace = Trace::from_bytes("x.wmt", bytes).unwrap();
    let error = trace.instructions(0).unwrap_err().to_string();
    let expected = "x.wmt is damaged at byte 16: dictionary: declared size 33554433 above the limit of 33554432 bytes";
    assert_eq!(error, expected);
    let error = open_error(file(&HEAD, &[], &zeros));
    assert!(error.contains("index: declared size 33554433 above the limit"), "{error}");
}

#[test]
fn declared_sizes_are_enforced() {
    for codec in [Codec::Deflate, Codec::Zstd] {
        let (block, stored) = pack(&vec![0; 10 << 20], codec, 6);
        let with = |inflated| Block { inflated, ..block }.unpack(&stored, MAX_INFLATED);
        assert_eq!(with(10 << 20).unwrap().len(), 10 << 20);
        assert_eq!(with(100).unwrap_err(), "inflates to more than the declared 100 bytes");
        let too_few = "inflates to 10485760 of the declared 10485761 bytes";
        assert_eq!(with((10 << 20) + 1).unwrap_err(), too_few);
        let above = "declared size 4294967295 above the limit of 1073741824 bytes";
        assert_eq!(with(u32::MAX).unwrap_err(), above);
    }
}

#[test]
fn truncated_compressed_data_is_an_error() {
    for codec in [Codec::Deflate, Codec::Zstd] {
        let plain: Vec<u8> =
            (0..1000u32).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
        let (block, whole) = pack(&plain, codec, 6);
        for length in [0, 1, whole.len() / 2, whole.len() - 1] {
            let crc = crc32fast::hash(&whole[..length]);
            let stored = Block { crc, ..block };
            assert!(
                stored.unpack(&whole[..length], MAX_INFLATED).is_err(),
                "{codec:?} cut to {length}"
            );
        }
    }
}

#[test]
fn invalid_compressed_data_is_an_error() {
    for codec in [Codec::Deflate, Codec::Zstd] {
        let stored = [0xff; 9];
        let crc = crc32fast::hash(&stored);
        let block = Block { codec, stored: 9, inflated: 100, crc };
        let reason = block.unpack(&stored, MAX_INFLATED).unwrap_err();
        assert!(reason.starts_with("does not inflate: "), "{reason}");
    }
}
