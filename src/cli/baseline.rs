//! Baselines of comparisons, and the comparisons.

use super::format::Format;
use super::output::width;
use super::policies::{Choice, split_list};
use anyhow::{Context, bail};
use std::path::Path;
use warpmem::machine::Machine;
use warpmem::params::{nearest, policy_name};
use warpmem::record::run_columns;
use warpmem::slots::{SLOTS, Slot};
use warpmem_analysis::polars::prelude::{IntoLazy, LazyFrame, UnionArgs, concat};
use warpmem_analysis::{
    CompareOptions, Comparison, Results, compare, relative, table_to_csv, table_to_json,
};

/// Column of the overrides, and the name of a run without any.
const OVERRIDES: &str = "overrides";
const NO_OVERRIDES: &str = "none";

/// The slots that distinguish runs, and the policies that the others are compared with.
pub struct Baseline {
    slots: Vec<&'static Slot>,
    policies: Vec<Choice<String>>,
    /// The baseline's overrides; none where runs are compared only with runs of equal overrides.
    overrides: Option<String>,
}

impl Baseline {
    /// Runs that differ only in their overrides, compared with those that have these.
    pub fn of_overrides(overrides: String) -> Baseline {
        Baseline { slots: Vec::new(), policies: Vec::new(), overrides: Some(overrides) }
    }

    /// Runs that differ in the slots of `policies`, compared with those that have these policies.
    pub fn of_policies(policies: Vec<Choice<String>>) -> Baseline {
        let slots = policies.iter().map(|policy| policy.slot).collect();
        Baseline { slots, policies, overrides: None }
    }

    /// Compares overrides, too, instead of holding them equal.
    pub fn with_overrides(self, overrides: Option<String>) -> Baseline {
        Baseline { overrides, ..self }
    }

    pub fn policies(&self) -> &[Choice<String>] {
        &self.policies
    }

    /// As in the overrides column of the tables.
    pub fn overrides(&self) -> Option<&str> {
        self.overrides.as_deref()
    }

    /// `text` names one policy of `lists`, or several of different slots with slashes between.
    /// Without `text`, the baseline is the first machine's own policies where they are in the lists
    /// (by name if none has the same parameters), and otherwise the first of each list.
    pub fn choose(
        text: Option<&str>,
        lists: &[Choice<Vec<String>>],
        machines: &[Machine],
    ) -> anyhow::Result<Baseline> {
        if lists.is_empty() {
            let agreed = agreed(machines).context("the machines have no policy in common")?;
            let lists = [Choice { slot: agreed.slot, given: vec![agreed.given] }];
            return Baseline::choose(text, &lists, machines);
        }
        let policies = match text {
            Some(text) => text.split('/').map(|part| named(part.trim(), lists)).collect(),
            None => Ok(lists.iter().map(|list| default(list, machines)).collect()),
        };
        let slots = lists.iter().map(|list| list.slot).collect();
        Ok(Baseline { slots, policies: policies?, overrides: None })
    }

    /// Compares the runs whose tables are in `directory` in the metrics `shown`, or in the format's
    /// default metrics.
    pub fn compare(
        &self,
        directory: &Path,
        shown: Option<&[String]>,
        format: Format,
    ) -> anyhow::Result<String> {
        let runs = Results::open(directory)?.runs()?;
        text(&[self.comparison(runs, shown, format)?], format)
    }

    /// The comparison of `runs` that [`text`] prints in this format.
    pub fn comparison(
        &self,
        runs: LazyFrame,
        shown: Option<&[String]>,
        format: Format,
    ) -> anyhow::Result<Comparison> {
        let mut options = CompareOptions::new(self.name());
        options.units = run_columns().into_iter().map(|c| (c.name, c.unit.to_owned())).collect();
        if let Some(shown) = shown {
            options.metrics = shown.to_vec();
        }
        if format == Format::Table {
            options.slots = self.slots(self.slots.iter().copied());
            return Ok(compare(runs, &options)?);
        }
        options.slots = self.slots(SLOTS.iter());
        if shown.is_none() {
            options.metrics = metrics();
        }
        Ok(compare(runs, &options)?)
    }

    /// In the syntax of the comparison: `slot=policy` and `overrides=…` with slashes between.
    pub fn name(&self) -> String {
        let parts =
            self.policies.iter().map(|Choice { slot, given }| format!("{}={given}", slot.name));
        // Some policies are called `none`, too: the column distinguishes them from missing
        // overrides.
        let overrides = self.overrides.iter().map(|overrides| match overrides.as_str() {
            "" => format!("{OVERRIDES}={NO_OVERRIDES}"),
            overrides => format!("{OVERRIDES}={overrides}"),
        });
        parts.chain(overrides).collect::<Vec<_>>().join("/")
    }

    /// The columns that distinguish runs: those of `slots`, and the overrides where they are
    /// compared.
    fn slots<'a>(&self, slots: impl Iterator<Item = &'a Slot>) -> Vec<String> {
        let overrides = self.overrides.iter().map(|_| OVERRIDES);
        slots.map(|slot| slot.name).chain(overrides).map(str::to_owned).collect()
    }
}

/// Comparisons in the same format, one after the other.
pub fn text(comparisons: &[Comparison], format: Format) -> anyhow::Result<String> {
    if format == Format::Table {
        let texts = comparisons.iter().map(|comparison| comparison.to_text(width()));
        return Ok(texts.collect::<Result<Vec<String>, _>>()?.join("\n"));
    }
    let tables = comparisons.iter().map(|comparison| Ok(comparison.table()?.lazy()));
    let tables = tables.collect::<anyhow::Result<Vec<LazyFrame>>>()?;
    let table = concat(tables, UnionArgs::default())?.collect()?;
    Ok(if format == Format::Json { table_to_json(&table) } else { table_to_csv(&table) }?)
}

/// The names of a list of metrics: numeric columns of a run, or their names followed by `_ratio` or
/// `_reduction`.
pub fn parse_metrics(text: &str) -> Result<Vec<String>, String> {
    let known = metrics();
    let is_known = |name: &str| known.iter().any(|known| known == name);
    split_list(text)?
        .into_iter()
        .filter(|name| !matches!(name.as_str(), "ipc_thread" | "ipc_ratio"))
        .map(|name| match relative(&name) {
            _ if is_known(&name) => Ok(name),
            Some((column, _)) if is_known(column) => Ok(name),
            _ => Err(unknown_metric(&name, &known)),
        })
        .collect()
}

fn unknown_metric(name: &str, known: &[String]) -> String {
    let meant = nearest(name, known.iter().map(String::as_str));
    let meant = meant.map_or(String::new(), |meant| format!("did you mean `{meant}`? "));
    format!(
        "no metric `{name}`: {meant}valid: the numeric columns of `runs` (docs/schema.md), alone or with `_ratio` or `_reduction`"
    )
}

/// Every metric of a run except the one that every comparison shows.
fn metrics() -> Vec<String> {
    let columns = run_columns().into_iter().map(|column| column.name);
    columns.skip_while(|name| name != "cycles").filter(|name| name != "ipc_thread").collect()
}

/// The first slot that all machines fill with the same policy.
fn agreed(machines: &[Machine]) -> Option<Choice<String>> {
    let policy =
        |slot: &Slot, machine: &Machine| slot.policy_of(&mut machine.policy.clone()).clone();
    let (first, rest) = machines.split_first()?;
    let choices = SLOTS.iter().map(|slot| Choice { slot, given: policy(slot, first) });
    choices.into_iter().find(|own| rest.iter().all(|other| policy(own.slot, other) == own.given))
}

fn default(list: &Choice<Vec<String>>, machines: &[Machine]) -> Choice<String> {
    let of = |machine: &Machine| list.slot.policy_of(&mut machine.policy.clone()).clone();
    let own = machines.first().map(of).and_then(|own| meant(&own, &list.given));
    Choice { slot: list.slot, given: own.unwrap_or(&list.given[0]).clone() }
}

/// The policy of `given` that equals `own`, or else the only one of its name.
fn meant<'a>(own: &str, given: &'a [String]) -> Option<&'a String> {
    let same_name = |other: &&String| policy_name(other) == policy_name(own);
    let mut of_name = given.iter().filter(same_name);
    let only = of_name.next().filter(|_| of_name.next().is_none());
    given.iter().find(|&other| other == own).or(only)
}

/// The policy of `lists` that `part` names, as `policy` or `slot=policy`.
fn named(part: &str, lists: &[Choice<Vec<String>>]) -> anyhow::Result<Choice<String>> {
    let with_slot =
        part.split_once('=').and_then(|(slot, policy)| Some((Slot::find(slot)?, policy)));
    let (wanted, policy) =
        with_slot.map_or((None, part), |(slot, policy)| (Some(slot.name), policy));
    let lists = lists.iter().filter(|list| wanted.is_none_or(|wanted| wanted == list.slot.name));
    let lists: Vec<&Choice<Vec<String>>> = lists.collect();
    let holds = |list: &&&Choice<Vec<String>>| list.given.iter().any(|given| given == policy);
    let found: Vec<&&Choice<Vec<String>>> = lists.iter().filter(holds).collect();
    match found.as_slice() {
        [list] => Ok(Choice { slot: list.slot, given: policy.to_owned() }),
        [] => {
            let given = || lists.iter().flat_map(|list| &list.given).map(String::as_str);
            let meant = nearest(policy, given());
            let meant = meant.map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
            let given = given().collect::<Vec<_>>().join(", ");
            bail!("the baseline `{part}` is not among the policies to compare{meant}: {given}")
        }
        several => {
            let slots = several.iter().map(|list| format!("{}={policy}", list.slot.option()));
            let slots = slots.collect::<Vec<_>>().join(" or ");
            bail!("the baseline `{part}` is in several slots: write {slots}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem::machine::load;

    fn list(slot: &str, given: &[&str]) -> Choice<Vec<String>> {
        let given = given.iter().map(|&policy| policy.to_owned()).collect();
        Choice { slot: Slot::find(slot).unwrap(), given }
    }

    fn choose(text: Option<&str>, lists: &[Choice<Vec<String>>]) -> Result<String, String> {
        choose_for("li2015", text, lists)
    }

    /// For a machine and another.
    fn choose_for(
        machine: &str,
        text: Option<&str>,
        lists: &[Choice<Vec<String>>],
    ) -> Result<String, String> {
        let machines = [machine, "warpedmc2023"].map(|name| load(name, &[]).unwrap());
        let baseline = Baseline::choose(text, lists, &machines);
        baseline.map(|baseline| baseline.name()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_baseline_is_found_in_its_slot() {
        let capped = "fr-fcfs(row_hit_cap=4)";
        let lists =
            [list("dram_scheduler", &["fcfs", capped]), list("warp_scheduler", &["lrr", "gto"])];
        let choose = |text| choose(Some(text), &lists);
        assert_eq!(choose("fcfs").unwrap(), "dram_scheduler=fcfs");
        assert_eq!(choose(capped).unwrap(), format!("dram_scheduler={capped}"));
        assert_eq!(choose("fcfs/gto").unwrap(), "dram_scheduler=fcfs/warp_scheduler=gto");
        assert_eq!(choose("warp-scheduler=lrr").unwrap(), "warp_scheduler=lrr");
        let unknown = choose("fcsf").unwrap_err();
        assert!(unknown.contains("did you mean `fcfs`?"), "{unknown}");
        assert!(choose("warp-scheduler=fcfs").is_err());
    }

    #[test]
    fn a_baseline_in_two_slots_is_refused() {
        let lists = [list("arbiter", &["round-robin"]), list("cta_scheduler", &["round-robin"])];
        let error = choose(Some("round-robin"), &lists).unwrap_err();
        assert!(error.contains("arbiter=round-robin"), "{error}");
        assert_eq!(choose(Some("arbiter=round-robin"), &lists).unwrap(), "arbiter=round-robin");
    }

    #[test]
    fn by_default_it_is_the_machines_own_policy_or_the_first() {
        let own = [list("dram_scheduler", &["fcfs", "fr-fcfs"])];
        assert_eq!(choose(None, &own).unwrap(), "dram_scheduler=fr-fcfs");
        let others = [list("dram_scheduler", &["banked-fifo", "fcfs"])];
        assert_eq!(choose(None, &others).unwrap(), "dram_scheduler=banked-fifo");
        assert_eq!(choose(None, &[]).unwrap(), "dram_scheduler=fr-fcfs");
    }

    /// The machine says `fr-fcfs(banks=stepping,picks_per_cycle=1)`.
    #[test]
    fn the_machines_own_policy_is_known_by_its_name_where_that_is_listed_once() {
        let default = |given: &[&str]| {
            let lists = [list("dram_scheduler", given)];
            choose_for("v100", None, &lists).unwrap().replace("dram_scheduler=", "")
        };
        let own = "fr-fcfs(banks=stepping,picks_per_cycle=1)";
        let capped = "fr-fcfs(row_hit_cap=4)";
        assert_eq!(default(&["fcfs", "fr-fcfs"]), "fr-fcfs");
        assert_eq!(default(&["fcfs", capped]), capped);
        assert_eq!(default(&["fcfs", "fr-fcfs", capped]), "fcfs");
        assert_eq!(default(&["fcfs", "fr-fcfs", own]), own);
    }
}
