//! Mutations of a CUDA version that the comparison must detect.

use super::compare::{compare, global_accesses};
use super::versions::{BFS, GATHER, HISTOGRAM, REDUCTION};
use super::{CudaVersion, Given, LaunchPair, check_run, run_both};
use crate::tests::replay::{TAMPERS, Tamper, TracedKernel};

fn given<const N: usize>(parameters: [(&str, &str); N]) -> Given {
    parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// Launches of two short runs, with global accesses only.
fn short_runs() -> Vec<LaunchPair> {
    let runs = [
        (&REDUCTION, given([("n", "130"), ("block", "64")])),
        (&BFS, given([("nodes", "40"), ("degree", "2")])),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for (version, given) in runs {
        let (mut launches, _) = run_both(version, version.ptx, &given, folder.path());
        for launch in &mut launches {
            let warps = launch.executed.ctas.iter_mut().flatten();
            warps.for_each(|warp| *warp = global_accesses(warp));
        }
        all.append(&mut launches);
    }
    all
}

const WIDTH: (&str, Tamper) = ("another width", |warp, at| {
    warp[at].width *= 2;
    true
});

#[test]
fn comparison_detects_a_change_of_any_access() {
    let mut changes = 0;
    for LaunchPair { kernel, generated, executed } in short_runs() {
        compare(&generated, &executed).unwrap();
        for (cta, warp, at) in positions(&executed) {
            for (name, tamper) in TAMPERS.into_iter().chain([WIDTH]) {
                let mut changed = executed.clone();
                if tamper(&mut changed.ctas[cta][warp], at) {
                    let result = compare(&generated, &changed);
                    assert!(result.is_err(), "{kernel} CTA {cta}, warp {warp}, {at}: {name}");
                    changes += 1;
                }
            }
        }
    }
    assert!(changes > 500, "{changes}");
}

/// Returns CTA, warp and index of each access.
fn positions(kernel: &TracedKernel) -> Vec<(usize, usize, usize)> {
    let mut positions = Vec::new();
    for (cta, warps) in kernel.ctas.iter().enumerate() {
        for (warp, accesses) in warps.iter().enumerate() {
            positions.extend((0..accesses.len()).map(|at| (cta, warp, at)));
        }
    }
    positions
}

#[test]
fn comparison_detects_missing_warps_and_ctas() {
    for LaunchPair { generated, executed, .. } in short_runs() {
        let (mut fewer_warps, mut fewer_ctas) = (executed.clone(), executed);
        fewer_warps.ctas[0].pop();
        fewer_ctas.ctas.pop();
        assert!(compare(&generated, &fewer_warps).unwrap_err().contains("warps, not"));
        assert!(compare(&generated, &fewer_ctas).unwrap_err().contains("CTAs, not"));
    }
}

/// CUDA version, text to replace in its PTX, replacement, and the error expected.
const FAULTS: [(&CudaVersion, &str, &str, &str); 5] = [
    (&GATHER, "[%rd9];", "[%rd6];", "warp 0: access 1"),
    (&GATHER, "st.global.f32 \t[%rd11], %f1;", "", "warp 0: access 2 is\n  None"),
    (&BFS, "setp.ne.s16 \t%p4", "setp.eq.s16 \t%p4", "launch 0"),
    (&REDUCTION, "add.s32 \t%r31, %r26", "sub.s32 \t%r31, %r26", "memory differs"),
    (&HISTOGRAM, "atom.global.add", "atom.global.max", "memory differs"),
];

#[test]
fn comparison_detects_faulty_programs() {
    let folder = tempfile::tempdir().unwrap();
    for (version, original, fault, expected) in FAULTS {
        assert!(version.ptx.contains(original), "{}: {original}", version.generator);
        let ptx = version.ptx.replace(original, fault);
        let small = super::runs(version).remove(0);
        let error = check_run(version, &ptx, &small, folder.path()).unwrap_err();
        assert!(error.contains(expected), "{} {fault}: {error}", version.generator);
    }
}
