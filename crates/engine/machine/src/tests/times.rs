//! DRAM times in nanoseconds, and changes of the clock.

use super::*;

#[test]
fn a_time_in_ns_follows_the_clock_in_any_order() {
    let trcd = |overrides: &[&str]| with("accelsim-qv100", overrides).unwrap().dram.timing.trcd;
    assert_eq!(trcd(&["dram.timing.trcd=13.75ns"]), 12, "11.69 cycles of 850 MHz");
    assert_eq!(trcd(&["dram.timing.trcd=13.75ns", "clocks.dram_mhz=1000"]), 14);
    assert_eq!(trcd(&["clocks.dram_mhz=1000", "dram.timing.trcd=13.75 ns"]), 14);
    assert_eq!(trcd(&["dram.timing.trcd=13.75ns", "dram.timing.trcd=9"]), 9, "the last of two");
    let of_file =
        "base = \"accelsim-qv100\"\n[dram.timing]\ntrcd = \"13.75ns\"\n[clocks]\ndram_mhz = 1000\n";
    let (_dir, path) = file(of_file);
    let machine = load(path.to_str().unwrap(), &[]).unwrap();
    assert_eq!(machine.dram.timing.trcd, 14);
    let faster = ["clocks.dram_mhz=1200".to_owned()];
    let again = machine.with_overrides(&faster, std::path::Path::new("")).unwrap();
    assert_eq!(again.dram.timing.trcd, 17, "16.5 cycles of 1200 MHz");
}

#[test]
fn malformed_times_are_refused() {
    assert_eq!(
        refusal("accelsim-qv100", &["dram.timing.trcd=13.75us"]),
        "override `dram.timing.trcd=13.75us`: `dram.timing.trcd` = \"13.75us\": expected a whole number from 1 to \
         100000, or a time as in \"13.75ns\""
    );
    assert!(refusal("accelsim-qv100", &["dram.read_queue=13ns"]).ends_with("from 1 to 32768"));
    let long = refusal("accelsim-qv100", &["dram.timing.trcd=99999999ns"]);
    assert!(long.starts_with("`dram.timing.trcd` = 85000000 is not valid"), "{long}");
    let (_dir, path) = file("base = \"accelsim-qv100\"\n[dram.timing]\ntras = \"1ns\"\n");
    let short = load(path.to_str().unwrap(), &[]).unwrap_err().to_string();
    assert!(short.contains("m.toml:3: `dram.timing.tras` = 1 "), "{short}");
}

#[test]
fn a_clock_changed_without_its_times_gives_a_warning() {
    let warnings = |overrides: &[&str]| with("accelsim-qv100", overrides).unwrap().clock_warnings();
    assert_eq!(warnings(&[]), [""; 0]);
    assert_eq!(
        warnings(&["clocks.dram_mhz=1000"]),
        [
            "`clocks.dram_mhz` = 1000, but times of `dram.timing` are cycles of 850 MHz (tcl, tras, trc, trcd, trcdw and \
          8 more) and now last 0.85 times as long; give them in ns, as in `dram.timing.tcl=14.117ns`, or in cycles of \
          1000 MHz"
        ]
    );
    let one = warnings(&["clocks.dram_mhz=1000", "dram.timing.tcl=14", "dram.timing.tras=28ns"]);
    assert!(one[0].contains("(trc, trcd, trcdw, trp, trrdl and 6 more)"), "{one:?}");
    assert_eq!(warnings(&["clocks.core_mhz=1000", "dram.timing.tcl=14"]), [""; 0]);
}

#[test]
fn times_of_a_file_refer_to_the_clock_of_the_file() {
    let warnings = |text: &str, overrides: &[&str]| {
        let (_dir, path) = file(text);
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        load(path.to_str().unwrap(), &overrides).unwrap().clock_warnings()
    };
    let whole = preset_text("accelsim-qv100").unwrap();
    assert_eq!(warnings(whole, &[]), [""; 0]);
    assert!(warnings(whole, &["clocks.dram_mhz=900"])[0].contains("cycles of 850 MHz"));
    let own = "base = \"accelsim-qv100\"\n[clocks]\ndram_mhz = 1000\n[dram.timing]\ntcl = 14\n";
    let two = warnings(own, &["clocks.dram_mhz=1200"]);
    let [of_base, of_file] = &two[..] else { panic!("{two:?}") };
    assert!(of_base.contains("850 MHz (tras, ") && of_file.contains("1000 MHz (tcl)"), "{two:?}");
}

#[test]
fn a_machine_is_written_with_times_as_given() {
    let machine =
        with("accelsim-qv100", &["dram.timing.trcd=13.75ns", "clocks.dram_mhz=1000"]).unwrap();
    let text = machine.to_toml_as_given();
    assert!(text.contains("\ntrcd = \"13.75ns\" # 14 cycles of 1000 MHz\n"), "{text}");
    assert!(text.contains("\ntcl = 12 # given for 850 MHz\n"), "{text}");
    let (_dir, path) = file(&text);
    let read = load(path.to_str().unwrap(), &[]).unwrap();
    assert_eq!(flatten(&read), flatten(&machine));
    assert_eq!(preset("accelsim-qv100").to_toml_as_given(), preset("accelsim-qv100").to_toml());
}
