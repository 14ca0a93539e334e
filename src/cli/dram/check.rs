//! `warpmem dram check`: checks a command log against the rules of its standard.

use super::super::exit::IllegalCommands;
use super::super::format::{self, TextFormat};
use super::super::machines::{MACHINE_HELP, MachineName};
use super::super::output::{note, print};
use crate::cli::files::InputFile;
use crate::dram::Dram;
use crate::dram::checker::{Checker, POSTPONED_REFRESHES, Violation};
use crate::dram::standard::Standard;
use crate::machine::{DEFAULT_MACHINE, Machine, MachineError, load_channels};
use crate::record::command_log::{CommandLogReader, LoggedCommand};
use anyhow::Context;
use clap::ValueHint;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use warpmem_support::text::aligned;

/// Check a command log against the rules of its standard
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Log of `warpmem run --command-log` or `warpmem dram --command-log`; Parquet if its name ends
    /// in .parquet
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    log: InputFile,
    /// Check against this standard instead of the log's own: a name or a TOML file
    #[arg(long, value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    standard: Option<InputFile>,
    #[arg(long, value_name = "NAME|FILE", help = format!("Check against the channels of this machine. {MACHINE_HELP}"), value_hint = ValueHint::FilePath)]
    machine: Option<MachineName>,
    /// Override a parameter of the channels, as in `dram.timing.trp=14`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Also check that refreshes are issued in time
    #[arg(long)]
    refresh: bool,
    /// Number of refreshes that may be postponed
    #[arg(long, value_name = "N", default_value_t = POSTPONED_REFRESHES, requires = "refresh")]
    postponed: u32,
    /// Violations to print; 0 = all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
}

const AFTER_HELP: &str = "\
Every violation has a row: the rule, the command that breaks it, the command that the rule counts from, and \
the first cycle that the rule allows. The exit status is 1 if there is any.

Examples:
  warpmem dram check commands.csv
  warpmem dram check commands.parquet --refresh --format json
  warpmem dram check commands.csv --standard my-gddr6.toml --set dram.timing.trp=14";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let log = CommandLogReader::open(&args.log)?;
    let dram = configuration(args, log.dram())
        .with_context(|| format!("failed to check {}", args.log.display()))?;
    let report = check(args, &dram, log)?;
    print(&match args.format {
        TextFormat::Table => report.text(),
        TextFormat::Json => format::json(&report.rows),
    })?;
    note(&report.summary());
    match report.violations() {
        0 => Ok(()),
        violations => Err(IllegalCommands { violations, commands: report.commands }.into()),
    }
}

/// Returns the channels to check against.
fn configuration(args: &Args, of_log: &Dram) -> Result<Dram, MachineError> {
    let standard =
        args.standard.iter().map(|standard| format!("dram.standard={}", standard.display()));
    let overrides: Vec<String> = standard.chain(args.overrides.iter().cloned()).collect();
    // A log identifies only its channels; the rest of the machine does not matter.
    let machine = args.machine.as_deref().unwrap_or(DEFAULT_MACHINE);
    let channels = |machine: &mut Machine| {
        if args.machine.is_none() {
            machine.dram = of_log.clone();
        }
        Ok(())
    };
    Ok(load_channels(machine, channels, &overrides)?.dram)
}

/// Result of the check.
#[derive(Default)]
struct Report {
    commands: u64,
    /// Commands by channel.
    channels: BTreeMap<u16, u64>,
    by_rule: BTreeMap<String, u64>,
    /// First violations.
    rows: Vec<Map<String, Value>>,
}

fn check(args: &Args, dram: &Dram, log: CommandLogReader) -> anyhow::Result<Report> {
    let standard = Standard::of(dram)?;
    let mut checkers: BTreeMap<u16, Checker> = BTreeMap::new();
    let mut report = Report::default();
    for row in log {
        let LoggedCommand { channel, command } = row?;
        let checker = checkers.entry(channel).or_insert_with(|| {
            let checker = Checker::new(dram, &standard);
            if args.refresh { checker.with_refresh(dram, args.postponed) } else { checker }
        });
        report.commands += 1;
        *report.channels.entry(channel).or_default() += 1;
        for violation in checker.take(command) {
            if args.limit == 0 || report.rows.len() < args.limit {
                report.rows.push(row_of(channel, &violation));
            }
            *report.by_rule.entry(violation.rule).or_default() += 1;
        }
    }
    Ok(report)
}

fn row_of(channel: u16, violation: &Violation) -> Map<String, Value> {
    let Violation { rule, earlier, later, earliest } = violation;
    let row = json!({
        "rule": rule,
        "channel": channel,
        "cycle": later.cycle,
        "command": later.kind.name(),
        "bank": later.bank,
        "row": later.row,
        "after_cycle": earlier.map(|command| command.cycle),
        "after_command": earlier.map(|command| command.kind.name()),
        "after_bank": earlier.map(|command| command.bank),
        "after_row": earlier.map(|command| command.row),
        "first_legal_cycle": earliest,
    });
    row.as_object().cloned().unwrap_or_default()
}

impl Report {
    fn violations(&self) -> u64 {
        self.by_rule.values().sum()
    }

    fn text(&self) -> String {
        let Some(first) = self.rows.first() else { return String::new() };
        let heading = first.keys().map(|key| key.replace('_', " ")).collect();
        let cells = |row: &Map<String, Value>| row.values().map(cell).collect();
        let rows: Vec<Vec<String>> =
            std::iter::once(heading).chain(self.rows.iter().map(cells)).collect();
        aligned(&rows, &[1, 2, 4, 5, 6, 8, 9, 10])
    }

    fn summary(&self) -> String {
        let (commands, channels) = (self.commands, self.channels.len());
        let rules: Vec<String> =
            self.by_rule.iter().map(|(rule, times)| format!("{rule} {times}")).collect();
        let found = match self.violations() {
            0 => "no violation".to_owned(),
            violations => format!("{violations} violations: {}", rules.join(", ")),
        };
        let left_out = self.violations() - self.rows.len() as u64;
        let more = if left_out > 0 { format!("; {left_out} not shown") } else { String::new() };
        format!("{commands} commands of {channels} channels, {found}{more}")
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
