//! Special registers, addresses, and accesses to other CTAs' shared memory.

use super::super::coverage::tests;
use super::super::{Machine, kernel, result, tids};
use super::{NEXT, PLACE, SYNC, expected, left, peer, run, run_module};
use crate::Launch;

tests!(
    special_registers_of_a_cluster_in_three_dimensions,
    addresses_name_a_cta,
    a_cta_reads_and_writes_the_memory_of_others,
    generic_addresses_reach_the_right_cta,
    atomics_of_all_ctas_meet_in_one
);

/// Combines registers as fields of four bits, first lowest.
fn fields(registers: &[&str]) -> String {
    let put = |(at, name): (usize, &&str)| {
        format!(
            "mov.u32 %r1, {name};\ncvt.u64.u32 %rd5, %r1;\nshl.b64 %rd5, %rd5, {};\nor.b64 %rd4, %rd4, %rd5;\n",
            4 * at
        )
    };
    let code: String = registers.iter().enumerate().map(put).collect();
    format!("mov.u64 %rd4, 0;\n{code}st.global.u64 [%rd40], %rd4;\n")
}

const REGISTERS: [&str; 14] = [
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%cluster_ctarank",
    "%cluster_nctarank",
];

fn packed(fields: impl IntoIterator<Item = u64>) -> u64 {
    fields.into_iter().zip(0..).fold(0, |word, (field, at)| word | field << (4 * at))
}

#[test]
pub(super) fn special_registers_of_a_cluster_in_three_dimensions() {
    let (grid, cluster) = ([4, 6, 4], [2, 3, 2]);
    let mut machine = Machine::new(96);
    let launch = Launch { grid, cluster: Some(cluster), ..machine.launch(1, 1) };
    run(&mut machine, &fields(&REGISTERS), &launch).unwrap();
    for (cta, got) in machine.get(2).into_iter().enumerate() {
        let at = [cta % 4, cta / 4 % 6, cta / 24].map(|n| n as u64);
        let [x, y, z] = [at[0] % 2, at[1] % 3, at[2] % 2];
        let ids = [at[0] / 2, at[1] / 3, at[2] / 2, 2, 2, 2, x, y, z, 2, 3, 2];
        let ranks = [x + 2 * (y + 3 * z), 12];
        assert_eq!(got, packed(ids.into_iter().chain(ranks)), "CTA {at:?}");
    }
}

/// A CTA without a cluster forms its own.
#[test]
fn special_registers_without_clusters() {
    let mut machine = Machine::new(6);
    let launch = Launch { grid: [3, 2, 1], ..machine.launch(1, 1) };
    let text = kernel(&format!("{PLACE}{}", fields(&REGISTERS)));
    run_module(&mut machine, &text, &launch).unwrap();
    let at = |cta: u64| [cta % 3, cta / 3, 0, 3, 2, 1, 0, 0, 0, 1, 1, 1, 0, 1];
    assert_eq!(machine.get(2), (0..6).map(|cta| packed(at(cta))).collect::<Vec<_>>());
}

#[test]
fn clusters_of_launch_or_kernel_are_explicit() {
    let code = format!(
        "{PLACE}mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r1, 1, 2, %p1;\nst.global.u32 [%rd40], %r1;"
    );
    let required = kernel(&code).replacen("\n{\n", " .reqnctapercluster 1\n{\n", 1);
    for (text, cluster, is_explicit) in [
        (kernel(&code), None, 2),
        (kernel(&code), Some([1, 1, 1]), 1),
        (kernel(&code), Some([2, 1, 1]), 1),
        (required, None, 1),
    ] {
        let mut machine = Machine::new(2);
        let launch = Launch { cluster, ..machine.launch(2, 1) };
        run_module(&mut machine, &text, &launch).unwrap();
        assert_eq!(machine.get(2), [is_explicit; 2], "{cluster:?}");
    }
}

/// Returns ranks from shared and generic addresses, of 32 and 64 bits; the CTA's own address is unchanged.
#[test]
pub(super) fn addresses_name_a_cta() {
    let code = format!(
        "{NEXT}mov.u64 %rd4, 0;\nmov.u32 %r1, tile;\nmapa.shared::cluster.u32 %r2, %r1, %r45;\n\
         getctarank.shared::cluster.u32 %r3, %r2;\n\
         cvta.shared.u64 %rd5, tile;\nmapa.u64 %rd6, %rd5, %r45;\ngetctarank.u64 %r4, %rd6;\n\
         mapa.shared::cluster.u64 %rd7, tile+16, %r45;\ngetctarank.shared::cluster.u64 %r5, %rd7;\n\
         getctarank.u64 %r6, %rd5;\n\
         isspacep.shared::cta %p1, %rd6;\nisspacep.shared::cluster %p2, %rd6;\nisspacep.shared %p3, %rd5;\n\
         isspacep.shared::cluster %p4, %rd1;\nselp.u32 %r7, 1, 0, %p1;\nselp.u32 %r8, 2, 0, %p2;\n\
         selp.u32 %r9, 4, 0, %p3;\nselp.u32 %r10, 8, 0, %p4;\nadd.u32 %r7, %r7, %r8;\n\
         add.u32 %r9, %r9, %r10;\nadd.u32 %r7, %r7, %r9;\n\
         mapa.shared::cluster.u32 %r11, %r1, %r43;\nsetp.eq.u32 %p5, %r11, %r1;\nselp.u32 %r8, 1, 0, %p5;\n\
         cvta.to.shared::cluster.u64 %rd8, %rd6;\ncvt.u32.u64 %r12, %rd8;\nsetp.eq.u32 %p6, %r12, %r2;\n\
         selp.u32 %r9, 1, 0, %p6;\nsub.u64 %rd9, %rd7, %rd8;\ncvt.u32.u64 %r10, %rd9;\n\
         mov.b32 %r13, 0;\n{}cvt.u64.u32 %rd4, %r13;\nst.global.u64 [%rd40], %rd4;",
        [3, 4, 5, 6, 7, 8, 9]
            .map(|register| format!("shl.b32 %r13, %r13, 4;\nor.b32 %r13, %r13, %r{register};\n"))
            .concat()
            + "shl.b32 %r10, %r10, 28;\nshr.u32 %r10, %r10, 28;\nsetp.ne.u32 %p7, %r10, 0;\n@%p7 trap;\n"
    );
    let ranks = |cta: u64| [(cta + 1) % 4; 3].into_iter().chain([cta % 4]);
    // Only the CTA's own address is in `.shared::cta`.
    let nibbles =
        |cta: u64| ranks(cta).chain([2 + 4, 1, 1]).fold(0, |word, field| word << 4 | field);
    assert_eq!(left(&code), expected(|cta, _| nibbles(cta)));
}

/// Each thread stores to the next CTA, and loads what the previous one stored.
#[test]
pub(super) fn a_cta_reads_and_writes_the_memory_of_others() {
    let code = format!(
        "{NEXT}shl.b32 %r1, %r0, 4;\nmov.u32 %r2, tile;\nadd.u32 %r1, %r1, %r2;\n\
         mapa.shared::cluster.u32 %r3, %r1, %r45;\nmad.lo.u32 %r4, %r40, 100, %r0;\nneg.s32 %r5, %r4;\n\
         st.shared::cluster.v2.u32 [%r3+8], {{%r4, %r5}};\n{SYNC}\
         ld.shared::cluster.v2.u32 {{%r6, %r7}}, [%r1+8];\nld.shared::cta.u32 %r8, [%r1+8];\n\
         ld.relaxed.cluster.shared::cluster.u32 %r9, [%r3+8];\nadd.u32 %r6, %r6, %r7;\nadd.u32 %r8, %r8, %r6;\n\
         mul.wide.u32 %rd4, %r9, 10000;\ncvt.u64.u32 %rd5, %r8;\nadd.u64 %rd4, %rd4, %rd5;\n{SYNC}\
         st.global.u64 [%rd40], %rd4;"
    );
    let sent = |cta: u64, thread: u64| 100 * cta + thread;
    assert_eq!(left(&code), expected(|cta, t| 10000 * sent(cta, t) + sent(peer(cta, 3), t)));
}

/// Lanes of one instruction access their own CTA, another CTA, and global memory.
#[test]
pub(super) fn generic_addresses_reach_the_right_cta() {
    let code = format!(
        "{NEXT}cvta.shared.u64 %rd4, tile;\nadd.u64 %rd5, %rd4, %rd0;\nmad.lo.u32 %r4, %r40, 100, %r0;\n\
         cvt.u64.u32 %rd6, %r4;\nst.u64 [%rd5], %rd6;\nst.global.u64 [%rd41], 7;\n{SYNC}\
         and.b32 %r1, %r0, 3;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 mapa.u64 %rd5, %rd5, %r45;\n\
         setp.eq.u32 %p2, %r1, 2;\n@%p2 mov.u64 %rd5, %rd41;\nld.u64 %rd7, [%rd5];\n\
         @%p1 st.u64 [%rd5+2048], %rd7;\n{SYNC}ld.shared.u64 %rd8, [tile+2056];\nadd.u64 %rd7, %rd7, %rd8;\n\
         st.global.u64 [%rd40], %rd7;"
    );
    let value = |cta: u64, t: u64| match t % 4 {
        1 => 100 * peer(cta, 1) + t,
        2 => 7,
        _ => 100 * cta + t,
    };
    // Each CTA finds the value that the previous one read here and stored.
    assert_eq!(left(&code), expected(|cta, t| value(cta, t) + 100 * cta + 1));
}

#[test]
pub(super) fn atomics_of_all_ctas_meet_in_one() {
    let code = format!(
        "mov.u32 %r1, tile;\nst.shared.u64 [%r1], 0;\nst.shared.u32 [%r1+8], 0;\n{SYNC}\
         mapa.shared::cluster.u32 %r2, %r1, 2;\nmapa.shared::cluster.u32 %r3, %r1, 0;\n\
         atom.relaxed.cluster.shared::cluster.add.u64 %rd4, [%r2], 1;\n\
         red.shared::cluster.max.u32 [%r3+8], %r40;\n{SYNC}\
         ld.shared::cluster.u64 %rd5, [%r2];\nld.shared::cluster.u32 %r4, [%r3+8];\n\
         cvt.u64.u32 %rd6, %r4;\nmad.lo.u64 %rd5, %rd6, 1000, %rd5;\nshl.b64 %rd5, %rd5, 32;\n\
         or.b64 %rd4, %rd4, %rd5;\n{SYNC}st.global.u64 [%rd40], %rd4;"
    );
    let left = left(&code);
    for (cluster, words) in (0..).zip(left.chunks(4 * 32)) {
        let highest = 4 * cluster + 3;
        assert!(words.iter().all(|word| word >> 32 == 1000 * highest + 128));
        let mut olds: Vec<u64> = words.iter().map(|word| word & 0xffff_ffff).collect();
        olds.sort_unstable();
        assert_eq!(olds, (0..128).collect::<Vec<_>>(), "each old value appears once");
    }
}

/// Cluster code runs without clusters.
#[test]
fn a_single_cta_forms_a_cluster() {
    let code = format!(
        "mapa.shared::cluster.u32 %r1, tile, 0;\nadd.u32 %r1, %r1, 8;\nst.shared::cluster.u32 [%r1], 5;\n{SYNC}\
         ld.shared.u32 %r2, [tile+8];\nst.global.u32 [%rd3], %r2;"
    );
    assert_eq!(result(&code, &tids(), &[]), [5; 32]);
}
