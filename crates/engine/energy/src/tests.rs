//! Energies against AccelWattch, and their scaling and selection.

use crate::tables::ACCELWATTCH_VOLTA;
use crate::{Accesses, Activity, Energy, GpuEnergy, TableName};
use warpmem_trace::OpClass;

fn volta() -> Energy {
    Energy {
        table: TableName::AccelWattchVolta,
        chip_permille: 1000,
        dram_permille: 1000,
        static_permille: 1000,
        constant_permille: 1000,
    }
}

/// Counts of 500 cycles.
fn activity() -> Activity {
    let by_class = |integer, fp32| {
        let mut counts = [0; OpClass::COUNT];
        (counts[OpClass::Integer as usize], counts[OpClass::Fp32 as usize]) = (integer, fp32);
        counts
    };
    Activity {
        cycles: 500,
        core_mhz: 1132,
        sms: 80,
        idle_sm_cycles: 8 * 500,
        warp_instructions: 10_000,
        thread_instructions: 240_000,
        // 200,000 lanes in 9,000 instructions: 22.2.
        warp_instructions_by_class: by_class(5_000, 4_000),
        lanes_by_class: by_class(120_000, 80_000),
        shared_passes: 1500,
        l1: Accesses { read_hits: 4000, read_misses: 3000, write_hits: 200, write_misses: 1000 },
        l2: Accesses { read_hits: 1200, read_misses: 1800, write_hits: 300, write_misses: 900 },
        network_bytes: 9000 * 40,
        dram_read_bytes: 1700 * 32,
        dram_write_bytes: 800 * 32,
        precharges: 400,
    }
}

fn energy(activity: &Activity) -> GpuEnergy {
    GpuEnergy::of(&volta(), activity).unwrap()
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 2e-5, "{found} for {expected}");
}

/// AccelWattch's results (GPGPU-Sim 4.2, commit 667834c, `SM7_QV100`) for these counts, with 1.2886
/// registers read and 0.8255 written per instruction, and 44.27 % and 97.08 % multiplications.
#[test]
fn components_equal_those_of_accelwattch() {
    let energy = energy(&activity());
    for (found, expected) in [
        // Idle memory controllers consume 243.03.
        (energy.constant, 14_277.925 + 243.03),
        (energy.static_energy, 13_044.04),
        (energy.idle_sms, 999.2638),
        // Instruction buffer, instruction cache, scheduler.
        (energy.issue, 58.7836 + 749.0188 + 173.1058),
        (energy.registers, 1595.3856),
        // Integer, FP and multiplication units, pipeline.
        (energy.units, 462.9413 + 23.3277 + 505.3415 + 117.2718),
        (energy.shared, 168.9076),
        // L1, memory controller with coalescer, DRAM.
        (energy.l1 + energy.dram, 2930.3922 + 894.7803 + 4441.6790 - 243.03),
        (energy.l2, 288.5331),
        (energy.network, 774.9111),
        (energy.total(), 41_505.608),
    ] {
        assert_near(found, expected);
    }
}

#[test]
fn each_scale_changes_only_its_components() {
    let whole = energy(&activity());
    let scaled = |change: fn(&mut Energy)| {
        let mut config = volta();
        change(&mut config);
        let energy = GpuEnergy::of(&config, &activity()).unwrap();
        whole.total() - energy.total()
    };
    let chip = whole.total() - whole.constant - whole.static_energy - whole.dram;
    assert_near(scaled(|config| config.chip_permille = 500), chip / 2.0);
    assert_near(scaled(|config| config.dram_permille = 500), whole.dram / 2.0);
    assert_near(scaled(|config| config.static_permille = 500), whole.static_energy / 2.0);
    assert_near(scaled(|config| config.constant_permille = 500), whole.constant / 2.0);
}

#[test]
fn energy_is_unknown_without_a_table() {
    let config = Energy { table: TableName::None, ..volta() };
    assert_eq!(GpuEnergy::of(&config, &activity()), None);
}

/// Returns the static power, W, of instructions of these classes on a chip with CTAs on all SMs.
fn static_watts(classes: &[(OpClass, u64)], rest: &Activity) -> f64 {
    let mut activity = Activity { cycles: 1000, core_mhz: 1000, sms: 80, ..rest.clone() };
    for &(class, lanes) in classes {
        activity.warp_instructions_by_class[class as usize] = 10;
        activity.lanes_by_class[class as usize] = 10 * lanes;
    }
    // 1 µs: a watt is 1,000 nJ.
    energy(&activity).static_energy / 1000.0
}

#[test]
fn static_power_depends_on_the_units_in_use_and_the_active_lanes() {
    use OpClass::{Control, Fp16, Fp32, Fp64, Integer, Sfu, Tensor, Uniform};
    let powers = &ACCELWATTCH_VOLTA.static_power;
    let nothing = &Activity::default();
    let all = |classes: &[OpClass]| classes.iter().map(|&class| (class, 32)).collect::<Vec<_>>();
    for (classes, mix) in [
        (&[Integer][..], powers.integer),
        (&[Uniform], powers.integer),
        (&[Integer, Control], powers.integer),
        (&[Integer, Fp32], powers.integer_fp),
        (&[Integer, Fp16], powers.integer_fp),
        (&[Integer, Fp32, Fp64], powers.integer_fp_fp64),
        (&[Integer, Fp32, Sfu], powers.integer_fp_sfu),
        (&[Integer, Fp32, Tensor], powers.integer_fp_tensor),
        (&[Fp32], powers.other),
        (&[Integer, Fp64], powers.other),
        (&[Integer, Fp32, Fp64, Sfu], powers.other),
    ] {
        let expected = mix.first + 31.0 * mix.further;
        assert_near(static_watts(&all(classes), nothing), expected);
    }
    let one_lane = static_watts(&[(Integer, 1)], nothing);
    assert_near(one_lane, powers.integer.first);
    let mean = static_watts(&[(Integer, 32), (Fp32, 1)], nothing);
    assert_near(mean, powers.integer_fp.first + 16.0 * powers.integer_fp.further);
}

#[test]
fn static_power_without_functional_units_depends_on_the_memory_in_use() {
    let powers = &ACCELWATTCH_VOLTA.static_power;
    let one = Accesses { read_misses: 1, ..Accesses::default() };
    let l2 = Activity { l2: one, ..Activity::default() };
    let shared = Activity { shared_passes: 1, ..l2.clone() };
    let l1 = Activity { l1: one, ..shared.clone() };
    let watts = |rest: &Activity| static_watts(&[(OpClass::Control, 32)], rest);
    assert_near(watts(&l1), powers.l1);
    assert_near(watts(&shared), powers.shared);
    assert_near(watts(&l2), powers.l2);
    assert_near(watts(&Activity::default()), powers.light);
}

#[test]
fn a_run_without_cycles_consumes_no_energy() {
    let nothing = Activity { core_mhz: 1000, sms: 80, ..Activity::default() };
    assert_eq!(energy(&nothing).total(), 0.0);
}
