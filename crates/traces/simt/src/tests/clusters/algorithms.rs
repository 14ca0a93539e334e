//! Algorithms on clusters of several shapes, compared with host results, for any number of host threads.

use proptest::prelude::*;

use super::super::{Machine, recorded};
use super::{NEXT, PLACE, SYNC, wait_at};
use crate::{Launch, Limits};

/// Runs a launch of two warps per CTA; returns the third array, and checks that the trace does not depend on
/// the number of host threads.
fn left(code: &str, words: &[u64], grid: [u32; 3], cluster: [u32; 3]) -> Vec<u64> {
    let ctas: u32 = grid.iter().product();
    let code = format!("{PLACE}{code}");
    let executed = |threads: usize| {
        let mut machine = Machine::new(64 * ctas as usize);
        machine.set(0, words);
        let launch = Launch { grid, cluster: Some(cluster), ..machine.launch(1, 64) };
        let limits = Limits { instructions: 50_000_000, threads, ..Limits::default() };
        let (counts, trace) = recorded(&mut machine, &code, &launch, limits)
            .unwrap_or_else(|error| panic!("{error}\n{code}"));
        (machine.get(2), counts, trace)
    };
    let alone = executed(1);
    for threads in [2, 3] {
        assert!(executed(threads) == alone, "{threads} threads");
    }
    alone.0
}

/// Lists the clusters of a grid as CTA numbers by rank.
fn clusters(grid: [u32; 3], cluster: [u32; 3]) -> Vec<Vec<usize>> {
    let places = |sides: [u32; 3]| {
        let [x, y, z] = sides;
        (0..x * y * z).map(move |at| [at % x, at / x % y, at / x / y])
    };
    let count = std::array::from_fn(|axis| grid[axis] / cluster[axis]);
    let number = move |of: [u32; 3], at: [u32; 3]| {
        let [x, y, z]: [u32; 3] = std::array::from_fn(|axis| of[axis] * cluster[axis] + at[axis]);
        ((z * grid[1] + y) * grid[0] + x) as usize
    };
    places(count).map(|of| places(cluster).map(|at| number(of, at)).collect()).collect()
}

/// The histogram of the CUDA C++ Programming Guide ("Distributed Shared Memory"): each CTA holds 64 of the
/// cluster's bins, and finally writes them.
fn histogram() -> String {
    format!(
        "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 4, %r1;\nst.shared.u32 [%r2], 0;\n{SYNC}\
         ld.global.u64 %rd4, [%rd41];\ncvt.u32.u64 %r3, %rd4;\nshl.b32 %r4, %r44, 6;\nrem.u32 %r3, %r3, %r4;\n\
         shr.u32 %r5, %r3, 6;\nand.b32 %r6, %r3, 63;\ncvta.shared.u64 %rd5, tile;\nmapa.u64 %rd5, %rd5, %r5;\n\
         mul.wide.u32 %rd6, %r6, 4;\nadd.u64 %rd5, %rd5, %rd6;\natom.add.u32 %r7, [%rd5], 1;\n{SYNC}\
         ld.shared.u32 %r8, [%r2];\nst.global.u32 [%rd40], %r8;"
    )
}

/// Every CTA passes its words around the ring, and all CTAs sum them.
fn ring() -> String {
    format!(
        "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %r0, 8, %r1;\n{NEXT}mapa.shared::cluster.u32 %r3, %r2, %r45;\n\
         ld.global.u64 %rd4, [%rd41];\nmov.u64 %rd5, 0;\nmov.u32 %r5, 0;\n\
         ROUND: add.u64 %rd5, %rd5, %rd4;\nmul.lo.u64 %rd5, %rd5, 3;\nst.shared::cluster.u64 [%r3], %rd4;\n{SYNC}\
         ld.shared.u64 %rd4, [%r2];\n{SYNC}add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r44;\n@%p1 bra ROUND;\n\
         st.global.u64 [%rd40], %rd5;"
    )
}

/// The CTA of rank 0 sums the asynchronous reductions of all CTAs; the others wait for its signal.
fn reduction() -> String {
    format!(
        "mov.u32 %r1, tile;\nst.shared.u64 [%r1], 0;\nsetp.eq.u32 %p1, %r0, 0;\n\
         @%p1 mbarrier.init.shared::cta.b64 [tile+2048], 1;\nfence.mbarrier_init.release.cluster;\n{SYNC}\
         mul.lo.u32 %r2, %r44, 512;\nsetp.ne.u32 %p2, %r43, 0;\n@%p2 mov.u32 %r2, 8;\n\
         @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [tile+2048], %r2;\n\
         mapa.shared::cluster.u32 %r3, tile, 0;\nmapa.shared::cluster.u32 %r4, tile+2048, 0;\nld.global.u64 %rd4, [%rd41];\n\
         red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r3], %rd4, [%r4];\n{}\
         @%p2 bra READ;\nld.shared.u64 %rd5, [tile];\nsetp.ge.u32 %p3, %r0, %r44;\n@%p3 bra READ;\n\
         setp.eq.u32 %p4, %r0, 0;\n@%p4 bra READ;\n\
         mapa.shared::cluster.u32 %r5, tile, %r0;\nmapa.shared::cluster.u32 %r6, tile+2048, %r0;\n\
         st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r5], %rd5, [%r6];\n\
         READ: ld.shared.u64 %rd5, [tile];\nst.global.u64 [%rd40], %rd5;\n{SYNC}",
        wait_at("tile+2048"),
    )
}

fn check(words: &[u64], grid: [u32; 3], cluster: [u32; 3]) {
    let of = |cta: usize| &words[64 * cta..64 * (cta + 1)];
    let [bins, ringed, sums] =
        [histogram(), ring(), reduction()].map(|code| left(&code, words, grid, cluster));
    for ctas in clusters(grid, cluster) {
        let size = ctas.len();
        let all: Vec<u64> = ctas.iter().flat_map(|&cta| of(cta)).copied().collect();
        for (rank, &cta) in ctas.iter().enumerate() {
            for thread in 0..64 {
                let at = 64 * cta + thread;
                let bin = (64 * rank + thread) as u64;
                let count = all.iter().filter(|&&word| word % (64 * size as u64) == bin).count();
                assert_eq!(bins[at], count as u64, "histogram of {cluster:?}, CTA {cta}");
                let passing = (0..size).map(|round| of(ctas[(rank + size - round) % size])[thread]);
                let sum = passing.fold(0u64, |sum, word| (sum + word).wrapping_mul(3));
                assert_eq!(ringed[at], sum, "ring of {cluster:?}, CTA {cta}");
                assert_eq!(sums[at], all.iter().sum::<u64>(), "sum of {cluster:?}, CTA {cta}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(warpmem_testing::cases(4)))]

    #[test]
    fn algorithms_match_the_host(
        cluster in prop::sample::select(vec![
            [1, 1, 1], [2, 1, 1], [3, 1, 1], [1, 4, 1], [2, 2, 1], [2, 1, 3], [2, 2, 2], [4, 2, 2], [16, 1, 1],
        ]),
        of in (1..3u32, 1..3u32, 1..2u32),
        words in prop::collection::vec(0..10_000u64, 64 * 64),
    ) {
        let [x, y, z] = cluster;
        let grid = [x * of.0, y * of.1, z * of.2];
        let ctas: u32 = grid.iter().product();
        check(&words[..64 * ctas as usize], grid, cluster);
    }
}
