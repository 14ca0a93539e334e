//! Files of every format version stay readable. `tests/golden` holds `common::sample` as written by
//! each version with each codec, and deflated at level 0. These files are never rewritten.

use crate::common::{
    GivenCta, read_kernel, sample, sample_of_version_4, sample_without_bulk_copies,
    sample_without_clusters,
};
use warpmem_trace::*;

/// `others`: memory instructions of kernel 0 beyond those of version 1, and other records.
fn check(
    name: &str,
    bytes: &[u8],
    version: (u16, u16),
    content_hash: u64,
    content: &[Vec<GivenCta>],
    [others, without_addresses]: [u64; 2],
) {
    let trace = Trace::from_bytes(name, bytes.to_vec()).unwrap();
    let header = trace.header();
    assert_eq!(header.version, version);
    assert_eq!(header.provenance.tool, "warpmem 0.1.0");
    assert_eq!(header.provenance.source, "a test");
    assert_eq!(header.provenance.command, "none");
    let copies = [(0, 0, 100), (1, 1, 100), (2, 2, 100)];
    let copies =
        copies.map(|(before_kernel, address, bytes)| Memcpy { before_kernel, address, bytes });
    assert_eq!(header.memcpys, copies);
    assert_eq!(header.content_hash, content_hash);

    let names: Vec<&str> = trace.kernels().iter().map(|k| k.info.name.as_str()).collect();
    assert_eq!(names, ["kernel 0", "kernel 1", "kernel 2"]);
    for (kernel, expected) in content.iter().enumerate() {
        assert_eq!(&read_kernel(&trace, kernel), expected);
    }
    let clusters: Vec<_> = trace.kernels().iter().map(|kernel| kernel.info.cluster).collect();
    assert_eq!(clusters, [(version.0 >= 4).then_some([2, 1, 1]), None, None]);
    let kernel = &trace.kernels()[0];
    let records = 328 + others + without_addresses;
    assert_eq!((kernel.ctas, kernel.warps, kernel.records), (4, 12, records));
    let of_mbarriers = if version.0 < 4 { 0 } else { 8 };
    assert_eq!(kernel.count(Kind::Load, Space::Shared), 24 + of_mbarriers);
    assert_eq!(kernel.count(Kind::End, Space::None), 8);
    assert_eq!(kernel.memory_records(), 264 + others);
}

fn check_1_0(name: &str, bytes: &[u8]) {
    check(name, bytes, (1, 0), 9337742242055299567, &sample_without_bulk_copies(), [0, 0]);
}

fn check_2_0(name: &str, bytes: &[u8]) {
    check(name, bytes, (2, 0), 1502883314808610644, &sample_without_bulk_copies(), [0, 0]);
}

fn check_3_0(name: &str, bytes: &[u8]) {
    check(name, bytes, (3, 0), 18373674829843587866, &sample_without_clusters(), [8, 0]);
}

fn check_4_0(name: &str, bytes: &[u8]) {
    check(name, bytes, (4, 0), 4748462616426304416, &sample_of_version_4(), [40 + 6 * 8, 16]);
}

fn check_5_0(name: &str, bytes: &[u8]) {
    check(name, bytes, (5, 0), 4402889734258899304, &sample(), [40 + 7 * 8, 32]);
}

#[test]
fn version_1_0_with_deflate_is_read() {
    check_1_0("v1.wmt", include_bytes!("../golden/v1.wmt"));
}

#[test]
fn version_1_0_with_zstd_is_read() {
    check_1_0("v1-zstd.wmt", include_bytes!("../golden/v1-zstd.wmt"));
}

#[test]
fn version_1_0_not_compressed_is_read() {
    check_1_0("v1-stored.wmt", include_bytes!("../golden/v1-stored.wmt"));
}

#[test]
fn version_2_0_with_deflate_is_read() {
    check_2_0("v2.wmt", include_bytes!("../golden/v2.wmt"));
}

#[test]
fn version_2_0_with_zstd_is_read() {
    check_2_0("v2-zstd.wmt", include_bytes!("../golden/v2-zstd.wmt"));
}

#[test]
fn version_2_0_not_compressed_is_read() {
    check_2_0("v2-stored.wmt", include_bytes!("../golden/v2-stored.wmt"));
}

#[test]
fn version_3_0_with_deflate_is_read() {
    check_3_0("v3.wmt", include_bytes!("../golden/v3.wmt"));
}

#[test]
fn version_3_0_with_zstd_is_read() {
    check_3_0("v3-zstd.wmt", include_bytes!("../golden/v3-zstd.wmt"));
}

#[test]
fn version_3_0_not_compressed_is_read() {
    check_3_0("v3-stored.wmt", include_bytes!("../golden/v3-stored.wmt"));
}

#[test]
fn version_4_0_with_deflate_is_read() {
    check_4_0("v4.wmt", include_bytes!("../golden/v4.wmt"));
}

#[test]
fn version_4_0_with_zstd_is_read() {
    check_4_0("v4-zstd.wmt", include_bytes!("../golden/v4-zstd.wmt"));
}

#[test]
fn version_4_0_not_compressed_is_read() {
    check_4_0("v4-stored.wmt", include_bytes!("../golden/v4-stored.wmt"));
}

#[test]
fn version_5_0_with_deflate_is_read() {
    check_5_0("v5.wmt", include_bytes!("../golden/v5.wmt"));
}

#[test]
fn version_5_0_with_zstd_is_read() {
    check_5_0("v5-zstd.wmt", include_bytes!("../golden/v5-zstd.wmt"));
}

#[test]
fn version_5_0_not_compressed_is_read() {
    check_5_0("v5-stored.wmt", include_bytes!("../golden/v5-stored.wmt"));
}
