//! Files, overrides, and all errors with their messages.

use toml::Value;

use super::*;
use std::path::Path;
use warpmem_dram::standard::Standard;

#[test]
fn overrides_apply_in_order() {
    let machine = with(
        "li2015",
        &[
            "dram.read_queue=128",
            " dram.read_queue = 3_2 ",
            "policy.dram_scheduler=fr-fcfs(row_hit_cap=4)",
            "policy.warp_scheduler=\"lrr\"",
            "dram.page=5",
            "l1.enabled=false",
            "l2.cache.write=write-through",
            "sm.units.sfu={latency=7}",
        ],
    )
    .unwrap();
    assert_eq!(machine.dram.read_queue, 32);
    assert_eq!(machine.policy.dram_scheduler, "fr-fcfs(row_hit_cap=4)");
    assert_eq!(machine.policy.warp_scheduler, "lrr");
    assert_eq!(machine.dram.page, "5");
    assert!(!machine.l1.enabled);
    assert_eq!(machine.l2.cache.write, WritePolicy::WriteThrough);
    assert_eq!(machine.sm.units.sfu, Unit { latency: 7, interval: 4 });
    let v100 = with("accelsim-qv100", &["l1.shared_options_bytes=[0,98304]"]).unwrap();
    assert_eq!(v100.l1.shared_options_bytes, [0, 98304]);
}

#[test]
fn overrides_of_a_machine_equal_those_of_its_preset() {
    let overrides = ["dram.read_queue=128", "dram.page=5", "l1.enabled=false"].map(str::to_owned);
    let here = Path::new("");
    let of_machine = preset("li2015").with_overrides(&overrides, here).unwrap();
    assert_eq!(of_machine, load("li2015", &overrides).unwrap());
    let refused = |text: &str| preset("li2015").with_overrides(&[text.to_owned()], here);
    assert!(refused("dram.read_queue=0").is_err());
    assert!(refused("dram.read_quue=1").is_err());
}

/// Each of the folders has a DRAM standard of the same file name.
#[test]
fn a_standard_is_relative_to_the_file_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["machine", "plan"] {
        let at = dir.path().join(folder);
        std::fs::create_dir(&at).unwrap();
        let text =
            format!("name = \"{folder}\"\nsummary = \"\"\nsource = \"\"\nbase = \"gddr5\"\n");
        std::fs::write(at.join("own.toml"), text).unwrap();
    }
    let file = dir.path().join("machine/mine.toml");
    std::fs::write(&file, "base = \"li2015\"\n[dram]\nstandard = \"own.toml\"").unwrap();
    let file = file.to_str().unwrap();
    let name = |machine: &Machine| Standard::of(&machine.dram).unwrap().name().to_owned();
    let machine = load(file, &["dram.read_queue=32".to_owned()]).unwrap();
    assert_eq!(name(&machine), "machine");
    assert_eq!(machine.dram.standard, "own.toml", "the machine does not depend on the folder");
    let plan = dir.path().join("plan");
    let overrides = |text: &str| vec![text.to_owned(), "dram.read_queue=16".to_owned()];
    let of_plan = machine.clone().with_overrides(&overrides("dram.standard=own.toml"), &plan);
    assert_eq!(name(&of_plan.unwrap()), "plan");
    let kept = machine.clone().with_overrides(&overrides("dram.page=5"), &plan).unwrap();
    assert_eq!(name(&kept), "machine");
    let built_in = machine.with_overrides(&overrides("dram.standard=gddr5"), &plan).unwrap();
    assert_eq!(name(&built_in), Standard::load("gddr5").unwrap().name());
    let refused = load(file, &["dram.standard=own.toml".to_owned()]).unwrap_err().to_string();
    assert!(refused.starts_with("failed to read standard own.toml"), "{refused}");
}

#[test]
fn a_file_overrides_its_base() {
    let machine = load_text(
        "base = \"li2015\"\n[dram]\nread_queue = 128\n[dram.timing]\ntcl = 13\n[sm.units]\nsfu.latency = 9\n[l1]\n",
    )
    .unwrap();
    let mut expected = preset("li2015");
    expected.name = "m".to_owned();
    expected.dram.read_queue = 128;
    expected.dram.timing.tcl = 13;
    expected.sm.units.sfu.latency = 9;
    assert_eq!(machine, expected);
    assert_eq!(load_text("base = \"accelsim-qv100\"\nname = \"mine\"").unwrap().name, "mine");
}

#[test]
fn overrides_take_precedence_over_the_file() {
    let (_dir, path) = file("base = \"li2015\"\ndram.read_queue = 128");
    let machine = load(path.to_str().unwrap(), &["dram.read_queue=16".to_owned()]).unwrap();
    assert_eq!(machine.dram.read_queue, 16);
}

#[test]
fn former_keys_are_accepted() {
    let current = ["l2.queue=32", "clocks.l2_mhz=1400", "policy.l2_queue=none", "l2.latency=7"];
    let expected = with("li2015", &current).unwrap();
    let former = ["llc={queue=32}", "clocks={llc_mhz=1400}", "policy.llc_queue=none"];
    assert_eq!(with("li2015", &[&former[..], &["llc.latency=7"]].concat()).unwrap(), expected);
    let text = "base = \"li2015\"\n[clocks]\nllc_mhz = 1400\n[llc]\nqueue = 32\nlatency = 7\n\
                [policy]\nllc_queue = \"none\"\n[llc.cache]\n";
    assert_eq!(load_text(text).unwrap(), Machine { name: "m".to_owned(), ..expected });
    let complete = preset_text("li2015").unwrap().replace("[l2", "[llc").replace("l2_", "llc_");
    assert_eq!(load_text(&complete).unwrap(), preset("li2015"));
}

#[test]
fn unknown_machines_and_files_are_refused() {
    let names = preset_names().collect::<Vec<_>>().join(", ");
    let valid = format!("valid: {names}, or the path of a TOML file");
    assert_eq!(
        refusal("li2051", &[]),
        format!("unknown machine `li2051` (did you mean `li2015`?); {valid}")
    );
    assert_eq!(refusal("", &[]), format!("unknown machine ``; {valid}"));
    assert_eq!(refusal("no/such.toml", &[]), "failed to read machine file no/such.toml");
    assert_eq!(
        file_refusal("base = \"v10\""),
        format!("unknown machine `v10` (did you mean `v100`?); {valid}")
    );
    assert_eq!(file_refusal("base = 7"), "m.toml:1: `base` = 7: expected the name of a preset");
    let (_dir, path) = file("");
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    let message = load(path.to_str().unwrap(), &[]).unwrap_err().to_string();
    assert!(message.starts_with("failed to read machine file"), "{message}");
}

#[test]
fn malformed_toml_is_refused_with_its_position() {
    let message = file_refusal("base = \"li2015\"\n[dram]\nbanks = = 3\n");
    assert!(message.starts_with("m.toml:3:9: not valid TOML: "), "{message}");
    let message = file_refusal("base = \"li2015\"\n[dram]\nbanks = 1\nbanks = 2\n");
    assert!(message.starts_with("m.toml:4:1: not valid TOML: duplicate key"), "{message}");
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    let file = |text| file_refusal(&format!("base = \"li2015\"\n{text}"));
    assert_eq!(
        file("[dram]\nbnaks = 8"),
        "m.toml:3: unknown key `dram.bnaks` (did you mean `dram.banks`?)"
    );
    assert_eq!(
        file("\n\ntcl = 8"),
        "m.toml:4: unknown key `tcl` (did you mean `dram.timing.tcl`?)"
    );
    assert_eq!(file("[zzz]"), "m.toml:2: unknown key `zzz`");
    assert_eq!(
        refusal("li2015", &["dram.timing.tcll=8"]),
        "override `dram.timing.tcll=8`: unknown key `dram.timing.tcll` (did you mean `dram.timing.tcl`?)"
    );
    assert_eq!(refusal("accelsim-qv100", &["zzz=8"]), "override `zzz=8`: unknown key `zzz`");
}

#[test]
fn values_of_the_wrong_type_are_refused() {
    let expect = |text: &str, rest: &str| {
        assert_eq!(refusal("li2015", &[text]), format!("override `{text}`: {rest}"));
    };
    expect("dram.banks=many", "`dram.banks` = \"many\": expected a whole number from 1 to 64");
    expect("dram.banks=-1", "`dram.banks` = -1: expected a whole number from 1 to 64");
    expect("dram.banks=1.5", "`dram.banks` = 1.5: expected a whole number from 1 to 64");
    expect("l1.enabled=1", "`l1.enabled` = 1: expected true or false");
    expect(
        "l1.shared_options_bytes=8",
        "`l1.shared_options_bytes` = 8: expected a list of whole numbers from 0 to 4294967295",
    );
    expect(
        "l2.cache.replacement=mru",
        "`l2.cache.replacement` = \"mru\": expected `lru` or `fifo`",
    );
    expect("dram=8", "`dram` = 8: expected a table of keys");
    assert_eq!(
        file_refusal("base = \"li2015\"\n[dram]\nstandard = 5"),
        "m.toml:3: `dram.standard` = 5: expected a string"
    );
    assert_eq!(
        file_refusal("base = \"li2015\"\n[dram.banks]\n"),
        "m.toml:2: `dram.banks` = {}: expected a whole number from 1 to 64"
    );
}

#[test]
fn malformed_overrides_are_refused() {
    for text in ["", "=", "dram.banks", "dram.banks=", "=8"] {
        let expected =
            format!("malformed override `{text}`: expected key=value, as in `dram.read_queue=128`");
        assert_eq!(refusal("li2015", &[text]), expected);
    }
}

#[test]
fn a_file_without_base_may_leave_out_keys_with_defaults() {
    let text = preset_text("yuan2009").unwrap();
    assert_eq!(load_text(text).unwrap(), preset("yuan2009"));
}

#[test]
fn a_file_without_base_must_give_keys_without_defaults() {
    let text = preset_text("li2015").unwrap();
    assert_eq!(load_text(text).unwrap(), preset("li2015"));
    let without = |keys: &[&str]| {
        let kept = text.lines().filter(|l| !keys.iter().any(|k| l.starts_with(&format!("{k} = "))));
        file_refusal(&kept.collect::<Vec<_>>().join("\n"))
    };
    let hint = "give every key without a default, or start from a preset: `base = \"li2015\"`";
    assert_eq!(without(&["trcd"]), format!("m.toml: missing `dram.timing.trcd`; {hint}"));
    assert_eq!(
        without(&["trcd", "tras", "trp", "trc", "tcl", "twl", "twr"]),
        format!(
            "m.toml: missing `dram.timing.tcl`, `dram.timing.tras`, `dram.timing.trc`, \
             `dram.timing.trcd`, `dram.timing.trp` and 2 more; {hint}"
        )
    );
}

#[test]
fn flattened_values_keep_their_types() {
    let values = flatten(&preset("accelsim-qv100"));
    let get = |key: &str| values.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
    assert_eq!(get("dram.timing.tcl"), Some(Value::Integer(12)));
    assert_eq!(get("dram.dual_command_bus"), Some(Value::Boolean(true)));
    assert_eq!(get("policy.l2_queue"), Some(Value::String("fifo".to_owned())));
    assert_eq!(values.len(), Machine::keys().len());
}

#[test]
fn values_out_of_range_are_refused_with_their_line() {
    let (_dir, path) = file("base = \"li2015\"\n\n[dram]\nbanks = 3\n\n[sm]\nmax_threads = 4096");
    let path = path.to_str().unwrap();
    let banks = "`dram.banks` = 3 is not valid: expected a power of two";
    let threads = "`sm.max_threads` = 4096 is not valid: expected 32 to 2048";
    assert_eq!(refusal(path, &[]), format!("{path}:7: {threads}"));
    assert_eq!(refusal(path, &["sm.max_threads=1536"]), format!("{path}:4: {banks}"));
    assert_eq!(refusal(path, &["sm.max_threads=5000"]), threads.replace("4096", "5000"));
}
