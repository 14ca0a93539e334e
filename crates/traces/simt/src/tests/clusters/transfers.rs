//! Mbarriers in other CTAs' shared memory, and the transfers that complete at them.

use super::super::coverage::tests;
use super::{NEXT, SYNC, expected, left, peer, wait_at};

tests!(
    ctas_arrive_at_remote_mbarriers,
    stores_complete_at_the_destinations_mbarrier,
    reductions_complete_at_an_mbarrier_of_the_cta_they_go_to,
    bulk_copies_transfer_between_ctas,
    bulk_copies_load_into_another_cta,
    multicasts_write_equal_offsets_of_several_ctas
);

/// Initializes an mbarrier after the data for `arrivals` arrivals, and makes it visible to all CTAs.
fn init(arrivals: u32) -> String {
    format!(
        "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared::cta.b64 [tile+2048], {arrivals};\n\
         fence.mbarrier_init.release.cluster;\n{SYNC}"
    )
}

/// Sets %r2 and %r3 to the next CTA's data and mbarrier.
fn remote() -> String {
    format!(
        "{NEXT}mapa.shared::cluster.u32 %r2, tile, %r45;\nmapa.shared::cluster.u32 %r3, tile+2048, %r45;\n"
    )
}

/// Each thread arrives at the next CTA's mbarrier; the first thread arrives three more times, with expected
/// and completed bytes.
#[test]
pub(super) fn ctas_arrive_at_remote_mbarriers() {
    for space in [".shared::cluster", ""] {
        let generic = match space {
            "" => "cvt.u64.u32 %rd4, %r3;\ncvta.shared::cluster.u64 %rd4, %rd4;\n",
            _ => "cvt.u64.u32 %rd4, %r3;\n",
        };
        let code = format!(
            "{}{}{generic}mad.lo.u32 %r4, %r0, 8, %r2;\ncvt.u64.u32 %rd5, %r40;\nst.shared::cluster.u64 [%r4], %rd5;\n\
             mbarrier.arrive.release.cluster{space}.b64 _, [%rd4];\n\
             @%p1 mbarrier.arrive.release.cluster{space}.b64 _, [%rd4], 2;\n\
             @%p1 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r3], 8;\n\
             @%p1 mbarrier.arrive.expect_tx.release.cluster{space}.b64 _, [%rd4], 16;\n\
             @%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r3], 24;\n{}\
             shl.b32 %r5, %r0, 3;\nmov.u32 %r6, tile;\nadd.u32 %r5, %r5, %r6;\nld.shared.u64 %rd6, [%r5];\n{SYNC}\
             st.global.u64 [%rd40], %rd6;",
            init(35),
            remote(),
            wait_at("tile+2048"),
        );
        assert_eq!(left(&code), expected(|cta, _| peer(cta, 3)), "{space}");
    }
}

/// Stores one value and a vector, through cluster and generic addresses.
#[test]
pub(super) fn stores_complete_at_the_destinations_mbarrier() {
    let expect = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [tile+2048], 768;\n";
    let code = format!(
        "{}{expect}{}mad.lo.u32 %r4, %r0, 24, %r2;\nmad.lo.u32 %r5, %r40, 100, %r0;\nneg.s32 %r6, %r5;\ncvt.u64.u32 %rd4, %r5;\n\
         mad.lo.u32 %r8, %r0, 16, %r2;\n\
         st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [%r4+16], %rd4, [%r3];\n\
         cvt.u64.u32 %rd7, %r8;\ncvta.shared.u64 %rd7, %rd7;\ncvt.u64.u32 %rd8, %r3;\ncvta.shared.u64 %rd8, %rd8;\n\
         st.async.mbarrier::complete_tx::bytes.v4.b32 [%rd7+1024], {{%r5, %r6, %r5, %r5}}, [%rd8];\n{}\
         mov.u32 %r7, tile;\nmad.lo.u32 %r8, %r0, 16, %r7;\nmad.lo.u32 %r7, %r0, 24, %r7;\n\
         ld.shared.v4.u32 {{%r10, %r11, %r12, %r13}}, [%r8+1024];\n\
         ld.shared.u64 %rd6, [%r7+16];\nadd.u32 %r10, %r10, %r11;\nadd.u32 %r12, %r12, %r13;\nadd.u32 %r10, %r10, %r12;\n\
         cvt.u64.u32 %rd5, %r10;\nmad.lo.u64 %rd6, %rd6, 100000, %rd5;\n{SYNC}st.global.u64 [%rd40], %rd6;",
        init(1),
        remote(),
        wait_at("tile+2048"),
    );
    let sent = |cta, thread| 100 * peer(cta, 3) + thread;
    assert_eq!(left(&code), expected(|cta, t| 100_002 * sent(cta, t)));
}

#[test]
pub(super) fn reductions_complete_at_an_mbarrier_of_the_cta_they_go_to() {
    let reduce = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";
    type Reduction = fn(u64, u64) -> u64;
    let cases: [(&str, u64, Reduction); 5] = [
        ("add.u32", 5, |old, thread| old + thread),
        ("max.u32", 9, |old, thread| old.max(thread)),
        ("min.s32", 20, |old, thread| old.min(thread)),
        ("xor.b32", 0xff, |old, thread| old ^ thread),
        ("inc.u32", 3, |old, thread| if old >= thread { 0 } else { old + 1 }),
    ];
    for (operation, old, f) in cases {
        let code = format!(
            "st.shared.u64 [tile], {old};\n{}@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [tile+2048], 128;\n{}\
             {reduce}.{operation} [%r2], %r0, [%r3];\n{}ld.shared.u64 %rd6, [tile];\n{SYNC}st.global.u64 [%rd40], %rd6;",
            init(1),
            remote(),
            wait_at("tile+2048"),
        );
        let reduced = (0..32).fold(old, f);
        assert_eq!(left(&code), expected(|_, _| reduced), "{operation}");
    }
    let wide = format!(
        "st.shared.u64 [tile], 0xffffffff;\n{}@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [tile+2048], 256;\n{}\
         cvt.u64.u32 %rd5, %r0;\n{reduce}.add.u64 [%r2], %rd5, [%r3];\n{}ld.shared.u64 %rd6, [tile];\n{SYNC}st.global.u64 [%rd40], %rd6;",
        init(1),
        remote(),
        wait_at("tile+2048"),
    );
    assert_eq!(left(&wide), expected(|_, _| 0xffff_ffff + 496));
}

/// Copies 256 bytes to the next CTA, after its existing data.
#[test]
pub(super) fn bulk_copies_transfer_between_ctas() {
    let code = format!(
        "mov.u32 %r7, tile;\nmad.lo.u32 %r7, %r0, 8, %r7;\nmad.lo.u32 %r5, %r40, 100, %r0;\ncvt.u64.u32 %rd4, %r5;\n\
         st.shared.u64 [%r7], %rd4;\n{}@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [tile+2048], 256;\n{}\
         @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2+1024], [tile], 256, [%r3];\n{}\
         ld.shared.u64 %rd6, [%r7+1024];\n{SYNC}st.global.u64 [%rd40], %rd6;",
        init(1),
        remote(),
        wait_at("tile+2048"),
    );
    assert_eq!(left(&code), expected(|cta, t| 100 * peer(cta, 3) + t));
}

/// CTA r loads its own words of the first array into the next CTA.
#[test]
pub(super) fn bulk_copies_load_into_another_cta() {
    let code = format!(
        "mul.lo.u32 %r5, %r40, 1000;\nadd.u32 %r5, %r5, %r0;\ncvt.u64.u32 %rd4, %r5;\nst.global.u64 [%rd41], %rd4;\n{}\
         @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [tile+2048], 256;\n{}\
         @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd41], 256, [%r3];\n{}\
         mov.u32 %r7, tile;\nmad.lo.u32 %r7, %r0, 8, %r7;\nld.shared.u64 %rd6, [%r7];\n{SYNC}st.global.u64 [%rd40], %rd6;",
        init(1),
        remote(),
        wait_at("tile+2048"),
    );
    assert_eq!(left(&code), expected(|cta, t| 1000 * peer(cta, 3) + t));
}

/// The CTA of rank 1 loads for ranks 0, 1 and 3; rank 2 is unchanged.
#[test]
pub(super) fn multicasts_write_equal_offsets_of_several_ctas() {
    for hint in ["", ".L2::cache_hint"] {
        let policy = if hint.is_empty() { "" } else { ", %rd10" };
        let code = format!(
            "mad.lo.u32 %r5, %r40, 1000, %r0;\ncvt.u64.u32 %rd4, %r5;\nst.global.u64 [%rd41], %rd4;\nmov.u64 %rd10, 0;\n\
             mov.u32 %r7, tile;\nmad.lo.u32 %r7, %r0, 8, %r7;\nst.shared.u64 [%r7+512], 5;\n{}\
             setp.ne.u32 %p3, %r43, 2;\nand.pred %p4, %p1, %p3;\n\
             @%p4 mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [tile+2048], 256;\n\
             setp.eq.u32 %p5, %r43, 1;\nand.pred %p5, %p5, %p1;\nmov.u16 %h1, 11;\n\
             @%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster{hint} \
             [tile+512], [%rd41], 256, [tile+2048], %h1{policy};\n@!%p3 bra KEEP;\n{}\
             KEEP: {SYNC}ld.shared.u64 %rd6, [%r7+512];\nst.global.u64 [%rd40], %rd6;",
            init(1),
            wait_at("tile+2048"),
        );
        let value = |cta: u64, t| if cta % 4 == 2 { 5 } else { 1000 * (cta / 4 * 4 + 1) + t };
        assert_eq!(left(&code), expected(value));
    }
}
