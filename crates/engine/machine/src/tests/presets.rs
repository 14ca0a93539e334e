//! Presets against their sources.

use super::*;
use warpmem_sim::Field;

#[test]
fn every_preset_is_valid_and_survives_a_round_trip() {
    for name in preset_names() {
        let machine = preset(name);
        assert_eq!(machine.name, name);
        assert_eq!(machine, load_text(&machine.to_toml()).unwrap());
    }
}

/// Returns the lines of a preset that state values of keys.
fn stated(name: &str) -> impl Iterator<Item = &'static str> {
    let is_label = |line: &str| ["base", "name", "description"].iter().any(|l| line.starts_with(l));
    let lines = preset_text(name).unwrap().lines();
    lines.filter(move |line| line.contains(" = ") && !line.starts_with('#') && !is_label(line))
}

fn origin(line: &str) -> &str {
    line.split_once(" # ").map_or("", |(_, comment)| comment)
}

#[test]
fn every_value_of_a_preset_states_its_origin() {
    for name in preset_names() {
        for line in stated(name) {
            let is_origin = |o| origin(line).starts_with(o);
            assert!(
                origin(line) == "p" || ["p: ", "p; ", "a: ", "c: "].iter().any(is_origin),
                "{line}"
            );
        }
    }
}

#[test]
fn a_preset_is_listed_with_every_value() {
    for name in preset_names() {
        let listing = preset_listing(name).unwrap();
        assert_eq!(flatten(&load_text(&listing).unwrap()), flatten(&preset(name)), "{name}");
        assert!(listing.starts_with(preset_text(name).unwrap()), "{name}");
    }
    let listing = preset_listing("h200").unwrap();
    assert!(
        listing.contains("\n# From h100 and the neutral defaults:\n# clocks.core_mhz = 1980\n")
    );
    assert!(!listing.contains("# dram.timing.trcd = "));
    assert!(preset_listing("li2015").unwrap().contains("\n# Neutral defaults:\n# cluster."));
    assert_eq!(preset_listing("no-such-preset"), None);
}

fn assert_values(name: &str, expected: &[(&str, &str)]) {
    let values = flatten(&preset(name));
    for (key, value) in expected {
        let (_, found) = values.iter().find(|(k, _)| k == key).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(found.to_string().trim_matches('"'), *value, "{name}: {key}");
    }
}

#[test]
fn li2015_is_table_5_1() {
    assert_values(
        "li2015",
        &[
            ("sm.count", "15"),
            ("sm.max_threads", "1536"),
            ("policy.warp_scheduler", "gto"),
            ("policy.dram_scheduler", "fr-fcfs"),
            ("l1.cache.size_bytes", "16384"),
            ("l1.cache.line_bytes", "128"),
            ("l1.cache.ways", "4"),
            ("l2.cache.size_bytes", "65536"),
            ("l2.cache.line_bytes", "128"),
            ("l2.cache.ways", "16"),
            ("l2.cache.mshr_entries", "64"),
            ("l2.cache.mshr_merges", "16"),
            ("l2.slices_per_channel", "2"),
            ("l2.to_dram_latency", "20"),
            ("dram.channels", "6"),
            ("dram.banks", "16"),
            ("dram.bank_groups", "4"),
            ("dram.read_queue", "64"),
            ("dram.write_queue", "128"),
            ("dram.write_high_watermark", "96"),
            ("dram.write_low_watermark", "80"),
            ("clocks.core_mhz", "1400"),
            ("clocks.network_mhz", "1400"),
            ("clocks.dram_mhz", "924"),
            ("dram.timing.trcd", "12"),
            ("dram.timing.tras", "28"),
            ("dram.timing.trp", "12"),
            ("dram.timing.trc", "40"),
            ("dram.timing.tccds", "2"),
            ("dram.timing.tccdl", "3"),
            ("dram.timing.trrds", "6"),
            ("dram.timing.tcl", "12"),
            ("dram.timing.twl", "4"),
            ("dram.timing.twtrs", "5"),
            ("dram.timing.twr", "12"),
            ("dram.timing.trtp", "2"),
        ],
    );
    let machine = preset("li2015");
    assert_eq!(machine.slices(), 12);
    let rows = machine.dram.layout().unwrap().groups;
    assert_eq!(rows.last().map(|g| (g.field, 1 << g.bits)), Some((Field::Row, 4096)));
}

#[test]
fn li2015_has_the_memory_of_a_gtx_480() {
    let dram = preset("li2015").dram;
    let bytes = 6 * 16 * 4096 * u64::from(dram.row_bytes);
    assert_eq!((dram.channels, dram.banks, bytes), (6, 16, 1536 << 20));
}

#[test]
fn owl2013_is_table_1() {
    assert_values(
        "owl2013",
        &[
            ("sm.count", "28"),
            ("clocks.core_mhz", "1300"),
            ("sm.issue_interval", "4"),
            ("sm.units.integer.latency", "20"),
            ("sm.max_threads", "1024"),
            ("sm.shared_bytes", "32768"),
            ("sm.registers", "32768"),
            ("policy.warp_scheduler", "lrr"),
            ("l1.cache.size_bytes", "32768"),
            ("l1.cache.ways", "8"),
            ("l1.cache.line_bytes", "64"),
            ("l1.cache.write", "write-back"),
            ("l1.cache.mshr_entries", "32"),
            ("l2.cache.size_bytes", "524288"),
            ("l2.cache.ways", "16"),
            ("l2.cache.line_bytes", "64"),
            ("l2.cache.write", "write-back"),
            ("l2.slices_per_channel", "1"),
            ("policy.topology", "mesh(columns=6)"),
            ("clocks.network_mhz", "650"),
            ("network.flit_bytes", "32"),
            ("network.memory_nodes", "[3, 7, 10, 12, 23, 25, 28, 32]"),
            ("policy.dram_scheduler", "fr-fcfs"),
            ("dram.standard", "gddr3"),
            ("dram.read_queue", "128"),
            ("dram.write_queue", "0"),
            ("dram.channels", "8"),
            ("dram.banks", "4"),
            ("dram.row_bytes", "2048"),
            ("clocks.dram_mhz", "800"),
            ("dram.timing.tcl", "10"),
            ("dram.timing.trp", "10"),
            ("dram.timing.trc", "35"),
            ("dram.timing.tras", "25"),
            ("dram.timing.trcd", "12"),
            ("dram.timing.trrds", "8"),
            ("dram.timing.twtrs", "6"),
            ("dram.timing.twr", "11"),
        ],
    );
    let machine = preset("owl2013");
    assert_eq!(machine.sm.count + machine.slices(), 36, "6 x 6 nodes");
}

#[test]
fn calrs2015_is_table_1() {
    assert_values(
        "calrs2015",
        &[
            ("sm.count", "30"),
            ("network.sms_per_node", "2"),
            ("clocks.core_mhz", "1400"),
            ("sm.registers", "32768"),
            ("sm.issue_interval", "2"),
            ("sm.max_threads", "1536"),
            ("policy.warp_scheduler", "gto"),
            ("l1.cache.size_bytes", "16384"),
            ("sm.shared_bytes", "49152"),
            ("policy.topology", "butterfly(radix=21)"),
            ("clocks.network_mhz", "1400"),
            ("network.flit_bytes", "32"),
            ("policy.l2_queue", "fifo"),
            ("l2.queue", "128"),
            ("l2.arrivals_per_cycle", "0"),
            ("l2.cache.line_bytes", "128"),
            ("l2.cache.ways", "8"),
            ("policy.dram_scheduler", "fr-fcfs"),
            ("dram.channels", "6"),
            ("dram.read_queue", "32"),
            ("dram.write_queue", "0"),
            ("dram.timing.tccds", "2"),
            ("dram.timing.tcl", "12"),
            ("dram.timing.trp", "12"),
            ("dram.timing.trc", "40"),
            ("dram.timing.tras", "28"),
            ("dram.timing.trcd", "12"),
            ("dram.timing.trrds", "6"),
            ("dram.timing.twtrs", "5"),
            ("dram.timing.twr", "12"),
        ],
    );
    let machine = preset("calrs2015");
    assert_eq!((machine.slices(), machine.l2.cache.size_bytes * machine.slices()), (6, 768 << 10));
    assert!(with("calrs2015", &["dram.timing.tccds=12", "dram.timing.tccdl=12"]).is_ok());
}

#[test]
fn yuan2009_is_table_2() {
    assert_values(
        "yuan2009",
        &[
            ("sm.count", "28"),
            ("sm.max_threads", "1024"),
            ("sm.issue_interval", "4"),
            ("sm.max_requests", "64"),
            ("l1.enabled", "false"),
            ("l2.enabled", "false"),
            ("l2.cache.sector_bytes", "64"),
            ("policy.topology", "crossbar(form=router)"),
            ("network.flit_bytes", "16"),
            ("network.virtual_channels", "1"),
            ("network.allocator", "pim"),
            ("dram.channels", "8"),
            ("dram.devices", "2"),
            ("dram.banks", "4"),
            ("dram.read_queue", "32"),
            ("dram.write_queue", "0"),
            ("policy.dram_scheduler", "fr-fcfs"),
            ("dram.standard", "gddr3"),
            ("dram.timing.tcl", "9"),
            ("dram.timing.trp", "13"),
            ("dram.timing.trc", "34"),
            ("dram.timing.tras", "21"),
            ("dram.timing.trcd", "12"),
            ("dram.timing.trrds", "8"),
        ],
    );
    let machine = preset("yuan2009");
    let network = &machine.network;
    let packet =
        (network.header_bytes + machine.l2.cache.sector_bytes).div_ceil(network.flit_bytes);
    assert_eq!(network.vc_buffer, 8 * packet, "8 packets");
    assert_eq!(machine.dram.channels * machine.dram.devices, 16);
    let rows = machine.dram.layout().unwrap().groups;
    assert_eq!(rows.last().map(|g| (g.field, 1 << g.bits)), Some((Field::Row, 4096)));
}

/// The options are those of the comment at the head of the preset.
#[test]
fn yuan2009_on_a_ring_buffers_8_packets_too() {
    let ring = ["network.flit_bytes=64", "network.vc_buffer=16", "network.virtual_channels=2"];
    let Machine { network, l2, .. } = with("yuan2009", &ring).unwrap();
    let packet = (network.header_bytes + l2.cache.sector_bytes).div_ceil(network.flit_bytes);
    assert_eq!(network.vc_buffer, 8 * packet);
}

#[test]
fn warpedmc2023_is_table_2() {
    assert_values(
        "warpedmc2023",
        &[
            ("sm.count", "32"),
            ("clocks.core_mhz", "1905"),
            ("clocks.dram_mhz", "3500"),
            ("sm.max_warps", "32"),
            ("sm.max_ctas", "32"),
            ("sm.schedulers", "4"),
            ("policy.warp_scheduler", "lrr"),
            ("sm.registers", "65536"),
            ("l1.cache.size_bytes", "65536"),
            ("l1.cache.line_bytes", "128"),
            ("l1.cache.sector_bytes", "32"),
            ("l1.cache.replacement", "lru"),
            ("l1.cache.mshr_entries", "256"),
            ("l2.cache.size_bytes", "131072"),
            ("l2.cache.line_bytes", "128"),
            ("l2.cache.ways", "16"),
            ("l2.cache.mshr_entries", "192"),
            ("dram.channels", "16"),
            ("dram.banks", "16"),
            ("dram.row_bytes", "1024"),
            ("dram.timing.trp", "20"),
            ("dram.timing.trc", "62"),
            ("dram.timing.tras", "50"),
            ("dram.timing.trcd", "20"),
            ("dram.timing.trrds", "10"),
            ("dram.timing.twr", "20"),
            ("dram.timing.tcl", "20"),
            ("dram.timing.tccds", "4"),
        ],
    );
    let machine = preset("warpedmc2023");
    assert_eq!(machine.slices(), 32);
    assert_eq!((machine.l1.cache.associativity(), machine.l1.cache.sets()), (512, 1));
}

/// "The two machines" of the reference results.
#[test]
fn v100_is_the_reference_machine() {
    assert_values(
        "accelsim-qv100",
        &[
            ("sm.count", "80"),
            ("sm.max_threads", "2048"),
            ("sm.max_ctas", "32"),
            ("sm.registers", "65536"),
            ("sm.units.fp16.interval", "1"),
            ("sm.units.fp64.latency", "8"),
            ("sm.units.fp64.interval", "4"),
            ("sm.units.sfu.latency", "20"),
            ("sm.units.tensor.latency", "2"),
            ("sm.units.control.interval", "4"),
            ("sm.shared.latency", "20"),
            ("l1.shared_options_bytes", "[0, 8192, 16384, 32768, 65536, 98304]"),
            ("l1.cache.mshr_entries", "512"),
            ("l1.cache.mshr_merges", "8"),
            ("l1.cache.miss_queue", "16"),
            ("l2.cache.mshr_entries", "192"),
            ("l2.cache.index", "ipoly"),
            ("l2.input_latency", "160"),
            ("l2.fill_latency", "1"),
            ("l2.reply_latency", "1"),
            ("l2.to_dram_count", "numbers"),
            ("l1.read_reserve", "1"),
            ("dram.done_with", "first-datum"),
            ("dram.return_latency", "1"),
            ("dram.address.partition_hash_bits", "[14, 32]"),
            ("l2.to_dram_latency", "100"),
            ("dram.dual_command_bus", "true"),
            ("dram.address.partition_hash", "ipoly"),
            ("dram.timing.trcdw", "9"),
            ("dram.timing.twr", "10"),
            ("dram.return_queue", "192"),
        ],
    );
    let machine = preset("accelsim-qv100");
    assert_eq!(machine.slices(), 64);
    assert_eq!((machine.l2.cache.sets(), machine.l2.cache.associativity()), (32, 24));
    assert_eq!(machine.l1.cache.sets(), 4);
    assert_eq!(machine.l2.cache.size_bytes * machine.slices(), 6 << 20);
    let groups = machine.dram.layout().unwrap().groups;
    let places: Vec<_> = groups.iter().map(|g| (g.field, g.shift, g.shift + g.bits - 1)).collect();
    assert_eq!(
        places,
        [
            (Field::Burst, 0, 4),
            (Field::Column, 5, 7),
            (Field::Channel, 8, 12),
            (Field::Bank, 13, 13),
            (Field::Column, 14, 16),
            (Field::Bank, 17, 19),
            (Field::Row, 20, 32),
        ]
    );
}

/// "The two machines" of the reference results.
#[test]
fn rtx2060s_is_the_reference_machine() {
    assert_values(
        "accelsim-rtx2060s",
        &[
            ("sm.count", "34"),
            ("sm.max_threads", "1024"),
            ("sm.units.fp16.interval", "1"),
            ("sm.units.fp64.latency", "64"),
            ("sm.units.fp64.interval", "64"),
            ("sm.fp64_unit", "sfu"),
            ("sm.units.sfu.latency", "21"),
            ("sm.units.tensor.interval", "16"),
            ("sm.units.uniform.interval", "1"),
            ("l1.cache.read_allocate", "on-fill"),
            ("l1.cache.write_allocate", "none"),
            ("dram.dual_command_bus", "false"),
            ("dram.address.partition_hash", "linear"),
            ("dram.timing.trcdw", "11"),
            ("dram.timing.tccdl", "4"),
            ("dram.timing.twtrs", "9"),
        ],
    );
    let machine = preset("accelsim-rtx2060s");
    assert_eq!((machine.l1.cache.sets(), machine.l1.cache.associativity()), (1, 512));
    assert_eq!((machine.l2.cache.sets(), machine.l2.cache.associativity()), (64, 16));
    assert_eq!(machine.l2.cache.size_bytes * machine.slices(), 4 << 20);
    let groups = machine.dram.layout().unwrap().groups;
    let places: Vec<_> = groups.iter().map(|g| (g.field, g.shift, g.shift + g.bits - 1)).collect();
    assert_eq!(
        places,
        [
            (Field::Burst, 0, 4),
            (Field::Column, 5, 6),
            (Field::Bank, 7, 7),
            (Field::Channel, 8, 11),
            (Field::Column, 12, 15),
            (Field::Bank, 16, 18),
            (Field::Row, 19, 31),
        ]
    );
}

#[test]
fn rtx3070_is_the_reference_machine() {
    assert_values(
        "accelsim-rtx3070",
        &[
            ("sm.count", "46"),
            ("sm.max_warps", "48"),
            ("sm.shared.latency", "29"),
            ("sm.units.fp32.interval", "1"),
            ("sm.units.tensor.latency", "32"),
            ("l1.latency", "39"),
            ("l1.cache.mshr_merges", "48"),
            ("l2.input_latency", "187"),
            ("l2.to_dram_latency", "254"),
            ("dram.timing.tccdl", "6"),
            ("dram.timing.trc", "78"),
        ],
    );
    let machine = preset("accelsim-rtx3070");
    let kib = |shared: u32| machine.l1.bytes_beside(shared) / 1024;
    assert_eq!([0, 1, 8193, 32768, 65536, 65537].map(kib), [128, 120, 112, 96, 64, 28]);
    assert_eq!((machine.l1.cache.sets(), machine.l1.cache.associativity()), (4, 256));
    assert_eq!((machine.l2.cache.sets(), machine.l2.cache.associativity()), (64, 16));
}

/// Machines without a simulator's configuration as their source, and their DRAM parts.
const CARDS: [(&str, &str); 6] = [
    ("a100", "hbm2:HBM2_8Gb:HBM2_2400Mbps"),
    ("h100", "hbm3:HBM3_16Gb_8hi:HBM3_H100_5240Mbps"),
    ("h200", "hbm3e:HBM3E_24Gb_8hi:HBM3E_6250Mbps"),
    ("b200", "hbm3e:HBM3E_24Gb_8hi:HBM3E_7800Mbps"),
    ("l40s", "gddr6:GDDR6_16Gb_x8:GDDR6_18000_1350mV_double"),
    ("rtx4090", "gddr6x:GDDR6X_16Gb_x16:GDDR6X_21000"),
];

/// The channels are the named part, but refresh banks one at a time.
#[test]
fn cards_have_the_channels_of_their_part() {
    for (name, part) in CARDS {
        let [preset, named] =
            [with(name, &[]), with(name, &[&format!("dram.standard={part}")])].map(Result::unwrap);
        let (dram, part) = (&preset.dram, &named.dram);
        let unrefreshed = |timing: &Timing| Timing {
            trefi: 0,
            trfc: 0,
            trefipb: 0,
            trfcpb: 0,
            trrefd: 0,
            ..timing.clone()
        };
        assert_eq!(unrefreshed(&dram.timing), unrefreshed(&part.timing), "{name}");
        assert!(dram.timing.trefi == 0 && dram.timing.trefipb > 0, "{name}");
        let below_rows = |dram: &Dram| dram.address.map.split_once(' ').unwrap().1.to_owned();
        assert_eq!(below_rows(dram), below_rows(part), "{name}");
        assert_eq!(dram.power, part.power, "{name}");
        let shape = |dram: &Dram| {
            let banks = (dram.pseudo_channels, dram.stacks, dram.banks, dram.bank_groups);
            let bus = (dram.bus_bytes, dram.burst_length, dram.transfers_per_clock);
            (banks, bus, dram.row_bytes, dram.devices, dram.dual_command_bus)
        };
        assert_eq!(shape(dram), shape(part), "{name}");
        // R clocks HBM2 at 1200 MHz, a100 at 1215; clocks of other speeds are whole picoseconds.
        let clocks = [preset.clocks.dram_mhz, named.clocks.dram_mhz].map(f64::from);
        assert!((clocks[0] / clocks[1] - 1.0).abs() < 0.015, "{name}: {clocks:?}");
    }
}

/// Controllers of chips are alike, whichever chip's figures they were calibrated on.
#[test]
fn chips_share_the_queues_of_their_controllers() {
    let queues = |name| {
        let dram = preset(name).dram;
        let writes = (dram.write_queue, dram.write_high_watermark, dram.write_low_watermark);
        (dram.read_queue, writes, dram.write_min_drain, dram.return_queue, dram.page)
    };
    let others = ["v100", "rtx2060s", "rtx3070"];
    for name in CARDS.iter().map(|(name, _)| *name).chain(others) {
        assert_eq!(queues(name), queues("a100"), "{name}");
    }
}

/// GPGPU-Sim: ACT to WR is RCD - (WL + 1). The sources of the chips, which refresh single banks, state it.
#[test]
fn activate_to_write_follows_the_simulators_rule() {
    let follows = |name: &&str| preset(name).dram.timing.trefipb == 0;
    for name in preset_names().filter(follows) {
        let t = preset(name).dram.timing;
        assert_eq!(t.trcdw, t.trcd - (t.twl + 1), "{name}");
    }
}

#[test]
fn peak_bandwidths() {
    let cases = [
        ("li2015", 177_408_000_000, 64, 2),
        ("owl2013", 102_400_000_000, 32, 2),
        ("calrs2015", 177_408_000_000, 64, 2),
        ("yuan2009", 102_400_000_000, 32, 2),
        ("warpedmc2023", 448_000_000_000, 32, 4),
        ("accelsim-qv100", 870_400_000_000, 32, 1),
        ("accelsim-rtx2060s", 448_000_000_000, 32, 4),
        ("accelsim-rtx3070", 448_000_000_000, 32, 4),
        ("v100", 898_048_000_000, 32, 2),
        ("rtx2060s", 448_000_000_000, 32, 2),
        ("rtx3070", 448_000_000_000, 32, 2),
        ("a100", 1_555_200_000_000, 32, 2),
        ("h100", 3_352_320_000_000, 32, 4),
        ("h200", 4_800_000_000_000, 32, 4),
        ("b200", 7_999_488_000_000, 32, 4),
        ("l40s", 864_000_000_000, 32, 2),
        ("rtx4090", 1_008_000_000_000, 32, 2),
    ];
    for (name, peak, bytes, cycles) in cases {
        let machine = preset(name);
        assert_eq!(machine.peak_bytes_per_second(), peak, "{name}");
        assert_eq!(
            (machine.dram.burst_bytes(), machine.dram.burst_cycles()),
            (bytes, cycles),
            "{name}"
        );
    }
}

#[test]
fn l1_has_the_capacity_that_shared_memory_leaves() {
    let l1 = preset("accelsim-qv100").l1;
    let kib = |shared: u32| l1.bytes_beside(shared) / 1024;
    assert_eq!([0, 1, 8192, 8193, 65536, 98304].map(kib), [128, 120, 120, 112, 64, 32]);
    assert_eq!(preset("li2015").l1.bytes_beside(49152), 16384);
}
