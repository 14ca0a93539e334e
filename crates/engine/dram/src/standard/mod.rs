//! DRAM standards as data: the commands of a device and the time that they occupy their bus, the
//! constraints between them, and presets of organisation and speed. Each is a TOML file, built in
//! or supplied by the user; `docs/dram-standards.md` describes it.

mod check;
mod error;
mod expression;
mod file;
mod place;
mod presets;
mod values;

#[cfg(test)]
mod tests;

use super::constraint::{Constraint, Scope};
use super::request::CommandKind;
use crate::Dram;
use expression::{Expression, Values};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use warpmem_params::nearest;
use warpmem_support::files::input::is_pipe;

pub use error::StandardError;
pub use place::Place;
pub use presets::{Clock, Organisation, PartName, Speed};

/// Name and text of each file in `built_in/`.
const BUILT_IN: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/standards.rs"));

/// Name of the constraints that separate commands of several ticks on their bus.
pub const COMMAND_BUS: &str = "command bus";

/// Loaded standards by requested name or path, so that a run uses the same one from its check to
/// its end.
static LOADED: Mutex<BTreeMap<String, Arc<Standard>>> = Mutex::new(BTreeMap::new());

/// The ticks of two commands between which the cycles of a rule count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CountedFrom {
    First,
    Last,
}

/// A row of the constraint table, for any of `from` and any of `to`.
#[derive(Clone, Debug, PartialEq)]
struct Rule {
    name: String,
    from: Vec<CommandKind>,
    to: Vec<CommandKind>,
    scope: Scope,
    sibling: bool,
    cycles: Expression,
    window: u8,
}

/// A DRAM standard.
#[derive(Clone, Debug, PartialEq)]
pub struct Standard {
    /// Value of `dram.standard`: a built-in name or a path.
    reference: String,
    /// Text of a user's file; none for a built-in standard.
    file: Option<String>,
    name: String,
    summary: String,
    source: String,
    dual_command_bus: bool,
    ticks_per_clock: u32,
    counted_from: CountedFrom,
    /// Whether tRC may be shorter than tRAS + tRP.
    short_row_cycle: bool,
    /// Ticks for which a command occupies its bus, by kind.
    command_ticks: [u32; CommandKind::COUNT],
    /// Whether a command begins with a clock, by kind; others may begin with any tick.
    begins_a_clock: [bool; CommandKind::COUNT],
    /// Ticks from the first tick of RD and of WR to first data.
    latencies: [Expression; 2],
    parameters: BTreeMap<String, u32>,
    rules: Vec<Rule>,
    organisations: BTreeMap<String, Organisation>,
    speeds: BTreeMap<String, Speed>,
}

impl Standard {
    /// Loads the standard called `name_or_path`: a built-in one, or the file of a path that ends in
    /// `.toml`. A file is read once per process.
    ///
    /// # Errors
    /// Returns an error with its location for an unknown name, an unreadable file or an invalid
    /// standard.
    pub fn load(name_or_path: &str) -> Result<Arc<Standard>, StandardError> {
        let loaded = || LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(standard) = loaded().get(name_or_path) {
            return Ok(Arc::clone(standard));
        }
        let standard = Arc::new(Standard::read(name_or_path)?);
        Ok(Arc::clone(loaded().entry(name_or_path.to_owned()).or_insert(standard)))
    }

    /// Loads the standard of a channel.
    ///
    /// # Errors
    /// As [`Standard::load`].
    pub fn of(dram: &Dram) -> Result<Arc<Standard>, StandardError> {
        match is_file(&dram.standard) {
            true => Standard::load(&dram.standard_folder.join(&dram.standard).to_string_lossy()),
            false => Standard::load(&dram.standard),
        }
    }

    /// Iterates over the names of the built-in standards.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|&(name, _)| name)
    }

    /// Returns the TOML text of a built-in standard, including comments.
    pub fn text(name: &str) -> Option<&'static str> {
        BUILT_IN.iter().find(|&&(n, _)| n == name).map(|&(_, text)| text)
    }

    /// Returns the content of the file of a user's standard, on which results depend; none for a
    /// built-in one.
    pub fn file_text(&self) -> Option<&str> {
        self.file.as_deref()
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a one-line summary.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns the source of the rules.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether row and column commands have separate buses.
    pub fn dual_command_bus(&self) -> bool {
        self.dual_command_bus
    }

    /// Returns the cycles of the simulated command clock per clock of the device.
    pub fn ticks_per_clock(&self) -> u32 {
        self.ticks_per_clock
    }

    /// Returns the ticks for which a command occupies its bus.
    pub fn command_ticks(&self, kind: CommandKind) -> u32 {
        self.command_ticks[kind as usize]
    }

    /// Returns the grid of a command in ticks: it begins at multiples of 1, or of a clock.
    pub fn command_grid(&self, kind: CommandKind) -> u32 {
        if self.begins_a_clock[kind as usize] { self.ticks_per_clock } else { 1 }
    }

    /// Returns the ticks from the first tick of RD, and of WR, to first data.
    pub fn latencies(&self, dram: &Dram) -> [u32; 2] {
        let values = self.values(dram);
        self.latencies.each_ref().map(|latency| ticks(latency.evaluate(&values)))
    }

    /// Returns the constraints of a channel of `dram`, in ticks, without those of zero ticks.
    /// Constraints named [`COMMAND_BUS`] separate commands that share a bus.
    pub fn constraints(&self, dram: &Dram) -> Vec<Constraint> {
        let values = self.values(dram);
        let mut constraints = Vec::new();
        for rule in &self.rules {
            let cycles = rule.cycles.evaluate(&values);
            if cycles > 0 {
                self.push(rule, cycles, &mut constraints);
            }
        }
        for from in CommandKind::ALL {
            let on_its_bus =
                |to: &CommandKind| !dram.dual_command_bus || from.is_column() == to.is_column();
            constraints.extend(CommandKind::ALL.into_iter().filter(on_its_bus).map(|to| {
                let cycles = self.command_ticks(from);
                let name = COMMAND_BUS.to_owned();
                let scope = Scope::Channel;
                Constraint { name, from, to, scope, sibling: false, cycles, window: 1 }
            }));
        }
        constraints
    }

    /// Adds the constraints of a rule of `cycles`.
    fn push(&self, rule: &Rule, cycles: i64, constraints: &mut Vec<Constraint>) {
        for &from in &rule.from {
            for &to in &rule.to {
                let shift = match self.counted_from {
                    CountedFrom::First => 0,
                    CountedFrom::Last => {
                        i64::from(self.command_ticks(from)) - i64::from(self.command_ticks(to))
                    }
                };
                let cycles = ticks(cycles + shift);
                if cycles > 0 {
                    let (name, scope) = (rule.name.clone(), rule.scope);
                    let (sibling, window) = (rule.sibling, rule.window);
                    constraints.push(Constraint { name, from, to, scope, sibling, cycles, window });
                }
            }
        }
    }

    /// Returns the values of the names of expressions, in ticks.
    fn values(&self, dram: &Dram) -> Values {
        let mut values = values::named(&dram.timing);
        values.insert("burst".to_owned(), dram.burst_cycles().into());
        let own = |(name, clocks): (&String, &u32)| {
            (name.clone(), i64::from(*clocks) * i64::from(self.ticks_per_clock))
        };
        values.extend(self.parameters.iter().map(own));
        values
    }

    fn read(name_or_path: &str) -> Result<Standard, StandardError> {
        let base = |name: &str| Standard::text(name).and_then(|_| Standard::load(name).ok());
        if let Some(text) = Standard::text(name_or_path) {
            return file::parse(name_or_path, Path::new(name_or_path), text, base);
        }
        let path = Path::new(name_or_path);
        if is_pipe(path) {
            let message = "it is a pipe; a standard is read again by every process that uses it, \
                           so save it as a .toml file";
            return Err(StandardError::Read { path: path.to_owned(), message: message.to_owned() });
        }
        if !is_file(name_or_path) {
            return Err(StandardError::Unknown {
                name: name_or_path.to_owned(),
                nearest: nearest(name_or_path, Standard::names()).map(str::to_owned),
                valid: Standard::names().collect::<Vec<_>>().join(", "),
            });
        }
        let text = warpmem_support::files::text::read(path).map_err(|error| {
            StandardError::Read { path: path.to_owned(), message: error.to_string() }
        })?;
        let standard = file::parse(name_or_path, path, &text, base)?;
        Ok(Standard { file: Some(text), ..standard })
    }

    /// Parses `text` as a standard and, if valid, evaluates its rules for each of its presets on
    /// `channels`.
    #[cfg(fuzzing)]
    pub fn read_and_evaluate(text: &str, channels: &Dram) {
        let base = |name: &str| Standard::text(name).and_then(|_| Standard::load(name).ok());
        let Ok(standard) = file::parse("input.toml", Path::new("input.toml"), text, base) else {
            return;
        };
        for organisation in standard.organisations.keys() {
            for speed in standard.speeds.keys() {
                let mut dram = channels.clone();
                if standard.apply(organisation, speed, &mut dram).is_ok() {
                    let _ = standard.refresh_per_bank(speed, &mut dram);
                    standard.constraints(&dram);
                    standard.latencies(&dram);
                }
            }
        }
    }

    /// Returns a standard without rules, with one bus and one-tick commands.
    fn empty() -> Standard {
        Standard {
            reference: String::new(),
            file: None,
            name: String::new(),
            summary: String::new(),
            source: String::new(),
            dual_command_bus: false,
            ticks_per_clock: 1,
            counted_from: CountedFrom::First,
            short_row_cycle: false,
            command_ticks: [1; CommandKind::COUNT],
            begins_a_clock: [false; CommandKind::COUNT],
            latencies: ["tcl", "twl"].map(|name| Expression::Name(name.to_owned())),
            parameters: BTreeMap::new(),
            rules: Vec::new(),
            organisations: BTreeMap::new(),
            speeds: BTreeMap::new(),
        }
    }
}

/// Returns whether the name of a standard is a path.
pub fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// Clamps to 0 and to the largest representable time.
fn ticks(cycles: i64) -> u32 {
    u32::try_from(cycles.max(0)).unwrap_or(u32::MAX)
}
