//! The policies that a paper surveys, as schemes and claims.

use super::survey::Surveyed;
use super::{Claim, Direction, Mean, NamedProgram, Ours, Paper, Runs, Shown, library};
use std::collections::BTreeMap;
use warpmem_gpu::slots::PolicySlot;
use warpmem_machine::{MachineError, load};

/// Slot of the policies that order page walks.
const WALK_SCHEDULER: &str = "walk_scheduler";

impl Paper {
    /// Returns every policy of the survey except the machine's own and those that it refuses, in the
    /// order of slots and registries. Without address translation there are no walks to schedule.
    ///
    /// # Errors
    /// If the machine does not exist.
    pub fn surveyed(&self) -> Result<Vec<Surveyed>, MachineError> {
        let Some(survey) = &self.survey else { return Ok(Vec::new()) };
        let mut machine = load(&self.machine, &[])?;
        let mut all = Vec::new();
        for slot in survey.slots.iter().filter_map(|name| PolicySlot::find(name)) {
            let own = slot.policy_of(&mut machine.policy).clone();
            let own = own.split('(').next().unwrap_or_default().to_owned();
            let names = slot.infos().into_iter().map(|info| info.name);
            let wanted = |name: &&str| *name != own && !survey.except.iter().any(|e| e == name);
            all.extend(names.filter(wanted).map(|policy| Surveyed { slot: slot.name, policy }));
        }
        let is_used = |one: &Surveyed| one.slot != WALK_SCHEDULER || machine.vm.enabled;
        let is_valid = |one: &Surveyed| load(&self.machine, &[one.setting()]).is_ok();
        all.retain(|one| is_used(one) && is_valid(one));
        Ok(all)
    }

    /// Adds a scheme and a claim for each policy of the survey, and every program of the library;
    /// unchanged without a survey.
    ///
    /// # Errors
    /// If the machine does not exist.
    pub fn expanded(mut self) -> Result<Paper, MachineError> {
        let Some(survey) = self.survey.clone() else { return Ok(self) };
        for surveyed in self.surveyed()? {
            let scheme = surveyed.scheme();
            self.schemes.insert(scheme.clone(), vec![surveyed.setting()]);
            self.claims.push(change_of_ipc(&scheme, &survey.plain));
        }
        let program =
            |id: String| NamedProgram { name: id.clone(), id: Some(id), ..NamedProgram::default() };
        self.programs = library().into_keys().map(program).collect();
        Ok(self)
    }
}

/// Makes a claim without a published number.
fn change_of_ipc(scheme: &str, plain: &str) -> Claim {
    Claim {
        what: scheme.to_owned(),
        source: "survey".to_owned(),
        results: Vec::new(),
        published: None,
        range: None,
        text: Some("not published".to_owned()),
        headline: false,
        experiment: None,
        workload: None,
        each: None,
        detail: false,
        shown: Shown::Change,
        unit: String::new(),
        direction: Direction::Sign,
        note: None,
        ours: Ours::Runs(Runs {
            of: scheme.to_owned(),
            over: Some(plain.to_owned()),
            with: BTreeMap::new(),
            metric: "ipc_thread".to_owned(),
            value: None,
            classes: Vec::new(),
            than: None,
            mean: Mean::Geometric,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{find, find_on};

    #[test]
    fn every_policy_but_the_machines_own_is_surveyed() {
        let paper = find("survey").unwrap();
        let surveyed = paper.surveyed().unwrap();
        let of = |slot: &str| surveyed.iter().filter(|one| one.slot == slot).count();
        let all = |slot: &str| PolicySlot::find(slot).unwrap().infos().len();
        assert_eq!(of("dram_scheduler"), all("dram_scheduler") - 2, "fr-fcfs and delay");
        assert_eq!(of("warp_scheduler"), all("warp_scheduler") - 1, "gto");
        assert_eq!((of("ideal"), of("walk_scheduler")), (0, 0), "li2015 translates no addresses");
        for one in &surveyed {
            load(&paper.machine, &paper.configuration(&one.scheme()).unwrap().overrides).unwrap();
        }
        assert_eq!(paper.claims.len(), surveyed.len());
    }

    #[test]
    fn a_survey_of_another_machine_has_the_slots_of_that_machine() {
        let paper = find_on("survey", "h100").unwrap().sampled(20);
        let surveyed = paper.surveyed().unwrap();
        let of = |slot: &str| surveyed.iter().filter(|one| one.slot == slot).count();
        assert_eq!(
            of("walk_scheduler"),
            PolicySlot::find("walk_scheduler").unwrap().infos().len() - 1
        );
        let overrides = paper.configuration(&surveyed[0].scheme()).unwrap().overrides;
        assert_eq!(overrides.last().unwrap(), "run.error_permille=20");
        assert!(find_on("survey", "h1000").is_err() && find_on("li2015", "h100").is_err());
    }

    #[test]
    fn a_survey_knows_every_program() {
        let paper = find("survey").unwrap();
        assert_eq!(paper.programs.len(), library().len());
        assert!(find("li2015").unwrap().surveyed().unwrap().is_empty());
    }
}
