//! The irrelevant [variants](crate::variants) of the configurations of a paper, under numbers of their
//! own.
//!
//! | variant | difference |
//! | --- | --- |
//! | 1, 2 | the first SM of the CTA scheduler, hence the order in which CTAs reach the SMs |
//! | 3, 4 | the pages that hold the data |
//! | 5 | one additional entry in the DRAM read queue, which changes its parity |

use super::{Claim, Configuration, Ours, Paper, Runs};
use crate::variants::Irrelevant;
use warpmem_machine::Machine;

/// Variants of a full run; a quick one has the [first of each kind](QUICK).
const VARIANTS: [Irrelevant; 5] = [
    Irrelevant::FirstSm { third: 1 },
    Irrelevant::FirstSm { third: 2 },
    Irrelevant::Pages(27),
    Irrelevant::Pages(1699),
    Irrelevant::QueueParity,
];

/// Numbers of the variants of a quick run, from 1.
const QUICK: [usize; 3] = [1, 3, 5];

impl Paper {
    /// Returns the numbers, from 1, of the variants of every configuration that a claim compares.
    pub fn variants(&self) -> Vec<usize> {
        match self.is_quick {
            true => QUICK.to_vec(),
            false => (1..=VARIANTS.len()).collect(),
        }
    }

    /// Returns the variants of a configuration, whose machine is `machine`. A machine with fewer
    /// than three nodes of SMs lacks some.
    pub fn varied(&self, configuration: &Configuration, machine: &Machine) -> Vec<Configuration> {
        let varied = |number: usize| {
            let further = VARIANTS[number - 1].overrides(machine)?;
            let name = in_variant(&configuration.name, number);
            Some(Configuration { name, ..configuration.clone() }.with(further))
        };
        self.variants().into_iter().filter_map(varied).collect()
    }

    /// Returns the configurations that run in every variant: those compared by claims.
    ///
    /// # Errors
    /// As [`Paper::configurations`].
    pub fn compared(&self) -> Result<Vec<Configuration>, super::PaperError> {
        let runs = self.claims.iter().flat_map(Claim::compared);
        let references: Vec<String> = runs
            .flat_map(|runs| runs.references().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        self.resolved(&references)
    }
}

impl Claim {
    /// Returns the runs needed in variants: those that yield our number, or with which the best of
    /// a sweep is compared. The sweep itself would need variants of every value.
    pub fn compared(&self) -> Option<Runs> {
        match &self.ours {
            Ours::Runs(runs) | Ours::Every(runs) => Some(runs.clone()),
            Ours::Best(best) => best.against(),
            _ => None,
        }
    }
}

impl Runs {
    /// Returns the runs in a variant.
    pub fn in_variant(&self, number: usize) -> Runs {
        let varied = |text: &String| in_variant(text, number);
        Runs {
            of: varied(&self.of),
            over: self.over.as_ref().map(varied),
            with: self.with.iter().map(|(name, text)| (name.clone(), varied(text))).collect(),
            ..self.clone()
        }
    }
}

fn in_variant(configuration: &str, number: usize) -> String {
    format!("{configuration}, variant {number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_machine::load;

    fn paper() -> Paper {
        let text = "title = 'T'\nmachine = 'yuan2009'\nworkloads.quick = []\n\
            [schemes]\nX = ['dram.read_queue=8']\nY = []\nZ = []\n[settings.mesh]\nset = ['policy.topology=mesh']\n\
            [[claim]]\nwhat = 'w'\nsource = 's'\npublished = 1\nours.runs = { of = 'X @ mesh', over = 'Y' }\n\
            [[claim]]\nwhat = 'v'\nsource = 's'\npublished = 1\nours.nothing = 'no'";
        Paper::from_text("t", text).unwrap()
    }

    fn varied(paper: &Paper, further: &[&str]) -> Vec<(String, Vec<String>)> {
        let mut configuration = paper.configuration("X").unwrap();
        configuration.overrides.extend(further.iter().map(|&text| text.to_owned()));
        let machine = load(&paper.machine, &configuration.overrides).unwrap();
        let varied = paper.varied(&configuration, &machine).into_iter();
        varied.map(|one| (one.name, one.overrides)).collect()
    }

    #[test]
    fn variants_change_the_order_of_ctas_the_pages_of_data_and_the_parity_of_the_queue() {
        let all = varied(&paper(), &["network.sms_per_node=1"]);
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, [1, 2, 3, 4, 5].map(|number| format!("X, variant {number}")));
        let sets = |at: usize| -> Vec<&str> { all[at].1.iter().map(String::as_str).collect() };
        let queue = "dram.read_queue=8";
        let node = "network.sms_per_node=1";
        assert_eq!(sets(0), [queue, node, "run.first_sm=9"]);
        assert_eq!(sets(1), [queue, node, "run.first_sm=18"]);
        assert_eq!(sets(2), [queue, node, "run.page_offset=27"]);
        assert_eq!(sets(3), [queue, node, "run.page_offset=1699"]);
        assert_eq!(sets(4), [node, "dram.read_queue=9"], "in place of the queue's own size");
    }

    #[test]
    fn a_quick_run_has_one_of_each_kind_and_a_small_machine_fewer() {
        let quick = paper().quickly();
        let of = |paper: &Paper, further: &[&str]| -> Vec<String> {
            varied(paper, further).into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(of(&quick, &[]), [1, 3, 5].map(|number| format!("X, variant {number}")));
        let alone = of(&paper(), &["sm.count=1"]);
        assert_eq!(alone, [3, 4, 5].map(|number| format!("X, variant {number}")));
    }

    #[test]
    fn variants_cover_the_configurations_of_claims() {
        let paper = paper();
        let names: Vec<String> =
            paper.compared().unwrap().into_iter().map(|configuration| configuration.name).collect();
        assert_eq!(names, ["X @ mesh", "Y"]);
        let runs = paper.claims[0].compared().unwrap().in_variant(2);
        assert_eq!(runs.of, "X @ mesh, variant 2");
        assert_eq!(runs.over.as_deref(), Some("Y, variant 2"));
        assert!(paper.claims[1].compared().is_none());
    }
}
