//! Damaged files are always refused.

use std::path::Path;
use std::sync::Arc;

use crate::common::{ReadWarp, read_all, sample_bytes};
use warpmem_trace::*;

/// Everything that a reader returns.
type View = (Header, Vec<Kernel>, Vec<Arc<[Instruction]>>, Vec<ReadWarp>);

fn view(bytes: Vec<u8>) -> Result<View, TraceError> {
    let trace = Trace::from_bytes("sample.wmt", bytes)?;
    let kernels = 0..trace.kernels().len();
    let dictionaries =
        kernels.map(|kernel| trace.instructions(kernel)).collect::<Result<_, _>>()?;
    Ok((trace.header().clone(), trace.kernels().to_vec(), dictionaries, read_all(&trace)?))
}

fn message(bytes: Vec<u8>) -> String {
    view(bytes).unwrap_err().to_string()
}

#[test]
fn every_change_of_a_byte_is_detected() {
    for codec in [Codec::Deflate, Codec::Zstd] {
        let whole = sample_bytes(codec, 9);
        view(whole.clone()).unwrap();
        for at in 0..whole.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] ^= change;
                assert!(view(damaged).is_err(), "byte {at} changed by {change:#x} goes unnoticed");
            }
        }
    }
}

#[test]
fn every_truncation_is_detected() {
    let whole = sample_bytes(Codec::Deflate, 9);
    for length in 0..whole.len() {
        assert!(Trace::from_bytes("short.wmt", whole[..length].to_vec()).is_err(), "{length}");
    }
    let short = message(whole[..whole.len() - 1].to_vec());
    assert_eq!(short, "sample.wmt is truncated: it does not end with a footer");
}

#[test]
fn bytes_missing_or_added_in_the_middle_are_detected() {
    let whole = sample_bytes(Codec::Deflate, 9);
    for at in 0..whole.len() {
        let mut shorter = whole.clone();
        shorter.remove(at);
        assert!(view(shorter).is_err(), "byte {at} removed");
        let mut longer = whole.clone();
        longer.insert(at, 0);
        assert!(view(longer).is_err(), "byte added at {at}");
    }
}

#[test]
fn errors_name_file_offset_and_reason() {
    let mut chunk = sample_bytes(Codec::Deflate, 9);
    chunk[20] ^= 1;
    let chunk = message(chunk);
    assert!(chunk.starts_with("sample.wmt is damaged at byte 16: chunk: checksum "), "{chunk}");

    assert_eq!(message(Vec::new()), "sample.wmt is truncated: 0 bytes are shorter than a head");
    assert_eq!(
        message(b"a text of more than sixteen bytes".to_vec()),
        "sample.wmt is not a .wmt trace: it does not start with the magic bytes"
    );
    let kernel = message(b"-kernel name = vecadd\n-kernel id = 1\n".to_vec());
    assert!(
        kernel.starts_with("sample.wmt is not a .wmt trace: it is a kernel of an Accel-Sim trace")
    );
    let missing = Trace::open(Path::new("no/such.wmt")).err().unwrap();
    assert_eq!(missing.to_string(), "failed to open no/such.wmt");
}

#[test]
fn an_empty_mapped_file_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(matches!(Trace::open(file.path()), Err(TraceError::Truncated { .. })));
    let folder = Trace::open(file.path().parent().unwrap()).err().unwrap().to_string();
    assert!(folder.ends_with(" is not a .wmt trace: it is a folder"), "{folder}");
}

#[test]
fn a_trace_may_have_any_name() {
    let whole = sample_bytes(Codec::Deflate, 9);
    for name in ["kernelslist.g", "kernel-1.traceg"] {
        assert!(Trace::from_bytes(name, whole.clone()).is_ok(), "{name}");
        let other = Trace::from_bytes(name, Vec::new()).err().unwrap().to_string();
        assert!(other.contains("`warpmem import accel-sim"), "{other}");
    }
}

#[test]
fn missing_kernels_and_chunks_are_errors() {
    let trace = Trace::from_bytes("sample.wmt", sample_bytes(Codec::Deflate, 9)).unwrap();
    let kernel = trace.instructions(3).err().unwrap().to_string();
    assert_eq!(kernel, "sample.wmt has no kernel 3: there are 3, counted from 0");
    let chunks = trace.kernels()[2].chunks.len();
    let chunk = trace.chunk(2, chunks).err().unwrap().to_string();
    assert_eq!(chunk, "sample.wmt has no chunk 1 of kernel 2: there are 1, counted from 0");
}
