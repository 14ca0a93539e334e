//! Instructions: operations, registers, constants.

use super::{assert_refused, body, first, op, unsupported};
use crate::*;

#[test]
fn modifiers_are_part_of_the_operation() {
    let zero = Modes { rounding: Rounding::Zero, rounding_written: true, ..Modes::default() };
    let ftz = Modes { ftz: true, ..zero };
    assert_eq!(op("add.rz.ftz.f32 %f1, %f2, %f3;"), Op::Binary(Binary::Add, Type::F32, ftz));
    let full = Modes { approximate: true, full_range: true, ..Modes::default() };
    assert_eq!(op("div.full.f32 %f1, %f2, %f3;"), Op::Binary(Binary::Divide, Type::F32, full));
    assert_eq!(
        op("mul.wide.s32 %rd1, %r1, 4;"),
        Op::Binary(Binary::Multiply(ProductPart::Wide), Type::S32, Modes::default())
    );
    let compare = Compare::LessUnordered;
    let combine = Some(Logic::And);
    assert_eq!(
        op("setp.ltu.and.ftz.f32 %p1|%p2, %f1, %f2, !%p3;"),
        Op::SetPredicate { compare, combine, ty: Type::F32, ftz: true }
    );
    assert_eq!(op("bar.sync 0;"), Op::Barrier(Barrier { kind: BarrierKind::Sync, counted: false }));
    assert_eq!(
        op("barrier.cta.red.popc.aligned.u32 %r1, 1, 64, %p1;"),
        Op::Barrier(Barrier { kind: BarrierKind::CountTrue, counted: true })
    );
    assert_eq!(op("vote.sync.ballot.b32 %r1, %p1, -1;"), Op::Vote(Vote::Ballot));
    assert_eq!(op("vote.ballot.sync.b32 %r1, %p1, -1;"), Op::Vote(Vote::Ballot));
    assert_eq!(op("lop3.b32 %r1, %r2, %r3, %r4, 0x96;"), Op::Lop3 { table: 0x96, combine: None });
}

#[test]
fn accesses_decode_space_width_cache_operator_and_offset() {
    let Op::Load(access) = op("ld.global.nc.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+-16];")
    else {
        panic!()
    };
    let expected = Access {
        space: Space::Global,
        ty: Type::F32,
        elements: 4,
        cache: Cache::ReadOnly,
        offset: -16,
    };
    assert_eq!(access, expected);
    let Op::Store(access) = op("st.volatile.shared.u8 [tile+5], %rs1;") else { panic!() };
    assert_eq!((access.space, access.cache, access.offset), (Space::Shared, Cache::Volatile, 5));
    let Op::Load(access) = op("ld.param.u64 %rd1, [a];") else { panic!() };
    assert_eq!(access.space, Space::Param);
    let Op::Atomic(atomic) = op("atom.relaxed.gpu.global.cas.b32 %r1, [%rd1+4], %r2, %r3;") else {
        panic!()
    };
    assert_eq!(
        (atomic.op, atomic.offset, atomic.space),
        (AtomicOp::CompareAndSwap, 4, Space::Global)
    );
    let wider = first("ld.global.u8 %r1, [%rd1];");
    assert_eq!(wider.dests[0].unwrap().class, RegisterClass::Narrow, "a register may be wider");
}

#[test]
fn constants_are_encoded_in_their_type() {
    let source = |code: &str, at: usize| first(code).sources[at];
    assert_eq!(source("add.s32 %r1, %r2, -1;", 1), Value::Bits(0xffff_ffff));
    assert_eq!(source("add.s64 %rd1, %rd2, -1;", 1), Value::Bits(u64::MAX));
    assert_eq!(source("and.b16 %rs1, %rs2, -2;", 1), Value::Bits(0xfffe));
    assert_eq!(source("add.f32 %f1, %f2, 0f3F800000;", 1), Value::Bits(0x3f80_0000));
    assert_eq!(source("add.f32 %f1, %f2, 1.5;", 1), Value::Bits(1.5f32.to_bits().into()));
    assert_eq!(source("add.f64 %fd1, %fd2, 0d3FF0000000000000;", 1), Value::Bits(1f64.to_bits()));
    assert_eq!(source("mov.u64 %rd1, table;", 0), Value::Variable(VariableId(0), 0));
    assert_eq!(source("mov.u64 %rd1, table+8;", 0), Value::Variable(VariableId(0), 8));
    assert_eq!(source("mov.u32 %r1, %ctaid.y;", 0), Value::Special(Special::Ctaid(Axis::Y)));
    assert_eq!(source("mov.u32 %r1, WARP_SZ;", 0), Value::Bits(32));
}

#[test]
fn instructions_list_the_registers_they_read_and_write() {
    let fused = first("@!%p3 fma.rn.f32 %f1, %f2, %f3, %f1;");
    let index = |register: Register| (register.class, register.index);
    let reads: Vec<_> = fused.reads().map(index).collect();
    let f1 = fused.dests[0].unwrap().index;
    let narrow = RegisterClass::Narrow;
    assert_eq!(
        reads,
        [(narrow, f1 + 1), (narrow, f1 + 2), (narrow, f1), (RegisterClass::Predicate, 3)]
    );
    assert!(fused.guard.unwrap().negated);
    let store = first("st.global.v2.u32 [%rd1], {%r1, %r2};");
    assert_eq!((store.reads().count(), store.writes().count()), (3, 0));
    let behind = op("atom.add.release.gpu.u32 %r1, [%rd1], 1;");
    assert!(matches!(behind, Op::Atomic(_)), "{behind:?}");
    let sink = first("atom.global.add.u32 _, [%rd1], 1;");
    assert_eq!((sink.dests.len(), sink.writes().count()), (1, 0));
}

#[test]
fn vectors_are_packed_and_unpacked() {
    assert_eq!(op("mov.b64 %rd1, {%r1, %r2};"), Op::Pack(Type::B64));
    assert_eq!(op("mov.b64 {%r1, %r2}, %rd1;"), Op::Unpack(Type::B64));
    assert_eq!(op("mov.b32 {%rs1, %rs2}, %r1;"), Op::Unpack(Type::B32));
    let unused = first("mov.b64 {_, %r2}, %rd1;");
    assert_eq!(unused.dests[0], None);
}

#[test]
fn conversions_decode_both_types() {
    let Op::Convert(convert) = op("cvt.rni.ftz.sat.s32.f32 %r1, %f1;") else { panic!() };
    assert_eq!((convert.to, convert.from), (Type::S32, Type::F32));
    assert!(convert.to_integral && convert.ftz && convert.saturate);
    let Op::Convert(packed) = op("cvt.rn.f16x2.f32 %r1, %f1, %f2;") else { panic!() };
    assert_eq!((packed.to, packed.rounding), (Type::F16x2, Some(Rounding::Nearest)));
    assert_eq!(
        op("cvta.to.global.u64 %rd1, %rd2;"),
        Op::ConvertAddress { space: Space::Global, to_space: true }
    );
}

#[test]
fn matrix_products_list_their_registers() {
    let code = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, \
                {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};";
    let instruction = first(code);
    let Op::Mma(mma) = instruction.op else { panic!() };
    assert_eq!(mma.registers(), [4, 2, 4, 4]);
    assert_eq!((instruction.dests.len(), instruction.sources.len()), (4, 10));
    let few = unsupported(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
    );
    assert!(few[0].contains("a matrix of 1 registers where 4 are expected"), "{few:?}");
    let shape = unsupported(
        "mma.sync.aligned.m32n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r5}, {%f1};",
    );
    assert!(shape[0].contains("`mma` of shape m32n8k16"), "{shape:?}");
}

#[test]
fn wmma_matrices_decode_stride_and_space() {
    let access = |code: &str| {
        let instruction = first(&format!("wmma.load.b.sync.aligned.{code}"));
        let Op::WmmaLoad(access) = instruction.op else { panic!("{instruction:?}") };
        (access, instruction.sources[1])
    };
    let four = "{%r1, %r2, %r3, %r4}";
    let expected = WmmaAccess {
        operand: WmmaOperand::B,
        shape: [16, 16, 8],
        bits: 32,
        layout: Layout::Column,
        space: Space::Generic,
        offset: 32,
    };
    let (found, stride) = access(&format!("col.m16n16k8.tf32 {four}, [%rd1+32];"));
    assert_eq!((found, stride), (expected, Value::Bits(8)), "a column");
    let row = WmmaAccess { layout: Layout::Row, space: Space::Shared, offset: 0, ..expected };
    let (found, stride) = access(&format!("m16n16k8.row.tf32 {four}, [tile];"));
    assert_eq!((found, stride), (row, Value::Bits(16)), "the space of the variable");
    let (_, stride) = access(&format!("row.m16n16k8.shared::cta.tf32 {four}, [%r5], 20;"));
    assert_eq!(stride, Value::Bits(20));
}

/// Products and `wmma` matrices that are similar to instructions but invalid.
#[test]
fn invalid_matrix_products_are_refused() {
    let (one, two, four) = ("{%r1}", "{%r1, %r2}", "{%r1, %r2, %r3, %r4}");
    let mma = |modifiers: &str, d: &str, a: &str, b: &str| {
        format!("mma.sync.aligned.{modifiers} {d}, {a}, {b}, {d};")
    };
    let sparse = |selector: &str| {
        format!(
            "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {four}, {four}, {four}, {four}, %r9, \
             {selector};"
        )
    };
    for (code, reason) in [
        (mma("m16n8k64.row.col.s32.s8.s8.s32", four, four, two), "`mma` of shape m16n8k64"),
        (mma("m16n8k32.row.col.s32.s8.s4.s32", four, four, two), "`mma` of shape m16n8k32"),
        (mma("m16n8k16.col.col.f32.f16.f16.f32", four, four, two), "layouts is not an instruction"),
        (mma("m16n8k16.row.f32.f16.f16.f32", four, four, two), "lacks `.row` or `.col`"),
        (mma("m16n8k8.row.col.f32.f16.f16.f16", four, two, one), "`mma` of shape m16n8k8"),
        (mma("m16n8k256.row.col.s32.b1.b1.s32", four, four, two), "`mma` of shape m16n8k256"),
        (mma("m8n8k4.row.col.f16.f16.f16.f32", four, two, two), "`mma` of shape m8n8k4"),
        (mma("m16n8k8.row.col.satfinite.f32.tf32.tf32.f32", four, four, two), "m16n8k8"),
        (mma("row.col.s32.s8.s8.s32", four, four, two), "lacks a shape"),
        (sparse("1"), "the sparsity selector 1 is outside 0 to 0"),
        (sparse("%r1"), "expected a constant"),
        (
            format!(
                "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 {four}, {two}, {two}, {four};"
            ),
            "`wmma.mma` of shape m16n16k16",
        ),
        (
            format!("wmma.load.a.sync.aligned.col.m8n8k32.s4 {one}, [%rd1];"),
            "A by rows and B by columns",
        ),
        (
            format!("wmma.load.a.sync.aligned.row.m16n16k16.local.bf16 {four}, [%rd1];"),
            "`wmma` of `.local` memory",
        ),
        (
            format!("wmma.load.a.sync.aligned.row.m16n16k16.f16 {four}, [%rd1];"),
            "a matrix of 4 registers where 8 are expected",
        ),
        (
            format!("wmma.load.c.sync.aligned.row.m8n8k32.f32 {two}, [%rd1];"),
            "`wmma` of shape m8n8k32",
        ),
        (format!("wmma.load.a.sync.aligned.m16n16k16.bf16 {four}, [%rd1];"), "`.row` or `.col`"),
        (
            format!("wmma.load.d.sync.aligned.row.m16n16k16.f32 {four}, [%rd1];"),
            "`.a`, `.b` or `.c`",
        ),
        ("wmma.fill.sync.aligned;".into(), "`wmma.fill` is not an instruction"),
    ] {
        assert_refused(&code, reason);
    }
}

#[test]
fn the_shape_of_matrices_may_follow_their_count() {
    for (code, transposed) in [
        ("m8n8.x4.trans.shared", true),
        ("x4.trans.m8n8.shared", true),
        ("x4.m8n8.shared::cta", false),
    ] {
        let load = format!("ldmatrix.sync.aligned.{code}.b16 {{%r1, %r2, %r3, %r4}}, [%r5+16];");
        let matrices = |offset| Matrices { space: Space::Shared, count: 4, transposed, offset };
        assert_eq!(op(&load), Op::LoadMatrix(matrices(16)));
        let store = format!("stmatrix.sync.aligned.{code}.b16 [%r5], {{%r1, %r2, %r3, %r4}};");
        assert_eq!(op(&store), Op::StoreMatrix(matrices(0)));
    }
    let without = unsupported("ldmatrix.sync.aligned.x1.trans.shared.b16 {%r1}, [%r5];");
    assert!(without[0].contains("expected `.m8n8` of `ldmatrix`, found `.shared`"), "{without:?}");
}

#[test]
fn copies_decode_written_and_read_bytes() {
    let copy = first("cp.async.cg.shared.global.L2::128B [%r1+16], [%rd1], 16, %r2;");
    assert_eq!(copy.op, Op::CopyAsync { bypass: true, to_offset: 16, from_offset: 0 });
    assert_eq!(copy.sources[2], Value::Bits(16));
    assert!(copy.sources[3].register().is_some());
    let whole = first("cp.async.ca.shared.global [%r1], [%rd1], 4;");
    assert_eq!(whole.sources[2..], [Value::Bits(4), Value::Bits(4)]);
    assert_eq!(op("cp.async.wait_group 2;"), Op::CopyAsyncWait(Some(2)));
    assert_eq!(unsupported("cp.async.cg.shared.global [%r1], [%rd1], 4;").len(), 1);
}

#[test]
fn bulk_copies_decode_addresses_sizes_and_mbarriers() {
    let load = |to: &str, hint: &str, policy: &str| {
        first(&format!(
            "cp.async.bulk.{to}.global.mbarrier::complete_tx::bytes{hint} [%r1+16], [%rd1+32], %r2, [%r3+8]{policy};"
        ))
    };
    let copy = load("shared::cluster", "", "");
    assert_eq!(copy.op, Op::Bulk { f: Bulk::Load, offsets: [16, 32, 8] });
    assert_eq!((copy.sources.len(), copy.reads().count(), copy.dests.len()), (4, 4, 0));
    assert_eq!(load("shared::cta", "", "").op, copy.op);
    let hinted = load("shared::cluster", ".L2::cache_hint", ", %rd2");
    assert_eq!((hinted.op, hinted.sources.len()), (copy.op, 4), "the policy has no effect");

    let store = first("cp.async.bulk.global.shared::cta.bulk_group [%rd1+8], [%r1+4], 4096;");
    assert_eq!(store.op, Op::Bulk { f: Bulk::Store, offsets: [8, 4, 0] });
    assert_eq!(store.sources[2], Value::Bits(4096));
    let add = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], %r2;";
    let f = Bulk::Reduce { op: AtomicOp::Add, ty: Type::F32 };
    assert_eq!(op(add), Op::Bulk { f, offsets: [0; 3] });
    let prefetch = "cp.async.bulk.prefetch.L2.global [%rd1+16], 64;";
    assert_eq!(op(prefetch), Op::Bulk { f: Bulk::Prefetch, offsets: [16, 0, 0] });
    for group in ["commit_group", "wait_group 2", "wait_group.read 0"] {
        assert_eq!(op(&format!("cp.async.bulk.{group};")), Op::BulkGroup);
    }
}

#[test]
fn unsupported_bulk_copies_are_refused() {
    for (code, reason) in [
        (
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], 16, [%r3], %rs1;",
            "`.multicast::cluster` of bulk copies is not supported",
        ),
        (
            "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 16, %rs1;",
            "`.cp_mask` of bulk copies is not supported",
        ),
        (
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r1], [%r2], 16, [%r3];",
            "only supported to `.global`",
        ),
        (
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.exch.b32 [%rd1], [%r1], 16;",
            "is not an instruction",
        ),
        ("cp.async.bulk.global.bulk_group [%rd1], [%r1], 16;", "`.shared::cta`"),
    ] {
        assert_refused(code, reason);
    }
}

#[test]
fn proxy_fences_are_not_memory_fences() {
    assert_eq!(op("fence.acq_rel.gpu;"), Op::Fence);
    for fence in ["proxy.async", "proxy.async.shared::cta", "mbarrier_init.release.cluster"] {
        assert_eq!(op(&format!("fence.{fence};")), Op::ProxyFence);
    }
    assert_eq!(op("fence.proxy.tensormap::generic.release.gpu;"), Op::ProxyFence);
    assert_eq!(op("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;"), Op::ProxyFence);
    assert_eq!(unsupported("fence.proxy.tensormap::generic.acquire.gpu;").len(), 1);
}

#[test]
fn calls_decode_function_results_and_arguments() {
    let module = parse(
        ".version 7.8\n.target sm_80\n.address_size 64\n\
         .func (.param .b32 r) f(.param .b32 x) { ret; }\n\
         .entry k() {\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n{\n.param .b32 a;\n.param .b32 b;\n\
         st.param.b32 [a], %r1;\ncall.uni (b), f, (a);\nld.param.b32 %r2, [b];\n}\n\
         mov.u64 %rd1, f;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
         call (%r1), %rd1, (%r2), proto;\nret;\n}\n",
    )
    .unwrap();
    let body = body(&module);
    let [direct, indirect] = &body.calls[..] else { panic!() };
    assert_eq!(direct.callee, Callee::Direct(FunctionId(0)));
    assert!(matches!(direct.arguments[..], [Argument::Param(_)]));
    assert_eq!(indirect.callee, Callee::Indirect);
    let call = body.instructions.iter().find(|i| i.op == Op::Call(1)).unwrap();
    assert_eq!((call.dests.len(), call.sources.len()), (1, 2), "the result; address and argument");
}

#[test]
fn only_parameters_are_passed_to_functions() {
    let module = parse(
        ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 g;\n\
         .func f(.param .b32 x) { ret; }\n.entry k() {\ncall.uni f, (g);\nret;\n}\n",
    )
    .unwrap();
    let refused: Vec<String> = module.functions[1]
        .body
        .iter()
        .flat_map(|body| &body.unsupported)
        .map(ToString::to_string)
        .collect();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].contains("`g` is passed, which is not a .param variable"), "{refused:?}");
}
