//! Exchange between lanes, barriers, and CTAs that wait for each other.

use super::coverage::tests;
use super::{Machine, kernel, kernel_with, result, tids};

tests!(
    shuffles_read_other_lanes_within_their_segment,
    votes_and_matches,
    barriers_make_stores_of_other_warps_visible,
    reductions_over_a_barrier,
    a_producer_arrives_and_a_consumer_waits,
    spinning_ctas_see_flags_of_later_ones,
    dynamic_shared_memory_follows_the_variables
);

fn values(code: &str) -> Vec<u64> {
    result(&format!("{code}\nst.global.u32 [%rd3], %r1;"), &tids(), &[])
}

#[test]
fn shuffles_read_other_lanes_within_their_segment() {
    let of = |code: &str| values(&format!("mul.lo.u32 %r2, %r0, 3;\n{code}"));
    let expect = |got: Vec<u64>, from: &dyn Fn(u64) -> u64| {
        assert_eq!(got, (0..32).map(|t| 3 * from(t)).collect::<Vec<_>>());
    };
    expect(of("shfl.sync.idx.b32 %r1, %r2, 5, 31, -1;"), &|_| 5);
    expect(of("shfl.sync.down.b32 %r1, %r2, 4, 31, -1;"), &|t| if t + 4 < 32 { t + 4 } else { t });
    expect(of("shfl.sync.up.b32 %r1, %r2, 1, 0, -1;"), &|t| t.saturating_sub(1));
    expect(of("shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;"), &|t| t ^ 16);
    // Segments of 8 lanes: the mask is 0x18 and the clamp 7 or 0.
    expect(of("shfl.sync.down.b32 %r1, %r2, 3, 0x181f, -1;"), &|t| {
        if t % 8 + 3 < 8 { t + 3 } else { t }
    });
    expect(of("shfl.sync.idx.b32 %r1, %r2, 2, 0x181f, -1;"), &|t| t / 8 * 8 + 2);
    // A lane outside the mask gives 0.
    let members = of(
        "mov.u32 %r1, 7;\nsetp.ge.u32 %p1, %r0, 8;\n@%p1 bra END;\nshfl.sync.down.b32 %r1, %r2, 4, 31, 0xff;\nEND:",
    );
    let expected = (0..32).map(|t| if t < 4 { 3 * (t + 4) } else { 7 * u64::from(t >= 8) });
    assert_eq!(members, expected.collect::<Vec<_>>());
    let in_range = values("shfl.sync.up.b32 %r2|%p1, %r0, 3, 0, -1;\nselp.b32 %r1, 1, 0, %p1;");
    assert_eq!(in_range, (0..32).map(|t| u64::from(t >= 3)).collect::<Vec<_>>());
}

#[test]
fn votes_and_matches() {
    let ballot = values("setp.gt.u32 %p1, %r0, 29;\nvote.sync.ballot.b32 %r1, %p1, -1;");
    assert!(ballot.iter().all(|&v| v == 0xc000_0000));
    let all = values(
        "setp.gt.u32 %p1, %r0, 29;\nvote.sync.all.pred %p2, %p1, -1;\nvote.sync.any.pred %p3, %p1, -1;\nselp.b32 %r1, 1, 0, %p2;\n@%p3 add.u32 %r1, %r1, 2;",
    );
    assert!(all.iter().all(|&v| v == 2));
    let any = values("and.b32 %r2, %r0, 3;\nmatch.any.sync.b32 %r1, %r2, -1;");
    let wide =
        values("and.b32 %r2, %r0, 3;\ncvt.u64.u32 %rd4, %r2;\nmatch.any.sync.b64 %r1, %rd4, -1;");
    assert_eq!(any, wide);
    assert!(any.iter().enumerate().all(|(t, &v)| v == 0x1111_1111 << (t % 4)));
    let same = values("mov.u32 %r2, 9;\nmatch.all.sync.b32 %r1|%p1, %r2, -1;\n@!%p1 trap;");
    assert!(same.iter().all(|&v| v == 0xffff_ffff));
    let sum = values("redux.sync.add.s32 %r1, %r0, -1;");
    assert!(sum.iter().all(|&v| v == 31 * 16));
    let masks =
        values("mov.u32 %r1, %lanemask_lt;\nmov.u32 %r2, %lanemask_ge;\nadd.u32 %r1, %r1, %r2;");
    assert!(masks.iter().all(|&v| v == 0xffff_ffff));
}

#[test]
fn barriers_make_stores_of_other_warps_visible() {
    let mut machine = Machine::new(256);
    let code = "shl.b32 %r1, %r0, 2;\nmov.u32 %r2, tile;\nadd.u32 %r3, %r2, %r1;\nst.shared.u32 [%r3], %r0;\nbar.sync 0;\n\
                mov.u32 %r4, 255;\nsub.u32 %r4, %r4, %r0;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r4, %r2;\n\
                ld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd3], %r5;";
    machine.run(&kernel(code), 1, 256).unwrap();
    assert_eq!(machine.get(2), (0..256).rev().collect::<Vec<_>>());
}

#[test]
fn reductions_over_a_barrier() {
    let mut machine = Machine::new(128);
    let code = "setp.lt.u32 %p1, %r0, 100;\nbarrier.sync 3;\nbar.red.popc.u32 %r1, 0, %p1;\nbar.red.and.pred %p2, 1, %p1;\n\
                bar.red.or.pred %p3, 2, 128, %p1;\nselp.b32 %r2, 1000, 0, %p2;\nselp.b32 %r3, 2000, 0, %p3;\n\
                add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nst.global.u32 [%rd3], %r1;";
    machine.run(&kernel(code), 1, 128).unwrap();
    assert!(machine.get(2).iter().all(|&v| v == 2100));
}

#[test]
fn a_producer_arrives_and_a_consumer_waits() {
    let mut machine = Machine::new(64);
    let code = "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra CONSUMER;\nmul.lo.u32 %r1, %r0, 7;\nshl.b32 %r2, %r0, 2;\nmov.u32 %r3, tile;\n\
                add.u32 %r2, %r2, %r3;\nst.shared.u32 [%r2], %r1;\nbar.arrive 1, 64;\nbra END;\n\
                CONSUMER: bar.sync 1, 64;\nsub.u32 %r4, %r0, 32;\nshl.b32 %r4, %r4, 2;\nmov.u32 %r5, tile;\nadd.u32 %r4, %r4, %r5;\n\
                ld.shared.u32 %r6, [%r4];\nst.global.u32 [%rd3], %r6;\nEND:";
    machine.run(&kernel(code), 1, 64).unwrap();
    assert_eq!(machine.get(2)[32..], (0..32).map(|t| 7 * t).collect::<Vec<_>>());
}

/// CTA 0 waits for a flag that the last CTA sets.
#[test]
fn spinning_ctas_see_flags_of_later_ones() {
    let mut machine = Machine::new(64);
    let code = "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\nld.param.u64 %rd4, [b];\n@%p1 bra SET;\n\
                SPIN: ld.volatile.global.u32 %r2, [%rd4];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra SPIN;\nst.global.u32 [%rd3], %r2;\nbra END;\n\
                SET: mov.u32 %r3, %nctaid.x;\nsub.u32 %r3, %r3, 1;\nsetp.eq.u32 %p3, %r1, %r3;\n@%p3 st.global.u32 [%rd4], 77;\nEND:";
    machine.run(&kernel(code), 20, 32).unwrap();
    assert!(machine.get(2)[..32].iter().all(|&v| v == 77));
}

/// Like the grid barrier of cooperative groups: all CTAs add to a counter in the workspace, whose address is
/// in two registers, and wait until it is complete. They run round-robin from the start.
#[test]
fn ctas_of_a_cooperative_launch_wait_for_each_other() {
    let mut machine = Machine::new(4);
    let workspace = machine.memory.allocate(crate::WORKSPACE).unwrap();
    let code = "mov.u32 %r1, %envreg2;\nmov.u32 %r2, %envreg1;\nmov.b64 %rd4, {%r1, %r2};\n\
                atom.add.release.gpu.u32 %r3, [%rd4+4], 1;\n\
                SPIN: ld.acquire.gpu.u32 %r3, [%rd4+4];\nsetp.lt.u32 %p1, %r3, 64;\n@%p1 bra SPIN;\n\
                ld.param.u64 %rd5, [c];\nst.global.u32 [%rd5], %r3;";
    let module = warpmem_ptx::parse(&kernel(code)).unwrap();
    let image = crate::Image::load(module, &mut machine.memory).unwrap();
    let launch = crate::Launch { workspace, ..machine.launch(64, 1) };
    let run = crate::Run::new(&image, &launch).unwrap();
    let limits = crate::Limits::default();
    let counts = run.execute(&mut machine.memory, None, limits, &()).unwrap();
    assert_eq!(machine.get(2)[0], 64);
    // A quantum is 64 instructions, far less than the first quantum of other CTAs, 65,536.
    assert!(counts.warp_instructions < 64 * 2_000, "{counts:?}");
}

/// Warp 0 executes 300 instructions and then reads what warp 1 wrote at its start, without a barrier.
#[test]
fn warps_of_a_cta_start_at_about_the_same_time() {
    let mut machine = Machine::new(64);
    let code = "mov.u32 %r2, tile;\nsetp.ge.u32 %p1, %r0, 32;\n@%p1 bra WRITE;\nmov.u32 %r1, 0;\n\
                LOOP: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 100;\n@%p2 bra LOOP;\n\
                ld.shared.u32 %r3, [%r2];\nst.global.u32 [%rd3], %r3;\nbra END;\n\
                WRITE: st.shared.u32 [%r2], 7;\nEND:";
    machine.run(&kernel(code), 1, 64).unwrap();
    assert_eq!(machine.get(2)[..32], [7; 32]);
}

/// Two CTAs wait for each other 20 times: CTA c waits for the counter to be 2 i + c, and increments it. Each
/// spins through its first quantum, of 65,536 instructions, and then through quanta of 1,024.
#[test]
fn waiting_ctas_get_short_quanta_after_the_first() {
    let mut machine = Machine::new(64);
    let code = "mov.u32 %r1, %ctaid.x;\nld.param.u64 %rd4, [b];\nmov.u32 %r3, 0;\n\
                SPIN: ld.volatile.global.u32 %r2, [%rd4];\nsetp.ne.u32 %p2, %r2, %r1;\n@%p2 bra SPIN;\n\
                add.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%rd4], %r2;\nadd.u32 %r1, %r1, 2;\n\
                add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 20;\n@%p3 bra SPIN;";
    let executed = machine.run(&kernel(code), 2, 1).unwrap().warp_instructions;
    let later = executed - 2 * 65_536;
    assert!((35 * 1_024..40 * 1_024).contains(&later), "{later}");
}

#[test]
fn dynamic_shared_memory_follows_the_variables() {
    let mut machine = Machine::new(32);
    let text = kernel_with(
        ".extern .shared .align 16 .b8 dynamic[];",
        "mov.u32 %r1, dynamic;\nmov.u32 %r2, tile;\nsub.u32 %r1, %r1, %r2;\nst.shared.u32 [dynamic], %r1;\nld.shared.u32 %r3, [dynamic];\n\
         mov.u32 %r4, %dynamic_smem_size;\nadd.u32 %r3, %r3, %r4;\nst.global.u32 [%rd3], %r3;",
    );
    let module = warpmem_ptx::parse(&text).unwrap();
    let image = crate::Image::load(module, &mut machine.memory).unwrap();
    let launch = crate::Launch { dynamic_shared: 256, ..machine.launch(1, 32) };
    let run = crate::Run::new(&image, &launch).unwrap();
    assert_eq!(run.shared_bytes(), 4096 + 256);
    run.execute(&mut machine.memory, None, crate::Limits::default(), &()).unwrap();
    assert!(machine.get(2).iter().all(|&v| v == 4096 + 256));
}
