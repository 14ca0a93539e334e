//! Comparison of two executions of a kernel.

use std::ops::AddAssign;

use warpmem_trace::{Kind, Space};

use crate::tests::replay::{Traced, TracedKernel};

/// Counts of warp accesses that match.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Matches {
    pub accesses: usize,
    /// The subset with inactive lanes.
    pub partial: usize,
}

impl AddAssign for Matches {
    fn add_assign(&mut self, more: Matches) {
        self.accesses += more.accesses;
        self.partial += more.partial;
    }
}

/// Returns the accesses to global memory by at least one lane, in order.
pub fn global_accesses(warp: &[Traced]) -> Vec<Traced> {
    let is_access = |t: &&Traced| t.space == Space::Global && t.kind != Kind::Barrier;
    warp.iter().filter(is_access).filter(|traced| traced.mask != 0).cloned().collect()
}

/// Compares the accesses of a kernel of the generator with those of its CUDA version.
///
/// # Errors
/// The first difference.
pub fn compare(generated: &TracedKernel, executed: &TracedKernel) -> Result<Matches, String> {
    let mut matches = Matches::default();
    check_counts("CTAs", generated.ctas.len(), executed.ctas.len())?;
    for (cta, (generated, executed)) in generated.ctas.iter().zip(&executed.ctas).enumerate() {
        check_counts("warps", generated.len(), executed.len())?;
        for (warp, (generated, executed)) in generated.iter().zip(executed).enumerate() {
            matches += compare_warps(generated, executed)
                .map_err(|error| format!("CTA {cta}, warp {warp}: {error}"))?;
        }
    }
    Ok(matches)
}

fn check_counts(name: &str, generated: usize, executed: usize) -> Result<(), String> {
    match generated == executed {
        true => Ok(()),
        false => Err(format!("{executed} {name}, not {generated}")),
    }
}

fn compare_warps(generated: &[Traced], executed: &[Traced]) -> Result<Matches, String> {
    let (generated, executed) = (global_accesses(generated), global_accesses(executed));
    let first_difference =
        (0..generated.len().max(executed.len())).find(|&at| generated.get(at) != executed.get(at));
    if let Some(at) = first_difference {
        let [generated, executed] = [&generated, &executed].map(|all| all.get(at));
        return Err(format!("access {at} is\n  {executed:?}, not\n  {generated:?}"));
    }
    let partial = executed.iter().filter(|traced| traced.mask != u32::MAX).count();
    Ok(Matches { accesses: executed.len(), partial })
}
