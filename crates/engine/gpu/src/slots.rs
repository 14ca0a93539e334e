//! The policy slots of a machine, independent of the types of their policies: for programs that let
//! a user select policies by name, and for the documentation.

mod added;
mod baseline;
mod chosen;
mod policy_choice;

pub use added::{Policy, uses_added_policy};
pub use baseline::{Baseline, BaselineError};
pub use chosen::ChosenPolicies;
pub use policy_choice::{List, PolicyChoice, PolicyChoices, combinations, split_list};

use crate::cta::scheduler::CTA_SCHEDULERS;
use crate::ideal::IDEALS;
use crate::l2::queue::L2_QUEUES;
use crate::sm::scheduler::WARP_SCHEDULERS;
use warpmem_dram::prefetch::PREFETCHERS;
use warpmem_dram::scheduler::SCHEDULERS;
use warpmem_machine::{Policies, current_key};
use warpmem_network::TOPOLOGIES;
use warpmem_network::arbiter::ARBITERS;
use warpmem_params::PolicyInfo;
use warpmem_translation::scheduler::WALK_SCHEDULERS;

/// A policy slot: one decision of the machine, made by a policy.
pub struct PolicySlot {
    /// Name in configurations and tables: `dram_scheduler`.
    pub name: &'static str,
    /// Title: `DRAM scheduler`.
    pub title: &'static str,
    /// The decision that its policy makes.
    pub decides: &'static str,
    infos: fn() -> Vec<&'static PolicyInfo>,
    policy: fn(&mut Policies) -> &mut String,
}

macro_rules! slot {
    ($registry:ident, $field:ident, $title:literal, $decides:literal) => {
        PolicySlot {
            name: stringify!($field),
            title: $title,
            decides: $decides,
            infos: || $registry.infos().collect(),
            policy: |policies| &mut policies.$field,
        }
    };
}

/// Every slot, in the order of the tables' columns.
pub static SLOTS: [PolicySlot; 9] = [
    slot!(SCHEDULERS, dram_scheduler, "DRAM scheduler", "which request a DRAM bank serves next"),
    slot!(WARP_SCHEDULERS, warp_scheduler, "warp scheduler", "which ready warp issues next"),
    slot!(CTA_SCHEDULERS, cta_scheduler, "CTA scheduler", "which SM takes the next CTA"),
    slot!(L2_QUEUES, l2_queue, "L2 queue", "which waiting request an L2 slice serves next"),
    slot!(TOPOLOGIES, topology, "topology", "how the networks connect SMs and L2 slices"),
    slot!(ARBITERS, arbiter, "arbiter", "which input a network's output serves next"),
    slot!(PREFETCHERS, prefetcher, "prefetcher", "what a DRAM channel prefetches for the L2"),
    slot!(WALK_SCHEDULERS, walk_scheduler, "walk scheduler", "which page walk starts next"),
    slot!(IDEALS, ideal, "ideal mode", "which component of the machine is perfect"),
];

impl PolicySlot {
    /// Returns its name on the command line: `dram-scheduler`.
    pub fn option(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Finds a slot by its current or former name, with dashes or underscores.
    pub fn find(name: &str) -> Option<&'static PolicySlot> {
        let key = format!("policy.{}", name.replace('-', "_"));
        let name = current_key(&key).into_owned();
        SLOTS.iter().find(|slot| name.strip_prefix("policy.") == Some(slot.name))
    }

    /// Returns its policies, in the order of their registry.
    pub fn infos(&self) -> Vec<&'static PolicyInfo> {
        (self.infos)()
    }

    /// Returns the policy selected for it.
    pub fn policy_of<'a>(&self, policies: &'a mut Policies) -> &'a mut String {
        (self.policy)(policies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_machine::{Machine, load, preset_names};
    use warpmem_params::{DefaultValue, Kind, PolicyError};

    fn check_policies(machine: &Machine) -> Result<(), PolicyError> {
        ChosenPolicies::choose(machine)?.check(machine)
    }

    #[test]
    fn slots_and_registries_share_their_names() {
        let names = SLOTS.each_ref().map(|slot| slot.name);
        let registries = [
            SCHEDULERS.slot,
            WARP_SCHEDULERS.slot,
            CTA_SCHEDULERS.slot,
            L2_QUEUES.slot,
            TOPOLOGIES.slot,
            ARBITERS.slot,
            PREFETCHERS.slot,
            WALK_SCHEDULERS.slot,
            IDEALS.slot,
        ];
        assert_eq!(names, registries);
    }

    #[test]
    fn a_slot_is_found_by_its_former_name() {
        for name in ["l2_queue", "l2-queue", "llc_queue", "llc-queue"] {
            assert_eq!(PolicySlot::find(name).map(|slot| slot.name), Some("l2_queue"), "{name}");
        }
        assert!(PolicySlot::find("no-such-slot").is_none());
    }

    #[test]
    fn the_policies_of_presets_are_valid() {
        for preset in preset_names() {
            let checked = check_policies(&load(preset, &[]).unwrap());
            assert!(checked.is_ok(), "{preset}: {}", checked.unwrap_err());
        }
    }

    #[test]
    fn an_unknown_page_policy_is_refused() {
        let machine = load("li2015", &["dram.page=opne".to_owned()]).unwrap();
        let refused = check_policies(&machine).unwrap_err().to_string();
        assert!(refused.starts_with("unknown page `opne` (did you mean `open`?)"), "{refused}");
    }

    /// Each parameter on its own, at its default and outside its range.
    #[test]
    fn every_policy_accepts_its_documented_parameters() {
        let asked = ["network.virtual_channels=2", "l2.queue=32"].map(str::to_owned);
        let machine = load("li2015", &asked).unwrap();
        for slot in &SLOTS {
            for (info, param) in
                slot.infos().iter().flat_map(|i| i.params().into_iter().map(move |p| (i, p)))
            {
                let with = |value: &str| {
                    let mut machine = machine.clone();
                    let policy = format!("{}({}={value})", info.name, param.name);
                    *slot.policy_of(&mut machine.policy) = policy;
                    check_policies(&machine).map_err(|error| error.to_string())
                };
                if let DefaultValue::Value(default) = param.default {
                    with(&default.to_string()).unwrap();
                }
                let refused = with("?").unwrap_err();
                let names = format!("`{}`", param.name);
                assert!(
                    refused.contains(&names) || matches!(param.kind, Kind::Text(_)),
                    "{refused}"
                );
            }
        }
    }

    #[test]
    fn only_known_policies_and_parameters_fit_every_preset() {
        for preset in preset_names() {
            for slot in &SLOTS {
                // Requirements of some policies: a ring, `calrs`, the prefetchers, crossbars.
                let asked = [
                    "network.virtual_channels=2",
                    "l2.queue=32",
                    "l2.enabled=true",
                    "network.sms_per_node=1",
                    "policy.topology=crossbar",
                ];
                let mut machine = load(preset, &asked.map(str::to_owned)).unwrap();
                for info in slot.infos() {
                    *slot.policy_of(&mut machine.policy) = info.name.to_owned();
                    check_policies(&machine).unwrap();
                    *slot.policy_of(&mut machine.policy) = format!("{}(no-such-key=1)", info.name);
                    let error = check_policies(&machine).unwrap_err().to_string();
                    let of = format!("of {} `{}`", slot.name, info.name);
                    assert!(error.contains(&of) && error.contains("no-such-key"), "{error}");
                }
                *slot.policy_of(&mut machine.policy) = "no-such-policy".to_owned();
                let error = check_policies(&machine).unwrap_err().to_string();
                assert!(error.contains(slot.name), "{error}");
            }
        }
    }
}
