//! Rules by hand: legal at n cycles, illegal at n - 1.

use super::harness::*;
use crate::CommandKind::{Act, Pre, PreAll, Rd, Rda, Ref, RefPb, Wr, Wra};
use crate::{Command, CommandKind, Dram, Timing, checker, constraints};
use std::collections::BTreeSet;

/// Returns a channel with a distinct value for every parameter, so that no rule can replace
/// another.
pub fn dram() -> Dram {
    let timing = Timing {
        trcd: 20,
        trcdw: 17,
        tras: 45,
        trp: 19,
        trc: 80,
        tccds: 5,
        tccdl: 9,
        trrds: 4,
        trrdl: 7,
        tfaw: 31,
        tcl: 14,
        twl: 6,
        twtrs: 8,
        twtrl: 11,
        trtw_gap: 3,
        twr: 33,
        trtp: 37,
        trefi: 0,
        trfc: 100,
        tppd: 13,
        trfcpb: 90,
        trrefd: 23,
        ..Timing::default()
    };
    Dram { timing, ..gddr5() }
}

/// A rule, the preceding commands (cycle, kind, bank), and the command that is first legal at a
/// cycle.
struct Case {
    rule: &'static str,
    before: &'static [(u64, CommandKind, u16)],
    command: (u64, CommandKind, u16),
}

/// The burst is 2 cycles; banks 0, 4, 8, 12 form a group.
const CASES: &[Case] = &[
    Case { rule: "tRCD", before: &[(0, Act, 0)], command: (20, Rd, 0) },
    Case { rule: "tRCDW", before: &[(0, Act, 0)], command: (17, Wr, 0) },
    Case { rule: "tRAS", before: &[(0, Act, 0)], command: (45, Pre, 0) },
    Case { rule: "tRC", before: &[(0, Act, 0), (45, Pre, 0)], command: (80, Act, 0) },
    Case { rule: "tRP", before: &[(0, Act, 0), (70, Pre, 0)], command: (89, Act, 0) },
    Case { rule: "tRTP", before: &[(0, Act, 0), (20, Rd, 0)], command: (57, Pre, 0) },
    // Data from 23 to 25, then tWR.
    Case { rule: "tWR", before: &[(0, Act, 0), (17, Wr, 0)], command: (58, Pre, 0) },
    Case { rule: "tRRD_S", before: &[(0, Act, 0)], command: (4, Act, 1) },
    Case { rule: "tRRD_L", before: &[(0, Act, 0)], command: (7, Act, 4) },
    Case {
        rule: "tFAW",
        before: &[(0, Act, 0), (4, Act, 1), (8, Act, 2), (12, Act, 3)],
        command: (31, Act, 5),
    },
    Case { rule: "tCCD_S", before: &[(0, Act, 0), (4, Act, 1), (40, Rd, 0)], command: (45, Rd, 1) },
    Case { rule: "tCCD_L", before: &[(0, Act, 0), (7, Act, 4), (40, Wr, 0)], command: (49, Wr, 4) },
    // Read data from 54 to 56, gap to 59, write data 6 after WR.
    Case { rule: "tRTW", before: &[(0, Act, 0), (4, Act, 1), (40, Rd, 0)], command: (53, Wr, 1) },
    // Write data from 46 to 48.
    Case { rule: "tWTR_S", before: &[(0, Act, 0), (4, Act, 1), (40, Wr, 0)], command: (56, Rd, 1) },
    Case { rule: "tWTR_L", before: &[(0, Act, 0), (7, Act, 4), (40, Wr, 0)], command: (59, Rd, 4) },
    Case { rule: "tRP", before: &[(0, Act, 0), (90, Pre, 0)], command: (109, Ref, 0) },
    Case { rule: "tRC", before: &[(0, Act, 0), (45, Pre, 0)], command: (80, Ref, 0) },
    Case { rule: "tRFC", before: &[(0, Ref, 0)], command: (100, Act, 0) },
    Case { rule: "tRFC", before: &[(0, Ref, 0)], command: (100, Ref, 0) },
    Case { rule: "tRAS", before: &[(0, Act, 0)], command: (45, PreAll, 5) },
    Case { rule: "tRTP", before: &[(0, Act, 0), (20, Rd, 0)], command: (57, PreAll, 0) },
    Case { rule: "tWR", before: &[(0, Act, 0), (17, Wr, 0)], command: (58, PreAll, 0) },
    Case { rule: "tRP", before: &[(0, Act, 0), (70, PreAll, 0)], command: (89, Act, 3) },
    Case { rule: "tRTP + tRP", before: &[(0, Act, 0), (40, Rda, 0)], command: (96, Act, 0) },
    // Data from 46 to 48, then tWR and tRP.
    Case { rule: "tWR + tRP", before: &[(0, Act, 0), (40, Wra, 0)], command: (100, Act, 0) },
    Case { rule: "tWR + tRP", before: &[(0, Act, 0), (40, Wra, 0)], command: (100, Ref, 0) },
    Case { rule: "tPPD", before: &[(0, Act, 0), (4, Act, 1), (50, Pre, 0)], command: (63, Pre, 1) },
    Case { rule: "tRFCpb", before: &[(0, RefPb, 0)], command: (90, Act, 0) },
    Case { rule: "tRFCpb", before: &[(0, RefPb, 0)], command: (90, Ref, 0) },
    Case { rule: "tRREFD", before: &[(0, RefPb, 0)], command: (23, RefPb, 1) },
    Case { rule: "command bus", before: &[(0, Act, 0), (45, Pre, 0)], command: (46, Act, 1) },
];

fn rules_broken(dram: &Dram, case: &Case, early: u64) -> Vec<String> {
    let (cycle, kind, bank) = case.command;
    let log: Vec<Command> = case
        .before
        .iter()
        .copied()
        .chain([(cycle - early, kind, bank)])
        .map(|(cycle, kind, bank)| command(cycle, kind, bank))
        .collect();
    checker::check(dram, &log).into_iter().map(|violation| violation.rule).collect()
}

#[test]
fn the_checker_allows_n_cycles_and_rejects_n_minus_1() {
    for case in CASES {
        assert_eq!(rules_broken(&dram(), case, 0), [""; 0], "{} at n", case.rule);
        assert_eq!(rules_broken(&dram(), case, 1), [case.rule], "{} at n - 1", case.rule);
    }
}

#[test]
fn the_checker_detects_data_collisions() {
    let mut dram = dram();
    dram.timing.tccds = 1;
    let case = Case {
        rule: "data bus",
        before: &[(0, Act, 0), (4, Act, 1), (40, Rd, 0)],
        command: (42, Rd, 1),
    };
    assert_eq!(rules_broken(&dram, &case, 0), [""; 0]);
    assert_eq!(rules_broken(&dram, &case, 1), ["data bus"]);
}

#[test]
fn the_checker_tracks_open_rows() {
    let broken = |log: &[Command]| -> Vec<String> {
        checker::check(&dram(), log).into_iter().map(|violation| violation.rule).collect()
    };
    let row = |row, command: Command| Command { row, ..command };
    let act = command(0, Act, 0);
    assert_eq!(broken(&[command(0, Rd, 0)]), ["column command to a closed bank"]);
    assert_eq!(broken(&[act, row(1, command(50, Wr, 0))]), ["column command to another row"]);
    assert_eq!(broken(&[act, command(200, Act, 0)]), ["ACT to an open bank"]);
    assert_eq!(broken(&[command(0, Pre, 0)]), ["PRE to a closed bank"]);
    assert_eq!(broken(&[act, row(1, command(50, Pre, 0))]), ["PRE of another row"]);
    assert_eq!(broken(&[act, command(200, Ref, 0)]), ["REF with an open bank"]);
    assert_eq!(broken(&[command(0, Act, 99)]), ["bank out of range"]);
}

/// Two commands in one cycle are legal on two buses only.
#[test]
fn two_command_buses_carry_two_commands() {
    let log = [command(0, Act, 0), command(40, Act, 1), command(40, Rd, 0)];
    let mut dram = dram();
    assert_eq!(checker::check(&dram, &log).len(), 1);
    dram.dual_command_bus = true;
    assert_eq!(checker::check(&dram, &log), []);
    let both_rows = [command(0, Act, 0), command(0, Act, 1)];
    assert!(checker::check(&dram, &both_rows).iter().any(|v| v.rule == "command bus"));
}

/// A rule added to the table must get a case here.
#[test]
fn every_rule_of_the_table_has_a_case() {
    let known: BTreeSet<&str> =
        CASES.iter().map(|case| case.rule).chain(["data bus", "command bus"]).collect();
    for constraint in constraints(&dram()) {
        assert!(known.contains(constraint.name.as_str()), "{constraint:?}");
    }
}
