//! The parser of a standard's TOML file.

use super::check::check_power;
use super::expression::{Expression, Values};
use super::values::named;
use super::{CountedFrom, Organisation, Rule, Speed, Standard, StandardError};
use crate::Timing;
use crate::constraint::Scope;
use crate::request::CommandKind;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;
use warpmem_params::nearest;
use warpmem_support::files::text::position;

/// Longest time of a preset, clocks.
const LONGEST: i64 = 100_000_000;
/// Longest refresh, nanoseconds.
const LONGEST_REFRESH: u32 = 1_000_000;
const MOST_TICKS: u32 = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    summary: String,
    source: String,
    /// Built-in standard whose rules this one extends.
    base: Option<Spanned<String>>,
    /// Rules of the base that do not apply.
    #[serde(default)]
    without: Vec<Spanned<String>>,
    dual_command_bus: Option<bool>,
    ticks_per_clock: Option<Spanned<u32>>,
    counted_from: Option<CountedFrom>,
    short_row_cycle: Option<bool>,
    read_latency: Option<Spanned<String>>,
    write_latency: Option<Spanned<String>>,
    whole_clock_commands: Option<Vec<CommandKind>>,
    #[serde(default)]
    command_ticks: BTreeMap<CommandKind, Spanned<u32>>,
    #[serde(default)]
    parameters: BTreeMap<String, Spanned<u32>>,
    #[serde(default)]
    constraint: Vec<Spanned<RuleText>>,
    #[serde(default)]
    organisation: BTreeMap<String, Spanned<Organisation>>,
    #[serde(default)]
    speed: BTreeMap<String, Spanned<Speed>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    name: String,
    from: Vec<CommandKind>,
    to: Vec<CommandKind>,
    scope: Scope,
    #[serde(default)]
    sibling: bool,
    cycles: Spanned<String>,
    #[serde(default = "last_one")]
    window: u8,
}

fn last_one() -> u8 {
    1
}

/// Parses the standard called `reference` from `text`, the content of `path`.
pub(super) fn parse(
    reference: &str,
    path: &Path,
    text: &str,
    base: impl Fn(&str) -> Option<Arc<Standard>>,
) -> Result<Standard, StandardError> {
    let source = Source { path, text };
    let file: File = toml::from_str(text).map_err(|error| {
        source.error(error.span().map_or(0, |span| span.start), error.message().to_owned())
    })?;
    let mut standard = match &file.base {
        Some(name) => source.base(name, base)?,
        None => Standard::empty(),
    };
    reference.clone_into(&mut standard.reference);
    source.fill(&mut standard, file)?;
    Ok(standard)
}

/// The text of a file, to locate errors in it.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn error(&self, at: usize, message: String) -> StandardError {
        let (line, _) = position(self.text, at);
        StandardError::File { path: self.path.to_owned(), line, message }
    }

    /// Rejects a value unless the rule `holds`.
    fn require<T: std::fmt::Display>(
        &self,
        holds: bool,
        key: &str,
        value: &Spanned<T>,
        valid: impl Into<String>,
    ) -> Result<(), StandardError> {
        if holds {
            return Ok(());
        }
        let (shown, valid) = (value.get_ref(), valid.into());
        Err(self.error(value.span().start, format!("`{key}` = {shown}: expected {valid}")))
    }

    fn base(
        &self,
        name: &Spanned<String>,
        find: impl Fn(&str) -> Option<Arc<Standard>>,
    ) -> Result<Standard, StandardError> {
        let Some(base) = find(name.get_ref()) else {
            let valid: Vec<&str> = Standard::names().collect();
            return Err(self.error(
                name.span().start,
                format!("`base` = \"{}\": expected {}", name.get_ref(), valid.join(", ")),
            ));
        };
        let mut standard = Standard::clone(&base);
        standard.organisations.clear();
        standard.speeds.clear();
        Ok(standard)
    }

    fn fill(&self, standard: &mut Standard, file: File) -> Result<(), StandardError> {
        (standard.name, standard.summary, standard.source) = (file.name, file.summary, file.source);
        standard.dual_command_bus = file.dual_command_bus.unwrap_or(standard.dual_command_bus);
        standard.counted_from = file.counted_from.unwrap_or(standard.counted_from);
        standard.short_row_cycle = file.short_row_cycle.unwrap_or(standard.short_row_cycle);
        if let Some(ticks) = file.ticks_per_clock {
            let holds = (1..=MOST_TICKS).contains(ticks.get_ref());
            self.require(holds, "ticks_per_clock", &ticks, format!("1 to {MOST_TICKS}"))?;
            standard.ticks_per_clock = ticks.into_inner();
        }
        if let Some(kinds) = file.whole_clock_commands {
            standard.begins_a_clock = CommandKind::ALL.map(|kind| kinds.contains(&kind));
        }
        for (kind, ticks) in file.command_ticks {
            let key = format!("command_ticks.{}", kind.name());
            let holds = (1..=MOST_TICKS).contains(ticks.get_ref());
            self.require(holds, &key, &ticks, format!("1 to {MOST_TICKS}"))?;
            standard.command_ticks[kind as usize] = ticks.into_inner();
        }
        self.parameters(standard, file.parameters)?;
        for (key, latency, slot) in
            [("read_latency", file.read_latency, 0), ("write_latency", file.write_latency, 1)]
        {
            if let Some(text) = latency {
                standard.latencies[slot] = self.expression(standard, key, &text)?;
            }
        }
        self.rules(standard, file.without, file.constraint)?;
        self.organisations(standard, file.organisation)?;
        self.speeds(standard, file.speed)
    }

    fn parameters(
        &self,
        standard: &mut Standard,
        parameters: BTreeMap<String, Spanned<u32>>,
    ) -> Result<(), StandardError> {
        let taken = named(&Timing::default());
        for (name, value) in parameters {
            let key = format!("parameters.{name}");
            let free = !taken.contains_key(&name) && name != "burst" && name != "max";
            self.require(free, &key, &value, "a name that is not a timing parameter")?;
            let holds = i64::from(*value.get_ref()) <= LONGEST;
            self.require(holds, &key, &value, format!("0 to {LONGEST}"))?;
            standard.parameters.insert(name, value.into_inner());
        }
        Ok(())
    }

    fn rules(
        &self,
        standard: &mut Standard,
        without: Vec<Spanned<String>>,
        rules: Vec<Spanned<RuleText>>,
    ) -> Result<(), StandardError> {
        for name in without {
            let known = standard.rules.iter().any(|rule| rule.name == *name.get_ref());
            self.require(known, "without", &name, "the name of a rule of the base")?;
            standard.rules.retain(|rule| rule.name != *name.get_ref());
        }
        let replaced: Vec<&String> = rules.iter().map(|rule| &rule.get_ref().name).collect();
        standard.rules.retain(|rule| !replaced.contains(&&rule.name));
        for rule in rules {
            let rule = self.rule(standard, rule)?;
            standard.rules.push(rule);
        }
        Ok(())
    }

    fn rule(&self, standard: &Standard, text: Spanned<RuleText>) -> Result<Rule, StandardError> {
        let at = text.span().start;
        let RuleText { name, from, to, scope, sibling, cycles, window } = text.into_inner();
        let refuse = |problem: &str| Err(self.error(at, format!("rule `{name}`: {problem}")));
        if from.is_empty() || to.is_empty() {
            return refuse("expected at least one command in `from` and in `to`");
        }
        if window == 0 {
            return refuse("`window` = 0: expected 1 (the last command) or more");
        }
        if sibling && (scope == Scope::Channel || window > 1) {
            return refuse("`sibling` needs a scope below the channel and a window of 1");
        }
        let cycles = self.expression(standard, &format!("rule `{name}`: `cycles`"), &cycles)?;
        Ok(Rule { name, from, to, scope, sibling, cycles, window })
    }

    fn expression(
        &self,
        standard: &Standard,
        key: &str,
        text: &Spanned<String>,
    ) -> Result<Expression, StandardError> {
        let refuse = |message: String| self.error(text.span().start, format!("{key}: {message}"));
        let expression = Expression::parse(text.get_ref()).map_err(refuse)?;
        let valid = standard.parameter_names();
        match expression.names().into_iter().find(|name| !valid.contains_key(*name)) {
            None => Ok(expression),
            Some(unknown) => {
                let hint = nearest(unknown, valid.keys().map(String::as_str))
                    .map(|near| format!(" (did you mean `{near}`?)"))
                    .unwrap_or_default();
                let names: Vec<&str> = valid.keys().map(String::as_str).collect();
                let names = names.join(", ");
                Err(refuse(format!("unknown parameter `{unknown}`{hint}; valid: {names}")))
            }
        }
    }

    fn organisations(
        &self,
        standard: &mut Standard,
        organisations: BTreeMap<String, Spanned<Organisation>>,
    ) -> Result<(), StandardError> {
        for (name, organisation) in organisations {
            let at = organisation.span().start;
            let organisation = organisation.into_inner();
            if organisation.trfc_ns.is_some_and(|ns| ns > LONGEST_REFRESH) {
                let problem = format!("`trfc_ns` is above {LONGEST_REFRESH}");
                return Err(self.error(at, format!("organisation `{name}`: {problem}")));
            }
            standard.organisations.insert(name, organisation);
        }
        Ok(())
    }

    fn speeds(
        &self,
        standard: &mut Standard,
        speeds: BTreeMap<String, Spanned<Speed>>,
    ) -> Result<(), StandardError> {
        for (name, speed) in speeds {
            let at = speed.span().start;
            let speed = speed.into_inner();
            let refuse = |problem: String| self.error(at, format!("speed `{name}`: {problem}"));
            if speed.tck_ps == 0 {
                return Err(refuse("`tck_ps` = 0: expected at least 1".to_owned()));
            }
            let long = named(&speed.timing).into_iter().find(|&(_, clocks)| clocks > LONGEST);
            if let Some((key, clocks)) = long {
                return Err(refuse(format!("`{key}` = {clocks}: expected at most {LONGEST}")));
            }
            standard.check_timing(&speed.timing).map_err(|e| refuse(e.to_string()))?;
            check_power(&speed.power).map_err(|e| refuse(e.to_string()))?;
            standard.speeds.insert(name, speed);
        }
        Ok(())
    }
}

impl Standard {
    /// Returns the names that expressions may use.
    fn parameter_names(&self) -> Values {
        let mut names = named(&Timing::default());
        names.insert("burst".to_owned(), 0);
        names.extend(self.parameters.keys().map(|name| (name.clone(), 0)));
        names
    }
}
