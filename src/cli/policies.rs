//! An option per slot, from the registries: `--dram-scheduler fr-fcfs(row_hit_cap=4)`.

use super::format::capitalised;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use warpmem::machine::Machine;
use warpmem::slots::{SLOTS, Slot};

/// Heading of the slots' options in the help.
const HEADING: &str =
    "Policies (`warpmem list` describes them; the machine's own where none is given)";

/// At most one policy for each slot.
#[derive(Clone, Debug, Default)]
pub struct PolicyOptions(Vec<Choice<String>>);

/// Any number of policies for each slot.
#[derive(Clone, Debug, Default)]
pub struct PolicyLists(Vec<Choice<Vec<String>>>);

/// What was given for a slot.
#[derive(Clone)]
pub struct Choice<T> {
    pub slot: &'static Slot,
    pub given: T,
}

impl<T: std::fmt::Debug> std::fmt::Debug for Choice<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={:?}", self.slot.name, self.given)
    }
}

impl PolicyOptions {
    /// These choices, sorted in the order of the tables' columns.
    pub fn new(mut choices: Vec<Choice<String>>) -> PolicyOptions {
        choices.sort_by_key(|choice| SLOTS.iter().position(|slot| slot.name == choice.slot.name));
        PolicyOptions(choices)
    }

    pub fn apply(&self, machine: &mut Machine) {
        for Choice { slot, given } in &self.0 {
            slot.policy_of(&mut machine.policy).clone_from(given);
        }
    }

    pub fn choices(&self) -> &[Choice<String>] {
        &self.0
    }
}

impl PolicyLists {
    /// The slots with what was given for them, in the order of the tables' columns.
    pub fn choices(&self) -> &[Choice<Vec<String>>] {
        &self.0
    }

    /// All combinations; the first slot changes slowest.
    pub fn combinations(&self) -> Vec<PolicyOptions> {
        let mut all = vec![PolicyOptions::default()];
        for Choice { slot, given } in &self.0 {
            let with = |rest: &PolicyOptions, policy: &String| {
                let mut choices = rest.0.clone();
                choices.push(Choice { slot, given: policy.clone() });
                PolicyOptions(choices)
            };
            all = all.iter().flat_map(|rest| given.iter().map(|p| with(rest, p))).collect();
        }
        all
    }
}

impl FromArgMatches for PolicyOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |slot: &Slot| matches.get_one::<String>(slot.name).cloned();
        Ok(PolicyOptions(choices(given)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl FromArgMatches for PolicyLists {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |slot: &Slot| matches.get_one::<List>(slot.name).map(|list| list.of(slot));
        Ok(PolicyLists(choices(given)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn choices<T>(given: impl Fn(&Slot) -> Option<T>) -> Vec<Choice<T>> {
    SLOTS.iter().filter_map(|slot| given(slot).map(|given| Choice { slot, given })).collect()
}

impl Args for PolicyOptions {
    fn augment_args(command: Command) -> Command {
        command.args(SLOTS.iter().map(|slot| option(slot).value_name("POLICY")))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl Args for PolicyLists {
    fn augment_args(command: Command) -> Command {
        let list = |slot| option(slot).value_name("POLICY,…|all").value_parser(List::parse);
        command.args(SLOTS.iter().map(list))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn option(slot: &Slot) -> Arg {
    let names: Vec<&str> = slot.infos().iter().map(|info| info.name).collect();
    let decides = capitalised(slot.decides);
    Arg::new(slot.name)
        .long(slot.option())
        .help_heading(HEADING)
        .help(format!("{decides}: {}", names.join(", ")))
}

/// Items of a comma-separated list.
#[derive(Clone, Debug)]
pub struct List(pub Vec<String>);

/// Item that means every policy of the slot that the list does not name.
const ALL: &str = "all";

impl List {
    pub fn parse(text: &str) -> Result<List, String> {
        split_list(text).map(List)
    }

    /// The policies of the slot that the list selects.
    pub fn of(&self, slot: &Slot) -> Vec<String> {
        let named = |name: &&str| !self.0.iter().any(|item| item == name);
        let others = || slot.infos().into_iter().map(|info| info.name).filter(named);
        let expand = |item: &String| match item.as_str() {
            ALL => others().map(str::to_owned).collect(),
            _ => vec![item.clone()],
        };
        self.0.iter().flat_map(expand).collect()
    }
}

/// Splits at commas; those inside parentheses belong to an item.
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
    fn slots_are_named_as_tables_name_them() {
        assert_eq!(SLOTS.each_ref().map(|slot| slot.name), warpmem_analysis::SLOTS);
    }

    #[test]
    fn all_is_every_policy_that_is_not_named() {
        let slot = Slot::find("warp_scheduler").unwrap();
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
        let slot = |name| Slot::find(name).unwrap();
        let list = |name, given: &[&str]| Choice {
            slot: slot(name),
            given: given.iter().map(|&policy| policy.to_owned()).collect(),
        };
        let lists = PolicyLists(vec![
            list("dram_scheduler", &["a", "b"]),
            list("warp_scheduler", &["c", "d"]),
        ]);
        let all = lists.combinations();
        let names: Vec<Vec<&str>> =
            all.iter().map(|c| c.0.iter().map(|choice| choice.given.as_str()).collect()).collect();
        assert_eq!(names, [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]]);
        assert_eq!(PolicyLists::default().combinations().len(), 1);
    }
}
