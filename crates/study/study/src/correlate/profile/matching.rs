//! Launches of a profile matched with those of a trace: by base name, then grid and block, then
//! order.

use super::launch::{Extent, Launch};
use crate::kernel_name::base_name;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A launch of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLaunch {
    pub name: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

impl fmt::Display for TraceLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [grid, block] = [self.grid, self.block].map(Extent::Dimensions);
        write!(f, "{} {grid} x {block}", self.name)
    }
}

/// Launches of both sides that are the same, by index. Several are compared by their means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    pub of_trace: Vec<usize>,
    pub of_profile: Vec<usize>,
}

/// The matches in the order of the trace, and the launches of either side without one.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Matching {
    pub matches: Vec<Match>,
    pub only_in_trace: Vec<usize>,
    pub only_in_profile: Vec<usize>,
}

/// Matches the launches of a trace with those of a profile. Launches of one name and shape are
///
/// - paired in their order, if the profile has no more than the trace;
/// - paired with the mean of their repetitions, if the profile has a multiple of the trace's;
/// - else, and if the profile has means only, compared by the means of both sides.
pub fn match_launches(trace: &[TraceLaunch], profile: &[Launch]) -> Matching {
    let mut of_name: HashMap<String, Vec<usize>> = HashMap::new();
    let mut matching = Matching::default();
    for (at, launch) in trace.iter().enumerate() {
        of_name.entry(base_name(&launch.name)).or_default().push(at);
    }
    for group in groups(profile) {
        let first = &profile[group[0]];
        let of_trace =
            of_name.get_mut(&base_name(&first.name)).map(|open| take(open, trace, first));
        match of_trace.filter(|of_trace| !of_trace.is_empty()) {
            Some(of_trace) => matching.pair(of_trace, group, first.mean_of.is_some()),
            None => matching.only_in_profile.extend(group),
        }
    }
    matching.only_in_trace.extend(of_name.into_values().flatten());
    matching.only_in_trace.sort_unstable();
    matching.only_in_profile.sort_unstable();
    matching.matches.sort_unstable_by_key(|found| found.of_trace[0]);
    matching
}

/// Groups the launches of a profile by name and shape.
fn groups(profile: &[Launch]) -> Vec<Vec<usize>> {
    let text = |extent: Option<Extent>| extent.map(|extent| extent.to_string());
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, launch) in profile.iter().enumerate() {
        let key = (base_name(&launch.name), text(launch.grid), text(launch.block));
        groups.entry(key).or_default().push(at);
    }
    groups.into_values().collect()
}

/// Removes the launches with the shape of `wanted` from those that are open.
fn take(open: &mut Vec<usize>, trace: &[TraceLaunch], wanted: &Launch) -> Vec<usize> {
    let fits =
        |extent: Option<Extent>, dimensions| extent.is_none_or(|known| known.fits(dimensions));
    let is_wanted = |at: &mut usize| {
        let TraceLaunch { grid, block, .. } = trace[*at];
        fits(wanted.grid, grid) && fits(wanted.block, block)
    };
    open.extract_if(.., is_wanted).collect()
}

impl Matching {
    /// Adds the matches of launches with one name and shape.
    fn pair(&mut self, of_trace: Vec<usize>, of_profile: Vec<usize>, are_means: bool) {
        let (ours, theirs) = (of_trace.len(), of_profile.len());
        if are_means || theirs > ours && !theirs.is_multiple_of(ours) {
            return self.matches.push(Match { of_trace, of_profile });
        }
        for (at, launch) in of_trace.into_iter().enumerate() {
            let repetitions: Vec<usize> =
                of_profile.iter().skip(at).step_by(ours).copied().collect();
            match repetitions.is_empty() {
                true => self.only_in_trace.push(launch),
                false => {
                    let of_trace = vec![launch];
                    self.matches.push(Match { of_trace, of_profile: repetitions });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::readings::Readings;
    use super::*;

    const NOTHING: [Vec<usize>; 2] = [vec![], vec![]];

    fn ours(name: &str, grid: u32) -> TraceLaunch {
        TraceLaunch { name: name.to_owned(), grid: [grid, 1, 1], block: [128, 1, 1] }
    }

    fn theirs(name: &str, grid: u32) -> Launch {
        Launch {
            name: name.to_owned(),
            grid: Some(Extent::Dimensions([grid, 1, 1])),
            block: Some(Extent::Dimensions([128, 1, 1])),
            mean_of: None,
            readings: Readings::default(),
        }
    }

    /// Returns the matches as pairs of indices, and the launches without one.
    fn found(trace: &[TraceLaunch], profile: &[Launch]) -> (Vec<[Vec<usize>; 2]>, [Vec<usize>; 2]) {
        let Matching { matches, only_in_trace, only_in_profile } = match_launches(trace, profile);
        let pairs = matches.into_iter().map(|found| [found.of_trace, found.of_profile]);
        (pairs.collect(), [only_in_trace, only_in_profile])
    }

    #[test]
    fn names_and_shapes_are_matched_in_any_order() {
        let trace = [ours("_Z3addPf", 4), ours("_Z3addPf", 8), ours("mul", 4), ours("sub", 4)];
        let profile = [
            theirs("void mul<float>(float*)", 4),
            theirs("add(float *)", 8),
            theirs("add(float *)", 4),
            theirs("mul", 9),
        ];
        let (pairs, alone) = found(&trace, &profile);
        assert_eq!(pairs, [[vec![0], vec![2]], [vec![1], vec![1]], [vec![2], vec![0]]]);
        assert_eq!(alone, [vec![3], vec![3]]);
    }

    #[test]
    fn launches_of_one_shape_are_matched_in_their_order() {
        let (pairs, alone) =
            found(&[(); 3].map(|()| ours("k", 4)), &[(); 3].map(|()| theirs("k", 4)));
        assert_eq!(pairs, [0, 1, 2].map(|at| [vec![at], vec![at]]));
        assert_eq!(alone, NOTHING);
        // A profile of the first launches.
        let (pairs, alone) =
            found(&[(); 3].map(|()| ours("k", 4)), &[(); 2].map(|()| theirs("k", 4)));
        assert_eq!(pairs, [0, 1].map(|at| [vec![at], vec![at]]));
        assert_eq!(alone, [vec![2], vec![]]);
    }

    #[test]
    fn repetitions_are_averaged() {
        let (pairs, _) = found(&[ours("k", 4)], &[(); 3].map(|()| theirs("k", 4)));
        assert_eq!(pairs, [[vec![0], vec![0, 1, 2]]]);
        let (pairs, _) = found(&[(); 2].map(|()| ours("k", 4)), &[(); 6].map(|()| theirs("k", 4)));
        assert_eq!(pairs, [[vec![0], vec![0, 2, 4]], [vec![1], vec![1, 3, 5]]]);
        let (pairs, _) = found(&[(); 2].map(|()| ours("k", 4)), &[(); 3].map(|()| theirs("k", 4)));
        assert_eq!(pairs, [[vec![0, 1], vec![0, 1, 2]]], "no multiple");
    }

    #[test]
    fn without_a_shape_all_launches_of_a_name_are_meant() {
        let mean = Launch { grid: None, block: None, mean_of: Some(9), ..theirs("k(int)", 0) };
        let (pairs, alone) = found(&[ours("k", 4), ours("k", 8), ours("l", 4)], &[mean]);
        assert_eq!(pairs, [[vec![0, 1], vec![0]]]);
        assert_eq!(alone, [vec![2], vec![]]);
    }
}
