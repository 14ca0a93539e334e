//! Command streams of DRAMsim3 and Ramulator 2.1, if they are available beside the repository.
//!
//! Our tables must have their constraints; each command must be legal under them from exactly the
//! cycle that the reference computed for it; and the channel, given one request at a time, must
//! issue the same commands in the same cycles.

use super::harness::*;
use crate::CommandKind::{Act, Pre, PreAll, Rd, Ref, RefPb, Wr};
use crate::checker::{COMMAND_ORDER, Checker, WITHIN_CLOCK};
use crate::standard::{COMMAND_BUS, Standard};
use crate::{Command, CommandKind, Constraint, Dram, DramRequest, Scope, Timing};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A directory of the reference and our preset that it is compared with.
pub(super) struct Reference {
    pub folder: &'static str,
    standard: &'static str,
    organisation: &'static str,
    speed: &'static str,
}

const fn dramsim3(folder: &'static str, standard: &'static str, preset: &'static str) -> Reference {
    Reference { folder, standard, organisation: preset, speed: preset }
}

const fn ramulator(
    folder: &'static str,
    standard: &'static str,
    organisation: &'static str,
    speed: &'static str,
) -> Reference {
    Reference { folder, standard, organisation, speed }
}

const REFERENCES: &[Reference] = &[
    dramsim3("d3_gddr5", "gddr5", "GDDR5_8Gb_x32"),
    dramsim3("d3_gddr5_serial_noref", "gddr5", "GDDR5_8Gb_x32"),
    dramsim3("d3_gddr5_uq", "gddr5", "GDDR5_8Gb_x32"),
    dramsim3("d3_gddr5_uq_noref", "gddr5", "GDDR5_8Gb_x32"),
    dramsim3("d3_gddr5bg_uq", "gddr5", "GDDR5_8Gb_x32"),
    dramsim3("d3_gddr6_uq", "gddr6", "GDDR6_8Gb_x16_DRAMsim3"),
    dramsim3("d3_hbm2", "hbm2-legacy", "HBM2_8Gb_x128"),
    dramsim3("d3_hbm2_onecmd_uq_noref", "hbm2-legacy", "HBM2_8Gb_x128"),
    dramsim3("d3_hbm2_serial_noref", "hbm2-legacy", "HBM2_8Gb_x128"),
    dramsim3("d3_hbm2_uq", "hbm2-legacy", "HBM2_8Gb_x128"),
    dramsim3("d3_hbm2_uq_noref", "hbm2-legacy", "HBM2_8Gb_x128"),
    ramulator("r_gddr6", "gddr6", "GDDR6_8Gb_x16", "GDDR6_14000_1250mV_double"),
    ramulator("r_gddr6_noref", "gddr6", "GDDR6_8Gb_x16", "GDDR6_14000_1250mV_double"),
    ramulator("r_gddr6_rowhit_noref", "gddr6", "GDDR6_8Gb_x16", "GDDR6_14000_1250mV_double"),
    ramulator("r_gddr6_serial_noref", "gddr6", "GDDR6_8Gb_x16", "GDDR6_14000_1250mV_double"),
    ramulator("r_gddr7_serial_noref", "gddr7", "GDDR7_16Gb_x8", "GDDR7_28000_PAM3"),
    ramulator("r_hbm2", "hbm2", "HBM2_8Gb", "HBM2_2000Mbps"),
    ramulator("r_hbm2_noref", "hbm2", "HBM2_8Gb", "HBM2_2000Mbps"),
    ramulator("r_hbm3_noref", "hbm3", "HBM3_8Gb_8hi", "HBM3_6400Mbps"),
    ramulator("r_hbm3_serial_noref", "hbm3", "HBM3_8Gb_8hi", "HBM3_6400Mbps"),
];

/// Returns the directory of the references, beside the project.
pub fn beside() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/reference/dram")
}

impl Reference {
    /// Returns its path, if it exists.
    fn path(&self) -> Option<PathBuf> {
        let folder = beside().join(self.folder);
        if !folder.is_dir() {
            eprintln!("skipped: no {}", folder.display());
            return None;
        }
        Some(folder)
    }

    /// Returns the channel that it simulated, refresh always on.
    fn dram(&self, facts: &Value) -> Dram {
        let mut dram = Dram { read_queue: 32, write_queue: 0, ..gddr5() };
        let standard = Standard::load(self.standard).unwrap();
        standard.apply(self.organisation, self.speed, &mut dram).unwrap();
        if self.folder.contains("onecmd") {
            dram.dual_command_bus = false;
        }
        // DRAMsim3 merges the groups of most of its GDDR files.
        if facts["geometry"]["bg"] == 1 && self.folder.starts_with("d3_") {
            let t = dram.timing.clone();
            dram.bank_groups = 1;
            dram.timing = Timing { tccdl: t.tccds, trrdl: t.trrds, twtrl: t.twtrs, ..t };
        }
        standard.check(&dram).unwrap();
        dram
    }
}

/// Returns the channel that it simulated.
pub(super) fn as_run(dram: Dram, facts: &Value) -> Dram {
    if !facts["refresh"].as_str().unwrap().starts_with("off") {
        return dram;
    }
    Dram { timing: Timing { trefi: 0, trfc: 0, ..dram.timing.clone() }, ..dram }
}

fn facts(folder: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("config_facts.json")).unwrap())
        .unwrap()
}

/// Iterates over the available directories, each with its facts and channel.
pub(super) fn references() -> impl Iterator<Item = (&'static Reference, PathBuf, Value, Dram)> {
    REFERENCES.iter().filter_map(|reference| {
        let folder = reference.path()?;
        let facts = facts(&folder);
        let dram = reference.dram(&facts);
        Some((reference, folder, facts, dram))
    })
}

fn kind(name: &str) -> Option<CommandKind> {
    Some(match name {
        "PRE" | "PREpb" => Pre,
        "PREab" => PreAll,
        "REFab" => Ref,
        "REFpb" => RefPb,
        _ => return CommandKind::ALL.into_iter().find(|kind| kind.name() == name),
    })
}

/// Identity of a constraint, apart from its name.
type Key = (CommandKind, CommandKind, Scope, bool, u8);

fn key(c: &Constraint) -> Key {
    (c.from, c.to, c.scope, c.sibling, c.window)
}

/// Returns the reference's constraints between known commands, the longest for each key.
fn their_constraints(facts: &Value) -> HashMap<Key, u32> {
    let rows = facts.get("constraints").or(facts.get("constraints_in_ticks")).unwrap();
    let mut table = HashMap::new();
    for row in rows.as_array().unwrap() {
        let text = |i: usize| row[i].as_str().unwrap();
        let (Some(from), Some(to)) = (kind(text(1)), kind(text(2))) else { continue };
        let scope = match text(0) {
            "bank" | "Bank" => Scope::Bank,
            "bg" | "BankGroup" => Scope::Group,
            "Sid" => Scope::Stack,
            _ if text(4) == "bus" => Scope::Channel,
            "rank" | "Channel" | "PseudoChannel" => Scope::PseudoChannel,
            other => panic!("unknown scope {other}"),
        };
        let sibling = row[6].as_bool().unwrap_or(false);
        let window = row[5].as_u64().unwrap() as u8;
        let cycles = row[3].as_u64().unwrap() as u32;
        let longest = table.entry((from, to, scope, sibling, window)).or_insert(0);
        *longest = cycles.max(*longest);
    }
    table
}

fn our_constraints(dram: &Dram) -> HashMap<Key, u32> {
    let mut table = HashMap::new();
    for c in Standard::load(&dram.standard).unwrap().constraints(dram) {
        let longest = table.entry(key(&c)).or_insert(0);
        *longest = c.cycles.max(*longest);
    }
    table
}

/// Returns whether a constraint differs on purpose.
fn deviates((from, to, scope, ..): Key, standard: &str) -> bool {
    match standard {
        // Data of Ramulator's write, 12 clocks after a read, can collide with those of an earlier
        // read.
        "gddr7" => from.is_read() && to.is_write() && scope == Scope::PseudoChannel,
        // An auto-precharge anywhere delays Ramulator's refresh of another bank.
        "gddr6" => from.closes_row() && to == RefPb && scope == Scope::PseudoChannel,
        _ => false,
    }
}

#[test]
fn our_tables_have_the_constraints_of_the_references() {
    for (reference, _, facts, mut dram) in references() {
        // Refresh of all banks and of single ones at once, which only a table can have.
        let mut single = dram.clone();
        let standard = Standard::load(reference.standard).unwrap();
        if standard.refresh_per_bank(reference.speed, &mut single).is_ok() {
            dram.timing.trfcpb = single.timing.trfcpb;
            dram.timing.trrefd = single.timing.trrefd;
        }
        let (theirs, ours) = (their_constraints(&facts), our_constraints(&dram));
        assert!(theirs.len() > 15, "{}", reference.folder);
        for (key, cycles) in &theirs {
            // A command that a closed bank cannot take anyway needs no rule.
            let structural = key.0 == Ref
                && matches!(key.1, Pre | Rd | Wr | CommandKind::Rda | CommandKind::Wra);
            let agrees = ours.get(key) == Some(cycles);
            assert!(
                agrees || structural || deviates(*key, reference.standard),
                "{}: {key:?} is {cycles} there and {:?} here",
                reference.folder,
                ours.get(key)
            );
        }
        // The converse, for the commands of the streams: we have no constraint that they lack.
        let of_streams = |kind: CommandKind| matches!(kind, Act | Pre | Rd | Wr);
        for (key, cycles) in &ours {
            if of_streams(key.0) && of_streams(key.1) && *cycles > 1 && !theirs.contains_key(key) {
                panic!("{}: {key:?} is {cycles} here and nothing there", reference.folder);
            }
        }
    }
}

/// A command of the reference; `earliest` and `bound_by` are its own result of when the command was
/// legal.
pub(super) struct Row {
    pub command: Command,
    earliest: u64,
    bound_by: String,
}

/// Reads a table's rows by column name.
fn table(path: &Path) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<String> = lines.next().unwrap().collect();
    lines.map(|fields| header.iter().cloned().zip(fields).collect()).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> u64 {
    row[column].parse().unwrap()
}

/// Returns our bank number: the group in the low bits of the bank within its stack. Whole ranks:
/// the first bank.
fn bank(dram: &Dram, row: &HashMap<String, String>) -> u16 {
    let pseudo = number(row, "pseudochannel") as u32;
    let stack = row.get("sid").map_or(0, |_| number(row, "sid")) as u32;
    let in_stack = match row["bank"].as_str() {
        "-1" => 0,
        _ => number(row, "bank") as u32 * dram.bank_groups + number(row, "bankgroup") as u32,
    };
    let per_stack = dram.banks / (dram.pseudo_channels * dram.stacks);
    ((pseudo * dram.stacks + stack) * per_stack + in_stack) as u16
}

pub(super) fn commands(dram: &Dram, folder: &Path) -> Vec<Row> {
    let mut open = HashMap::new();
    // The first clock of their half clocks begins at 1.
    let origin = u64::from(dram.standard == "hbm3");
    let row = |row: &HashMap<String, String>| {
        let kind = kind(&row["cmd"]).unwrap_or_else(|| panic!("unknown command {}", row["cmd"]));
        let bank = bank(dram, row);
        // The reference labels a PRE with the row that is wanted next.
        let row_number = match kind {
            Pre => open[&bank],
            Ref | PreAll => 0,
            _ => number(row, "row") as u32,
        };
        open.insert(bank, row_number);
        let command = Command {
            cycle: number(row, "cycle") - origin,
            kind,
            bank,
            row: row_number,
            burst: 0,
            request: row["req"].parse().ok(),
        };
        Row {
            command,
            earliest: number(row, "earliest_legal").saturating_sub(origin),
            bound_by: row["bound_by"].clone(),
        }
    };
    table(&folder.join("commands.csv")).iter().map(row).collect()
}

pub(super) fn requests(dram: &Dram, folder: &Path) -> Vec<DramRequest> {
    let request = |row: &HashMap<String, String>| DramRequest {
        write: row["op"] == "W",
        ..read(number(row, "idx") as u32, bank(dram, row), number(row, "row") as u32)
    };
    table(&folder.join("requests.csv")).iter().map(request).collect()
}

/// Returns the distances that `command` would violate if it came next.
fn broken(checker: &Checker, command: Command, cycle: u64) -> Vec<String> {
    checker
        .inspect(Command { cycle, ..command })
        .into_iter()
        .filter(|violation| violation.earliest.is_some())
        .filter(|violation| ![COMMAND_ORDER, WITHIN_CLOCK].contains(&violation.rule.as_str()))
        .map(|violation| violation.rule)
        .collect()
}

#[test]
fn every_command_is_legal_from_the_reference_cycle() {
    for (reference, folder, facts, dram) in references() {
        let dram = as_run(dram, &facts);
        let standard = Standard::load(&dram.standard).unwrap();
        let mut checker = Checker::new(&dram, &standard).with_whole_history();
        let (mut at_once, mut bound) = (0, 0);
        let rows = commands(&dram, &folder);
        for Row { command, earliest, bound_by } in &rows {
            let here = format!("{}: {}, {bound_by}", reference.folder, describe(command));
            assert_eq!(checker.inspect(*command), [], "{here}");
            if bound_by != "-" {
                // The references have no rule of one command per bus and cycle.
                let mut at = broken(&checker, *command, *earliest);
                at.retain(|rule| rule != COMMAND_BUS);
                at.retain(|rule| rule != "tRTW" || reference.standard != "gddr7");
                assert_eq!(at, [""; 0], "{here}: {earliest}");
                assert_ne!(broken(&checker, *command, earliest - 1), [""; 0], "{here}");
                bound += 1;
                at_once += u32::from(command.cycle == *earliest);
            }
            checker.take(*command);
        }
        assert!(
            rows.len() > 600 && bound > 500 && at_once >= 100,
            "{}: {bound}, {at_once}",
            reference.folder
        );
    }
}

/// Returns the cycle in which the reference sent each request: that of its first command if no rule
/// delayed it, else 0.
fn arrivals(rows: &[Row], requests: &[DramRequest]) -> Vec<(u64, DramRequest)> {
    let mut rows = rows.iter();
    let mut last_column = 0;
    let arrival = |request: &DramRequest| {
        let first = rows.next().unwrap();
        let held = first.command.cycle == first.earliest;
        let arrival =
            if held { first.command.cycle.min(last_column + 1) } else { first.command.cycle };
        let column = match first.command.request {
            Some(_) => first,
            None => rows.find(|row| row.command.request.is_some()).unwrap(),
        };
        assert_eq!(column.command.request, Some(request.id));
        last_column = column.command.cycle;
        (arrival, *request)
    };
    requests.iter().map(arrival).collect()
}

fn place(command: &Command) -> (u64, CommandKind, u16, u32) {
    (command.cycle, command.kind, command.bank, command.row)
}

#[test]
fn isolated_requests_take_the_reference_cycles() {
    for (reference, folder, facts, dram) in references() {
        if !reference.folder.contains("serial") {
            continue;
        }
        let dram = Dram { read_queue: 64, ..as_run(dram, &facts) };
        let rows = commands(&dram, &folder);
        let arrivals = arrivals(&rows, &requests(&dram, &folder));
        for policy in ["fcfs", "banked-fifo", "fr-fcfs"] {
            let run = run_with(&dram, policy, &arrivals, Stepping::Events, |_| u32::MAX);
            let ours: Vec<_> = run.log.iter().map(place).collect();
            let theirs: Vec<_> = rows.iter().map(|row| place(&row.command)).collect();
            let differs = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
            assert_eq!(differs, None, "{} under {policy}: ours, theirs", reference.folder);
            assert_eq!(ours.len(), theirs.len(), "{} under {policy}", reference.folder);
        }
    }
}
