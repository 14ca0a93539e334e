//! A twin that accesses anything else, or computes anything else, is noticed.

use super::compare::{accesses, compare};
use super::launches::{BFS, GATHER, HISTOGRAM, REDUCTION};
use super::replay::{TAMPERS, Tamper, TracedKernel};
use super::{Given, Repeated, Twin, check, repeat};

fn given<const N: usize>(parameters: [(&str, &str); N]) -> Given {
    parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// Kernels of two short runs, with their accesses to global memory only.
fn short_runs() -> Vec<Repeated> {
    let runs = [
        (&REDUCTION, given([("n", "130"), ("block", "64")])),
        (&BFS, given([("nodes", "40"), ("degree", "2")])),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for (twin, given) in runs {
        let (mut repeated, _) = repeat(twin, twin.ptx, &given, folder.path());
        for kernel in &mut repeated {
            let warps = kernel.found.ctas.iter_mut().flatten();
            warps.for_each(|warp| *warp = accesses(warp));
        }
        all.append(&mut repeated);
    }
    all
}

const WIDTH: (&str, Tamper) = ("another width", |warp, at| {
    warp[at].width *= 2;
    true
});

/// Each access of each warp, changed in each way.
#[test]
fn every_other_access_is_noticed() {
    let mut changes = 0;
    for Repeated { kernel, expected, found } in short_runs() {
        compare(&expected, &found).unwrap();
        for (cta, warp, at) in places(&found) {
            for (what, tamper) in TAMPERS.into_iter().chain([WIDTH]) {
                let mut other = found.clone();
                if tamper(&mut other.ctas[cta][warp], at) {
                    let result = compare(&expected, &other);
                    assert!(result.is_err(), "{kernel} CTA {cta}, warp {warp}, {at}: {what}");
                    changes += 1;
                }
            }
        }
    }
    assert!(changes > 500, "{changes}");
}

/// CTA, warp and number of each access.
fn places(kernel: &TracedKernel) -> Vec<(usize, usize, usize)> {
    let mut places = Vec::new();
    for (cta, warps) in kernel.ctas.iter().enumerate() {
        for (warp, accesses) in warps.iter().enumerate() {
            places.extend((0..accesses.len()).map(|at| (cta, warp, at)));
        }
    }
    places
}

#[test]
fn missing_warps_and_ctas_are_noticed() {
    for Repeated { expected, found, .. } in short_runs() {
        let (mut fewer_warps, mut fewer_ctas) = (found.clone(), found);
        fewer_warps.ctas[0].pop();
        fewer_ctas.ctas.pop();
        assert!(compare(&expected, &fewer_warps).unwrap_err().contains("warps, not"));
        assert!(compare(&expected, &fewer_ctas).unwrap_err().contains("CTAs, not"));
    }
}

/// What is wrong with a program, and what is noticed.
const WRONG: [(&Twin, &str, &str, &str); 5] = [
    (&GATHER, "[%rd9];", "[%rd6];", "warp 0: access 1"),
    (&GATHER, "st.global.f32 \t[%rd11], %f1;", "", "warp 0: access 2 is\n  None"),
    (&BFS, "setp.ne.s16 \t%p4", "setp.eq.s16 \t%p4", "launch 0"),
    (&REDUCTION, "add.s32 \t%r31, %r26", "sub.s32 \t%r31, %r26", "other values"),
    (&HISTOGRAM, "atom.global.add", "atom.global.max", "other values"),
];

#[test]
fn wrong_programs_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    for (twin, right, wrong, noticed) in WRONG {
        assert!(twin.ptx.contains(right), "{}: {right}", twin.generator);
        let ptx = twin.ptx.replace(right, wrong);
        let small = super::cases(twin).remove(0);
        let error = check(twin, &ptx, &small, folder.path()).unwrap_err();
        assert!(error.contains(noticed), "{} {wrong}: {error}", twin.generator);
    }
}
