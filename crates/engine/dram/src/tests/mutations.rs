//! The checker on every standard: each constraint between two commands in isolation, and legal logs
//! with one command a cycle early wherever a rule binds. The cycles in which a rule binds are
//! derived here independently from the table and the bank numbers.

use super::harness::*;
use super::timings;
use crate::CommandKind::{Act, Pre, PreAll, Rd, Rda, Ref, RefPb, Wr, Wra};
use crate::checker::Checker;
use crate::standard::{COMMAND_BUS, Standard, StandardError};
use crate::{
    Command, CommandKind, Constraint, Dram, DramRequest, MAX_BANKS, Scope, Timing, constraints,
};
use std::collections::{BTreeMap, BTreeSet};
use warpmem_params::Invalid;

/// Returns a channel of every standard, organisation, speed and refresh mode.
fn presets() -> Vec<Dram> {
    let mut channels = Vec::new();
    for name in Standard::names() {
        let standard = Standard::load(name).unwrap();
        let places = standard.organisations().iter().filter(|(_, o)| o.banks <= MAX_BANKS);
        let places: Vec<&String> = places.map(|(name, _)| name).collect();
        for speed in standard.speeds().keys() {
            // Organisations of a standard differ in rows, not in rules.
            let mut dram = gddr5();
            standard.apply(places[0], speed, &mut dram).unwrap();
            channels.push(dram.clone());
            if standard.refresh_per_bank(speed, &mut dram).is_ok() {
                channels.push(dram);
            }
        }
    }
    channels.push(preset("accelsim-rtx2060s"));
    channels
}

/// Returns every standard once, with a distinct value for every timing parameter.
fn distinct() -> Vec<Dram> {
    let mut channels = BTreeMap::new();
    for dram in presets() {
        let standard = Standard::load(&dram.standard).unwrap();
        let per_bank = dram.timing.trefipb > 0;
        let t = timings::dram().timing;
        // With four banks the windows bind only if they are longer than tRC.
        let (tfaw, t32aw) = match (dram.banks, dram.pseudo_channels) {
            (..=4, _) => (100, 900),
            (_, 1) => (t.tfaw, 310),
            // Commands alternate between pseudo channels, windows do not.
            _ => (t.tfaw, 600),
        };
        let mut dram = Dram {
            timing: Timing {
                trefi: if per_bank { 0 } else { 900 },
                trfc: if per_bank { 0 } else { 100 },
                trefipb: if per_bank { 110 } else { 0 },
                trfcpb: if per_bank { 90 } else { 0 },
                trrefd: if per_bank { 23 } else { 0 },
                // If both commands begin with a clock, as in HBM3, only even distances between them
                // bind; ACT is a half clock longer than RD and WR.
                trcd: 21,
                trtp: 38,
                twr: 34,
                tfaw,
                t32aw,
                tccdr: 7,
                trtw: 15,
                ..t
            },
            ..dram
        };
        leave_out_unused(&standard, &mut dram);
        standard.check(&dram).unwrap();
        channels.insert((dram.standard.clone(), per_bank), dram);
    }
    channels.into_values().collect()
}

/// Clears the times that enter no rule of the standard.
fn leave_out_unused(standard: &Standard, dram: &mut Dram) {
    while let Err(StandardError::Channel(Invalid { key, .. })) = standard.check(dram) {
        let mut timing = toml::Table::try_from(&dram.timing).unwrap();
        let name = key.strip_prefix("dram.timing.").expect(&key);
        let old = timing.insert(name.to_owned(), 0.into());
        assert_ne!(old, Some(0.into()), "{key}");
        dram.timing = timing.try_into().unwrap();
    }
}

/// Returns the channel-wide numbers of the pseudo channel, stack, group and bank of a bank.
fn numbers(dram: &Dram, bank: u16) -> [u32; 4] {
    let per_pseudo = dram.banks / dram.pseudo_channels;
    let per_stack = per_pseudo / dram.stacks;
    let bank = u32::from(bank);
    let stack = bank / per_stack;
    [bank / per_pseudo, stack, stack * dram.bank_groups + bank % per_stack % dram.bank_groups, bank]
}

fn binds_between(dram: &Dram, constraint: &Constraint, a: u16, b: u16) -> bool {
    let (a, b) = (numbers(dram, a), numbers(dram, b));
    let alike = |level: usize| a[level] == b[level];
    match (constraint.scope, constraint.sibling) {
        (Scope::Channel, _) => true,
        (Scope::PseudoChannel, false) => alike(0),
        (Scope::Stack, false) => alike(1),
        (Scope::Group, false) => alike(2),
        (Scope::Bank, false) => alike(3),
        (Scope::PseudoChannel, true) => !alike(0),
        (Scope::Stack, true) => alike(0) && !alike(1),
        (Scope::Group, true) => alike(1) && !alike(2),
        (Scope::Bank, true) => alike(2) && !alike(3),
    }
}

/// Returns the cycle from which `constraint` allows a command to `bank` after those of `log`.
fn allowed_from(dram: &Dram, constraint: &Constraint, log: &[Command], bank: u16) -> Option<u64> {
    log.iter()
        .rev()
        .filter(|c| c.kind == constraint.from && binds_between(dram, constraint, c.bank, bank))
        .nth(usize::from(constraint.window) - 1)
        .map(|earlier| earlier.cycle + u64::from(constraint.cycles))
}

/// Returns whether the checker finds that `later` violates this rule after `before`, rows aside.
fn breaks(dram: &Dram, rule: &str, before: &[Command], later: Command) -> bool {
    let mut checker = Checker::new(dram, &Standard::load(&dram.standard).unwrap());
    before.iter().for_each(|command| drop(checker.take(*command)));
    checker.inspect(later).iter().any(|violation| violation.rule == rule)
}

#[test]
fn every_constraint_of_every_standard_is_exact() {
    let mut tried = 0;
    for dram in presets().into_iter().chain(distinct()) {
        for constraint in constraints(&dram) {
            let Constraint { ref name, from, to, cycles, window, .. } = constraint;
            let cycles = u64::from(cycles);
            let banks = 0..dram.banks as u16;
            let inside = banks.clone().find(|&bank| binds_between(&dram, &constraint, 0, bank));
            let outside = banks.clone().find(|&bank| !binds_between(&dram, &constraint, 0, bank));
            let before: Vec<Command> =
                (0..window.into()).map(|cycle| command(cycle, from, 0)).collect();
            let here = format!("{}: {constraint:?}", dram.standard);
            if let Some(bank) = inside {
                // Other constraints of the same name between the same commands may be longer.
                let same = |c: &Constraint| {
                    (&c.name, c.from, c.to) == (name, from, to) && binds_between(&dram, c, 0, bank)
                };
                let most = constraints(&dram).into_iter().filter(same).map(|c| c.cycles).max();
                assert!(breaks(&dram, name, &before, command(cycles - 1, to, bank)), "{here}");
                let at = command(u64::from(most.unwrap()), to, bank);
                assert!(!breaks(&dram, name, &before, at), "{here}");
                tried += 1;
            }
            if let Some(bank) = outside {
                let same = |c: &Constraint| &c.name == name && binds_between(&dram, c, 0, bank);
                let alone = !constraints(&dram).iter().any(same);
                assert!(!alone || !breaks(&dram, name, &before, command(0, to, bank)), "{here}");
            }
        }
    }
    assert!(tried > 4000, "{tried}");
}

/// Moves each command of a legal log one cycle earlier for each constraint that binds there, and
/// requires the checker to name it. Returns the names of the constraints that bound.
fn bound_in(dram: &Dram, log: &[Command]) -> BTreeSet<String> {
    let mut bound = BTreeSet::new();
    let mut checker = Checker::new(dram, &Standard::load(&dram.standard).unwrap());
    let table = constraints(dram);
    for (at, later) in log.iter().enumerate() {
        let early = Command { cycle: later.cycle.saturating_sub(1), ..*later };
        let reported = checker.inspect(early);
        for constraint in table.iter().filter(|c| c.to == later.kind) {
            let Some(from) = allowed_from(dram, constraint, &log[..at], later.bank) else {
                continue;
            };
            assert!(later.cycle >= from, "{constraint:?} at {}", describe(later));
            if later.cycle == from {
                let named = reported.iter().any(|v| v.rule == constraint.name && v.later == early);
                assert!(named, "{constraint:?} before {}", describe(later));
                bound.insert(constraint.name.clone());
            }
        }
        assert_eq!(checker.take(*later), [], "{}", describe(later));
    }
    bound
}

/// Returns a log of commands that the rows allow, each as early as legal: of a few random
/// candidates the one that may issue first.
fn random_log(dram: &Dram, commands: u32, seed: u64) -> Vec<Command> {
    let mut random = Random(seed);
    let mut checker = Checker::new(dram, &Standard::load(&dram.standard).unwrap());
    let mut open = vec![None; dram.banks as usize];
    let mut log = Vec::new();
    let mut now = 0;
    for _ in 0..commands {
        let tried: Vec<Command> =
            (0..4).map(|_| some_command(dram, &open, now, &mut random)).collect();
        let next = tried.into_iter().map(|command| first_legal(&checker, command));
        let next = next.min_by_key(|command| command.cycle).unwrap();
        assert_eq!(checker.take(next), []);
        now = next.cycle;
        change_rows(dram, &mut open, &next);
        log.push(next);
    }
    log
}

fn some_command(dram: &Dram, open: &[Option<u32>], now: u64, random: &mut Random) -> Command {
    let bank = random.below(dram.banks.into()) as u16;
    let t = &dram.timing;
    let pseudo = numbers(dram, bank)[0];
    let closed = |&bank: &u16| open[usize::from(bank)].is_none();
    let mut of_pseudo = (0..dram.banks as u16).filter(|&b| numbers(dram, b)[0] == pseudo);
    let all_closed = of_pseudo.clone().all(|bank| closed(&bank));
    let first = of_pseudo.next().unwrap_or(0);
    let choice = random.below(100);
    let (kind, bank) = match open[usize::from(bank)] {
        None if t.trefi > 0 && all_closed && choice < 20 => (Ref, first),
        None if t.trefipb > 0 && choice < 20 => (RefPb, bank),
        None if choice < 97 => (Act, bank),
        _ if choice >= 97 => (PreAll, first),
        _ => {
            let kinds = [Pre, Pre, Pre, Rd, Wr, Rda, Wra];
            (kinds[choice as usize % kinds.len()], bank)
        }
    };
    let row = match kind {
        Act => random.below(100) as u32,
        Ref | RefPb | PreAll => 0,
        _ => open[usize::from(bank)].unwrap_or(0),
    };
    Command { row, ..command(now, kind, bank) }
}

/// Returns the command at its first legal cycle.
fn first_legal(checker: &Checker, mut command: Command) -> Command {
    loop {
        let violations = checker.inspect(command);
        let Some(cycle) = violations.iter().map(|v| v.earliest.expect("rows are right")).max()
        else {
            return command;
        };
        command.cycle = cycle;
    }
}

fn change_rows(dram: &Dram, open: &mut [Option<u32>], command: &Command) {
    match command.kind {
        Act => open[usize::from(command.bank)] = Some(command.row),
        Pre | Rda | Wra => open[usize::from(command.bank)] = None,
        PreAll => {
            let pseudo = numbers(dram, command.bank)[0];
            let inside = (0..dram.banks as u16).filter(|&bank| numbers(dram, bank)[0] == pseudo);
            inside.for_each(|bank| open[usize::from(bank)] = None);
        }
        Rd | Wr | Ref | RefPb => {}
    }
}

/// Rules that bind in no legal log, because RD, PRE and tRP take longer.
const NEVER: &[&str] = &["tRDREF"];

#[test]
fn a_command_one_cycle_early_is_always_caught_in_every_standard() {
    let mut bound: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for dram in presets() {
        let found = bound_in(&dram, &random_log(&dram, 250, 1));
        bound.entry(dram.standard).or_default().extend(found);
    }
    for dram in distinct() {
        let names = constraints(&dram).into_iter().map(|c| c.name);
        let names = names.filter(|name| !NEVER.contains(&name.as_str()));
        all.entry(dram.standard.clone()).or_default().extend(names);
        for seed in 2..5 {
            let found = bound_in(&dram, &random_log(&dram, 500, seed));
            bound.entry(dram.standard.clone()).or_default().extend(found);
        }
    }
    for (standard, names) in &all {
        let never: Vec<&String> = names.difference(&bound[standard]).collect();
        assert_eq!(never, [""; 0], "{standard}");
    }
}

fn loaded_stream(dram: &Dram, seed: u64) -> Vec<DramRequest> {
    let mut random_bits = Random(seed);
    let mut requests = random(dram, 260, 2, seed);
    for request in &mut requests {
        request.row.0 %= 3;
        request.write = random_bits.below(3) == 0;
        request.bursts = 1 + random_bits.below(2) as u16;
    }
    requests
}

/// Repeats the test with the channel's own logs.
#[test]
fn a_command_one_cycle_early_is_always_caught_in_a_channels_log() {
    let mut bound = BTreeSet::new();
    let mut dense = timings::dram();
    (dense.timing.trefi, dense.timing.trfcpb, dense.timing.trrefd) = (700, 0, 0);
    let mut one_by_one = timings::dram();
    one_by_one.timing.trefipb = 110;
    for dram in machines().into_iter().chain([dense, one_by_one]) {
        for policy in ["banked-fifo", "fr-fcfs", "fr-fcfs(page=closed)"] {
            bound.extend(bound_in(&dram, &run(&dram, policy, &loaded_stream(&dram, 5)).log));
        }
    }
    let all: BTreeSet<String> = constraints(&timings::dram()).into_iter().map(|c| c.name).collect();
    assert_eq!(bound, all);
}

#[test]
fn commands_of_several_ticks_do_not_overlap() {
    for dram in presets() {
        let standard = Standard::load(&dram.standard).unwrap();
        for from in CommandKind::ALL {
            let ticks = u64::from(standard.command_ticks(from));
            for to in CommandKind::ALL {
                let shares = !dram.dual_command_bus || from.is_column() == to.is_column();
                let before = [command(0, from, 0)];
                let early = breaks(&dram, COMMAND_BUS, &before, command(ticks - 1, to, 0));
                assert_eq!(early, shares, "{}: {from:?} {to:?}", dram.standard);
                assert!(!breaks(&dram, COMMAND_BUS, &before, command(ticks, to, 0)));
            }
        }
    }
}

#[test]
fn commands_of_hbm3_begin_with_a_clock() {
    let mut dram = gddr5();
    let hbm3 = Standard::load("hbm3").unwrap();
    hbm3.apply("HBM3_8Gb_8hi", "HBM3_6400Mbps", &mut dram).unwrap();
    for kind in CommandKind::ALL {
        let anywhere = matches!(kind, Pre | PreAll | Ref | RefPb);
        assert!(!breaks(&dram, "start of a clock", &[], command(8, kind, 0)));
        assert_eq!(breaks(&dram, "start of a clock", &[], command(9, kind, 0)), !anywhere);
    }
}

#[test]
fn late_refreshes_are_reported_once() {
    let mut dram = timings::dram();
    (dram.timing.trefi, dram.timing.trfcpb, dram.timing.trrefd) = (1000, 0, 0);
    let standard = Standard::load(&dram.standard).unwrap();
    let overdue = |dram: &Dram, postponed: u32, log: &[Command]| -> Vec<u64> {
        let mut checker = Checker::new(dram, &standard).with_refresh(dram, postponed);
        let found = log.iter().flat_map(|command| checker.take(*command));
        let late = found.filter(|violation| violation.rule == "refresh overdue");
        late.map(|violation| violation.later.cycle).collect()
    };
    let log = [
        command(3000, Act, 0),
        command(3001, Act, 1),
        command(3100, Pre, 0),
        command(3200, PreAll, 0),
        command(3300, Ref, 0),
        command(6300, Act, 0),
        command(6301, Act, 2),
    ];
    // Bank 0 is reported late once, at the PRE; bank 1 and the untouched banks at the PREA.
    assert_eq!(overdue(&dram, 2, &log)[..2], [3001, 3100]);
    assert_eq!(overdue(&dram, 2, &log).len(), 16 + 1);
    assert_eq!(overdue(&dram, 3, &log), [0; 0]);
    (dram.timing.trefi, dram.timing.trfc) = (0, 0);
    assert_eq!(overdue(&dram, 0, &log), [0; 0]);
    dram.timing.trefipb = 10;
    let log = [command(161, RefPb, 3), command(300, RefPb, 3), command(461, RefPb, 3)];
    assert_eq!(overdue(&dram, 0, &log), [161, 461]);
}
