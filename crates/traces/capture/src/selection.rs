//! Selects the launches to record. Unselected launches are executed all the same.

use std::collections::HashMap;

use regex::Regex;
use warpmem_trace::Ranges;

/// Rules that select the launches to record.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Positions among all launches, from 0.
    pub launches: Ranges,
    /// Pattern of the kernel's name.
    pub name: Option<Regex>,
    /// Leading launches to skip, among those that position and name select.
    pub skip: u64,
    /// Records the first of every `every` remaining launches of each kernel.
    pub every: u64,
    /// Recorded warp instructions after which no further launch is recorded.
    pub max_total: u64,
}

impl Selection {
    /// Selects all launches.
    pub fn all() -> Selection {
        Selection { launches: Ranges::all(), name: None, skip: 0, every: 1, max_total: u64::MAX }
    }

    /// Describes the launches that are left out, for the trace's header; `None` if the header needs no note.
    pub(crate) fn note(&self) -> Option<String> {
        let every =
            (self.every > 1).then(|| format!("one of every {} launches of a kernel", self.every));
        let most = (self.max_total < u64::MAX)
            .then(|| format!("no launch after {} warp instructions", self.max_total));
        let parts: Vec<String> = every.into_iter().chain(most).collect();
        (!parts.is_empty()).then(|| format!("recorded: {}", parts.join(", ")))
    }
}

/// A selection and the counts of launches seen.
#[derive(Clone, Debug)]
pub(crate) struct Selector<'a> {
    selection: &'a Selection,
    /// Launches seen.
    launches: u64,
    /// Launches that match position and name.
    matching: u64,
    /// Matching launches after the skipped ones, by kernel.
    by_kernel: HashMap<String, u64>,
    /// Warp instructions recorded.
    instructions: u64,
}

impl Selector<'_> {
    pub fn new(selection: &Selection) -> Selector<'_> {
        let by_kernel = HashMap::new();
        Selector { selection, launches: 0, matching: 0, by_kernel, instructions: 0 }
    }

    /// Returns whether the next launch, of `kernel`, is recorded.
    pub fn takes(&mut self, kernel: &str) -> bool {
        let Selection { launches, name, skip, every, max_total } = self.selection;
        let number = self.launches;
        self.launches += 1;
        if !launches.contains(number) || name.as_ref().is_some_and(|name| !name.is_match(kernel)) {
            return false;
        }
        self.matching += 1;
        if self.matching <= *skip {
            return false;
        }
        let of_kernel = self.by_kernel.entry(kernel.to_owned()).or_default();
        let is_due = of_kernel.is_multiple_of((*every).max(1));
        *of_kernel += 1;
        is_due && self.instructions < *max_total
    }

    /// Counts a completed recorded launch.
    pub fn recorded(&mut self, warp_instructions: u64) {
        self.instructions += warp_instructions;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(selection: &Selection, kernels: &[&str]) -> Vec<usize> {
        let mut selector = Selector::new(selection);
        let numbered = kernels.iter().enumerate();
        let mut takes = |kernel: &str| {
            let takes = selector.takes(kernel);
            if takes {
                selector.recorded(10);
            }
            takes
        };
        numbered.filter(|(_, kernel)| takes(kernel)).map(|(number, _)| number).collect()
    }

    #[test]
    fn launches_are_selected_by_position_name_and_interval() {
        let kernels = ["a", "b", "a", "a", "b", "a", "a"];
        let all = Selection::all();
        let of = |selection: Selection| taken(&selection, &kernels);
        assert_eq!(of(all.clone()), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(of(Selection { launches: "1..3".parse().unwrap(), ..all.clone() }), [1, 2]);
        let a = Selection { name: Some(Regex::new("^a$").unwrap()), ..all.clone() };
        assert_eq!(of(a.clone()), [0, 2, 3, 5, 6]);
        assert_eq!(of(Selection { skip: 2, ..a.clone() }), [3, 5, 6]);
        assert_eq!(of(Selection { every: 2, ..all.clone() }), [0, 1, 3, 6]);
        assert_eq!(of(Selection { skip: 1, every: 2, ..a }), [2, 5]);
        // The launch that passes the limit is recorded whole.
        assert_eq!(of(Selection { max_total: 25, ..all }), [0, 1, 2]);
    }

    #[test]
    fn headers_state_which_launches_are_left_out() {
        assert_eq!(Selection::all().note(), None);
        let sampled = Selection { every: 4, max_total: 100, skip: 3, ..Selection::all() };
        assert_eq!(
            sampled.note().unwrap(),
            "recorded: one of every 4 launches of a kernel, no launch after 100 warp instructions"
        );
    }
}
