//! L2 policies of accesses.

use warpmem_trace::{Eviction, Kind, L2Policy, Trace};

use super::{Machine, recorded, result};
use crate::{AccessWindow, Launch, Limits};

/// Returns the memory instructions of a one-thread trace with their policies.
fn policies(code: &str) -> Vec<(Kind, Option<L2Policy>)> {
    let mut machine = Machine::new(256);
    let launch = machine.launch(1, 1);
    let (_, bytes) = recorded(&mut machine, code, &launch, Limits::default()).unwrap();
    policies_of(bytes)
}

fn policies_of(trace: Vec<u8>) -> Vec<(Kind, Option<L2Policy>)> {
    let trace = Trace::from_bytes("k.wmt", trace).unwrap();
    let instructions = trace.instructions(0).unwrap();
    let of_memory = instructions.iter().filter(|one| one.kind.is_memory());
    of_memory.map(|one| (one.kind, one.l2_policy)).collect()
}

fn all(eviction: Eviction) -> Option<L2Policy> {
    Some(L2Policy::of_all(eviction))
}

#[test]
fn created_policies_apply_to_their_accesses() {
    let code = "createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd4, 0f3F000000;\n\
                ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd4;\n\
                ld.global.u32 %r2, [%rd1];\n\
                st.global.L2::cache_hint.u32 [%rd3], %r1, %rd4;\n\
                red.global.add.L2::cache_hint.u32 [%rd3], %r2, %rd4;\n\
                atom.global.add.L2::cache_hint.u32 %r3, [%rd3], %r2, %rd4;\n\
                st.global.u32 [%rd3], %r3;";
    let (primary, secondary) = (Eviction::Last, Eviction::First);
    let half = Some(L2Policy { primary, sixteenths: 8, secondary });
    let expected = [
        (Kind::Load, half),
        (Kind::Load, None),
        (Kind::Store, half),
        (Kind::Reduction, half),
        (Kind::Atomic, half),
        (Kind::Store, None),
    ];
    assert_eq!(policies(code), expected);
}

#[test]
fn policies_may_be_constants_and_modifiers() {
    let copy = "cp.async.ca.shared.global.L2::cache_hint [tile], [%rd1], 16, %rd4;";
    let with = |bits: &str| policies(&format!("mov.b64 %rd4, {bits};\n{copy}"));
    assert_eq!(with("0x14F0000000000000"), [(Kind::AsyncCopy, all(Eviction::Last))]);
    assert_eq!(with("0x12F0000000000000"), [(Kind::AsyncCopy, all(Eviction::First))]);
    // CUTLASS uses this for `EVICT_NORMAL`; ptxas encodes `evict_unchanged` so.
    assert_eq!(with("0x1000000000000000"), [(Kind::AsyncCopy, None)]);
    assert_eq!(with("5"), [(Kind::AsyncCopy, None)]);
    let prefetch = policies("prefetch.global.L2::evict_last [%rd1];\nprefetch.global.L2 [%rd1];");
    assert_eq!(prefetch, [(Kind::Prefetch, all(Eviction::Last)), (Kind::Prefetch, None)]);
    let load = policies("ld.global.L2::evict_first.v4.b64 {%rd4, %rd5, %rd6, %rd7}, [%rd1];");
    assert_eq!(load, [(Kind::Load, all(Eviction::First))]);
}

#[test]
fn bulk_copies_carry_policies() {
    let code = "mov.b64 %rd4, 0x12F0000000000000;\n\
                cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], 256, %rd4;\n\
                cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd1], [tile], 256, %rd4;";
    let first = all(Eviction::First);
    assert_eq!(policies(code), [(Kind::Prefetch, first), (Kind::Store, first)]);
}

#[test]
fn the_first_lane_sets_the_policy() {
    let code = "setp.eq.u32 %p1, %r0, 0;\nmov.b64 %rd4, 0x12F0000000000000;\nmov.b64 %rd5, 0x14F0000000000000;\n\
                selp.b64 %rd4, %rd4, %rd5, %p1;\nld.global.L2::cache_hint.u32 %r1, [%rd1], %rd4;\n\
                @!%p1 ld.global.L2::cache_hint.u32 %r2, [%rd1], %rd4;";
    let mut machine = Machine::new(256);
    let launch = machine.launch(1, 2);
    let (_, bytes) = recorded(&mut machine, code, &launch, Limits::default()).unwrap();
    let expected = [all(Eviction::First), all(Eviction::Last)].map(|policy| (Kind::Load, policy));
    assert_eq!(policies_of(bytes), expected);
}

/// Only accesses to global memory allocate lines in L2.
#[test]
fn shared_memory_accesses_have_no_policy() {
    let code = "mov.b64 %rd4, 0x14F0000000000000;\nmov.u32 %r1, tile;\ncvt.u64.u32 %rd5, %r1;\n\
                cvta.shared.u64 %rd5, %rd5;\nld.L2::cache_hint.u32 %r2, [%rd5], %rd4;";
    assert_eq!(policies(code), [(Kind::Load, None)]);
}

#[test]
fn the_share_can_be_computed() {
    let created = |code: &str| {
        let shares = [1.0f32, 0.5, 0.01].map(|share| u64::from(share.to_bits()));
        let code = format!(
            "ld.global.b32 %f1, [%rd1];\n{code}\nshr.u64 %rd4, %rd4, 48;\ncvt.u32.u64 %r1, %rd4;\n\
             st.global.u32 [%rd3], %r1;"
        );
        let mut all = vec![shares[0]; 32];
        all[..3].copy_from_slice(&shares);
        result(&code, &all, &[0; 32])[..3].to_vec()
    };
    let fraction = created("createpolicy.fractional.L2::evict_first.b64 %rd4, %f1;");
    assert_eq!(fraction, [0x12f0, 0x1270, 0x1200]);
    let whole = created("createpolicy.fractional.L2::evict_first.b64 %rd4;");
    assert_eq!(whole, [0x12f0; 3]);
}

/// A range of 8 bytes in an array of 32 KiB covers the 4 KiB block that contains it.
#[test]
fn range_policies_apply_to_accesses_that_start_in_them() {
    let with = |create: &str| {
        let code = format!(
            "mov.u32 %r3, 8;\n{create}\n\
             ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd4;\n\
             ld.global.L2::cache_hint.u32 %r1, [%rd1+8192], %rd4;"
        );
        let mut machine = Machine::new(4096);
        let launch = machine.launch(1, 1);
        let (_, bytes) = recorded(&mut machine, &code, &launch, Limits::default()).unwrap();
        policies_of(bytes)
    };
    let loads = |policies: [_; 2]| policies.map(|policy| (Kind::Load, policy));
    let [first, last] = [Eviction::First, Eviction::Last].map(all);
    let range = "createpolicy.range.global.L2::evict_last";
    let alone = with(&format!("{range}.b64 %rd4, [%rd1], %r3, 16384;"));
    assert_eq!(alone, loads([last, None]));
    let two = with(&format!("{range}.L2::evict_first.b64 %rd4, [%rd1], 8, 16384;"));
    assert_eq!(two, loads([last, first]));
    let further_on = with(&format!("{range}.L2::evict_first.b64 %rd4, [%rd1+8192], 8, 16384;"));
    assert_eq!(further_on, loads([first, last]));
    let of_nothing = with(&format!("{range}.L2::evict_first.b64 %rd4, [%rd1], 8, 0;"));
    assert_eq!(of_nothing, loads([None, None]));
    let converted = with("mov.b64 %rd5, 0x14F0000000000000;\ncreatepolicy.cvt.L2.b64 %rd4, %rd5;");
    assert_eq!(converted, loads([last, last]));
}

#[test]
fn windows_apply_to_accesses_without_a_policy() {
    let code = "mov.b64 %rd4, 0x12F0000000000000;\n\
                ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+60];\nld.global.u32 %r3, [%rd1+64];\n\
                ld.global.L2::cache_hint.u32 %r4, [%rd1+8], %rd4;\nld.shared.u32 %r5, [tile];";
    let mut machine = Machine::new(256);
    let with = |share: f32, machine: &mut Machine| {
        let (hit, miss) = (Eviction::Last, Eviction::Normal);
        let window = AccessWindow::new(machine.arrays[0], 64, share, hit, miss);
        let launch = Launch { window: Some(window), ..machine.launch(1, 1) };
        let (_, bytes) = recorded(machine, code, &launch, Limits::default()).unwrap();
        policies_of(bytes)
    };
    let load = |policy| (Kind::Load, policy);
    let part = L2Policy { primary: Eviction::Last, sixteenths: 4, secondary: Eviction::Normal };
    let own = all(Eviction::First);
    let expected = [Some(part), Some(part), None, own, None].map(load);
    assert_eq!(with(0.25, &mut machine), expected);
    let none = all(Eviction::Normal);
    assert_eq!(with(0.0, &mut machine), [none, none, None, own, None].map(load));
}
