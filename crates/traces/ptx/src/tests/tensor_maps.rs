//! Changes of tensor maps. Accepted forms are accepted by ptxas 12.8 for sm_90a or sm_100a, and forms refused
//! as invalid are refused by it, except stride 4, which no tensor has.

use super::{assert_refused, first};
use crate::TensorMapField::*;
use crate::*;

const RELEASE: &str =
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned";

/// The map's address in each space, with and without an offset.
#[test]
fn fields_are_replaced_in_all_spaces() {
    for (name, space, address, offset) in [
        (".shared::cta", Space::Shared, "[%r1]", 0),
        (".shared::cta", Space::Shared, "[%rd1+128]", 128),
        (".global", Space::Global, "[%rd1]", 0),
        ("", Space::Generic, "[%rd1+64]", 64),
    ] {
        let code = format!("tensormap.replace.tile.rank{name}.b1024.b32 {address}, %r2;");
        assert_eq!(first(&code).op, Op::ReplaceInMap { field: Rank, space, offset }, "{code}");
    }
}

#[test]
fn fields_have_numbers_and_values() {
    let register = |class, index| Value::Register(Register { class, index });
    // The eight 16-bit registers precede the 32-bit registers.
    let (narrow, wide) = (register(RegisterClass::Narrow, 10), register(RegisterClass::Wide, 2));
    for (code, operands, field, value) in [
        ("global_address.global.b1024.b64", "%rd2", GlobalAddress, wide),
        ("global_address.global.b1024.b64", "4096", GlobalAddress, Value::Bits(4096)),
        ("rank.global.b1024.b32", "4", Rank, Value::Bits(4)),
        ("rank.global.b1024.b32", "-1", Rank, Value::Bits(0xffff_ffff)),
        ("box_dim.global.b1024.b32", "0, %r2", BoxDim(0), narrow),
        ("box_dim.global.b1024.b32", "0x4, 256", BoxDim(4), Value::Bits(256)),
        ("global_dim.global.b1024.b32", "3, %r2", GlobalDim(3), narrow),
        ("global_stride.global.b1024.b64", "0, %rd2", GlobalStride(0), wide),
        ("global_stride.global.b1024.b64", "3, 16", GlobalStride(3), Value::Bits(16)),
        ("element_stride.global.b1024.b32", "2, %r2", ElementStride(2), narrow),
        ("elemtype.global.b1024.b32", "0", ElementType, Value::Bits(0)),
        ("elemtype.global.b1024.b32", "12", ElementType, Value::Bits(12)),
        ("interleave_layout.global.b1024.b32", "0", InterleaveLayout, Value::Bits(0)),
        ("swizzle_mode.global.b1024.b32", "3", SwizzleMode, Value::Bits(3)),
        ("swizzle_atomicity.global.b1024.b32", "0", SwizzleAtomicity, Value::Bits(0)),
        ("fill_mode.global.b1024.b32", "1", FillMode, Value::Bits(1)),
    ] {
        let code = format!("tensormap.replace.tile.{code} [%rd1], {operands};");
        let replace = first(&code);
        let expected = Op::ReplaceInMap { field, space: Space::Global, offset: 0 };
        assert_eq!(replace.op, expected, "{code}");
        assert_eq!(replace.sources[..], [register(RegisterClass::Wide, 1), value], "{code}");
    }
}

#[test]
fn a_map_is_published_from_shared_to_global_memory() {
    for scope in ["cta", "cluster", "gpu", "sys"] {
        let code = RELEASE.replace(".gpu.", &format!(".{scope}."));
        let publish = first(&format!("{code} [%rd1+128], [tile+256], 128;"));
        assert_eq!(publish.op, Op::PublishMap { offsets: [128, 256] });
        assert_eq!((publish.sources.len(), publish.dests.len()), (2, 0));
    }
    let in_registers = first(&format!("{RELEASE} [%rd1], [%rd2], 128;"));
    assert_eq!(in_registers.op, Op::PublishMap { offsets: [0, 0] });
}

#[test]
fn unsupported_values_are_refused_by_meaning() {
    for (operands, reason) in [
        ("elemtype 13", "`.elemtype` with 13: `.b4x16`, which is not supported"),
        ("elemtype 14", "`.b4x16_p64`, which is not supported"),
        ("elemtype 15", "`.b6x16_p32` or `.b6p2x16`, which is not supported"),
        ("interleave_layout 1", "an interleaved layout of 16 bytes, which is not supported"),
        ("interleave_layout 2", "an interleaved layout of 32 bytes, which is not supported"),
        ("swizzle_mode 4", "`.swizzle_mode` with 4: a swizzle of 96 bytes, which is not"),
        ("swizzle_atomicity 1", "atoms of 32 bytes, which is not supported"),
        ("swizzle_atomicity 2", "whose halves of 8 are flipped, which is not supported"),
        ("swizzle_atomicity 3", "atoms of 64 bytes, which is not supported"),
        ("elemtype 16", "`tensormap.replace` of `.elemtype` with 16: valid values are 0 to 15"),
        ("interleave_layout 3", "valid values are 0 to 2"),
        ("swizzle_mode 5", "valid values are 0 to 4"),
        ("swizzle_atomicity 4", "valid values are 0 to 3"),
        ("fill_mode 2", "valid values are 0 to 1"),
        ("fill_mode -1", "with -1: valid values are 0 to 1"),
        ("elemtype %r1", "expected a constant"),
        ("interleave_layout %r1", "expected a constant"),
        ("swizzle_mode %r1", "expected a constant"),
        ("fill_mode %r1", "expected a constant"),
    ] {
        let (field, value) = operands.split_once(' ').unwrap();
        let code = format!("tensormap.replace.tile.{field}.global.b1024.b32 [%rd1], {value};");
        assert_refused(&code, reason);
    }
}

#[test]
fn invalid_instructions_are_refused_with_the_reason() {
    let replace = |code: &str| format!("tensormap.replace.{code};");
    let publish =
        |from: &str, to: &str| format!("{RELEASE} [%rd1], [%r1], 128;").replacen(from, to, 1);
    for (code, reason) in [
        ("tensormap [%rd1];".into(), "`tensormap` lacks its operation"),
        ("tensormap.read [%rd1];".into(), "`tensormap.read` is not supported"),
        (replace("rank.global.b1024.b32 [%rd1], 1"), "expected `.tile` of `tensormap`"),
        (replace("im2col.rank.global.b1024.b32 [%rd1], 1"), "expected `.tile` of `tensormap`"),
        (replace("tile.size.global.b1024.b32 [%rd1], 1"), "expected a field"),
        (replace("tile.rank.shared.b1024.b32 [%r1], 1"), "expected `.b1024`"),
        (replace("tile.rank.shared::cluster.b1024.b32 [%r1], 1"), "expected `.b1024`"),
        (replace("tile.rank.global.b32 [%rd1], 1"), "expected `.b1024`"),
        (replace("tile.rank.global.b1024.b64 [%rd1], 1"), "of type `.b64`"),
        (replace("tile.rank.global.b1024.u32 [%rd1], 1"), "of type `.u32`"),
        (replace("tile.global_address.global.b1024.b32 [%rd1], %r1"), "of type `.b32`"),
        (replace("tile.global_stride.global.b1024.b32 [%rd1], 0, %r1"), "of type `.b32`"),
        (replace("tile.elemtype.global.b1024.b64 [%rd1], 1"), "of type `.b64`"),
        (replace("tile.rank.global.b1024.b32 %rd1, 1"), "an address in brackets"),
        (replace("tile.rank.global.b1024.b32 [%rd1], %rd2"), "16- or 32-bit register"),
        (replace("tile.rank.global.b1024.b32 [%rd1], 0, 1"), "1 surplus operands"),
        (replace("tile.elemtype.global.b1024.b32 [%rd1], 0, 1"), "1 surplus operands"),
        (replace("tile.box_dim.global.b1024.b32 [%rd1], 1"), "an operand is missing"),
        (replace("tile.box_dim.global.b1024.b32 [%rd1], %r1, 16"), "expected a constant"),
        (
            replace("tile.box_dim.global.b1024.b32 [%rd1], 5, 16"),
            "`tensormap.replace` of `.box_dim` with 5: valid values are 0 to 4",
        ),
        (
            replace("tile.global_dim.global.b1024.b32 [%rd1], -1, 16"),
            "with -1: valid values are 0 to 4",
        ),
        (
            replace("tile.global_stride.global.b1024.b64 [%rd1], 4, 16"),
            "with 4: valid values are 0 to 3",
        ),
        (publish(".global.shared", ".shared"), "expected `.global`"),
        (publish("::cta", ""), "expected `.shared::cta`"),
        (publish(".tensormap::generic", ""), "expected `.tensormap::generic`"),
        (publish("release", "acquire"), "expected `.release`"),
        (publish(".gpu", ""), "expected a scope"),
        (publish(".sync", ""), "expected `.sync`"),
        (publish(".aligned", ""), "lacks `.aligned`"),
        (publish(", 128", ", 64"), "`tensormap.cp_fenceproxy` of 64 bytes; a map has 128"),
        (publish(", 128", ", %r2"), "expected a constant"),
        (publish(", 128", ""), "an operand is missing"),
    ] {
        assert_refused(&code, reason);
    }
}
