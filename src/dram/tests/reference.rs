//! Command streams of DRAMsim3 and Ramulator 2.1, where they lie beside the repository.
//!
//! Each must be legal under our rules and illegal where a command that a rule binds comes one cycle sooner; and
//! the channel, given one request at a time, must issue the same commands in the same cycles.

use super::harness::*;
use crate::dram::CommandKind::{self, Act, Pre, Rd, Wr};
use crate::dram::{Command, Request, checker};
use crate::machine::{Dram, Timing};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Timing of the reference's configuration, as in its `config_facts.json`.
fn gddr5_of_dramsim3() -> Dram {
    let timing = Timing {
        trcd: 24,
        trcdw: 20,
        tras: 56,
        trp: 24,
        trc: 80,
        tccds: 2,
        tccdl: 2,
        trrds: 10,
        trrdl: 10,
        tfaw: 40,
        tcl: 24,
        twl: 7,
        twtrs: 10,
        twtrl: 10,
        trtw_gap: 1,
        twr: 24,
        trtp: 5,
        trefi: 0,
        trfc: 0,
        ..Timing::default()
    };
    Dram { bank_groups: 1, timing, ..gddr5() }
}

fn hbm2_of_dramsim3() -> Dram {
    let timing = Timing {
        trcd: 14,
        trcdw: 14,
        tras: 34,
        trp: 14,
        trc: 48,
        trrds: 4,
        trrdl: 6,
        tfaw: 30,
        tcl: 14,
        twl: 4,
        twtrs: 6,
        twtrl: 8,
        trtw_gap: 2,
        twr: 16,
        ..gddr5_of_dramsim3().timing
    };
    Dram { bank_groups: 4, timing, ..gddr5() }
}

fn gddr6_of_ramulator() -> Dram {
    let timing = Timing {
        trcd: 30,
        trcdw: 20,
        tras: 60,
        trp: 30,
        trc: 90,
        tccds: 2,
        tccdl: 4,
        trrds: 11,
        trrdl: 11,
        tfaw: 43,
        tcl: 24,
        twl: 6,
        twtrs: 9,
        twtrl: 11,
        trtw_gap: 5,
        twr: 30,
        trtp: 4,
        trefi: 0,
        trfc: 0,
        ..Timing::default()
    };
    Dram { bank_groups: 4, timing, ..gddr5() }
}

/// A command of the reference; `earliest` and `bound_by` are its own account of when it was legal.
struct Row {
    command: Command,
    earliest: u64,
    bound_by: String,
}

fn folder(name: &str) -> Option<PathBuf> {
    let folder = Path::new("../shared/reference/dram").join(name);
    if !folder.is_dir() {
        eprintln!("skipped: no {}", folder.display());
        return None;
    }
    Some(folder)
}

/// A table's rows by column name.
fn table(path: &Path) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<String> = lines.next().unwrap().collect();
    lines.map(|fields| header.iter().cloned().zip(fields).collect()).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> u64 {
    row[column].parse().unwrap()
}

/// Our bank number: the group in the low bits.
fn bank(dram: &Dram, row: &HashMap<String, String>) -> u16 {
    (number(row, "bank") * u64::from(dram.bank_groups) + number(row, "bankgroup")) as u16
}

fn commands(dram: &Dram, folder: &Path) -> Vec<Row> {
    let mut open = HashMap::new();
    let row = |row: &HashMap<String, String>| {
        let kind = match row["cmd"].as_str() {
            "ACT" => Act,
            "PRE" | "PREpb" => Pre,
            "RD" => Rd,
            "WR" => Wr,
            other => panic!("unknown command {other}"),
        };
        let bank = bank(dram, row);
        // The reference gives a PRE the row that is wanted next.
        let row_number = match kind {
            Pre => open[&bank],
            _ => number(row, "row") as u32,
        };
        open.insert(bank, row_number);
        let command = Command {
            cycle: number(row, "cycle"),
            kind,
            bank,
            row: row_number,
            burst: 0,
            request: row["req"].parse().ok(),
        };
        Row { command, earliest: number(row, "earliest_legal"), bound_by: row["bound_by"].clone() }
    };
    table(&folder.join("commands.csv")).iter().map(row).collect()
}

fn requests(dram: &Dram, folder: &Path) -> Vec<Request> {
    let request = |row: &HashMap<String, String>| Request {
        write: row["op"] == "W",
        ..read(number(row, "idx") as u32, bank(dram, row), number(row, "row") as u32)
    };
    table(&folder.join("requests.csv")).iter().map(request).collect()
}

/// When the reference sent each request: at its first command if no rule held that back, else at once.
fn arrivals(rows: &[Row], requests: &[Request]) -> Vec<(u64, Request)> {
    let mut rows = rows.iter();
    let mut last_column = 0;
    let arrival = |request: &Request| {
        let first = rows.next().unwrap();
        let held = first.command.cycle == first.earliest;
        let arrival = if held { last_column + 1 } else { first.command.cycle };
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
fn requests_sent_one_by_one_take_the_same_cycles() {
    let cases = [
        ("d3_gddr5_serial_noref", gddr5_of_dramsim3()),
        ("d3_hbm2_serial_noref", hbm2_of_dramsim3()),
        ("r_gddr6_serial_noref", gddr6_of_ramulator()),
    ];
    for (name, mut dram) in cases {
        let Some(folder) = folder(name) else { return };
        (dram.read_queue, dram.write_queue) = (32, 0);
        let rows = commands(&dram, &folder);
        let arrivals = arrivals(&rows, &requests(&dram, &folder));
        for policy in ["fcfs", "banked-fifo", "fr-fcfs"] {
            let run = run_with(&dram, policy, &arrivals, Stepping::Events, |_| u32::MAX);
            let ours: Vec<_> = run.log.iter().map(place).collect();
            let theirs: Vec<_> = rows.iter().map(|row| place(&row.command)).collect();
            assert_eq!(ours, theirs, "{name} under {policy}");
        }
    }
}

#[test]
fn loaded_streams_are_legal_and_tight() {
    // Rules of the references that we do not model.
    let foreign = ["-", "tPPD", "t32AW", "nPPD", "bus"];
    let cases = [
        ("d3_gddr5_uq_noref", gddr5_of_dramsim3()),
        ("d3_hbm2_onecmd_uq_noref", hbm2_of_dramsim3()),
        ("d3_hbm2_uq_noref", Dram { dual_command_bus: true, ..hbm2_of_dramsim3() }),
        ("r_gddr6_noref", gddr6_of_ramulator()),
    ];
    for (name, dram) in cases {
        let Some(folder) = folder(name) else { return };
        let rows = commands(&dram, &folder);
        let log: Vec<Command> = rows.iter().map(|row| row.command).collect();
        assert_eq!(checker::check(&dram, &log), [], "{name}");
        let mut tight = 0;
        for (at, row) in rows.iter().enumerate().take(1000) {
            if row.command.cycle != row.earliest || foreign.contains(&row.bound_by.as_str()) {
                continue;
            }
            let mut early = log[..=at].to_vec();
            early[at].cycle -= 1;
            let broken = checker::check(&dram, &early);
            let by_timing = broken.iter().any(|v| v.later == early[at] && v.earliest.is_some());
            assert!(by_timing, "{name}: {} bound by {}", describe(&row.command), row.bound_by);
            tight += 1;
        }
        assert!(tight > 100, "{name}: {tight}");
    }
}
