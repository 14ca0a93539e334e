//! `warpmem machine`: shows a machine's parameters, or the differences between two machines.

use super::format::{self, Format};
use super::machines::{MACHINE_HELP, MachineName, Overrides};
use super::output::{print, warn};
use crate::machine::{Machine, flatten, load, load_with_conversion, preset_listing};
use clap::ValueHint;
use serde_json::{Map, Value};
use warpmem_support::text::aligned;

/// Show a machine's parameters, or those in which two machines differ
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Print a machine as a TOML file, the origin of each value beside it
    Show(Show),
    /// Print the parameters in which two machines differ
    Diff(Diff),
}

#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_SHOW)]
struct Show {
    #[arg(value_name = "NAME|FILE", help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    machine: MachineName,
    #[command(flatten)]
    overrides: Overrides,
}

#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_DIFF)]
struct Diff {
    #[arg(value_name = "NAME|FILE", help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    one: MachineName,
    #[arg(value_name = "NAME|FILE", help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    other: MachineName,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem machine show v100 > mine.toml
  warpmem machine diff v100 mine.toml";

const AFTER_SHOW: &str = "\
The output is a valid machine file. With --set, or for a file of your own, it has every value but no
origins, except for DRAM timings: those in ns, with their cycles, and those for another clock.
For a configuration of GPGPU-Sim or Accel-Sim, each value has its option, and options without a
counterpart are listed.

Examples:
  warpmem machine show v100 > mine.toml
  warpmem machine show v100 --set dram.read_queue=128
  warpmem machine show v100 --set clocks.dram_mhz=1000 --set dram.timing.trcd=13.75ns
  warpmem machine show mine.toml
  warpmem machine show SM7_QV100/gpgpusim.config > mine.toml";

const AFTER_DIFF: &str = "\
Examples:
  warpmem machine diff v100 rtx2060s
  warpmem machine diff v100 mine.toml --format csv";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Show(args) => show(args),
        Command::Diff(args) => diff(args),
    }
}

fn show(Show { machine, overrides }: &Show) -> anyhow::Result<()> {
    if let Some(preset) = preset_listing(machine).filter(|_| overrides.overrides.is_empty()) {
        return print(&preset);
    }
    let (shown, conversion) = load_with_conversion(machine, &overrides.overrides)?;
    match conversion.filter(|_| overrides.overrides.is_empty()) {
        Some(conversion) => print(&conversion.to_toml()),
        None => {
            shown.clock_warnings().iter().for_each(|warning| warn(warning));
            print(&shown.to_toml_as_given())
        }
    }
}

fn diff(Diff { one, other, format }: &Diff) -> anyhow::Result<()> {
    let [left, right] = [load(one, &[])?, load(other, &[])?];
    let rows = differences(&left, &right);
    print(&match format {
        Format::Json => format::json(&rows.iter().map(Difference::to_row).collect::<Vec<_>>()),
        Format::Csv if rows.is_empty() => format!("{}\n", COLUMNS.join(",")),
        Format::Csv => format::csv(&rows.iter().map(Difference::to_row).collect::<Vec<_>>()),
        Format::Table if rows.is_empty() => {
            format!("no difference: {one} and {other} have the same parameters\n")
        }
        Format::Table => {
            let heading = vec!["parameter".to_owned(), one.to_string(), other.to_string()];
            let lines = rows.iter().map(Difference::to_line);
            aligned(&std::iter::once(heading).chain(lines).collect::<Vec<_>>(), &[])
        }
    })
}

/// Columns of JSON and CSV.
const COLUMNS: [&str; 3] = ["parameter", "one", "other"];

/// A parameter with two values.
struct Difference {
    key: String,
    values: [toml::Value; 2],
}

impl Difference {
    fn to_row(&self) -> Map<String, Value> {
        let json = |value| serde_json::to_value(value).expect("a number, text, a flag or a list");
        let [one, other] = self.values.clone().map(json);
        let values = [self.key.as_str().into(), one, other];
        COLUMNS.map(str::to_owned).into_iter().zip(values).collect()
    }

    fn to_line(&self) -> Vec<String> {
        let shown = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        std::iter::once(self.key.clone()).chain(self.values.iter().map(shown)).collect()
    }
}

/// Returns the differing parameters, without name and description, which differ in any two
/// machines.
fn differences(left: &Machine, right: &Machine) -> Vec<Difference> {
    let pairs = flatten(left).into_iter().zip(flatten(right));
    let pairs = pairs.filter(|((key, one), (_, other))| {
        one != other && !["name", "description"].contains(&key.as_str())
    });
    pairs.map(|((key, one), (_, other))| Difference { key, values: [one, other] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_differ_in_what_was_changed() {
        let mut changed = load("v100", &["dram.read_queue=7".to_owned()]).unwrap();
        changed.description = "mine".to_owned();
        let rows = differences(&load("v100", &[]).unwrap(), &changed);
        let keys: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(keys, ["dram.read_queue"]);
        assert_eq!(rows[0].values[1].as_integer(), Some(7));
    }

    #[test]
    fn all_machines_have_the_same_parameters_in_the_same_order() {
        let keys = |name| flatten(&load(name, &[]).unwrap()).into_iter().map(|(key, _)| key);
        for name in crate::machine::preset_names() {
            assert!(keys(name).eq(keys("li2015")), "{name}");
        }
    }
}
