//! Energy of channels against hand calculations, and the currents of the standards.

use super::harness::*;
use crate::standard::{Speed, Standard};
use crate::{Activity, ChannelResult, Dram, Energy, Power, Timing};

/// Cycle time at 500 MHz, ns.
const CYCLE_NS: f64 = 2.0;

/// Returns two devices at 1500 mV: with a cycle of 2 ns, 0.006 nJ per mA and cycle.
fn powered(timing: Timing) -> Dram {
    let power = Power {
        vdd: 1500,
        idd0: 100,
        idd2n: 20,
        idd3n: 40,
        idd4r: 140,
        idd4w: 160,
        idd5ab: 90,
        idd5pb: 70,
    };
    Dram { devices: 2, power, timing, write_queue: 0, ..gddr5() }
}

fn energy(dram: &Dram, activity: Activity) -> Energy {
    Energy::of(dram, CYCLE_NS, &activity).unwrap()
}

fn activity(counts: &ChannelResult) -> Activity {
    Activity::new(counts, &counts.total())
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} for {expected}");
}

/// Three column commands to an open row, a refresh, and one more after it.
#[test]
fn a_run_by_hand() {
    let dram = powered(Timing { trefi: 1000, trfc: 74, ..gddr5().timing });
    let requests =
        [(0, read(0, 3, 9)), (0, read(1, 3, 9)), (0, write(2, 3, 9)), (1100, read(3, 5, 1))];
    let run = run_with(&dram, "fcfs", &requests, Stepping::Events, |_| u32::MAX);
    let commands = run.commands();
    assert_eq!(
        commands,
        [
            "Act 3:9 @0",
            "Rd 3:9 @12",
            "Rd 3:9 @15",
            "Wr 3:9 @27",
            "Pre 3:9 @1000",
            "Ref @1012",
            "Act 5:1 @1100",
            "Rd 5:1 @1112",
        ]
    );
    let activity = activity(&run.counts);
    assert_eq!(
        activity,
        Activity {
            // Data of the last RD from 1124 to 1126.
            cycles: 1126,
            // 0 to 1000, 1100 to 1126.
            open_cycles: 1026,
            activations: 2,
            reads: 3,
            writes: 1,
            refreshes: 1,
            bank_refreshes: 0,
        }
    );
    let energy = energy(&dram, activity);
    // tRC 40, tRAS 28: 2 x (100 x 40 - 40 x 28 - 20 x 12) = 5280 mA cycles.
    near(energy.activate, 31.68);
    // A burst of 2 cycles: 3 x (140 - 40) x 2 = 600.
    near(energy.read, 3.6);
    // (160 - 40) x 2 = 240.
    near(energy.write, 1.44);
    // (90 - 40) x 74 = 3700.
    near(energy.refresh, 22.2);
    // 1026 x 40 = 41,040.
    near(energy.active_standby, 246.24);
    // 100 x 20 = 2000.
    near(energy.precharge_standby, 12.0);
    near(energy.total(), 317.16);
    // Four column commands of 64 bytes are 2048 bits.
    near(energy.picojoules_per_bit(256).unwrap(), 154.86328125);
}

#[test]
fn a_refresh_of_one_bank_by_hand() {
    let timing = Timing { trefipb: 1000, trfcpb: 30, trrefd: 5, ..gddr5().timing };
    let dram = powered(timing);
    let requests = [(0, read(0, 3, 9)), (1100, read(1, 3, 9))];
    let run = run_with(&dram, "fcfs", &requests, Stepping::Events, |_| u32::MAX);
    let activity = activity(&run.counts);
    // RD at 1100, data from 1112 to 1114; the row stays open during the refresh of bank 0.
    assert_eq!((activity.cycles, activity.open_cycles), (1114, 1114));
    assert_eq!((activity.refreshes, activity.bank_refreshes), (0, 1));
    let energy = energy(&dram, activity);
    // (70 - 40) x 30 = 900.
    near(energy.refresh, 5.4);
    near(energy.precharge_standby, 0.0);
}

#[test]
fn a_channel_without_traffic_is_in_standby_only() {
    let dram = powered(gddr5().timing);
    let energy = energy(&dram, activity(&channel(&dram, "fr-fcfs").counts(at(1000))));
    near(energy.precharge_standby, 120.0);
    near(energy.total(), 120.0);
    assert_eq!(energy.picojoules_per_bit(0), None);
}

/// A pseudo channel uses half of the devices, but standby covers all.
#[test]
fn commands_run_on_the_devices_of_their_pseudo_channel() {
    let activity = Activity {
        cycles: 300,
        open_cycles: 200,
        activations: 7,
        reads: 11,
        writes: 5,
        refreshes: 3,
        bank_refreshes: 2,
    };
    let timing = Timing { trfc: 74, trfcpb: 30, ..gddr5().timing };
    let whole = energy(&powered(timing.clone()), activity);
    let half = energy(&Dram { pseudo_channels: 2, ..powered(timing) }, activity);
    near(half.activate, whole.activate / 2.0);
    near(half.read, whole.read / 2.0);
    near(half.write, whole.write / 2.0);
    near(half.refresh, whole.refresh / 2.0);
    near(half.active_standby, whole.active_standby);
    near(half.precharge_standby, whole.precharge_standby);
}

#[test]
fn energy_with_an_unknown_current_is_unknown() {
    let plain = powered(gddr5().timing);
    let activity = Activity { cycles: 100, ..Activity::default() };
    let is_known = |change: fn(&mut Dram)| {
        let mut dram = plain.clone();
        change(&mut dram);
        Energy::of(&dram, CYCLE_NS, &activity).is_some()
    };
    assert!(is_known(|_| ()));
    let needed: [fn(&mut Dram); 6] = [
        |dram| dram.power.vdd = 0,
        |dram| dram.power.idd0 = 0,
        |dram| dram.power.idd2n = 0,
        |dram| dram.power.idd3n = 0,
        |dram| dram.power.idd4r = 0,
        |dram| dram.power.idd4w = 0,
    ];
    assert!(needed.into_iter().all(|change| !is_known(change)));
    // Currents of refreshes that do not occur are not required.
    assert!(is_known(|dram| (dram.power.idd5ab, dram.power.idd5pb) = (0, 0)));
    assert!(!is_known(|dram| (dram.power.idd5ab, dram.timing.trefi) = (0, 1000)));
    assert!(is_known(|dram| (dram.power.idd5pb, dram.timing.trefi) = (0, 1000)));
    assert!(!is_known(|dram| (dram.power.idd5pb, dram.timing.trefipb) = (0, 1000)));
    assert!(is_known(|dram| (dram.power.idd5ab, dram.timing.trefipb) = (0, 1000)));
}

#[test]
fn an_organisation_sets_the_devices_of_a_channel() {
    let devices = |standard: &str, organisation, speed| {
        let mut dram = Dram { devices: 9, ..gddr5() };
        Standard::load(standard).unwrap().apply(organisation, speed, &mut dram).unwrap();
        dram.devices
    };
    assert_eq!(devices("gddr5", "GDDR5_1Gb_x32", "GDDR5_1Gb_x32"), 1);
    assert_eq!(devices("gddr5", "H5GQ1H24AFR_x2", "H5GQ1H24AFR"), 2);
    assert_eq!(devices("gddr3", "HYB18H512321BF_x4", "yuan2009"), 4);
}

/// Calls `check` for every speed of every standard on each of its modelled organisations.
fn for_each_preset(mut check: impl FnMut(&Dram, &Speed, &str)) {
    for name in Standard::names() {
        let standard = Standard::load(name).unwrap();
        for organisation in standard.organisations().keys() {
            for (speed, preset) in standard.speeds() {
                let mut dram = gddr5();
                if standard.apply(organisation, speed, &mut dram).is_ok() {
                    check(&dram, preset, &format!("{name}, {organisation}, {speed}"));
                }
            }
        }
    }
}

#[test]
fn every_preset_has_currents_with_a_source() {
    let mut count = 0;
    for_each_preset(|dram, speed, name| {
        assert_eq!(dram.power, speed.power);
        assert!(speed.power_source.contains("DRAMsim3"), "{name}");
        let known = Energy::of(dram, CYCLE_NS, &Activity::default());
        assert!(known.is_some(), "{name}");
        assert_eq!(speed.timing.trefipb > 0, speed.power.idd5pb > 0, "{name}");
        count += 1;
    });
    assert!(count > 15);
}

/// Energy never falls as a count rises.
#[test]
fn energy_grows_with_every_count() {
    type More = (&'static str, fn(&mut Activity));
    let more: [More; 7] = [
        ("cycles", |a| a.cycles += 1),
        ("open cycles", |a| a.open_cycles += 1),
        ("activations", |a| a.activations += 1),
        ("reads", |a| a.reads += 1),
        ("writes", |a| a.writes += 1),
        ("refreshes", |a| a.refreshes += 1),
        ("bank refreshes", |a| a.bank_refreshes += 1),
    ];
    for_each_preset(|dram, speed, name| {
        let dram = Dram {
            timing: Timing { trfcpb: speed.timing.trfcpb, ..dram.timing.clone() },
            ..dram.clone()
        };
        let base = Activity { cycles: 100, open_cycles: 50, ..Activity::default() };
        let before = energy(&dram, base).total();
        for (what, change) in more {
            let mut activity = base;
            change(&mut activity);
            let after = energy(&dram, activity).total();
            // DRAMsim3's 1 Gb GDDR5 draws no more in refresh than in active standby.
            let free = what.contains("refreshes");
            assert!(after > before || free && after >= before, "{name}: {what}");
        }
    });
}

/// The assumption on IDD5PB stated in `docs/dram-standards.md`, to half a mA.
#[test]
fn single_bank_refresh_costs_the_energy_of_all_bank_refresh() {
    let mut count = 0;
    for_each_preset(|dram, speed, name| {
        let (p, t) = (&speed.power, &speed.timing);
        if t.trefipb == 0 {
            return;
        }
        let banks = f64::from(dram.banks / dram.pseudo_channels);
        // tRFC of the speed belongs to the organisation that the standard's file names for it.
        let trfc = f64::from(t.trfc);
        let all = f64::from(p.idd5ab - p.idd3n) * trfc / (banks * f64::from(t.trfcpb));
        assert!((f64::from(p.idd5pb - p.idd3n) - all).abs() <= 0.5, "{name}: {all}");
        count += 1;
    });
    assert!(count > 5);
}

/// DRAMsim3's currents equal the reference tables for its own speeds.
#[test]
fn currents_equal_the_reference() {
    let path = super::reference::beside().join("timings.md");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no {}", path.display());
        return;
    };
    let cells = |line: &str| -> Vec<String> {
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let head = text.lines().find(|line| line.contains("| GDDR5_1Gb_x32 |")).map(cells).unwrap();
    let value = |parameter: &str, column: &str| -> f64 {
        let at = head.iter().position(|name| name == column).unwrap();
        let start = format!("| power | {parameter} |");
        let row = text.lines().find(|line| line.starts_with(&start)).map(cells).unwrap();
        row[at].parse().unwrap()
    };
    for (standard, speed, column) in [
        ("gddr5", "GDDR5_1Gb_x32", "GDDR5_1Gb_x32"),
        ("gddr5", "GDDR5_8Gb_x32", "GDDR5_8Gb_x32"),
        ("gddr5x", "GDDR5X_8Gb_x32", "GDDR5X_8Gb_x32"),
        ("gddr6", "GDDR6_8Gb_x16_DRAMsim3", "GDDR6_8Gb_x16"),
        ("hbm2-legacy", "HBM2_8Gb_x128", "HBM2_8Gb_x128"),
    ] {
        let standard = Standard::load(standard).unwrap();
        let power = &standard.speeds()[speed].power;
        near(f64::from(power.vdd) / 1000.0, value("VDD", column));
        for (current, parameter) in [
            (power.idd0, "IDD0"),
            (power.idd2n, "IDD2N"),
            (power.idd3n, "IDD3N"),
            (power.idd4r, "IDD4R"),
            (power.idd4w, "IDD4W"),
            (power.idd5ab, "IDD5AB"),
        ] {
            near(current.into(), value(parameter, column));
        }
    }
}
