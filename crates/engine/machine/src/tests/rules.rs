//! Ranges and rules.

use proptest::prelude::*;

use super::*;

use warpmem_params::{Key, Kind, Whole};

#[test]
fn a_broken_rule_names_the_valid_values() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("li2015", &["dram.banks=0"], "`dram.banks` = 0 is not valid: expected 1 to 64"),
        (
            "li2015",
            &["dram.banks=8"],
            "`dram.address.map` = \"row:12 bank:3 column:4 bank:1 column:2 burst:6\" is not valid: \
             expected 3 bank bits for `dram.banks` = 8, not 4",
        ),
        (
            "li2015",
            &["dram.write_queue=90"],
            "`dram.write_high_watermark` = 96 is not valid: expected 1 to `dram.write_queue` = 90",
        ),
        (
            "accelsim-qv100",
            &["l2.cache.ways=16"],
            "`l2.cache.index` = \"ipoly\" is not valid: expected \"linear\", or sizes that give a power \
             of two of sets (now 48 sets)",
        ),
        (
            "li2015",
            &["clocks.core_mhz=99991", "clocks.dram_mhz=99989", "clocks.l2_mhz=99971"],
            "`clocks` = [99991, 1400, 99971, 99989] MHz is not valid: expected frequencies above 0 whose \
             least common multiple is at most 2^40; round one of them to share factors with the others",
        ),
    ];
    for (name, overrides, message) in cases {
        assert_eq!(refusal(name, overrides), *message);
    }
}

/// For each rule the smallest change that breaks it: preset, overrides, key named by the message.
#[test]
fn every_rule_refuses() {
    let cases: &[(&str, &[&str], &str)] = &[
        (
            "li2015",
            &["clocks.core_mhz=99991", "clocks.dram_mhz=99989", "clocks.l2_mhz=99971"],
            "clocks",
        ),
        ("li2015", &["sm.max_warps=47"], "sm.max_threads"),
        ("li2015", &["sm.schedulers=49"], "sm.schedulers"),
        ("li2015", &["sm.shared.bank_bytes=3"], "sm.shared.bank_bytes"),
        ("li2015", &["l1.cache.line_bytes=96"], "l1.cache.line_bytes"),
        (
            "li2015",
            &["l1.cache.sector_bytes=48", "l2.cache.sector_bytes=48"],
            "l1.cache.sector_bytes",
        ),
        ("li2015", &["l1.cache.line_bytes=64"], "l1.cache.sector_bytes"),
        ("li2015", &["l1.cache.size_bytes=16400"], "l1.cache.size_bytes"),
        ("li2015", &["l1.cache.size_bytes=64"], "l1.cache.size_bytes"),
        ("li2015", &["l1.cache.ways=3"], "l1.cache.ways"),
        ("li2015", &["l1.cache.ways=256"], "l1.cache.ways"),
        ("li2015", &["l1.cache.size_bytes=12288"], "l1.cache.index"),
        ("accelsim-qv100", &["l2.cache.size_bytes=73728"], "l2.cache.index"),
        ("accelsim-qv100", &["l2.cache.ways=16"], "l2.cache.index"),
        (
            "li2015",
            &["l2.cache.size_bytes=33554432", "l2.cache.ways=2", "l2.cache.index=xor"],
            "l2.cache.index",
        ),
        (
            "li2015",
            &["l2.cache.size_bytes=33554432", "l2.cache.ways=2", "l2.cache.index=ipoly"],
            "l2.cache.index",
        ),
        ("li2015", &["l1.cache.size_bytes=33554432"], "l1.cache.size_bytes"),
        ("li2015", &["l2.copies=true", "dram.channels=3"], "dram.channels"),
        ("li2015", &["l2.copies=true", "l2.cache.mshr_entries=1"], "l2.cache.mshr_entries"),
        ("accelsim-qv100", &["sm.operand_latency=3"], "sm.operand_latency"),
        ("accelsim-qv100", &["sm.register_banks=3"], "sm.register_banks"),
        ("li2015", &["sm.register_banks=2"], "sm.register_banks"),
        ("li2015", &["l2.to_dram_credits=128"], "l2.to_dram_credits"),
        ("li2015", &["l2.queue=4", "l2.queue_reserve=5"], "l2.queue_reserve"),
        ("li2015", &["dram.read_queue=32769"], "dram.read_queue"),
        ("li2015", &["dram.write_queue=32769"], "dram.write_queue"),
        ("accelsim-qv100", &["l1.cache.line_bytes=64"], "l1.cache.line_bytes"),
        ("accelsim-qv100", &["l1.cache.sector_bytes=64"], "l1.cache.sector_bytes"),
        ("li2015", &["l1.cache.write=write-back", "l1.cache.miss_queue=1"], "l1.cache.miss_queue"),
        ("accelsim-rtx2060s", &["l1.cache.miss_queue=1"], "l1.cache.miss_queue"),
        ("li2015", &["l1.cache.miss_queue=4", "l1.read_reserve=4"], "l1.read_reserve"),
        ("accelsim-qv100", &["l2.cache.write=local-write-back"], "l2.cache.write"),
        ("li2015", &["l1.unified_bytes=65536"], "l1.unified_bytes"),
        ("accelsim-qv100", &["l1.shared_options_bytes=[]"], "l1.unified_bytes"),
        (
            "accelsim-qv100",
            &["l1.shared_options_bytes=[0,98304,131072]"],
            "l1.shared_options_bytes",
        ),
        ("accelsim-qv100", &["l1.shared_options_bytes=[0,98305]"], "l1.shared_options_bytes"),
        ("accelsim-qv100", &["l1.shared_options_bytes=[0,65536]"], "l1.shared_options_bytes"),
        ("accelsim-qv100", &["l1.shared_options_bytes=[8192,98304]"], "l1.cache.size_bytes"),
        ("li2015", &["dram.banks=12"], "dram.banks"),
        ("li2015", &["dram.bank_groups=3"], "dram.bank_groups"),
        ("li2015", &["dram.bank_groups=32"], "dram.bank_groups"),
        ("li2015", &["dram.row_bytes=3000"], "dram.row_bytes"),
        ("li2015", &["dram.row_bytes=64"], "dram.row_bytes"),
        ("accelsim-qv100", &["dram.write_high_watermark=1"], "dram.write_high_watermark"),
        ("accelsim-qv100", &["dram.write_low_watermark=1"], "dram.write_low_watermark"),
        ("li2015", &["dram.write_high_watermark=129"], "dram.write_high_watermark"),
        ("li2015", &["dram.write_high_watermark=80"], "dram.write_low_watermark"),
        ("li2015", &["dram.queue_organisation=per-bank", "dram.read_queue=15"], "dram.read_queue"),
        (
            "li2015",
            &[
                "dram.queue_organisation=per-bank",
                "dram.write_queue=15",
                "dram.write_high_watermark=9",
                "dram.write_low_watermark=2",
            ],
            "dram.write_queue",
        ),
        ("li2015", &["dram.burst_length=6"], "dram.burst_length"),
        ("li2015", &["dram.bus_bytes=6"], "dram.bus_bytes"),
        ("accelsim-qv100", &["dram.bus_bytes=32"], "dram.bus_bytes"),
        ("li2015", &["dram.timing.tras=11"], "dram.timing.tras"),
        ("li2015", &["dram.timing.trc=27"], "dram.timing.trc"),
        ("li2015", &["dram.timing.tccdl=1"], "dram.timing.tccdl"),
        ("li2015", &["dram.timing.trrdl=5"], "dram.timing.trrdl"),
        ("li2015", &["dram.timing.twtrl=4"], "dram.timing.twtrl"),
        ("li2015", &["dram.timing.trp=13"], "dram.timing.trc"),
        ("li2015", &["dram.burst_length=16"], "dram.burst_length"),
        ("li2015", &["dram.pseudo_channels=3"], "dram.pseudo_channels"),
        ("li2015", &["dram.pseudo_channels=8"], "dram.bank_groups"),
        ("li2015", &["dram.stacks=5"], "dram.stacks"),
        ("li2015", &["dram.stacks=32"], "dram.banks"),
        ("li2015", &["dram.timing.trtw=20"], "dram.timing.trtw"),
        ("li2015", &["dram.timing.tccdr=2"], "dram.timing.tccdr"),
        ("li2015", &["dram.timing.trfcpb=1"], "dram.timing.trfcpb"),
        ("li2015", &["dram.timing.trrefd=1"], "dram.timing.trrefd"),
        ("li2015", &["dram.timing.trefipb=50", "dram.timing.trfcpb=800"], "dram.timing.trfcpb"),
        (
            "li2015",
            &["dram.timing.trefipb=50", "dram.timing.trfcpb=80", "dram.timing.trrefd=50"],
            "dram.timing.trrefd",
        ),
        (
            "li2015",
            &["dram.timing.trefi=900", "dram.timing.trfc=50", "dram.timing.trefipb=50"],
            "dram.timing.trefipb",
        ),
        ("li2015", &["dram.power.idd2n=451"], "dram.power.idd3n"),
        ("li2015", &["dram.power.idd0=449"], "dram.power.idd0"),
        ("li2015", &["dram.power.idd4r=449"], "dram.power.idd4r"),
        ("li2015", &["dram.power.idd4w=449"], "dram.power.idd4w"),
        ("li2015", &["dram.power.idd5ab=449"], "dram.power.idd5ab"),
        ("li2015", &["dram.power.idd5pb=449"], "dram.power.idd5pb"),
        ("li2015", &["dram.standard=gddr55"], "dram.standard"),
        ("warpedmc2023", &["dram.standard=gddr6"], "dram.timing.trc"),
        ("li2015", &["dram.timing.trfc=1"], "dram.timing.trfc"),
        ("li2015", &["dram.timing.trefi=100"], "dram.timing.trfc"),
        ("li2015", &["dram.timing.trefi=100", "dram.timing.trfc=100"], "dram.timing.trfc"),
        (
            "accelsim-qv100",
            &["dram.address.partition_hash_bits=[13,20]"],
            "dram.address.partition_hash_bits",
        ),
        (
            "accelsim-qv100",
            &["dram.address.partition_hash_bits=[14,64]"],
            "dram.address.partition_hash_bits",
        ),
        (
            "accelsim-qv100",
            &["dram.address.partition_hash_bits=[20,14]"],
            "dram.address.partition_hash_bits",
        ),
        (
            "accelsim-qv100",
            &["dram.address.partition_hash_bits=[20]"],
            "dram.address.partition_hash_bits",
        ),
        (
            "accelsim-rtx2060s",
            &["dram.address.partition_hash_bits=[12,20]"],
            "dram.address.partition_hash_bits",
        ),
        ("li2015", &["l2.slices_per_channel=3"], "l2.slices_per_channel"),
        ("accelsim-qv100", &["dram.banks=1", "dram.bank_groups=1"], "l2.slices_per_channel"),
        ("li2015", &["dram.address.map=row:12 burst:6 bank:4 column:6"], "dram.address.map"),
        (
            "li2015",
            &["dram.address.map=row:12 bank:4 burst:1 column:6 burst:5"],
            "dram.address.map",
        ),
        ("li2015", &["dram.address.map=row:12 bank:4 column:6 burst:5"], "dram.address.map"),
        ("li2015", &["dram.address.map=row:12 bank:4 column:5 burst:6"], "dram.address.map"),
        ("li2015", &["dram.address.map=row:12 bank:3 column:6 burst:6"], "dram.address.map"),
        ("li2015", &["dram.address.map=bank:4 column:6 burst:6"], "dram.address.map"),
        ("li2015", &["dram.address.map=row:12 bank:3 column:6 bank:1 burst:6"], "dram.address.map"),
        ("li2015", &["dram.address.map=row:12 bnak:4 column:6 burst:6"], "dram.address.map"),
        ("li2015", &["dram.address.map=\"\""], "dram.address.map"),
        (
            "li2015",
            &[
                "dram.address.interleave_bytes=0",
                "dram.address.map=dramid@6;00000000000000000000000000000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS",
            ],
            "dram.address.map",
        ),
        (
            "li2015",
            &["dram.address.interleave_bytes=0", "dram.channels=8", "dram.address.map=RoBaRaCoCh"],
            "dram.address.map",
        ),
        ("li2015", &["dram.pseudo_channels=2"], "dram.address.map"),
        ("accelsim-qv100", &["dram.channels=16"], "dram.channels"),
        ("li2015", &["dram.channels=128", "l2.slices_per_channel=4"], "dram.channels"),
        ("accelsim-qv100", &["dram.address.interleave_bytes=256"], "dram.address.interleave_bytes"),
        ("li2015", &["dram.address.interleave_bytes=0"], "dram.address.interleave_bytes"),
        ("li2015", &["dram.address.interleave_bytes=64"], "dram.address.interleave_bytes"),
        ("li2015", &["dram.address.interleave_bytes=384"], "dram.address.interleave_bytes"),
        (
            "li2015",
            &["dram.address.partition_hash=ipoly", "dram.address.partition_hash_bits=[20,30]"],
            "dram.address.partition_hash_bits",
        ),
        (
            "accelsim-qv100",
            &[
                "dram.channels=256",
                "l2.slices_per_channel=8",
                "dram.address.map=row:13 bank:4 channel:8 column:6 burst:5",
                "dram.address.partition_hash_bits=[]",
            ],
            "dram.channels",
        ),
    ];
    for (name, overrides, key) in cases {
        let message = refusal(name, overrides);
        assert!(message.starts_with(&format!("`{key}` = ")), "{overrides:?}: {message}");
    }
}

/// Returns the range of every whole-number key.
fn ranges() -> Vec<(String, Whole)> {
    let range = |key: Key| match key.param.kind {
        Kind::Whole(range) => Some((key.path, range)),
        _ => None,
    };
    Machine::keys().into_iter().filter_map(range).collect()
}

#[test]
fn every_key_of_a_machine_is_described() {
    let mut described: Vec<String> = Machine::keys().into_iter().map(|key| key.path).collect();
    described.sort();
    let values = flatten(&preset("li2015"));
    let keys: Vec<&String> = values.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, described.iter().collect::<Vec<_>>());
}

#[test]
fn every_whole_number_has_a_declared_range() {
    for (key, Whole { max, .. }) in ranges() {
        assert!(max < u32::MAX.into(), "{key}");
    }
}

#[test]
fn both_ends_of_a_range_are_valid() {
    for (key, Whole { min, max }) in ranges() {
        let set = |value: u64| with("li2015", &[&format!("{key}={value}")]);
        let out_of_range = format!("expected {min} to {max}");
        let message = |value: u64| set(value).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(message(max + 1).ends_with(&out_of_range), "{key}");
        assert!(!message(max).ends_with(&out_of_range), "{key}");
        assert!(!message(min).ends_with(&out_of_range), "{key}");
        if min > 0 {
            assert!(message(min - 1).ends_with(&out_of_range), "{key}");
        }
    }
}

/// Generates numeric keys with values at and beyond the ends of their ranges.
fn extreme_override() -> impl Strategy<Value = String> {
    let keys: Vec<String> = ranges().into_iter().map(|(key, _)| key).collect();
    let key = proptest::sample::select(keys);
    let value = prop_oneof![
        Just(i64::MIN),
        Just(-1),
        Just(0),
        Just(1),
        0..200_000i64,
        (0..63u32).prop_map(|bit| 1i64 << bit),
        Just(i64::from(u32::MAX)),
        Just(i64::MAX),
    ];
    (key, value).prop_map(|(key, value)| format!("{key}={value}"))
}

proptest! {
    #[test]
    fn extreme_numbers_never_panic(
        name in proptest::sample::select(preset_names().collect::<Vec<_>>()),
        overrides in prop::collection::vec(extreme_override(), 1..6),
    ) {
        if let Ok(machine) = load(name, &overrides) {
            machine.clocks.periods();
            prop_assert!(machine.l1.cache.sets() > 0 && machine.l2.cache.sets() > 0);
            prop_assert!(machine.slices() > 0 && machine.dram.burst_cycles() > 0);
            prop_assert!(machine.peak_bytes_per_second() > 0);
        }
    }

    #[test]
    fn arbitrary_overrides_never_panic(text in ".{0,40}", value in ".{0,20}") {
        let _ = load("accelsim-qv100", &[text]);
        let _ = load("accelsim-qv100", &[format!("dram.address.map={value}")]);
        let _ = load("accelsim-qv100", &[format!("l1.shared_options_bytes={value}")]);
    }

    #[test]
    fn arbitrary_files_never_panic(text in "(base = \"accelsim-qv100\"\n)?[a-z.\\[\\]=\"0-9\n {}#]{0,80}") {
        let _ = load_text(&text);
    }
}

#[test]
fn where_every_launch_is_evaluated_none_may_be_left_out() {
    load("li2015", &[]).unwrap().validate_all_launches().unwrap();
    for text in ["run.error_permille=10", "run.fast_forward=1"] {
        let refused = load("li2015", &[text.to_owned()]).unwrap().validate_all_launches();
        assert!(refused.unwrap_err().to_string().contains("every launch is evaluated here"));
    }
}
