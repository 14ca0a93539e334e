//! Containers, built byte by byte.

use crate::fatbin::{FatBinaryError, container_bytes, is_container, ptx};

const PTX: u16 = 1;
const ELF: u16 = 2;

fn entry(kind: u16, architecture: u32, flags: u64, payload: &[u8], text_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    let padded = payload.len().next_multiple_of(8);
    bytes[..2].copy_from_slice(&kind.to_le_bytes());
    bytes[4..8].copy_from_slice(&64u32.to_le_bytes());
    bytes[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
    bytes[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    bytes[28..32].copy_from_slice(&architecture.to_le_bytes());
    bytes[40..48].copy_from_slice(&flags.to_le_bytes());
    bytes[56..64].copy_from_slice(&(text_bytes as u64).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes.resize(64 + padded, 0);
    bytes
}

fn container(entries: &[Vec<u8>]) -> Vec<u8> {
    let all = entries.concat();
    let mut bytes = 0xBA55_ED50u32.to_le_bytes().to_vec();
    bytes.extend_from_slice(&1u16.to_le_bytes());
    bytes.extend_from_slice(&16u16.to_le_bytes());
    bytes.extend_from_slice(&(all.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&all);
    bytes
}

const TEXT: &str = ".version 8.0\n.target sm_70\n.address_size 64\n";

#[test]
fn the_highest_architecture_that_is_not_too_high_is_taken() {
    let of = |architecture: u32| {
        entry(PTX, architecture, 0, format!("// {architecture}\0").as_bytes(), 0)
    };
    let bytes = container(&[of(50), of(80), entry(ELF, 75, 0, b"code", 0), of(70)]);
    assert!(is_container(&bytes));
    assert_eq!(container_bytes(&bytes), Some(bytes.len()));
    assert_eq!(ptx(&bytes, 75).unwrap(), "// 70");
    assert_eq!(ptx(&bytes, 90).unwrap(), "// 80");
    let error = ptx(&bytes, 35).unwrap_err();
    assert_eq!(error.to_string(), "its PTX is for sm_50, sm_80, sm_70, above sm_35");
}

#[test]
fn compressed_text_is_inflated() {
    let zstd = zstd::bulk::compress(TEXT.as_bytes(), 3).unwrap();
    let lz4 = lz4_flex::block::compress(TEXT.as_bytes());
    for (flag, payload) in [(0x8000, zstd), (0x2000, lz4)] {
        let bytes = container(&[entry(PTX, 70, flag, &payload, TEXT.len())]);
        assert_eq!(ptx(&bytes, 75).unwrap(), TEXT);
        let mut damaged = bytes.clone();
        damaged[90..100].fill(0xff);
        assert!(matches!(ptx(&damaged, 75), Err(FatBinaryError::Damaged { .. })));
        let huge = container(&[entry(PTX, 70, flag, &payload, usize::MAX / 2)]);
        assert!(ptx(&huge, 75).unwrap_err().to_string().contains("PTX of"));
    }
}

#[test]
fn bare_text_is_taken_as_it_is() {
    assert_eq!(ptx(TEXT.as_bytes(), 75).unwrap(), TEXT);
    let error = ptx(b"\x7fELF\xff\xfe", 75).unwrap_err();
    assert!(error.to_string().contains("neither PTX nor a container"), "{error}");
}

#[test]
fn machine_code_alone_says_how_to_compile() {
    let bytes = container(&[entry(ELF, 86, 0, b"code", 0)]);
    let error = ptx(&bytes, 90).unwrap_err().to_string();
    assert!(
        error.contains("machine code only, for sm_86") && error.contains("-gencode"),
        "{error}"
    );
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = container(&[entry(PTX, 70, 0, TEXT.as_bytes(), 0)]);
    for length in 4..bytes.len() {
        assert!(ptx(&bytes[..length], 75).is_err(), "{length} bytes");
    }
}
