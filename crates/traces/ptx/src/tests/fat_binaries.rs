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
fn the_highest_supported_architecture_is_selected() {
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
fn plain_text_is_returned_unchanged() {
    assert_eq!(ptx(TEXT.as_bytes(), 75).unwrap(), TEXT);
    let error = ptx(b"\x7fELF\xff\xfe", 75).unwrap_err();
    assert!(error.to_string().contains("neither PTX nor a container"), "{error}");
}

#[test]
fn machine_code_alone_is_refused_with_compiler_flags() {
    let bytes = container(&[entry(ELF, 86, 0, b"code", 0)]);
    let error = ptx(&bytes, 90).unwrap_err().to_string();
    assert!(
        error.contains("only holds machine code, for sm_86") && error.contains("-gencode"),
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

/// Builds a listing of `cuobjdump -ptx` with these architectures and kernels.
fn listing(sections: &[(&str, &str)]) -> String {
    let section = |&(architecture, kernel): &(&str, &str)| {
        format!(
            "\nFatbin ptx code:\n================\narch = {architecture}\ncode version = [9,0]\nhost = linux\n\
             compile_size = 64bit\ncompressed\nptxasOptions = \n\n.version 9.0\n.target {architecture}\n\
             .address_size 64\n.visible .entry {kernel}(\n.param .u64 a\n)\n{{\nret;\n}}\n\n\
             member lib.a:next.o:\n\n\
             Fatbin elf code:\n================\narch = sm_80\ncode version = [1,8]\nhost = linux\n\n\
             \t\tFunction : {kernel}\n\t.headerflags @\"EF_CUDA_SM80\"\n /*0000*/ EXIT ;\n"
        )
    };
    sections.iter().map(section).collect()
}

#[test]
fn a_listing_gives_the_kernels_of_every_section() {
    let text = listing(&[("sm_75", "a"), ("sm_75", "b"), ("sm_90a", "a"), ("sm_52", "c")]);
    let kernels = |highest: u32| -> Vec<(String, u32)> {
        let module = crate::parse(&ptx(text.as_bytes(), highest).unwrap()).unwrap();
        module.kernels().map(|kernel| (kernel.name.clone(), kernel.line)).collect()
    };
    let line = |header: usize| {
        let headers = text.lines().enumerate().filter(|(_, line)| line.contains(".entry"));
        headers.map(|(at, _)| at as u32 + 1).nth(header).unwrap()
    };
    let named = |name: &str, header: usize| (name.to_owned(), line(header));
    assert_eq!(kernels(u32::MAX), [named("b", 1), named("a", 2), named("c", 3)]);
    assert_eq!(kernels(75), [named("a", 0), named("b", 1), named("c", 3)]);
    assert_eq!(kernels(60), [named("c", 3)]);
    let error = ptx(text.as_bytes(), 50).unwrap_err().to_string();
    assert_eq!(error, "its PTX is for sm_75, sm_75, sm_90, sm_52, above sm_50");
    let code = "\nFatbin elf code:\n================\narch = sm_80\n";
    let error = ptx(code.as_bytes(), u32::MAX).unwrap_err().to_string();
    assert!(error.starts_with("it only holds machine code, for sm_80"), "{error}");
}
