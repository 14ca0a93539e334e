//! What two kernels have in common.

use std::ops::AddAssign;

use warpmem_trace::{Kind, Space};

use super::replay::{Traced, TracedKernel};

/// Accesses of warps that are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Same {
    pub accesses: usize,
    /// Those of them in which some lanes of the warp take no part.
    pub divergent: usize,
}

impl AddAssign for Same {
    fn add_assign(&mut self, more: Same) {
        self.accesses += more.accesses;
        self.divergent += more.divergent;
    }
}

/// Accesses to global memory, in order. An instruction without an active lane touches nothing.
pub fn accesses(warp: &[Traced]) -> Vec<Traced> {
    let is_access = |t: &&Traced| t.space == Space::Global && t.kind != Kind::Barrier;
    warp.iter().filter(is_access).filter(|traced| traced.mask != 0).cloned().collect()
}

/// Compares a kernel of a run with its twin.
///
/// # Errors
/// If a warp of the twin accesses anything else.
pub fn compare(expected: &TracedKernel, found: &TracedKernel) -> Result<Same, String> {
    let mut same = Same::default();
    check_counts("CTAs", expected.ctas.len(), found.ctas.len())?;
    for (cta, (expected, found)) in expected.ctas.iter().zip(&found.ctas).enumerate() {
        check_counts("warps", expected.len(), found.len())?;
        for (warp, (expected, found)) in expected.iter().zip(found).enumerate() {
            same += compare_warps(expected, found)
                .map_err(|error| format!("CTA {cta}, warp {warp}: {error}"))?;
        }
    }
    Ok(same)
}

fn check_counts(what: &str, expected: usize, found: usize) -> Result<(), String> {
    match expected == found {
        true => Ok(()),
        false => Err(format!("{found} {what}, not {expected}")),
    }
}

fn compare_warps(expected: &[Traced], found: &[Traced]) -> Result<Same, String> {
    let (expected, found) = (accesses(expected), accesses(found));
    let first_other =
        (0..expected.len().max(found.len())).find(|&at| expected.get(at) != found.get(at));
    if let Some(at) = first_other {
        let [expected, found] = [&expected, &found].map(|all| all.get(at));
        return Err(format!("access {at} is\n  {found:?}, not\n  {expected:?}"));
    }
    let divergent = found.iter().filter(|traced| traced.mask != u32::MAX).count();
    Ok(Same { accesses: found.len(), divergent })
}
