//! Instructions without their own test file.

use super::coverage::tests;
use super::{result, tids};

tests!(hints_have_no_effect, one_lane_is_elected, clocks_advance, exits_end_threads);

/// Hints change no value.
#[test]
fn hints_have_no_effect() {
    let code = "ldu.global.u64 %rd4, [%rd1];\ndiscard.global.L2 [%rd2], 128;\nprefetch.global.L2 [%rd1];\nprefetchu.L1 [%rd1];\n\
                applypriority.global.L2::evict_normal [%rd1], 128;\n\
                createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;\nnanosleep.u32 20;\npmevent 3;\npmevent.mask 0xff;\n\
                griddepcontrol.wait;\nsetmaxnreg.dec.sync.aligned.u32 40;\nfence.acq_rel.gpu;\nmembar.gl;\nst.global.u64 [%rd3], %rd4;\n";
    assert_eq!(result(code, &tids(), &[]), tids());
}

#[test]
fn one_lane_is_elected() {
    let code = "elect.sync %r1|%p1, -1;\nselp.u64 %rd4, 1, 0, %p1;\nst.global.u64 [%rd3], %rd4;\n";
    assert_eq!(result(code, &[], &[]).iter().sum::<u64>(), 1);
}

#[test]
fn clocks_advance() {
    let code = "mov.u64 %rd4, %clock64;\nmov.u64 %rd5, %clock64;\nsetp.lt.u64 %p1, %rd4, %rd5;\n\
                selp.u64 %rd6, 1, 0, %p1;\nst.global.u64 [%rd3], %rd6;\n";
    assert_eq!(result(code, &[], &[]), [1; 32]);
}

/// Threads leave through `exit`, and none reaches `trap`.
#[test]
fn exits_end_threads() {
    let code = "st.global.u64 [%rd3], %rd3;\nsetp.gt.u32 %p1, %r0, 9;\n@%p1 exit;\nmov.u64 %rd4, 7;\n\
                st.global.u64 [%rd3], %rd4;\nsetp.gt.u32 %p2, %r0, 40;\n@%p2 trap;\n@%p2 brkpt;\n@%p1 ret;\n";
    let got = result(code, &[], &[]);
    assert!(got[..10].iter().all(|&value| value == 7) && got[10..].iter().all(|&value| value > 7));
}
