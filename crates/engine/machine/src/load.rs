//! Loading: from the name of a preset or file, and overrides, to a checked machine.
//!
//! Every given value is set by itself in a complete machine, which is then parsed into [`Machine`].
//! An error is therefore due to one key, and names it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::DeTable;
use toml::{Table, Value};

use super::error::{MachineError, Origin};
use super::former::current_key;
use super::gpgpusim::{self, Conversion};
use super::part::{STANDARD, fit, is_part};
use super::presets::preset;
use super::times::{AS_TIME, TIMING, cycles, picoseconds, timing_key};
use super::{Machine, preset_text};
use warpmem_dram::GivenTime;
use warpmem_dram::standard::is_file;
use warpmem_params::{Declared, DefaultValue, Field, Key, nearest};
use warpmem_support::files::text::position;

/// Loads a machine: a preset, a TOML file, or a configuration of GPGPU-Sim or Accel-Sim. A TOML file
/// may name a preset (`base = "li2015"`) and give only the differences; without `name` the machine
/// then has the name of the file. `overrides` are `key=value`, applied in order.
///
/// # Errors
/// Any [`MachineError`]; each names the key or place, the value and what would be valid.
pub fn load(name_or_path: &str, overrides: &[String]) -> Result<Machine, MachineError> {
    load_with_conversion(name_or_path, overrides).map(|(machine, _)| machine)
}

/// Loads a machine as [`load`] does, and returns the conversion if it is a configuration of GPGPU-Sim
/// or Accel-Sim. Reads the file once.
///
/// # Errors
/// As [`load`].
pub fn load_with_conversion(
    name_or_path: &str,
    overrides: &[String],
) -> Result<(Machine, Option<Conversion>), MachineError> {
    let (draft, conversion) = draft(name_or_path)?;
    Ok((draft.checked_with(overrides, Path::new(""))?, conversion))
}

/// Loads a machine for the sake of its DRAM channels: `change` modifies them before the overrides
/// apply, and the rules of other units are not checked.
///
/// # Errors
/// Any [`MachineError`], including one that `change` returns.
pub fn load_channels(
    name_or_path: &str,
    change: impl FnOnce(&mut Machine) -> Result<(), MachineError>,
    overrides: &[String],
) -> Result<Machine, MachineError> {
    let (mut draft, _) = draft(name_or_path)?;
    change(&mut draft.machine)?;
    draft.table = to_table(&draft.machine);
    draft.overridden(overrides, Path::new(""))?.checked(Machine::validate_channels)
}

fn draft(name_or_path: &str) -> Result<(Draft, Option<Conversion>), MachineError> {
    if preset_text(name_or_path).is_some() || !is_path(name_or_path) {
        return Ok((Draft::new(preset(name_or_path)?), None));
    }
    let path = Path::new(name_or_path);
    let text = warpmem_support::files::text::read(path)
        .map_err(|source| MachineError::Read { path: path.to_owned(), source })?;
    if !gpgpusim::is_configuration(&text) {
        return Ok((of_toml(path, &text)?, None));
    }
    let conversion = gpgpusim::convert(path, &text)?;
    Ok((of_conversion(&conversion)?, Some(conversion)))
}

/// Returns all values by dotted keys (`dram.timing.tcl`), sorted by key.
pub fn flatten(machine: &Machine) -> Vec<(String, Value)> {
    leaves(to_table(machine))
}

impl Machine {
    /// Returns the descriptions of all keys in declaration order.
    pub fn keys() -> Vec<Key> {
        <Machine as Field>::keys("", Declared::ROOT, &())
    }

    /// Applies `overrides`, each `key=value`, in order. Paths in them are relative to `folder`.
    ///
    /// # Errors
    /// As [`load`].
    pub fn with_overrides(
        self,
        overrides: &[String],
        folder: &Path,
    ) -> Result<Machine, MachineError> {
        Draft::new(self).checked_with(overrides, folder)
    }

    /// Returns the machine as a complete TOML file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("numbers, strings and tables are TOML")
    }
}

fn to_table(machine: &Machine) -> Table {
    Table::try_from(machine).expect("numbers, strings and tables are TOML")
}

/// Returns the values of a table and of the tables in it, by dotted keys.
pub(super) fn leaves(table: Table) -> Vec<(String, Value)> {
    let mut leaves = Vec::new();
    push_leaves(table, "", &mut leaves);
    leaves
}

fn push_leaves(table: Table, prefix: &str, leaves: &mut Vec<(String, Value)>) {
    for (key, value) in table {
        let key = join(prefix, &key);
        match value {
            Value::Table(inner) => push_leaves(inner, &key, leaves),
            leaf => leaves.push((key, leaf)),
        }
    }
}

fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

/// Whether an argument that names no preset looks like a path.
fn is_path(name: &str) -> bool {
    let ends = [".toml", ".config"].iter().any(|ending| name.ends_with(ending));
    name.contains(['/', '\\']) || ends || Path::new(name).is_file()
}

/// A value given by a user.
struct Given {
    key: String,
    value: Value,
    origin: Origin,
}

impl Given {
    /// Translates a former name of the key.
    fn new(key: &str, value: Value, origin: Origin) -> Given {
        Given { key: current_key(key).into_owned(), value, origin }
    }
}

/// A complete machine that values are applied to one by one. `table` and `machine` always agree.
struct Draft {
    table: Table,
    machine: Machine,
    /// Origins of the applied values, by key.
    origins: HashMap<String, Origin>,
    /// Base folder of relative paths in values.
    folder: PathBuf,
    /// DRAM times given in cycles since the last `settle_clock`.
    unsettled: Vec<String>,
}

impl Draft {
    fn new(machine: Machine) -> Self {
        let table = to_table(&machine);
        let (origins, folder, unsettled) = (HashMap::new(), PathBuf::new(), Vec::new());
        Self { table, machine, origins, folder, unsettled }
    }

    fn checked_with(self, overrides: &[String], folder: &Path) -> Result<Machine, MachineError> {
        self.overridden(overrides, folder)?.checked(Machine::validate)
    }

    /// Returns the machine if `check` accepts it. An error adds the line if a file gave the value.
    fn checked(
        mut self,
        check: impl FnOnce(&Machine) -> Result<(), MachineError>,
    ) -> Result<Machine, MachineError> {
        let Err(error) = check(&self.machine) else { return Ok(self.machine) };
        let origin = error.invalid().and_then(|invalid| self.origins.remove(&invalid.key));
        Err(match origin {
            Some(origin) => error.at(&origin),
            None => error,
        })
    }

    fn overridden(mut self, overrides: &[String], folder: &Path) -> Result<Draft, MachineError> {
        folder.clone_into(&mut self.folder);
        let given = overrides.iter().map(|text| parse_override(text, &mut self.table));
        let given = given.collect::<Result<_, _>>()?;
        self.set_each(given)?;
        self.settle_clock();
        Ok(self)
    }

    /// Sets values in order, DRAM parts first, so that the other values modify the part regardless of
    /// their line.
    fn set_each(&mut self, mut given: Vec<Given>) -> Result<(), MachineError> {
        given.sort_by_key(|given| !is_part(&given.key, &given.value));
        given.into_iter().try_for_each(|given| self.set(given))
    }

    fn set(&mut self, given: Given) -> Result<(), MachineError> {
        if let (true, Some(part)) = (is_part(&given.key, &given.value), given.value.as_str()) {
            return self.set_part(part, given.origin);
        }
        let Some(slot) = find_mut(&mut self.table, &given.key) else {
            return Err(unknown_key(given));
        };
        if let (Value::Table(_), Value::Table(inner)) = (&*slot, &given.value) {
            let inner = inner.iter().map(|(name, value)| {
                Given::new(&join(&given.key, name), value.clone(), given.origin.clone())
            });
            return self.set_each(inner.collect());
        }
        let time = timing_key(&given.key).and_then(|_| picoseconds(&given.value));
        *slot = match time {
            Some(time) => Value::Integer(cycles(time, self.machine.clocks.dram_mhz).into()),
            None => given.value.clone(),
        };
        if self.follow_table().is_err() {
            return Err(MachineError::WrongType {
                expected: expected(&given.key),
                key: given.key,
                value: given.value.to_string(),
                origin: given.origin,
            });
        }
        self.note(&given.key, time);
        self.origins.insert(given.key, given.origin);
        Ok(())
    }

    /// Replaces the channels by those of a DRAM part, including values given for them before.
    fn set_part(&mut self, part: &str, origin: Origin) -> Result<(), MachineError> {
        fit(&mut self.machine, part, &self.folder).map_err(|error| error.at(&origin))?;
        let mut before = std::mem::replace(&mut self.table, to_table(&self.machine));
        let table = &mut self.table;
        self.origins.retain(|key, _| find_mut(&mut before, key) == find_mut(table, key));
        self.origins.insert(STANDARD.to_owned(), origin);
        self.unsettled.clear();
        Ok(())
    }

    /// Parses the table into the machine.
    fn follow_table(&mut self) -> Result<(), toml::de::Error> {
        let machine = Machine::deserialize(self.table.clone())?;
        let old = std::mem::replace(&mut self.machine, machine).dram;
        self.machine.dram.standard_folder = old.standard_folder;
        self.machine.dram.given = old.given;
        Ok(())
    }

    /// Updates the state that follows from `key`, just set; `time` is its value in picoseconds if it was
    /// given as a time.
    fn note(&mut self, key: &str, time: Option<u64>) {
        let dram = &mut self.machine.dram;
        match (timing_key(key), time) {
            (Some(name), Some(time)) => {
                dram.given.own.insert(name.to_owned(), GivenTime::Picoseconds(time));
                self.unsettled.retain(|other| other != name);
            }
            (Some(name), None) => {
                dram.given.own.remove(name);
                self.unsettled.push(name.to_owned());
            }
            _ if key == STANDARD => {
                let is_file = is_file(&dram.standard);
                dram.standard_folder = if is_file { self.folder.clone() } else { PathBuf::new() };
            }
            _ if key == "clocks.dram_mhz" => self.round_times(),
            _ => {}
        }
    }

    /// Rounds times given in nanoseconds to cycles of the current clock.
    fn round_times(&mut self) {
        let mhz = self.machine.clocks.dram_mhz;
        for (name, time) in &self.machine.dram.given.own {
            let slot = find_mut(&mut self.table, &format!("{TIMING}{name}"));
            if let (GivenTime::Picoseconds(time), Some(slot)) = (time, slot) {
                *slot = Value::Integer(cycles(*time, mhz).into());
            }
        }
        self.follow_table().expect("cycles fit the type of a time");
    }

    /// Records the current clock for times given in cycles since the last call.
    fn settle_clock(&mut self) {
        let (given, mhz) = (&mut self.machine.dram.given, self.machine.clocks.dram_mhz);
        for name in self.unsettled.drain(..) {
            match given.clock_mhz {
                Some(clock) if clock == mhz => given.own.remove(&name),
                _ => given.own.insert(name, GivenTime::CyclesOf(mhz)),
            };
        }
    }
}

fn find_mut<'a>(table: &'a mut Table, key: &str) -> Option<&'a mut Value> {
    match key.split_once('.') {
        None => table.get_mut(key),
        Some((first, rest)) => find_mut(table.get_mut(first)?.as_table_mut()?, rest),
    }
}

/// Describes the values that `key` accepts.
fn expected(key: &str) -> String {
    let known = Machine::keys().into_iter().find(|known| known.path == key);
    let expected = known.map_or("a table of keys".to_owned(), |key| key.param.kind.expected());
    if timing_key(key).is_some() { format!("{expected}, or {AS_TIME}") } else { expected }
}

fn unknown_key(given: Given) -> MachineError {
    let keys = Machine::keys();
    let paths = || keys.iter().map(|key| key.path.as_str());
    let ending = format!(".{}", given.key);
    let nearest = paths()
        .find(|path| path.ends_with(&ending))
        .or_else(|| nearest(&given.key, paths()))
        .map(str::to_owned);
    MachineError::UnknownKey { key: given.key, origin: given.origin, nearest }
}

/// Parses `key=value`. `table` shows which keys hold strings, which need no quotes here.
fn parse_override(text: &str, table: &mut Table) -> Result<Given, MachineError> {
    let (key, value) = text
        .split_once('=')
        .map(|(key, value)| (key.trim(), value.trim()))
        .filter(|(key, value)| !key.is_empty() && !value.is_empty())
        .ok_or_else(|| MachineError::MalformedOverride { text: text.to_owned() })?;
    let is_string = find_mut(table, &current_key(key)).is_some_and(|old| old.is_str());
    let bare = || Value::String(value.to_owned());
    let value = match value.parse::<Value>() {
        Ok(parsed) if !is_string || parsed.is_str() => parsed,
        _ => bare(),
    };
    Ok(Given::new(key, value, Origin::Override(text.to_owned())))
}

/// Applies the values of a configuration of GPGPU-Sim to a preset.
fn of_conversion(conversion: &Conversion) -> Result<Draft, MachineError> {
    let mut base = preset(conversion.base)?;
    base.name.clone_from(&conversion.name);
    base.description.clone_from(&conversion.description);
    let mut draft = Draft::new(base);
    let given = conversion.values.iter().cloned().map(|mapped| {
        let (key, value) = (mapped.key.to_owned(), mapped.value);
        let origin = mapped.origin.unwrap_or(Origin::Override(mapped.source));
        Given { key, value, origin }
    });
    draft.set_each(given.collect())?;
    draft.settle_clock();
    draft.machine.dram.given.set_clock(draft.machine.clocks.dram_mhz);
    Ok(draft)
}

fn of_toml(path: &Path, text: &str) -> Result<Draft, MachineError> {
    let mut given = parse_file(path, text)?;
    let base = given.iter().position(|g| g.key == "base").map(|at| given.remove(at));
    let mut draft = match &base {
        Some(base) => Draft::new(named_after(path, base_preset(base)?)),
        None => {
            require_all_keys(path, &given)?;
            Draft::new(neutral())
        }
    };
    path.parent().unwrap_or(Path::new("")).clone_into(&mut draft.folder);
    draft.set_each(given)?;
    draft.settle_clock();
    if base.is_none() {
        draft.machine.dram.given.set_clock(draft.machine.clocks.dram_mhz);
    }
    Ok(draft)
}

fn base_preset(base: &Given) -> Result<Machine, MachineError> {
    match &base.value {
        Value::String(name) => preset(name),
        other => Err(MachineError::WrongType {
            key: base.key.clone(),
            value: other.to_string(),
            origin: base.origin.clone(),
            expected: "the name of a preset".to_owned(),
        }),
    }
}

fn named_after(path: &Path, machine: Machine) -> Machine {
    let name = path.file_stem().map_or(machine.name.clone(), |s| s.to_string_lossy().into_owned());
    Machine { name, ..machine }
}

/// Returns a machine of neutral defaults, with values of a preset for the keys that have none.
fn neutral() -> Machine {
    let mut table = to_table(&preset("li2015").expect("li2015 is a preset"));
    for key in Machine::keys().into_iter().filter(has_default) {
        let (section, name) =
            key.path.rsplit_once('.').expect("a key with a default has a section");
        let section = find_mut(&mut table, section).and_then(Value::as_table_mut);
        section.expect("a complete machine has every section").remove(name);
    }
    Machine::deserialize(table).expect("keys that are left out have defaults")
}

fn has_default(key: &Key) -> bool {
    key.param.default != DefaultValue::None
}

fn require_all_keys(path: &Path, given: &[Given]) -> Result<(), MachineError> {
    let required = Machine::keys().into_iter().filter(|key| !has_default(key));
    let mut missing: Vec<String> = required.map(|key| key.path).collect();
    missing.retain(|key| !given.iter().any(|g| g.key == *key));
    missing.sort();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(MachineError::MissingKeys { path: path.to_owned(), keys: missing })
    }
}

/// Parses the values of a file in the order of its tables, each with its line.
fn parse_file(path: &Path, text: &str) -> Result<Vec<Given>, MachineError> {
    let syntax = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let (line, column) = position(text, at);
        let message = error.message().to_owned();
        MachineError::Syntax { path: path.to_owned(), line, column, message }
    };
    let values: Table = toml::from_str(text).map_err(syntax)?;
    let spans = DeTable::parse(text).map_err(syntax)?;
    let mut file = FileWalk { path: path.to_owned(), text, given: Vec::new() };
    file.walk(values, spans.get_ref(), "");
    Ok(file.given)
}

/// A walk over the values of a file and their lines.
struct FileWalk<'a> {
    path: PathBuf,
    text: &'a str,
    given: Vec<Given>,
}

impl FileWalk<'_> {
    fn walk(&mut self, values: Table, spans: &DeTable<'_>, prefix: &str) {
        for (name, value) in values {
            let Some((key_span, value_span)) = spans.get_key_value(name.as_str()) else { continue };
            let key = join(prefix, &name);
            match (value, value_span.get_ref().as_table()) {
                (Value::Table(inner), Some(spans)) if !inner.is_empty() => {
                    self.walk(inner, spans, &key);
                }
                (value, _) => {
                    let (line, _) = position(self.text, key_span.span().start);
                    let origin = Origin::File { path: self.path.clone(), line };
                    self.given.push(Given::new(&key, value, origin));
                }
            }
        }
    }
}
