//! Instruction forms that ptxas 13.0 accepts, and neighbouring forms that it refuses.

use super::unsupported;

/// Forms of video instructions, `lop3`, vector moves, and vector atomics.
const TAKEN: &str = "
vadd.u32.u32.u32 %r1,%r2,%r3;
vadd.s32.u32.s32.sat %r1,%r2.b0,%r3.h1;
vadd.s32.u32.s32.sat.add %r1,%r2.b0,%r3.h1,%r4;
vadd.s32.u32.s32.add.sat %r1,%r2.b0,%r3.h1,%r4;
vadd.s32.u32.s32.sat %r1.b2,%r2.b0,%r3.h1,%r4;
vadd.s32.u32.s32.sat %r1,%r2.b0,5,%r4;
vadd.s32.u32.s32.sat %r1,%r2.b0,5;
vmin.u32.s32.u32.max %r1,%r2,%r3,%r4;
vmad.s32.s32.s32 %r1,-%r2.b1,%r3,%r4;
vmad.u32.u32.u32.po.sat.shr7 %r1,%r2.b1,%r3,%r4;
vmad.u32.u32.u32.sat.po.shr7 %r1,%r2.b1,%r3,%r4;
vmad.s32.u32.u32.shr15 %r1,%r2.b1,%r3,-%r4;
vmad.s32.u32.u32.shr15 %r1,-%r2.b1,-%r3,-%r4;
vset.u32.u32.lt %r1,%r2,%r3;
vset.u32.s32.lt.add %r1,%r2.h0,%r3,%r4;
vset.u32.s32.lt %r1.h1,%r2.h0,%r3,%r4;
vshl.s32.u32.u32.sat.wrap.min %r1,%r2.b1,%r3.b0,%r4;
vshr.s32.s32.u32.clamp %r1.h0,%r2.b1,%r3.b0,%r4;
vadd2.u32.u32.u32.sat %r1.h0,%r2.h32,%r3.h10,%r4;
vadd2.u32.u32.u32.add %r1.h10,%r2.h12,%r3.h10,%r4;
vset2.u32.s32.lt.add %r1.h10,%r2.h12,%r3.h10,%r4;
vavrg4.u32.u32.s32.add %r1.b30,%r2.b7654,%r3.b0123,%r4;
vadd4.u32.u32.u32.sat %r1.b2,%r2,%r3.b7777,%r4;
vset4.s32.s32.ge %r1.b3210,%r2,%r3,%r4;
lop3.b32 %r1,%r2,%r3,%r4,0x3f;
lop3.or.b32 %r1|%p1,%r2,%r3,%r4,0x3f,%p2;
lop3.and.b32 _|%p1,%r2,%r3,%r4,0x3f,!%p2;
lop3.or.b32 %r1|%p1,%r2,%r3,%r4,0x3f,0;
mov.v4.u16 {%rs1,%rs2,%rs3,%rs4},{%rs5,%rs6,%rs7,%rs1};
mov.v2.u32 {%r1,%r2},{%r2,%r1};
red.global.add.v2.f32 [%rd1],{%f1,%f2};
red.relaxed.gpu.global.add.v4.f32 [%rd1],{%f1,%f2,%f3,%f4};
red.global.max.noftz.v8.bf16 [%rd1],{%rs1,%rs2,%rs3,%rs4,%rs1,%rs2,%rs3,%rs4};
atom.global.min.noftz.v4.f16x2 {%r1,%r2,%r3,%r4},[%rd1],{%r5,%r6,%r7,%r8};
red.global.v8.f16.max.noftz [%rd1],{%rs1,%rs2,%rs3,%rs4,%rs1,%rs2,%rs3,%rs4};
red.global.v2.f32.add [%rd1],{%f1,%f2};
fns.b32 %r1,%r2,%r3,%r4;
pmevent 1;
pmevent.mask 3;
cvt.pack.sat.s4.s32.b32 %r1,%r2,%r3,%r4;
cvt.pack.sat.u2.s32.b32 %r1,%r2,%r3,%r4;
cp.async.ca.shared.global [%r1],[%rd1],8,%p1;
atom.add.noftz.v2.f16 _,[%rd1],{%rs1,%rs2};
.reg .b128 %q<4>; mov.b128 %q1, {%rd1,%rd2};
mov.b128 {%rd3,%rd4}, %q1;
mov.b128 %q2,%q1;
mov.b128 {%r1,%r2,%r3,%r4}, %q1;
mov.b128 {%rd1,_}, %q1;
mov.b128 %q1,5;
mov.b128 %q1,{1,2};
ld.global.b128 %q1,[%rd1];
ld.relaxed.gpu.global.b128 %q1,[%rd1];
st.release.sys.global.b128 [%rd1],%q1;
ld.shared.b128 %q1,[%rd1];
st.local.b128 [%rd1],%q1;
.local .b128 l; st.local.b128 [l], %q1;
atom.global.exch.b128 %q1,[%rd1],%q2;
atom.relaxed.gpu.global.exch.b128 _,[%rd1],%q2;
atom.shared.cas.b128 %q1,[%rd1],%q2,%q3;
ldmatrix.sync.aligned.m8n8.x1.b16 {%r1},[%rd1];
stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [%r2],{%r1};
";

/// Forms, each with a part of the reason.
const REFUSED: &str = "
vadd.s32.u32.s32.sat.add %r1.b2,%r2.b0,%r3.h1,%r4; | a second operation leaves no part
vadd.s32.u32.s32 %r1,-%r2,%r3; | expected a register or constant
vadd.s32.u32.s32.add %r1,%r2,%r3; | an operand is missing
vadd.s32.u32.s32 %r1,%r2.b4,%r3; | `.b4` is not a part of a register
vmad.s32.u32.u32.shr15 %r1,-%r2.b1,%r3,-%r4; | exclude each other
vmad.u32.u32.u32.po %r1,%r2,%r3,-%r4; | exclude each other
vset.s32.u32.u32.lt %r1,%r2,%r3; | expected a modifier of `vset`, found `.u32`
vset.u32.u32.equ %r1,%r2,%r3; | expected a modifier of `vset`, found `.equ`
vshl.u32.u32.u32 %r1,%r2,%r3; | lacks `.clamp` or `.wrap`
vshr.s32.u32.s32.wrap %r1,%r2.b1,%r3.b0; | a bit count requires type `.u32`
vadd2.u32.u32.u32 %r1,%r2,%r3; | an operand is missing
vadd2.u32.u32.u32.sat.add %r1.h0,%r2.h32,%r3.h10,%r4; | expected `.add` without `.sat`
vset4.s32.s32.ge %r1.b0123,%r2,%r3,%r4; | `.b0123` selects no elements of a result
vadd2.u32.u32.u32 %r1,%r2.h0,%r3,%r4; | `.h0` does not select 2 elements
vadd.u64.u32.u32 %r1,%r2,%r3; | of type `.u64` is not supported
add.u32 %r1,%r2.b0,%r3; | `.b0` selects a part of a register
lop3.xor.b32 %r1|%p1,%r2,%r3,%r4,0x3f,%p2; | expected a type of `lop3`, found `.xor`
lop3.b32 %r1|%p1,%r2,%r3,%r4,0x3f,%p2; | a predicate of `lop3`
mov.v4.u16 {%rs1,%rs2,%rs3},{%rs5,%rs6,%rs7,%rs1}; | moves vectors of 4 elements
red.global.add.v8.f32 [%rd1],{%f1,%f2,%f3,%f4,%f1,%f2,%f3,%f4}; | a vector of 8 `.f32` has no such operation
red.global.add.v2.f64 [%rd1],{%fd1,%fd2}; | a vector of 2 `.f64` has no such operation
red.shared.add.v2.f32 [%rd1],{%f1,%f2}; | vector atomics require global memory
.reg .b128 %q<4>; ld.global.v2.b128 {%q1,%q2},[%rd1]; | there are no vectors of `.b128`
.reg .b128 %q<4>; mov.b128 {%rd3,%rd4}, {%rd1}; | `mov.b128` of 1 into 2 registers
.reg .b128 %q<4>; selp.b128 %q1,%q2,%q3,%p1; | of type `.b128` is not supported
.reg .b128 %q<4>; atom.add.b128 %q1,[%rd1],%q2; | of type `.b128` is not supported
.reg .b128 %q<4>; ld.global.b64 %q1,[%rd1]; | 2 registers for 1 elements
red.global.min.v2.f32 [%rd1],{%f1,%f2}; | a vector of 2 `.f32` has no such operation
";

#[test]
fn forms_accepted_by_the_assembler_are_accepted() {
    assert_eq!(unsupported(TAKEN), [""; 0]);
}

#[test]
fn forms_refused_by_the_assembler_are_refused() {
    for line in REFUSED.lines().filter(|line| !line.is_empty()) {
        let (form, reason) = line.split_once(" | ").unwrap();
        let errors = unsupported(form);
        assert!(errors.len() == 1 && errors[0].contains(reason), "{form}: {errors:?}");
    }
}
