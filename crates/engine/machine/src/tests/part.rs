//! DRAM parts named by `dram.standard`.

use super::*;
use std::path::Path;
use warpmem_dram::GivenTimes;
use warpmem_dram::standard::Standard;

/// Returns all parts of the built-in standards with no more banks than the model supports.
fn parts() -> Vec<String> {
    let mut parts = Vec::new();
    for name in Standard::names() {
        let standard = Standard::load(name).unwrap();
        for (organisation, place) in standard.organisations() {
            let speeds = standard.speeds().keys().filter(|_| place.banks <= 64);
            parts.extend(speeds.map(|speed| format!("{name}:{organisation}:{speed}")));
        }
    }
    parts
}

/// Only parts with a column command larger than a sector are refused.
#[test]
fn every_part_fits_every_preset() {
    let mut refused = 0;
    for name in preset_names() {
        for part in parts() {
            match with(name, &[&format!("dram.standard={part}")]) {
                Ok(machine) => assert_eq!(machine.dram.channels, preset(name).dram.channels),
                Err(error) => {
                    assert!(error.to_string().contains("`l2.cache.sector_bytes` = 32"), "{error}");
                    refused += 1;
                }
            }
        }
    }
    let sectored = preset_names().filter(|name| preset(name).l2.cache.sector_bytes == 32).count();
    assert_eq!(parts().len(), 50);
    assert_eq!(refused, 8 * sectored, "gddr3, gddr5, gddr5x and hbm2-legacy with wide buses");
}

#[test]
fn a_part_sets_organisation_times_currents_and_clock() {
    let old = preset("accelsim-qv100");
    let machine = with("accelsim-qv100", &["dram.standard=hbm2:HBM2_8Gb:HBM2_2000Mbps"]).unwrap();
    let standard = Standard::load("hbm2").unwrap();
    let mut dram = old.dram.clone();
    let clock = standard.apply("HBM2_8Gb", "HBM2_2000Mbps", &mut dram).unwrap();
    assert_eq!(machine.clocks, Clocks { dram_mhz: clock.mhz(), ..old.clocks });
    assert_eq!(
        machine.dram.address.map,
        "row:16 bank:3 column:2 bank:1 pseudo:1 channel:5 column:3 burst:5"
    );
    dram.address.map.clone_from(&machine.dram.address.map);
    dram.address.partition_hash_bits.clear();
    assert_eq!(machine.dram, dram);
    assert_eq!(machine.dram.read_queue, old.dram.read_queue, "queues stay");
    assert_eq!(machine.dram.given, GivenTimes::of_clock(clock.mhz()));
    assert_eq!(machine.clock_warnings(), [""; 0]);
}

#[test]
fn a_part_without_a_speed_takes_the_first_that_fits() {
    let machine = |part: &str| with("li2015", &[&format!("dram.standard={part}")]).unwrap();
    assert_eq!(machine("gddr5:GDDR5_8Gb_x32"), machine("gddr5:GDDR5_8Gb_x32:GDDR5_8Gb_x32"));
    let alone = machine("hbm2");
    assert_eq!(alone.dram.banks, preset("li2015").dram.banks, "the constraints alone");
}

#[test]
fn values_beside_a_part_modify_it_in_any_order() {
    let machine = load_text(
        "base = \"li2015\"\n[clocks]\ndram_mhz = 900\n[dram]\nbanks = 8\nstandard = \"gddr6:GDDR6_8Gb_x16\"\n\
         [dram.address]\nmap = \"RoBaChCo\"\n[dram.timing]\ntrcd = 40\n",
    );
    let error = machine.unwrap_err().to_string();
    assert!(
        error.contains("channels"),
        "six channels are no field, so the given map is in effect: {error}"
    );
    let given = ["dram.timing.trcd=40", "dram.standard=gddr6:GDDR6_8Gb_x16", "clocks.dram_mhz=900"];
    let machine = with("li2015", &given).unwrap();
    assert_eq!((machine.dram.timing.trcd, machine.clocks.dram_mhz), (40, 900));
    let [warning] = &machine.clock_warnings()[..] else {
        panic!("the other times have another clock")
    };
    assert!(!warning.contains("trcd,"), "{warning}");
    let inline = with("li2015", &["dram={ banks = 8, standard = \"gddr6:GDDR6_8Gb_x16\" }"]);
    assert!(inline.unwrap_err().to_string().contains("3 bank bits for `dram.banks` = 8"));
}

#[test]
fn a_part_replaces_earlier_values() {
    let (_dir, path) = file(
        "base = \"li2015\"\n[dram]\nread_queue = 16\n[dram.timing]\ntrcd = \"20ns\"\ntcl = 90",
    );
    let part = "dram.standard=gddr6:GDDR6_8Gb_x16".to_owned();
    let machine = load(path.to_str().unwrap(), std::slice::from_ref(&part)).unwrap();
    let expected = Machine { name: "m".to_owned(), ..with("li2015", &[&part]).unwrap() };
    assert_eq!(machine.dram.read_queue, 16);
    let dram = Dram { read_queue: expected.dram.read_queue, ..machine.dram.clone() };
    assert_eq!(Machine { dram, ..machine }, expected);
    let slower = load(path.to_str().unwrap(), &[part, "clocks.dram_mhz=500".to_owned()]).unwrap();
    assert_eq!(slower.dram.timing, expected.dram.timing, "the part replaced the time in ns");
}

#[test]
fn the_standard_of_a_part_may_be_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let text = Standard::text("gddr5").unwrap().replace("name = \"gddr5\"", "name = \"own\"");
    std::fs::write(dir.path().join("own.toml"), text).unwrap();
    let overrides = ["dram.standard=own.toml:GDDR5_8Gb_x32".to_owned()];
    let machine = preset("li2015").with_overrides(&overrides, dir.path()).unwrap();
    assert_eq!(machine.dram.standard, "own.toml", "the machine does not depend on the folder");
    assert_eq!(Standard::of(&machine.dram).unwrap().name(), "own");
    let again = machine.clone().with_overrides(&["dram.read_queue=8".to_owned()], Path::new(""));
    assert_eq!(Standard::of(&again.unwrap().dram).unwrap().name(), "own");
}

#[test]
fn unknown_parts_are_refused_with_suggestions() {
    for (part, message) in [
        ("gddr55:x", "`dram.standard` = \"gddr55\" is not valid: expected "),
        (
            "gddr5:GDDR5_8Gb",
            "unknown organisation `GDDR5_8Gb` of standard gddr5 (did you mean `GDDR5_8Gb_x32`?); valid: GDDR5_1Gb_x32, ",
        ),
        (
            "gddr5:GDDR5_8Gb_x32:fast",
            "unknown speed `fast` of standard gddr5; valid: GDDR5_1Gb_x32, ",
        ),
        ("gddr5:", "unknown organisation `` of standard gddr5"),
        (
            "gddr6-gpgpusim:x",
            "`dram.standard` = \"gddr6-gpgpusim\" is not valid: expected a standard with organisations",
        ),
        ("hbm3:HBM3_32Gb_16hi", "`organisation.HBM3_32Gb_16hi.banks` = 128 is not valid"),
    ] {
        let refused = refusal("li2015", &[&format!("dram.standard={part}")]);
        assert!(refused.starts_with(message), "{refused}");
    }
    let refused = file_refusal("base = \"li2015\"\n[dram]\nstandard = \"gddr6-gpgpusim:x\"");
    assert!(refused.starts_with("m.toml:3: `dram.standard` = \"gddr6-gpgpusim\""), "{refused}");
}
