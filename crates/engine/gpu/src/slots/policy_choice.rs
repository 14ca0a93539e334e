//! Selections of a user: one policy or several per slot, by name.

use super::{PolicySlot, SLOTS};
use std::fmt;
use warpmem_machine::Machine;

/// The selection for a slot.
#[derive(Clone)]
pub struct PolicyChoice<T> {
    pub slot: &'static PolicySlot,
    pub given: T,
}

impl<T: fmt::Debug> fmt::Debug for PolicyChoice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?}", self.slot.name, self.given)
    }
}

/// At most one policy per slot.
#[derive(Clone, Debug, Default)]
pub struct PolicyChoices(Vec<PolicyChoice<String>>);

impl PolicyChoices {
    /// Sorts the selections in the order of the tables' columns.
    pub fn new(mut choices: Vec<PolicyChoice<String>>) -> PolicyChoices {
        choices.sort_by_key(|choice| SLOTS.iter().position(|slot| slot.name == choice.slot.name));
        PolicyChoices(choices)
    }

    /// Sets the selected policies in the machine.
    pub fn apply(&self, machine: &mut Machine) {
        for PolicyChoice { slot, given } in &self.0 {
            slot.policy_of(&mut machine.policy).clone_from(given);
        }
    }

    /// Iterates in the order of the tables' columns.
    pub fn iter(&self) -> impl Iterator<Item = &PolicyChoice<String>> {
        self.0.iter()
    }
}

/// Returns all combinations of one policy of each list; the first slot varies slowest.
pub fn combinations(lists: &[PolicyChoice<Vec<String>>]) -> Vec<PolicyChoices> {
    let mut all = vec![PolicyChoices::default()];
    for PolicyChoice { slot, given } in lists {
        let with = |rest: &PolicyChoices, policy: &String| {
            let mut choices = rest.0.clone();
            choices.push(PolicyChoice { slot, given: policy.clone() });
            PolicyChoices(choices)
        };
        all = all.iter().flat_map(|rest| given.iter().map(|p| with(rest, p))).collect();
    }
    all
}

/// Items of a comma-separated list.
#[derive(Clone, Debug)]
pub struct List(pub Vec<String>);

/// Item for every policy of the slot that the list does not name.
const ALL: &str = "all";

impl List {
    pub fn parse(text: &str) -> Result<List, String> {
        split_list(text).map(List)
    }

    /// Returns the policies of the slot that the list selects.
    pub fn of(&self, slot: &PolicySlot) -> Vec<String> {
        let named = |name: &&str| !self.0.iter().any(|item| item == name);
        let others = || slot.infos().into_iter().map(|info| info.name).filter(named);
        let expand = |item: &String| match item.as_str() {
            ALL => others().map(str::to_owned).collect(),
            _ => vec![item.clone()],
        };
        self.0.iter().flat_map(expand).collect()
    }
}

/// Splits at commas outside parentheses.
pub fn split_list(text: &str) -> Result<Vec<String>, String> {
    let mut items = vec![String::new()];
    let mut depth = 0i32;
    for c in text.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth < 0 {
            return Err("a closing parenthesis has no opening one".to_owned());
        }
        match items.last_mut() {
            Some(item) if c != ',' || depth > 0 => item.push(c),
            _ => items.push(String::new()),
        }
    }
    if depth > 0 {
        return Err("a parenthesis is not closed".to_owned());
    }
    let items: Vec<String> = items.iter().map(|item| item.trim().to_owned()).collect();
    if items.iter().any(String::is_empty) {
        return Err("a name is missing before or after a comma".to_owned());
    }
    match (1..items.len()).find(|&at| items[..at].contains(&items[at])) {
        Some(at) => Err(format!("`{}` is given twice", items[at])),
        None => Ok(items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_parentheses_belong_to_the_policy() {
        let split = |text| split_list(text).unwrap();
        assert_eq!(split("fcfs"), ["fcfs"]);
        let text = "fr-fcfs(row_hit_cap=4,page=closed), fcfs";
        assert_eq!(split(text), ["fr-fcfs(row_hit_cap=4,page=closed)", "fcfs"]);
    }

    #[test]
    fn all_is_every_policy_that_is_not_named() {
        let slot = PolicySlot::find("warp_scheduler").unwrap();
        let of = |text: &str| List::parse(text).unwrap().of(slot);
        let names = || slot.infos().into_iter().map(|info| info.name);
        assert_eq!(of("all"), names().collect::<Vec<_>>());
        let others = names().filter(|name| !["gto", "lrr"].contains(name));
        let rest = [&["gto", "lrr"][..], &others.collect::<Vec<_>>(), &["lrr(x=1)"]].concat();
        assert_eq!(of("gto,lrr,all,lrr(x=1)"), rest);
        assert_eq!(of("gto"), ["gto"]);
    }

    #[test]
    fn malformed_lists_are_refused() {
        for text in ["", "a,", ",a", "a,,b", "a(b", "a)b", "a)(", "a,b,a"] {
            assert!(split_list(text).is_err(), "{text}");
        }
    }

    #[test]
    fn combinations_are_all_there_in_order() {
        let list = |name, given: &[&str]| PolicyChoice {
            slot: PolicySlot::find(name).unwrap(),
            given: given.iter().map(|&policy| policy.to_owned()).collect(),
        };
        let lists = [list("dram_scheduler", &["a", "b"]), list("warp_scheduler", &["c", "d"])];
        let all = combinations(&lists);
        let names: Vec<Vec<&str>> =
            all.iter().map(|c| c.iter().map(|choice| choice.given.as_str()).collect()).collect();
        assert_eq!(names, [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]]);
        assert_eq!(combinations(&[]).len(), 1);
    }
}
