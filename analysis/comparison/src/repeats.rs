//! The workloads of runs: traces of one generator with different seeds are repeats of one workload.

use std::collections::{HashMap, HashSet};

use crate::sampling::Sampling;

/// A run as a repeat of its workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Repeat {
    /// Name of the workload: the trace's, or the common part of the names of several.
    pub(crate) workload: String,
    pub(crate) seed: Option<i64>,
    /// Number of the irrelevant variant of the machine; 0 for the machine itself.
    pub(crate) variant: i64,
    pub(crate) sampling: Sampling,
}

/// Returns the name of each trace's workload, given the traces of runs with their repeats, whose
/// workloads are as in the table.
pub(crate) fn workload_names<'a>(
    runs: impl Iterator<Item = (&'a str, &'a Repeat)>,
) -> HashMap<String, String> {
    let mut seen = HashSet::new();
    let traces: Vec<(&str, &Repeat)> = runs.filter(|(trace, _)| seen.insert(*trace)).collect();
    let mut groups: HashMap<&str, Vec<(&str, &Repeat)>> = HashMap::new();
    for &(trace, repeat) in &traces {
        groups.entry(&repeat.workload).or_default().push((trace, repeat));
    }
    let mut names: HashMap<String, String> = HashMap::new();
    let mut used: HashSet<String> = traces.iter().map(|(trace, _)| (*trace).to_owned()).collect();
    for (trace, repeat) in &traces {
        let group = &groups[repeat.workload.as_str()];
        let name = match (is_repeated(group), names.get(group[0].0)) {
            (false, _) => (*trace).to_owned(),
            (true, Some(name)) => name.clone(),
            (true, None) => unused(group, &mut used),
        };
        names.insert((*trace).to_owned(), name);
    }
    names
}

/// Returns whether the traces of a workload differ in their seeds.
fn is_repeated(group: &[(&str, &Repeat)]) -> bool {
    let mut seeds = HashSet::new();
    group.len() > 1
        && group.iter().all(|(_, repeat)| repeat.seed.is_some() && seeds.insert(repeat.seed))
}

/// Returns a name for a group of traces that is not in use.
fn unused(group: &[(&str, &Repeat)], used: &mut HashSet<String>) -> String {
    let names: Vec<&str> = group.iter().map(|(trace, _)| *trace).collect();
    let common = common(&names);
    let name = match used.contains(&common) || common == "*" {
        true => format!("{} and other seeds", names[0]),
        false => common,
    };
    used.insert(name.clone());
    name
}

/// Returns the common beginning and end of names, with `*` between: `bfs-seed*`.
fn common(names: &[&str]) -> String {
    let first = names[0];
    let is_shared_start = |at: &usize| names.iter().all(|name| name.starts_with(&first[..*at]));
    let starts = (0..=first.len()).filter(|&at| first.is_char_boundary(at));
    let start = starts.take_while(is_shared_start).last().unwrap_or(0);
    let start = first[..start].trim_end_matches(|c: char| c.is_ascii_digit());
    let shortest = names.iter().map(|name| name.len()).min().unwrap_or(0);
    let rest = shortest - start.len();
    let is_shared_end = |length: &usize| {
        let end = &first[first.len() - length..];
        names.iter().all(|name| name.ends_with(end))
    };
    let ends = (0..=rest).filter(|&length| first.is_char_boundary(first.len() - length));
    let end = ends.take_while(is_shared_end).last().unwrap_or(0);
    let end = first[first.len() - end..].trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{start}*{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_part_of_names_leaves_no_digit_of_a_seed() {
        assert_eq!(common(&["bfs-seed1", "bfs-seed2"]), "bfs-seed*");
        assert_eq!(common(&["bfs-1", "bfs-12"]), "bfs-*");
        assert_eq!(common(&["a-11-x", "a-21-x"]), "a-*-x");
        assert_eq!(common(&["é1", "è1"]), "*");
        assert_eq!(common(&["aa", "aaa"]), "aa*");
    }

    fn named(traces: &[(&str, &str, Option<i64>)]) -> Vec<String> {
        let repeat = |&(_, workload, seed): &(&str, &str, Option<i64>)| Repeat {
            workload: workload.to_owned(),
            seed,
            ..Repeat::default()
        };
        let repeats: Vec<Repeat> = traces.iter().map(repeat).collect();
        let names = workload_names(traces.iter().map(|(trace, ..)| *trace).zip(&repeats));
        traces.iter().map(|(trace, ..)| names[*trace].clone()).collect()
    }

    #[test]
    fn seeds_of_a_workload_share_a_name() {
        let traces = [
            ("b1", "bfs", Some(1)),
            ("v", "v", None),
            ("b2", "bfs", Some(2)),
            ("b1", "bfs", Some(1)),
        ];
        assert_eq!(named(&traces), ["b*", "v", "b*", "b*"]);
        assert_eq!(named(&[("b1", "bfs", Some(1))]), ["b1"], "a single seed is no repeat");
    }

    #[test]
    fn traces_of_equal_seeds_are_no_repeats() {
        assert_eq!(named(&[("b1", "bfs", Some(1)), ("b2", "bfs", Some(1))]), ["b1", "b2"]);
        assert_eq!(named(&[("b1", "bfs", None), ("b2", "bfs", None)]), ["b1", "b2"]);
    }

    #[test]
    fn two_workloads_have_two_names() {
        let traces = [
            ("b1", "small", Some(1)),
            ("b3", "large", Some(1)),
            ("b2", "small", Some(2)),
            ("b4", "large", Some(2)),
        ];
        assert_eq!(named(&traces), ["b*", "b3 and other seeds", "b*", "b3 and other seeds"]);
        assert_eq!(named(&[("x", "w", Some(1)), ("y", "w", Some(2))])[0], "x and other seeds");
    }
}
