//! Energy of DRAM and of the GPU from hand-chosen counts, against values computed by hand.

use super::fixture;
use crate::run::FinishedRun;
use crate::tables::rows::UnitRow;
use crate::tables::units::channel_columns;
use crate::{RunKey, run_row_json};
use std::sync::Arc;

/// Two devices at 1500 mV with a cycle of 2 ns: 0.006 nJ per mA and cycle.
fn with_energy() -> RunKey {
    let mut machine = fixture::machine();
    machine.clocks.dram_mhz = 500;
    (machine.dram.timing.trfc, machine.dram.timing.trfcpb) = (74, 30);
    (machine.dram.power.idd5ab, machine.dram.power.idd5pb) = (600, 500);
    RunKey::new("bfs.wmt", 0xabc, machine, "warpmem run bfs.wmt")
}

#[test]
fn energy_sums_over_all_channels() {
    let row = run_row_json(&with_energy(), &fixture::result());
    let expected = [
        // 132 x (490 x 40 - 450 x 28 - 250 x 12) = 528,000 mA cycles.
        ("energy_nj_activate", 3168.0),
        // 396 x (1080 - 450) x 2 = 498,960.
        ("energy_nj_read", 2993.76),
        // 132 x (1160 - 450) x 2 = 187,440.
        ("energy_nj_write", 1124.64),
        // 3 x (600 - 450) x 74 + 48 x (500 - 450) x 30 = 105,300.
        ("energy_nj_refresh", 631.8),
        // 900 x 450 = 405,000.
        ("energy_nj_active_standby", 2430.0),
        // 700 x 250 = 175,000.
        ("energy_nj_precharge_standby", 1050.0),
        ("energy_nj", 11_398.2),
        // 528 column commands of 512 bits.
        ("energy_pj_per_bit", 11_398_200.0 / 270_336.0),
    ];
    for (name, value) in expected {
        let found = row[name].as_f64().unwrap();
        assert!((found - value).abs() < 1e-9 * value, "{name}: {found} for {value}");
    }
}

#[test]
fn the_energy_of_the_channels_adds_up() {
    let run = Arc::new(FinishedRun::new(with_energy(), fixture::result()));
    let sum = |name: &str| -> f64 {
        let column = channel_columns().into_iter().find(|column| column.name == name).unwrap();
        UnitRow::channels(&run).map(|row| column.json(&row).as_f64().unwrap()).sum()
    };
    assert!((sum("energy_nj") - 11_398.2).abs() < 1e-6);
    assert!((sum("energy_nj_refresh") - 631.8).abs() < 1e-6);
}

#[test]
fn unknown_energy_is_null() {
    let mut machine = fixture::machine();
    machine.dram.power.idd4r = 0;
    let key = RunKey::new("bfs.wmt", 0xabc, machine, "warpmem run bfs.wmt");
    let row = run_row_json(&key, &fixture::result());
    let energy: Vec<_> = row.iter().filter(|(name, _)| name.starts_with("energy")).collect();
    assert_eq!(energy.len(), 8);
    assert!(energy.iter().all(|(_, value)| value.is_null()), "{energy:?}");
}

/// Two SMs for 1,000 cycles of 2 ns.
fn with_gpu_energy() -> RunKey {
    let mut machine = fixture::machine();
    machine.energy.table = warpmem_machine::EnergyTable::AccelWattchVolta;
    (machine.clocks.core_mhz, machine.network.flit_bytes) = (500, 32);
    RunKey::new("bfs.wmt", 0xabc, machine, "warpmem run bfs.wmt")
}

#[test]
fn gpu_energy_sums_over_all_units() {
    let row = run_row_json(&with_gpu_energy(), &fixture::result());
    let table = &warpmem_energy::ACCELWATTCH_VOLTA;
    let (l, dot) = (&table.lanes, |energies: [f64; 4], counts: [f64; 4]| -> f64 {
        energies.into_iter().zip(counts).map(|(energy, count)| energy * count).sum()
    });
    // All classes are used, which matches no mix of AccelWattch: 12,870 lanes in 930 instructions.
    let mix = table.static_power.other;
    let lanes = 960.0 * l.integer + 1500.0 * l.fp32 + 2400.0 * l.fp64 + 2700.0 * l.sfu;
    let lanes = lanes + 4800.0 * l.tensor + 210.0 * l.uniform + 300.0 * l.fp16;
    // A column command moves 64 bytes.
    let (read, written) = (396.0 * 64.0, 132.0 * 64.0);
    let parts = [
        ("gpu_energy_nj_constant", 2000.0 * table.constant),
        // 300 of 2,000 SM cycles are without a CTA.
        ("gpu_energy_nj_static", 2000.0 * 0.85 * (mix.first + 13.0 * mix.further)),
        ("gpu_energy_nj_idle_sms", 2000.0 * 0.3 * table.idle_sm),
        ("gpu_energy_nj_issue", 0.6 * (table.decode + table.schedule + table.instruction_cache)),
        ("gpu_energy_nj_registers", 0.6 * table.registers),
        ("gpu_energy_nj_units", 1e-3 * (lanes + 15_000.0 * table.pipeline)),
        // 21 instructions and 27 additional passes.
        ("gpu_energy_nj_shared", 0.048 * table.shared_pass),
        // Merged reads are hits, sector misses are misses.
        ("gpu_energy_nj_l1", 1e-3 * dot(table.l1, [2100.0, 900.0, 450.0, 360.0])),
        ("gpu_energy_nj_l2", 1e-3 * dot(table.l2, [210.0, 90.0, 45.0, 36.0])),
        // 20 flits of requests and 50 of replies.
        ("gpu_energy_nj_network", 1e-3 * 70.0 * 32.0 * table.network_byte),
        (
            "gpu_energy_nj_dram",
            1e-3 * (read * table.dram_read_byte
                + written * table.dram_write_byte
                + 132.0 * table.dram_precharge),
        ),
    ];
    let total = parts.iter().map(|(_, nanojoules)| nanojoules).sum::<f64>();
    let whole = [("gpu_energy_nj", total), ("gpu_power_w", total / 2000.0)];
    for (name, value) in parts.into_iter().chain(whole) {
        let found = row[name].as_f64().unwrap();
        assert!((found - value).abs() < 1e-9 * value, "{name}: {found} for {value}");
    }
}

#[test]
fn energy_of_a_gpu_without_a_table_is_null() {
    let row = run_row_json(&fixture::key(), &fixture::result());
    let energy: Vec<_> = row.iter().filter(|(name, _)| name.starts_with("gpu_")).collect();
    assert_eq!(energy.len(), 13);
    assert!(energy.iter().all(|(_, value)| value.is_null()), "{energy:?}");
}
