//! Clocks, SMs and networks.

use super::super::MachineError;
use super::mapping::{Mapping, Setting};

/// Options whose number is the value of a key: option, default of the simulator, key.
const NUMBERS: [(&str, &str, &str); 13] = [
    ("-gpgpu_shader_cta", "8", "sm.max_ctas"),
    ("-gpgpu_shader_registers", "8192", "sm.registers"),
    ("-gpgpu_shmem_size", "16384", "sm.shared_bytes"),
    ("-gpgpu_inst_fetch_throughput", "1", "sm.fetch_warps"),
    ("-gpgpu_reg_file_port_throughput", "1", "sm.bank_reads"),
    ("-gpgpu_smem_latency", "3", "sm.shared.latency"),
    ("-gpgpu_shmem_num_banks", "16", "sm.shared.banks"),
    ("-gpgpu_l1_latency", "1", "l1.latency"),
    ("-gpgpu_l1_banks", "1", "l1.banks"),
    ("-icnt_flit_size", "32", "network.flit_bytes"),
    ("-icnt_in_buffer_limit", "64", "network.input_buffer"),
    ("-icnt_out_buffer_limit", "64", "network.output_buffer"),
    ("-gpgpu_l2_rop_latency", "85", "l2.input_latency"),
];

/// Latency and initiation interval of trace-driven units: option, keys.
const UNITS: [(&str, &str, &str); 5] = [
    ("int", "sm.units.integer.latency", "sm.units.integer.interval"),
    ("sp", "sm.units.fp32.latency", "sm.units.fp32.interval"),
    ("dp", "sm.units.fp64.latency", "sm.units.fp64.interval"),
    ("sfu", "sm.units.sfu.latency", "sm.units.sfu.interval"),
    ("tensor", "sm.units.tensor.latency", "sm.units.tensor.interval"),
];

/// Specialised units, by their name in the configuration.
const SPECIALISED: [(&str, &str, &str); 3] = [
    ("BRA", "sm.units.control.latency", "sm.units.control.interval"),
    ("UDP", "sm.units.uniform.latency", "sm.units.uniform.interval"),
    ("TENSOR", "sm.units.tensor.latency", "sm.units.tensor.interval"),
];

/// Most specialised units of a configuration.
const MOST_SPECIALISED: usize = 8;

/// Units of the functional simulator, used without trace-driven ones: option, keys as in [`UNITS`].
const FUNCTIONAL: [(&str, &str); 4] = [("int", "int"), ("fp", "sp"), ("dp", "dp"), ("sfu", "sfu")];

pub(super) fn map(mapping: &mut Mapping) -> Result<(), MachineError> {
    clocks(mapping)?;
    for (option, default, key) in NUMBERS {
        mapping.whole(option, default, key)?;
    }
    for (option, key) in [
        ("-gpgpu_flush_l1_cache", "l1.flush_between_kernels"),
        ("-gpgpu_concurrent_kernel_sm", "run.concurrent_kernels"),
    ] {
        let setting = mapping.take_or(option, "0");
        mapping.set(key, setting.flag()?, &setting);
    }
    count(mapping)?;
    warps(mapping)?;
    schedulers(mapping)?;
    units(mapping)?;
    energy(mapping)
}

/// Frequencies of core, network, L2 and DRAM, MHz.
fn clocks(mapping: &mut Mapping) -> Result<(), MachineError> {
    const KEYS: [&str; 4] =
        ["clocks.core_mhz", "clocks.network_mhz", "clocks.l2_mhz", "clocks.dram_mhz"];
    let setting = mapping.take_or("-gpgpu_clock_domains", "500.0:2000.0:2000.0:2000.0");
    let expected = "four frequencies in MHz, as in 1132.0:1132.0:1132.0:850.0";
    let parts: Vec<&str> = setting.text().split(':').collect();
    let parts: [&str; 4] = parts.try_into().map_err(|_| setting.wrong(expected))?;
    let mut is_whole = true;
    for (key, part) in KEYS.into_iter().zip(parts) {
        let mhz: f64 = setting.part(part, expected)?;
        if !(1.0..=1e5).contains(&mhz) {
            return Err(setting.wrong(expected));
        }
        is_whole &= mhz.fract() == 0.0;
        mapping.set(key, mhz as u32, &setting);
    }
    if !is_whole {
        mapping.leave(&setting, "clocks are whole MHz; the fractions are dropped");
    }
    Ok(())
}

/// Maps clusters of cores to SMs, each with its own port.
fn count(mapping: &mut Mapping) -> Result<(), MachineError> {
    let clusters = mapping.take_or("-gpgpu_n_clusters", "10");
    let cores = mapping.take_or("-gpgpu_n_cores_per_cluster", "3");
    let sms = clusters.number()?.checked_mul(cores.number()?);
    mapping.set("sm.count", sms.ok_or_else(|| clusters.wrong("fewer clusters"))?, &clusters);
    if cores.number()? > 1 {
        mapping.leave(&cores, "every SM has a port of its own; see network.sms_per_node");
    }
    Ok(())
}

/// Maps the threads of an SM and of a warp.
fn warps(mapping: &mut Mapping) -> Result<(), MachineError> {
    const WARP: u32 = 32;
    let setting = mapping.take_or("-gpgpu_shader_core_pipeline", "1024:32");
    let [threads, width] = setting.numbers(':')?;
    if width != WARP {
        return Err(setting.wrong("threads of an SM and of a warp, as in 2048:32; warps have 32"));
    }
    mapping.set("sm.max_threads", threads, &setting);
    mapping.set("sm.max_warps", threads / WARP, &setting);
    Ok(())
}

/// Divides the collectors and register banks of an SM evenly among its schedulers.
fn schedulers(mapping: &mut Mapping) -> Result<(), MachineError> {
    let schedulers = mapping.whole("-gpgpu_num_sched_per_core", "1", "sm.schedulers")?.max(1);
    let banks = mapping.take_or("-gpgpu_num_reg_banks", "8");
    mapping.set("sm.register_banks", (banks.number()? / schedulers).min(4), &banks);
    if let Some(collectors) = mapping.take("-gpgpu_operand_collector_num_units_gen") {
        mapping.set("sm.collectors", collectors.number()?.div_ceil(schedulers), &collectors);
    }
    let policy = mapping.take_or("-gpgpu_scheduler", "gto");
    let name = warp_scheduler(&policy)?;
    mapping.set("policy.warp_scheduler", name.as_str(), &policy);
    let shared = mapping.take_or("-gpgpu_sub_core_model", "0");
    if !shared.flag()? {
        mapping
            .leave(&shared, "every scheduler has units, collectors and register banks of its own");
    }
    fp64_unit(mapping)?;
    for class in ["sp", "dp", "int", "sfu", "tensor_core"] {
        let Some(units) = mapping.take(&format!("-gpgpu_num_{class}_units")) else { continue };
        let is_none_of_dp = class == "dp" && units.number()? == 0;
        if units.number()? != schedulers && !is_none_of_dp {
            mapping.leave(&units, "every scheduler has one unit of each class");
        }
    }
    Ok(())
}

/// Without double-precision units, the unit of special functions executes their instructions
/// (`scheduler_unit::cycle`).
fn fp64_unit(mapping: &mut Mapping) -> Result<(), MachineError> {
    let units = mapping.take_or("-gpgpu_num_dp_units", "0");
    let unit = if units.number()? == 0 { "sfu" } else { "own" };
    mapping.set("sm.fp64_unit", unit, &units);
    Ok(())
}

fn warp_scheduler(setting: &Setting) -> Result<String, MachineError> {
    let expected = "lrr, gto, old, two_level_active:N:0:1 or warp_limiting:2:N";
    let (name, parameters) = setting.text().split_once(':').unwrap_or((setting.text(), ""));
    let mut numbers = parameters.split(':');
    let mut number = |index| -> Result<u32, MachineError> {
        setting.part(numbers.nth(index).unwrap_or_default(), expected)
    };
    Ok(match name {
        "lrr" | "gto" => name.to_owned(),
        "old" => "oldest".to_owned(),
        "two_level_active" => format!("two-level-active(warps={})", number(0)?),
        "warp_limiting" => format!("swl(warps={})", number(1)?),
        _ => return Err(setting.wrong(expected)),
    })
}

/// Maps units from `trace.config`, or else from the latencies of the functional simulator.
fn units(mapping: &mut Mapping) -> Result<(), MachineError> {
    let mut is_trace_driven = false;
    for (unit, latency, interval) in UNITS {
        let option = format!("-trace_opcode_latency_initiation_{unit}");
        if let Some(setting) = mapping.take(&option) {
            is_trace_driven = true;
            unit_times(mapping, &setting, latency, interval)?;
            if unit == "int" {
                unit_times(mapping, &setting, "sm.units.other.latency", "sm.units.other.interval")?;
            }
        }
    }
    for number in 1..=MOST_SPECIALISED {
        specialised(mapping, number)?;
    }
    for (functional, unit) in FUNCTIONAL {
        let latency = mapping.take(&format!("-ptx_opcode_latency_{functional}"));
        let interval = mapping.take(&format!("-ptx_opcode_initiation_{functional}"));
        let keys = UNITS.iter().find(|(name, ..)| *name == unit).expect("a unit of the table");
        for (setting, key) in [(latency, keys.1), (interval, keys.2)] {
            let Some(setting) = setting.filter(|_| !is_trace_driven) else { continue };
            let first = setting.text().split(',').next().unwrap_or_default();
            let number: u32 = setting.part(first, "whole numbers, separated by `,`")?;
            mapping.set(key, number, &setting);
        }
    }
    Ok(())
}

/// A specialised unit: `-specialized_unit_1 <enabled>,<units>,<latency>,<..>,<..>,<NAME>`.
fn specialised(mapping: &mut Mapping, number: usize) -> Result<(), MachineError> {
    let unit = mapping.take(&format!("-specialized_unit_{number}"));
    let times = mapping.take(&format!("-trace_opcode_latency_initiation_spec_op_{number}"));
    let (Some(unit), Some(times)) = (unit, times) else { return Ok(()) };
    let parts: Vec<&str> = unit.text().split(',').map(str::trim).collect();
    let [enabled, .., name] = parts[..] else {
        return Err(unit.wrong("<enabled>,<units>,<latency>,<width>,<width>,<name>"));
    };
    if enabled != "1" {
        return Ok(());
    }
    match SPECIALISED.iter().find(|(known, ..)| *known == name) {
        Some((_, latency, interval)) => unit_times(mapping, &times, latency, interval),
        None => {
            mapping.leave(&unit, "no such unit; its instructions take the unit of their class");
            Ok(())
        }
    }
}

fn unit_times(
    mapping: &mut Mapping,
    setting: &Setting,
    latency: &'static str,
    interval: &'static str,
) -> Result<(), MachineError> {
    let times = setting.numbers(',')?;
    for (key, number) in [latency, interval].into_iter().zip::<[u32; 2]>(times) {
        mapping.set(key, number, setting);
    }
    Ok(())
}

/// Keeps the energies of the base, of Volta and Turing, only for these chips.
fn energy(mapping: &mut Mapping) -> Result<(), MachineError> {
    let major = mapping.take_or("-gpgpu_compute_capability_major", "7");
    if major.number()? != 7 {
        mapping.set("energy.table", "none", &major);
    }
    Ok(())
}
