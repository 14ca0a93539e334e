//! Errors of kernels that create maps.

use warpmem_ptx::Type;

use super::super::faults::fault;
use super::super::{Tensor, boxed_kernel, machine};

const REPLACE: &str = "tensormap.replace.tile";
const PUBLISH: &str =
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned";
const LOAD: &str = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes";

fn matrix() -> Tensor {
    Tensor::new(Type::U32, [8, 4], [4, 2])
}

fn assert_faults(errors: impl IntoIterator<Item = (String, String, &'static str)>) {
    for (code, error, reason) in errors {
        assert!(error.contains(reason) && error.contains("line "), "{code}: {error}");
    }
}

#[test]
fn replacements_in_invalid_maps_are_refused() {
    let cases = [
        (
            format!("st.global.u8 [%rd3+127], 1;\n{REPLACE}.rank.global.b1024.b32 [%rd3], 0;"),
            "`tensormap.replace` of the map at 0x",
        ),
        (
            format!("st.shared.u8 [boxed], 1;\n{REPLACE}.rank.shared::cta.b1024.b32 [boxed], 0;"),
            "at 0x0: bytes that neither `cuTensorMapEncodeTiled` nor `tensormap.replace` made",
        ),
        (
            format!("{REPLACE}.rank.global.b1024.b32 [%rd2+32], 0;"),
            "`tensormap.replace` with a map at 0x",
        ),
        (
            format!("{REPLACE}.rank.shared::cta.b1024.b32 [boxed+32], 0;"),
            "at 0x20, which is not a multiple of 64",
        ),
        (
            format!("mov.u64 %rd5, 0x1000;\n{REPLACE}.rank.global.b1024.b32 [%rd5], 0;"),
            "8 bytes at 0x1000 of global memory is out of bounds",
        ),
        (
            format!(
                "mov.u64 %rd5, own;\ncvta.local.u64 %rd5, %rd5;\n{REPLACE}.rank.b1024.b32 [%rd5], 0;"
            ),
            "`tensormap.replace` in local memory; a map is in global or shared memory",
        ),
    ];
    assert_faults(cases.map(|(code, reason)| {
        let error = fault(&matrix(), &code);
        (code, error, reason)
    }));
}

#[test]
fn values_beyond_a_field_are_refused() {
    let cases = [
        ("rank", "5", "`tensormap.replace` of the map at 0x"),
        ("rank", "5", ": a tensor of 6 dimensions; 1 to 5 are possible"),
        ("rank", "-1", "a tensor of 4294967296 dimensions"),
        ("box_dim", "1, 0", "a box of 0 elements in dimension 1; 1 to 256 are possible"),
        ("box_dim", "4, 257", "a box of 257 elements in dimension 4"),
        ("element_stride", "0, 0", "an element stride of 0 in dimension 0; 1 to 8 are possible"),
        ("element_stride", "3, 9", "an element stride of 9 in dimension 3"),
    ];
    assert_faults(cases.map(|(field, operands, reason)| {
        let code = format!("{REPLACE}.{field}.global.b1024.b32 [%rd2], {operands};");
        let error = fault(&matrix(), &code);
        (code, error, reason)
    }));
}

/// Each value is valid for some map; together they are invalid.
#[test]
fn copies_report_errors_of_unfinished_maps() {
    let cases = [
        ("box_dim.global.b1024.b32 [%rd3], 0, 24", "a box with rows of 24 bytes"),
        ("elemtype.global.b1024.b32 [%rd3], 7", "no tensor map at 0x"),
        ("global_address.global.b1024.b64 [%rd3], 8", "a tensor at 0x8, which is not a multiple"),
        ("fill_mode.global.b1024.b32 [%rd3], 1", "rows of 1 bytes"),
    ];
    assert_faults(cases.map(|(replacement, reason)| {
        let code = format!("{REPLACE}.{replacement};\n{LOAD} [boxed], [%rd3, {{0}}], [bar];");
        let error = fault(&matrix(), &code);
        assert!(error.contains("`cp.async.bulk.tensor`"), "{error}");
        (code, error, reason)
    }));
}

/// Runs code on a whole warp; returns the error.
fn fault_of_warp(code: &str) -> String {
    machine(&matrix(), &[]).run(&boxed_kernel(code), 1, 32).unwrap_err().to_string()
}

#[test]
fn maps_are_published_by_whole_warps_within_bounds() {
    let at =
        |place: &str| format!("sub.u64 %rd5, %rd3, %rd0;\n{PUBLISH} [%rd5{place}], [boxed], 128;");
    let cases = [
        (
            format!("{PUBLISH} [%rd3], [boxed], 128;"),
            "`tensormap.cp_fenceproxy` with addresses that differ from lane 0's",
        ),
        (
            format!(
                "setp.ne.u32 %p1, %r0, 2;\nsub.u64 %rd5, %rd3, %rd0;\n\
                 @%p1 {PUBLISH} [%rd5], [boxed], 128;"
            ),
            "`tensormap.cp_fenceproxy` by lanes 0xfffffffb of a warp; all must execute it",
        ),
        (at("+32"), "`tensormap.cp_fenceproxy` with a map at 0x"),
        (at("").replace("[boxed]", "[boxed+16]"), "at 0x10, which is not a multiple of 64"),
        // The arrays have 32 KiB.
        (at("+32704"), "access of 128 bytes at 0x"),
        (at("").replace("[boxed]", "[boxed+24576]"), "of shared memory is out of bounds"),
    ];
    assert_faults(cases.map(|(code, reason)| {
        let error = fault_of_warp(&code);
        (code, error, reason)
    }));
}
