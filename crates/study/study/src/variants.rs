//! Irrelevant variants of a machine: the difference matters to no policy, so a change of the result
//! is noise.
//!
//! | number | difference |
//! | --- | --- |
//! | 0 | none: the machine itself |
//! | 1, 4 | the first SM of the CTA scheduler, hence the order in which CTAs reach the SMs |
//! | 2, 5 | the pages that hold the data |
//! | 3 | one additional entry in the DRAM read queue, which changes its parity |
//! | from 6 | other pages |
//!
//! A variant that a machine cannot have is left out, and the later ones move up.

use std::path::Path;
use warpmem_machine::Machine;
use warpmem_support::random::Random;

/// A difference that matters to no policy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Irrelevant {
    /// Moves the first SM by this many thirds of the machine.
    FirstSm {
        third: u32,
    },
    /// Odd numbers of pages, which no power of two of an address map divides.
    Pages(u32),
    QueueParity,
}

/// The first variants of a machine, the different kinds first.
const FIRST: [Irrelevant; 5] = [
    Irrelevant::FirstSm { third: 1 },
    Irrelevant::Pages(27),
    Irrelevant::QueueParity,
    Irrelevant::FirstSm { third: 2 },
    Irrelevant::Pages(1699),
];

/// Bound of the numbers of pages of further variants.
const MOST_PAGES: u32 = 1 << 20;

impl Irrelevant {
    /// Returns its key and value on `machine`; none if the machine has no such variant.
    fn setting(self, machine: &Machine) -> Option<(&'static str, u32)> {
        match self {
            Irrelevant::FirstSm { third } => {
                Some(("run.first_sm", *machine.first_sms(3).get(third as usize)?))
            }
            Irrelevant::Pages(pages) => Some(("run.page_offset", pages)),
            Irrelevant::QueueParity => Some(("dram.read_queue", machine.dram.read_queue + 1)),
        }
    }

    /// Returns its override of `machine`; none if the machine has no such variant.
    pub(crate) fn overrides(self, machine: &Machine) -> Option<String> {
        self.setting(machine).map(|(key, value)| format!("{key}={value}"))
    }
}

/// A variant of a machine.
#[derive(Clone, Debug)]
pub struct Variant {
    /// 0 for the machine itself.
    pub number: u32,
    pub machine: Machine,
    /// The overrides, beside those of the machine.
    pub overrides: Vec<String>,
}

impl Variant {
    /// Returns the first `count` variants of `machine`, itself first; none changes a key of `fixed`.
    pub fn first<'k>(
        machine: &Machine,
        count: u32,
        fixed: impl IntoIterator<Item = &'k str>,
    ) -> Vec<Variant> {
        let fixed: Vec<&str> = fixed.into_iter().collect();
        let mut random = Random::new(0);
        // Without a fixed page offset the further variants do not end; their limit is for fixed ones.
        let further = (0..count).map(|_| Irrelevant::Pages(random.index(MOST_PAGES / 2) * 2 + 1));
        let own = Variant { number: 0, machine: machine.clone(), overrides: Vec::new() };
        let mut variants = vec![own];
        for irrelevant in FIRST.into_iter().chain(further) {
            if variants.len() >= count as usize {
                break;
            }
            let number = variants.len() as u32;
            variants.extend(Variant::of(irrelevant, machine, number, &fixed));
        }
        variants
    }

    fn of(irrelevant: Irrelevant, own: &Machine, number: u32, fixed: &[&str]) -> Option<Variant> {
        let (key, value) = irrelevant.setting(own).filter(|(key, _)| !fixed.contains(key))?;
        let overrides = vec![format!("{key}={value}")];
        let machine = own.clone().with_overrides(&overrides, Path::new("")).ok()?;
        (machine != *own).then_some(Variant { number, machine, overrides })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_machine::load;

    fn overrides(set: &[&str], count: u32, fixed: &[&str]) -> Vec<String> {
        let set: Vec<String> = set.iter().map(|&text| text.to_owned()).collect();
        let machine = load("yuan2009", &set).unwrap();
        let variants = Variant::first(&machine, count, fixed.iter().copied());
        assert!(variants.iter().enumerate().all(|(at, variant)| variant.number as usize == at));
        variants.into_iter().map(|variant| variant.overrides.join("; ")).collect()
    }

    #[test]
    fn the_first_variant_is_the_machine_and_the_next_are_one_of_each_kind() {
        let set = ["network.sms_per_node=1", "dram.read_queue=8"];
        let expected = [
            "",
            "run.first_sm=9",
            "run.page_offset=27",
            "dram.read_queue=9",
            "run.first_sm=18",
            "run.page_offset=1699",
        ];
        assert_eq!(overrides(&set, 6, &[]), expected);
        assert_eq!(overrides(&set, 1, &[]), [""]);
    }

    #[test]
    fn further_variants_have_odd_pages_all_different() {
        let many = overrides(&[], 40, &[]);
        let pages = |text: &String| text.strip_prefix("run.page_offset=")?.parse::<u32>().ok();
        let mut pages: Vec<u32> = many.iter().filter_map(pages).collect();
        assert!(pages.iter().all(|pages| pages % 2 == 1));
        pages.sort_unstable();
        pages.dedup();
        assert_eq!((many.len(), pages.len()), (40, 36));
    }

    #[test]
    fn a_variant_changes_no_key_that_is_compared_and_a_small_machine_has_others() {
        let fixed = overrides(&[], 4, &["dram.read_queue", "run.first_sm"]);
        assert!(fixed[1..].iter().all(|text| text.starts_with("run.page_offset=")), "{fixed:?}");
        let small = overrides(&["sm.count=1"], 3, &[]);
        assert_eq!(small[1], "run.page_offset=27");
        assert_eq!(
            overrides(&["run.page_offset=27"], 3, &["run.first_sm"])[1],
            "dram.read_queue=33"
        );
        let none = overrides(&[], 3, &["run.page_offset", "dram.read_queue", "run.first_sm"]);
        assert_eq!(none, [""], "no kind is left");
    }
}
