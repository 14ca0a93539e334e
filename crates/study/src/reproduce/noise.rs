//! Baselines with other orders of their SMs: the change of a result with the order is noise.

use super::{Configuration, Paper};
use warpmem_machine::Machine;

/// Orders besides the machine's own: of a full run, and of a quick run.
const ORDERS: u32 = 4;
const QUICK_ORDERS: u32 = 2;

impl Paper {
    /// Names of a baseline's configurations in every order, its own first. A machine with fewer SMs
    /// than orders lacks some.
    pub fn orders(&self, baseline: &str) -> Vec<String> {
        let others = (1..=self.other_orders()).map(|order| in_order(baseline, order));
        [baseline.to_owned()].into_iter().chain(others).collect()
    }

    /// A baseline in every order but its own. `machine` is that of the baseline.
    pub fn reordered(&self, baseline: &Configuration, machine: &Machine) -> Vec<Configuration> {
        let first_sms = machine.first_sms(self.other_orders() + 1);
        let others = (1..).zip(first_sms.into_iter().skip(1));
        let reordered = |(order, first)| {
            let mut overrides = baseline.overrides.clone();
            overrides.push(format!("run.first_sm={first}"));
            Configuration { name: in_order(&baseline.name, order), overrides }
        };
        others.map(reordered).collect()
    }

    /// The baseline whose noise is that of results over `base`: itself, the same scheme with other
    /// settings, or the first of the paper.
    pub fn baseline_of(&self, base: Option<&str>) -> Option<&str> {
        let scheme = |name: &str| name.split('@').next().unwrap_or(name).trim().to_owned();
        let same = |known: &&String| base.is_some_and(|base| known.as_str() == base);
        let alike = |known: &&String| base.is_some_and(|base| scheme(known) == scheme(base));
        let all = &self.baselines;
        all.iter().find(same).or(all.iter().find(alike)).or(all.first()).map(String::as_str)
    }

    fn other_orders(&self) -> u32 {
        if self.is_quick { QUICK_ORDERS } else { ORDERS }
    }
}

fn in_order(baseline: &str, order: u32) -> String {
    format!("{baseline}, order {order}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_machine::load;

    fn paper(baselines: &str) -> Paper {
        let text = format!(
            "title = 'T'\nmachine = 'yuan2009'\nworkloads.quick = []\nbaselines = {baselines}\n\
            [schemes]\nX = []\nY = []\n[settings.mesh]\nset = ['policy.topology=mesh']"
        );
        Paper::from_text("t", &text).unwrap()
    }

    fn first_sms(paper: &Paper, overrides: &[&str]) -> Vec<String> {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let machine = load(&paper.machine, &overrides).unwrap();
        let baseline = paper.configuration("X").unwrap();
        let reordered = paper.reordered(&baseline, &machine);
        assert!(reordered.iter().all(|one| paper.orders("X").contains(&one.name)));
        reordered.into_iter().map(|one| one.overrides.concat()).collect()
    }

    #[test]
    fn orders_are_spread_over_the_sms_and_keep_nodes_together() {
        let paper = paper("['X']");
        let of = |overrides| first_sms(&paper, overrides);
        let first = |numbers: &[u32]| -> Vec<String> {
            numbers.iter().map(|number| format!("run.first_sm={number}")).collect()
        };
        assert_eq!(of(&["network.sms_per_node=1"]), first(&[5, 11, 16, 22]));
        assert_eq!(of(&["network.sms_per_node=4"]), first(&[4, 8, 16, 20]));
        assert_eq!(of(&["sm.count=2"]), first(&[1]), "and none is there twice");
        let quick = paper.clone().quickly();
        assert_eq!(first_sms(&quick, &["network.sms_per_node=1"]), first(&[9, 18]));
    }

    #[test]
    fn a_result_has_the_noise_of_its_baseline_or_of_the_one_most_like_it() {
        let paper = paper("['X', 'Y']");
        let of = |base| paper.baseline_of(base).unwrap();
        assert_eq!(
            ["Y", "Y @ mesh", "X @ mesh", "Z"].map(|base| of(Some(base))),
            ["Y", "Y", "X", "X"]
        );
        assert_eq!(of(None), "X");
        assert_eq!(super::tests::paper("[]").baseline_of(Some("X")), None);
    }

    #[test]
    fn a_baseline_that_there_is_not_is_refused() {
        let text = "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\nbaselines = ['X']";
        let error = Paper::from_text("t", text).unwrap_err();
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains("no scheme `X`"), "{source}");
    }
}
