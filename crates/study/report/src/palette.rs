//! The same colour for a policy in every report.

use std::collections::{BTreeMap, BTreeSet};
use warpmem_chart::{COLOUR_COUNT, Look, Looks};

/// Known policies by slot. The place of a name in its list is its look, so names are only appended.
const KNOWN: [&[&str]; 9] = [
    &[
        "fr-fcfs",
        "fcfs",
        "banked-fifo",
        "warped-mc",
        "mshr-s+a",
        "par-bs",
        "most-pending",
        "atlas",
        "tcm",
        "bliss",
        "sms",
        "medic",
        "wg",
        "mask",
        "div-first",
        "core-criticality",
        "sjf-potential",
        "stfm",
        "fr-rr-fcfs",
        "mshr-s",
        "mshr-m",
        "wg-m",
        "wg-bw",
        "wg-w",
        "delay",
        "priority",
    ],
    &[
        "lrr",
        "gto",
        "two-level",
        "two-level-active",
        "oldest",
        "ccws",
        "cta-aware",
        "cta-aware-locality",
        "cta-aware-locality-blp",
        "swl",
        "caws",
        "mascar",
    ],
    &["round-robin", "depth-first", "block-clustered", "lazy-cta", "dyncta"],
    &["fifo", "calrs", "calrs-ideal", "none"],
    &["crossbar", "mesh", "ring", "butterfly", "partitioned-crossbar", "ideal"],
    &[
        "round-robin",
        "hold-grant",
        "row-matching-hold-grant",
        "hash-matching-hold-grant",
        "oldest-first",
        "random",
    ],
    &["none", "opportunistic", "opportunistic-stop"],
    &["sjf", "fcfs", "simt-aware", "warp-oldest"],
    &["perfect-dram", "perfect-l2", "perfect-l1", "none", "infinite-bandwidth-noc"],
];

/// Returns the looks of these policies. A known name has its own look, which the first of its
/// variants takes if the name itself is absent. The hash of any other name chooses its look; one
/// that is taken leads to the next with an unused colour, in the order of names.
pub fn looks(policies: &[String]) -> Looks {
    let names: BTreeSet<&str> = policies.iter().map(String::as_str).collect();
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &names {
        let Some(place) = known(bare(name)) else { continue };
        let is_named = *name == bare(name) || !names.contains(bare(name));
        if is_named && !taken.values().any(|other| *other == place) {
            taken.insert(*name, place);
        }
    }
    for name in names {
        if !taken.contains_key(name) {
            taken.insert(name, free(hash(name), &taken));
        }
    }
    taken.into_iter().map(|(name, place)| (name.to_owned(), Look::numbered(place))).collect()
}

/// Returns the first place from `wanted` on with an unused colour, or, if all colours are in use,
/// with an unused look.
fn free(wanted: usize, taken: &BTreeMap<&str, usize>) -> usize {
    let places = || (0..LOOKS).map(|step| (wanted + step) % LOOKS);
    let is_new = |place: &usize| !taken.values().any(|other| other == place);
    let has_new_colour =
        |place: &usize| !taken.values().any(|other| other % COLOUR_COUNT == place % COLOUR_COUNT);
    places().find(has_new_colour).or_else(|| places().find(is_new)).unwrap_or(wanted)
}

/// Number of different looks.
const LOOKS: usize = 8 * COLOUR_COUNT;

fn known(name: &str) -> Option<usize> {
    KNOWN.iter().find_map(|names| names.iter().position(|known| *known == name))
}

/// Returns the name without parameters.
pub fn bare(name: &str) -> &str {
    match name.split_once('(') {
        Some((bare, rest)) if rest.ends_with(')') && !rest.contains('/') => bare,
        _ => name,
    }
}

/// Hashes a name to a look (FNV-1a); the same in every version.
fn hash(name: &str) -> usize {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, step) as usize % LOOKS
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_gpu::slots::SLOTS;

    fn of(names: &[&str]) -> Looks {
        looks(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_registered_policy_has_a_look_of_its_own() {
        for slot in &SLOTS {
            let names: Vec<&str> = slot.infos().iter().map(|info| info.name).collect();
            let lacking: Vec<_> = names.iter().filter(|name| known(name).is_none()).collect();
            assert!(lacking.is_empty(), "{}: append {lacking:?} to `KNOWN`", slot.name);
            let places: BTreeSet<_> = names.iter().map(|name| known(name)).collect();
            assert_eq!(places.len(), names.len(), "{}", slot.name);
        }
    }

    #[test]
    fn a_policy_keeps_its_look_in_other_company() {
        let few = of(&["warped-mc", "mine", "fr-fcfs(cap=4)"]);
        let many = of(&["atlas", "fcfs", "mine", "warped-mc", "fr-fcfs(cap=4)"]);
        for name in ["warped-mc", "mine", "fr-fcfs(cap=4)"] {
            assert_eq!(few[name], many[name], "{name}");
        }
        assert_eq!(few["fr-fcfs(cap=4)"], of(&["fr-fcfs"])["fr-fcfs"]);
    }

    #[test]
    fn looks_and_while_possible_colours_differ() {
        let numbered = |count: usize| (0..count).map(|n| format!("p{n}")).collect::<Vec<_>>();
        let colours: BTreeSet<_> =
            looks(&numbered(COLOUR_COUNT)).into_values().map(|look| look.colour()).collect();
        assert_eq!(colours.len(), COLOUR_COUNT);
        let many: Vec<Look> = looks(&numbered(60)).into_values().collect();
        assert!((0..60).all(|n| !many[..n].contains(&many[n])));
        let variants = of(&["fr-fcfs", "fr-fcfs(cap=4)", "fr-fcfs(cap=8)"]);
        assert_ne!(variants["fr-fcfs(cap=4)"].colour(), variants["fr-fcfs"].colour());
    }
}
