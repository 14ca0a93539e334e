//! An option per policy slot, from the registries: `--dram-scheduler fr-fcfs(row_hit_cap=4)`.

use crate::slots::{List, PolicyChoice, PolicyChoices, PolicySlot, SLOTS};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use warpmem_support::text::capitalised;

/// Heading of the slot options in the help.
const HEADING: &str = "Policies (`warpmem list` describes them; by default the machine's own)";

/// At most one policy for each slot.
#[derive(Clone, Debug, Default)]
pub struct PolicyOptions(pub PolicyChoices);

/// Any number of policies for each slot, in the order of the tables' columns.
#[derive(Clone, Debug, Default)]
pub struct PolicyLists(pub Vec<PolicyChoice<Vec<String>>>);

impl FromArgMatches for PolicyOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |slot: &PolicySlot| matches.get_one::<String>(slot.name).cloned();
        Ok(PolicyOptions(PolicyChoices::new(choices(given))))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl FromArgMatches for PolicyLists {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given =
            |slot: &PolicySlot| matches.get_one::<List>(slot.name).map(|list| list.of(slot));
        Ok(PolicyLists(choices(given)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn choices<T>(given: impl Fn(&PolicySlot) -> Option<T>) -> Vec<PolicyChoice<T>> {
    SLOTS.iter().filter_map(|slot| given(slot).map(|given| PolicyChoice { slot, given })).collect()
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

fn option(slot: &PolicySlot) -> Arg {
    let names: Vec<&str> = slot.infos().iter().map(|info| info.name).collect();
    let decides = capitalised(slot.decides);
    let arg = Arg::new(slot.name)
        .long(slot.option())
        .help_heading(HEADING)
        .help(format!("{decides}: {}", names.join(", ")));
    // The former name is accepted for one release.
    if slot.name == "l2_queue" { arg.alias("llc-queue") } else { arg }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_named_as_tables_name_them() {
        assert_eq!(SLOTS.each_ref().map(|slot| slot.name), warpmem_comparison::SLOTS);
    }
}
