//! The published results that claims cover.

use super::{Paper, Published, published};

/// Number of published results, by treatment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    pub results: usize,
    /// Results to which a claim refers, and repetitions of these.
    pub judged: usize,
    /// Results with a reason for not judging them.
    pub unjudged: usize,
}

impl Paper {
    /// Counts the published results that claims refer to; none for a paper without a list.
    pub fn coverage(&self) -> Option<Coverage> {
        let all = published(&self.name);
        let is_claimed = |id: &String| self.claims.iter().any(|claim| claim.results.contains(id));
        let is_judged = |one: &&Published| is_claimed(one.repeats.as_ref().unwrap_or(&one.id));
        (!all.is_empty()).then(|| Coverage {
            results: all.len(),
            judged: all.iter().filter(is_judged).count(),
            unjudged: all.iter().filter(|one| one.unjudged.is_some()).count(),
        })
    }
}
