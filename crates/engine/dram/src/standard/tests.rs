//! Built-in standards, user files, and rejected ones.

use super::*;
use crate::MAX_BANKS;
use crate::request::CommandKind::{Act, Pre, Rd, Ref, Wr};
use crate::tests::harness::preset;

/// Returns a channel to apply a standard to.
fn blank() -> Dram {
    preset("li2015")
}

fn applied(standard: &str, organisation: &str, speed: &str) -> Dram {
    let mut dram = blank();
    Standard::load(standard).unwrap().apply(organisation, speed, &mut dram).unwrap();
    dram
}

/// Loads a file with this text, with the file's path in messages replaced by `s.toml`.
fn file(text: &str) -> Result<Arc<Standard>, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    Standard::load(path).map_err(|error| error.to_string().replace(path, "s.toml"))
}

const HEAD: &str = "name = \"mine\"\nsummary = \"s\"\nsource = \"t\"\n";

/// Returns the error of a file with these lines after its head.
fn refusal(lines: &str) -> String {
    file(&format!("{HEAD}{lines}")).expect_err(lines)
}

fn ticks_between(
    standard: &str,
    dram: &Dram,
    from: CommandKind,
    to: CommandKind,
) -> Vec<(String, u32)> {
    let of_pair = |c: &Constraint| c.from == from && c.to == to && c.name != COMMAND_BUS;
    let all = Standard::load(standard).unwrap().constraints(dram);
    all.into_iter().filter(of_pair).map(|c| (c.name, c.cycles)).collect()
}

#[test]
fn every_preset_with_at_most_64_banks_makes_a_valid_channel() {
    let mut pairs = 0;
    for name in Standard::names() {
        let standard = Standard::load(name).unwrap();
        assert_eq!(standard.name(), name);
        assert!(!standard.summary().is_empty() && !standard.source().is_empty());
        for (organisation, place) in standard.organisations() {
            assert!(!place.source.is_empty(), "{name}: {organisation}");
            for (speed, preset) in standard.speeds() {
                assert!(!preset.source.is_empty(), "{name}: {speed}");
                let mut dram = blank();
                let result = standard.apply(organisation, speed, &mut dram);
                assert_eq!(result.is_ok(), place.banks <= MAX_BANKS, "{name}: {result:?}");
                if result.is_ok() && preset.timing.trefipb > 0 {
                    standard.refresh_per_bank(speed, &mut dram).unwrap();
                }
                pairs += 1;
            }
        }
    }
    assert!(pairs > 20);
}

#[test]
fn a_stack_of_sixteen_is_refused() {
    let mut dram = blank();
    let hbm3 = Standard::load("hbm3").unwrap();
    let error = hbm3.apply("HBM3_32Gb_16hi", "HBM3_6400Mbps", &mut dram).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`organisation.HBM3_32Gb_16hi.banks` = 128 is not valid: expected at most 64, the most \
         banks of a channel that are modelled"
    );
}

#[test]
fn an_organisation_keeps_the_ranges_of_the_keys() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/dram-standards.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let example = manual.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let changed = example.unwrap().lines().map(|line| match line.starts_with("bus_bytes") {
        true => "bus_bytes = 2147483647\n".to_owned(),
        false => format!("{line}\n"),
    });
    let standard = file(&changed.collect::<String>()).unwrap();
    let error = standard.apply("one_chip", "mine", &mut blank()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`organisation.one_chip.bus_bytes` = 2147483647 is not valid: expected a whole number from 1 to 128"
    );
}

#[test]
fn a_preset_sets_the_keys_of_the_device() {
    let dram = applied("hbm2", "HBM2_8Gb", "HBM2_2000Mbps");
    assert_eq!(dram.standard, "hbm2");
    assert_eq!((dram.pseudo_channels, dram.stacks, dram.banks, dram.bank_groups), (2, 1, 32, 4));
    assert_eq!((dram.row_bytes, dram.bus_bytes, dram.burst_cycles()), (1024, 8, 2));
    assert!(dram.dual_command_bus);
    assert_eq!((dram.timing.tcl, dram.timing.trefi, dram.timing.trefipb), (14, 3900, 0));
    let mut dram = dram;
    Standard::load("hbm2").unwrap().refresh_per_bank("HBM2_2000Mbps", &mut dram).unwrap();
    let t = &dram.timing;
    assert_eq!((t.trefi, t.trfc, t.trefipb, t.trfcpb, t.trrefd), (0, 0, 122, 160, 8));
}

/// Ramulator 2.1 has 260 ns for HBM3_8Gb_8hi and 350 ns for HBM2_8Gb at every speed.
#[test]
fn refresh_time_follows_the_organisation() {
    assert_eq!(applied("hbm3", "HBM3_8Gb_8hi", "HBM3_6400Mbps").timing.trfc, 832);
    assert_eq!(applied("hbm2", "HBM2_8Gb", "HBM2_1600Mbps").timing.trfc, 280);
    assert_eq!(applied("hbm2", "HBM2_8Gb", "HBM2_2400Mbps").timing.trfc, 421);
    assert_eq!(applied("hbm2", "HBM2_4Gb", "HBM2_2000Mbps").timing.trfc, 260);
}

#[test]
fn a_clock_gives_a_frequency() {
    let clock = |standard: &str, organisation, speed| {
        Standard::load(standard).unwrap().apply(organisation, speed, &mut blank()).unwrap()
    };
    let gddr6 = clock("gddr6", "GDDR6_8Gb_x16", "GDDR6_14000_1350mV_double");
    assert_eq!((gddr6, gddr6.mhz()), (Clock { tck_ps: 570, ticks_per_clock: 1 }, 1754));
    assert_eq!(clock("hbm3", "HBM3_8Gb_8hi", "HBM3_6400Mbps").mhz(), 3200);
    assert_eq!(clock("hbm3e", "HBM3E_24Gb_8hi", "HBM3E_6250Mbps").mhz(), 3125);
    assert_eq!(clock("gddr6x", "GDDR6X_16Gb_x16", "GDDR6X_21000").mhz(), 2625);
}

/// The speeds of current cards have no source of their own: they are a speed of the source in ns,
/// rounded up to whole clocks as `docs/machines.md` describes. Times given in clocks are unchanged,
/// and read to write of GDDR6 is CL + 1.
#[test]
fn derived_speeds_keep_the_nanoseconds_of_their_source() {
    let cases = [
        ("hbm3", "HBM3_H100_5240Mbps", "hbm3", "HBM3_6400Mbps", 350),
        ("hbm3e", "HBM3E_6250Mbps", "hbm3", "HBM3_6400Mbps", 450),
        ("hbm3e", "HBM3E_7800Mbps", "hbm3", "HBM3_6400Mbps", 450),
        ("gddr6", "GDDR6_18000_1350mV_double", "gddr6", "GDDR6_14000_1350mV_double", 0),
        ("gddr6x", "GDDR6X_21000", "gddr6", "GDDR6_14000_1350mV_double", 0),
    ];
    for (standard, speed, of, from, trfc_ns) in cases {
        let [new, old] = [(standard, speed), (of, from)]
            .map(|(standard, speed)| Standard::load(standard).unwrap().speeds()[speed].clone());
        let (tck, old_tck) = (f64::from(new.tck_ps), f64::from(old.tck_ps));
        let up = |ps: f64| (ps / tck + 0.974).floor() as u32;
        let of = |cycles: u32| up(f64::from(cycles) * old_tck);
        let down = |cycles: u32| (f64::from(cycles) * old_tck / tck).floor() as u32;
        let o = &old.timing;
        let (tras, trp, twl) = (of(o.tras), of(o.trp), of(o.twl));
        let trfc = if trfc_ns == 0 { of(o.trfc) } else { up(f64::from(trfc_ns) * 1000.0) };
        let expected = crate::Timing {
            trcd: of(o.trcd),
            trcdw: of(o.trcdw),
            tras,
            trp,
            trc: of(o.trc).max(tras + trp),
            trrds: of(o.trrds),
            trrdl: of(o.trrdl),
            tfaw: of(o.tfaw),
            tcl: of(o.tcl),
            twl,
            twtrs: of(o.twtrs),
            twtrl: of(o.twtrl),
            trtw_gap: if o.trtw == 0 { twl - 1 } else { 0 },
            twr: of(o.twr),
            trtp: of(o.trtp),
            trefi: down(o.trefi),
            trfc,
            trefipb: down(o.trefipb),
            trfcpb: of(o.trfcpb),
            trrefd: of(o.trrefd),
            ..o.clone()
        };
        assert_eq!(new.timing, expected, "{speed}");
    }
}

/// Half clocks, commands of 3, 2 and 1 of them, distances from end to end.
#[test]
fn hbm3_counts_half_clocks_from_end_to_end() {
    let dram = applied("hbm3", "HBM3_8Gb_8hi", "HBM3_6400Mbps");
    assert_eq!((dram.timing.trcd, dram.burst_cycles(), dram.transfers_per_clock), (62, 4, 2));
    let ticks = |from, to| ticks_between("hbm3", &dram, from, to);
    assert_eq!(ticks(Act, Rd), [("tRCD".to_owned(), 62 + 3 - 2)]);
    assert_eq!(ticks(Act, Pre), [("tRAS".to_owned(), 90 + 3 - 1)]);
    assert_eq!(ticks(Rd, Pre), [("tRTP".to_owned(), 18 + 2 - 1)]);
    assert_eq!(ticks(Pre, Act), [("tRP".to_owned(), 52 + 1 - 3)]);
    assert_eq!(ticks(Rd, Wr), [("tRTW".to_owned(), 40)]);
}

#[test]
fn commands_of_several_ticks_hold_their_bus() {
    let dram = applied("gddr7", "GDDR7_16Gb_x8", "GDDR7_28000_PAM3");
    let buses = Standard::load("gddr7").unwrap().constraints(&dram);
    let bus = |from, to| {
        let of_pair = |c: &&Constraint| c.name == COMMAND_BUS && c.from == from && c.to == to;
        buses.iter().find(of_pair).map(|c| (c.cycles, c.scope))
    };
    assert_eq!(bus(Act, Pre), Some((2, Scope::Channel)));
    assert_eq!(bus(Pre, Act), Some((1, Scope::Channel)));
    assert_eq!(bus(Rd, Wr), Some((2, Scope::Channel)));
    assert_eq!(bus(Rd, Ref), None);
    let one_bus = Dram { dual_command_bus: false, ..dram };
    let buses = Standard::load("gddr7").unwrap().constraints(&one_bus);
    assert!(buses.iter().any(|c| c.name == COMMAND_BUS && c.from == Rd && c.to == Ref));
    assert_eq!(Standard::load("gddr7").unwrap().latencies(&one_bus), [25, 7]);
}

#[test]
fn positions_follow_the_bank_number() {
    let dram = Dram { pseudo_channels: 2, stacks: 2, banks: 64, bank_groups: 4, ..blank() };
    let place = |bank| Place::of(&dram, bank).map(|p| (p.pseudo_channel, p.stack, p.group, p.bank));
    assert_eq!(place(0), Some((0, 0, 0, 0)));
    assert_eq!(place(7), Some((0, 0, 3, 1)));
    assert_eq!(place(16), Some((0, 1, 0, 0)));
    assert_eq!(place(63), Some((1, 1, 3, 3)));
    assert_eq!(place(64), None);
}

#[test]
fn siblings_are_members_of_the_next_wider_scope() {
    let dram = Dram { pseudo_channels: 2, stacks: 2, banks: 64, bank_groups: 4, ..blank() };
    let holds = |scope, sibling, a, b| {
        let (name, cycles, window) = (String::new(), 1, 1);
        let constraint = Constraint { name, from: Rd, to: Rd, scope, sibling, cycles, window };
        constraint.holds_between(&Place::of(&dram, a).unwrap(), &Place::of(&dram, b).unwrap())
    };
    assert!(holds(Scope::Stack, true, 0, 16) && !holds(Scope::Stack, true, 0, 5));
    assert!(!holds(Scope::Stack, true, 0, 32), "another pseudo channel");
    assert!(holds(Scope::Bank, true, 0, 4) && !holds(Scope::Bank, true, 0, 1));
    assert!(!holds(Scope::Bank, true, 0, 0) && holds(Scope::Bank, false, 0, 0));
    assert!(holds(Scope::Channel, false, 0, 63) && !holds(Scope::PseudoChannel, false, 0, 32));
}

#[test]
fn a_file_builds_on_a_base() {
    let text = format!(
        "{HEAD}base = \"gddr5\"\nwithout = [\"t32AW\"]\n[parameters]\nx = 7\n[[constraint]]\nname = \"tRCD\"\n\
         from = [\"ACT\"]\nto = [\"RD\"]\nscope = \"bank\"\ncycles = \"trcd + x\"\n"
    );
    let standard = file(&text).unwrap();
    let mut dram = blank();
    dram.timing.t32aw = 0;
    let names = |name: &str, table: &[Constraint]| table.iter().filter(|c| c.name == name).count();
    let (ours, base) =
        (standard.constraints(&dram), Standard::load("gddr5").unwrap().constraints(&dram));
    assert_eq!((names("tRCD", &ours), names("tRCD", &base)), (1, 2));
    assert!(ours.iter().any(|c| c.name == "tRCD" && c.cycles == dram.timing.trcd + 7));
    assert_eq!(names("tRC", &ours), names("tRC", &base));
    dram.timing.t32aw = 300;
    assert_eq!(names("t32AW", &standard.constraints(&dram)), 0);
    assert_eq!(
        standard.check(&dram).unwrap_err().to_string(),
        "`dram.timing.t32aw` = 300 is not valid: expected 0: standard mine has no such rule"
    );
    assert!(standard.organisations().is_empty() && standard.speeds().is_empty());
}

#[test]
fn unknown_names_suggest_similar_ones() {
    let message = |name: &str| Standard::load(name).unwrap_err().to_string();
    let valid = Standard::names().collect::<Vec<_>>().join(", ");
    assert_eq!(
        message("GDDR6"),
        format!(
            "`dram.standard` = \"GDDR6\" is not valid: expected {valid}, or the path of a .toml file"
        )
    );
    assert!(message("hbm22").ends_with("(did you mean `hbm2`?)"));
    assert!(message("nowhere/x.toml").starts_with("failed to read standard nowhere/x.toml: "));
    let gddr6 = Standard::load("gddr6").unwrap();
    let speed = gddr6.apply("GDDR6_8Gb_x16", "GDDR6_14000_1350mV_doubel", &mut blank());
    assert_eq!(
        speed.unwrap_err().to_string(),
        "unknown speed `GDDR6_14000_1350mV_doubel` of standard gddr6 (did you mean \
         `GDDR6_14000_1350mV_double`?); valid: GDDR6_14000_1250mV_double, GDDR6_14000_1350mV_double, \
         GDDR6_18000_1350mV_double, GDDR6_8Gb_x16_DRAMsim3"
    );
}

#[test]
fn a_bad_file_is_refused_at_its_line() {
    let rule = "[[constraint]]\nname = \"r\"\nfrom = [\"ACT\"]\nto = [\"RD\"]\nscope = \"bank\"\n";
    let cases = [
        ("x = 1", "s.toml:4: unknown field `x`"),
        ("base = \"ddr4\"", "s.toml:4: `base` = \"ddr4\": expected gddr3, "),
        (
            "without = [\"tRCD\"]",
            "s.toml:4: `without` = tRCD: expected the name of a rule of the base",
        ),
        ("ticks_per_clock = 0", "s.toml:4: `ticks_per_clock` = 0: expected 1 to 16"),
        ("[command_ticks]\nACT = 17", "s.toml:5: `command_ticks.ACT` = 17: expected 1 to 16"),
        ("[command_ticks]\nNOP = 1", "s.toml:5: unknown variant `NOP`"),
        ("[parameters]\ntrcd = 1", "s.toml:5: `parameters.trcd` = 1: expected a name that is not"),
        ("read_latency = \"tcl +\"", "s.toml:4: read_latency: expected a number, a parameter"),
        (
            "read_latency = \"tcll\"",
            "s.toml:4: read_latency: unknown parameter `tcll` (did you mean `tcl`?)",
        ),
        (
            &format!("{rule}cycles = \"1 *\""),
            "s.toml:9: rule `r`: `cycles`: expected +, - or the end",
        ),
        (
            &format!("{rule}cycles = \"1\"\nwindow = 0"),
            "s.toml:4: rule `r`: `window` = 0: expected",
        ),
        (
            &format!("{rule}cycles = \"1\"\nwindow = 4\nsibling = true"),
            "s.toml:4: rule `r`: `sibling`",
        ),
        (
            &rule.replace("[\"RD\"]", "[]\ncycles = \"1\""),
            "s.toml:4: rule `r`: expected at least one",
        ),
        (&rule.replace("bank", "rank"), "s.toml:8: unknown variant `rank`"),
    ];
    for (lines, start) in cases {
        let message = refusal(lines);
        assert!(message.starts_with(start), "{lines}: {message}");
    }
}

/// Returns the numbers of `speed` of `gddr6` as a separate file, with one line changed.
fn gddr6_speed(old: &str, new: &str) -> String {
    let text = Standard::text("gddr6").unwrap();
    let at = text.find("[speed.GDDR6_14000_1250mV_double]").unwrap();
    let end = text.find("[speed.GDDR6_8Gb_x16_DRAMsim3]").unwrap();
    let speed = &text[at..end];
    assert!(speed.contains(old), "{old}");
    format!("base = \"gddr6\"\n{}", speed.replacen(old, new, 1))
}

#[test]
fn impossible_timing_of_a_speed_is_refused() {
    assert!(file(&format!("{HEAD}{}", gddr6_speed("trc = 90", "trc = 91"))).is_ok());
    let cases = [
        (
            "trc = 90",
            "trc = 89",
            "`dram.timing.trc` = 89 is not valid: expected at least tRAS + tRP = 60 + 30 = 90",
        ),
        (
            "tras = 60",
            "tras = 29",
            "`dram.timing.tras` = 29 is not valid: expected at least `dram.timing.trcd` = 30",
        ),
        ("tccdl = 4", "tccdl = 1", "`dram.timing.tccdl` = 1 is not valid"),
        ("tck_ps = 570", "tck_ps = 0", "`tck_ps` = 0: expected at least 1"),
        (
            "idd0 = 71",
            "idd0 = 60",
            "`dram.power.idd0` = 60 is not valid: expected 0 (unknown) or at least `dram.power.idd3n` = 61",
        ),
        ("trefi = 3333", "trefi = 100000001", "`trefi` = 100000001: expected at most 100000000"),
    ];
    for (old, new, problem) in cases {
        let message = refusal(&gddr6_speed(old, new));
        let start = format!("s.toml:5: speed `GDDR6_14000_1250mV_double`: {problem}");
        assert!(message.starts_with(&start), "{message}");
    }
    assert!(refusal(&gddr6_speed("trcd = 30\n", "")).contains("missing field `trcd`"));
    assert!(refusal(&gddr6_speed("trcd = 30", "trcd = -1")).starts_with("s.toml:10: "));
}

/// Applies a change to a valid channel of HBM3 and checks the key in the error.
#[test]
fn impossible_timing_is_refused() {
    let hbm3 = Standard::load("hbm3").unwrap();
    let valid = applied("hbm3", "HBM3_8Gb_8hi", "HBM3_6400Mbps");
    type Case = (&'static str, fn(&mut Dram));
    let cases: &[Case] = &[
        ("dram.stacks", |dram| dram.stacks = 3),
        ("dram.burst_length", |dram| dram.burst_length = 16),
        ("dram.burst_length", |dram| dram.transfers_per_clock = 3),
        ("dram.burst_length", |dram| dram.timing.tccds = 3),
        ("dram.timing.trtw", |dram| dram.timing.trtw = 23),
        ("dram.timing.trtw_gap", |dram| dram.timing.trtw_gap = 1),
        ("dram.timing.trfc", |dram| dram.timing.trfc = dram.timing.trefi),
    ];
    hbm3.check(&valid).unwrap();
    for (key, change) in cases {
        let mut dram = valid.clone();
        change(&mut dram);
        let message = hbm3.check(&dram).unwrap_err().to_string();
        assert!(message.starts_with(&format!("`{key}` = ")), "{message}");
    }
    // CL 40 and a burst of 4 against WL 20: from 24 on write data follow those of the read.
    hbm3.check(&Dram { timing: crate::Timing { trtw: 24, ..valid.timing.clone() }, ..valid })
        .unwrap();
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["pipe", "pipe.toml"] {
        let pipe = folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if !made.is_ok_and(|status| status.success()) {
            return;
        }
        let pipe = pipe.to_str().unwrap();
        let refused = Standard::load(pipe).unwrap_err().to_string();
        let expected = format!("failed to read standard {pipe}: it is a pipe; ");
        assert!(refused.starts_with(&expected), "{refused}");
    }
}

#[test]
fn the_manual_shows_a_file_that_loads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/dram-standards.md");
    let manual = std::fs::read_to_string(path).unwrap();
    for name in Standard::names() {
        assert!(
            manual.contains(&format!("| `{name}` |")),
            "docs/dram-standards.md has no row for {name}"
        );
    }
    let example =
        manual.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let standard = file(example).unwrap();
    let mut dram = blank();
    assert_eq!(standard.apply("one_chip", "mine", &mut dram).unwrap().mhz(), 1754);
    assert_eq!(dram.timing.trfc, 211);
}
