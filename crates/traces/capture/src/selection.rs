//! Which launches are recorded. The others are executed all the same.

use std::collections::HashMap;

use regex::Regex;
use warpmem_trace::Ranges;

/// Which launches are recorded.
#[derive(Clone, Debug)]
pub struct Selection {
    /// By position among all launches, from 0.
    pub launches: Ranges,
    /// By the name of the kernel.
    pub name: Option<Regex>,
    /// Of those, so many from the first on are left out.
    pub skip: u64,
    /// Of the rest, of each kernel the first is taken and then every so manieth.
    pub every: u64,
    /// Once so many warp instructions are recorded, no further launch is.
    pub max_total: u64,
}

impl Selection {
    /// All launches.
    pub fn all() -> Selection {
        Selection { launches: Ranges::all(), name: None, skip: 0, every: 1, max_total: u64::MAX }
    }

    /// What a trace's header says of launches that are left out, if it must.
    pub(crate) fn note(&self) -> Option<String> {
        let every =
            (self.every > 1).then(|| format!("every {} launches of a kernel, one", self.every));
        let most = (self.max_total < u64::MAX)
            .then(|| format!("no launch after {} warp instructions", self.max_total));
        let parts: Vec<String> = every.into_iter().chain(most).collect();
        (!parts.is_empty()).then(|| format!("recorded: {}", parts.join(", ")))
    }
}

/// A selection and the launches so far.
#[derive(Clone, Debug)]
pub(crate) struct Selector<'a> {
    selection: &'a Selection,
    /// Launches so far.
    launches: u64,
    /// Of them, those that position and name select.
    matching: u64,
    /// Of them, those that were not skipped, by kernel.
    by_kernel: HashMap<String, u64>,
    /// Warp instructions that are recorded.
    instructions: u64,
}

impl Selector<'_> {
    pub fn new(selection: &Selection) -> Selector<'_> {
        let by_kernel = HashMap::new();
        Selector { selection, launches: 0, matching: 0, by_kernel, instructions: 0 }
    }

    /// Whether the next launch, of this kernel, is recorded.
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

    /// A launch that is recorded has ended.
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
    fn launches_are_selected_by_position_name_and_turn() {
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
        // The launch that passes the limit is whole.
        assert_eq!(of(Selection { max_total: 25, ..all }), [0, 1, 2]);
    }

    #[test]
    fn what_a_header_must_say_is_said() {
        assert_eq!(Selection::all().note(), None);
        let sampled = Selection { every: 4, max_total: 100, skip: 3, ..Selection::all() };
        assert_eq!(
            sampled.note().unwrap(),
            "recorded: every 4 launches of a kernel, one, no launch after 100 warp instructions"
        );
    }
}
