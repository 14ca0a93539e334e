//! Configurations in the documented format, with the numbers of the presets that mirror the
//! simulator.

use crate::{Machine, flatten, load, load_with_conversion};
use std::path::Path;
use toml::Value;

/// Options shared by the two mirrored machines.
const COMMON: &str = r#"
# shared by both
-gpgpu_kernel_launch_latency 5000
-gpgpu_n_cores_per_cluster 1
-gpgpu_n_sub_partition_per_mchannel 2
-gpgpu_shader_registers 65536
-gpgpu_shader_cta 32
-gpgpu_sub_core_model 1
-gpgpu_enable_specialized_operand_collector 0
-gpgpu_operand_collector_num_units_gen 8
-gpgpu_num_reg_banks 16
-gpgpu_reg_file_port_throughput 2
-gpgpu_shmem_num_banks 32
-gpgpu_shmem_warp_parts 1
-gpgpu_num_sched_per_core 4
-gpgpu_scheduler lrr
-gpgpu_max_insn_issue_per_warp 1
-gpgpu_l1_banks 4
-gpgpu_l1_latency 20
-gpgpu_smem_latency 20
-gpgpu_flush_l1_cache 1
-gpgpu_dram_partition_queues 64:64:64:64
-gpgpu_inst_fetch_throughput 4
-gpgpu_perfect_inst_const_cache 1
-network_mode 2
-icnt_in_buffer_limit 512
-icnt_out_buffer_limit 512
-icnt_flit_size 40
-gpgpu_l2_rop_latency 160
-dram_latency 100
-gpgpu_dram_scheduler 1
-gpgpu_frfcfs_dram_sched_queue_size 64
-gpgpu_dram_return_queue_size 192
-gpgpu_n_mem_per_ctrlr 1
-dram_bnk_indexing_policy 0
-dram_bnkgrp_indexing_policy 1
"#;

const V100: &str = r#"
-gpgpu_compute_capability_major 7
-gpgpu_num_dp_units 4
-gpgpu_n_clusters 80
-gpgpu_n_mem 32
-gpgpu_clock_domains 1132.0:1132.0:1132.0:850.0
-gpgpu_shader_core_pipeline 2048:32
-gpgpu_adaptive_cache_config 1
-gpgpu_shmem_option 0,8,16,32,64,96
-gpgpu_unified_l1d_size 128
-gpgpu_shmem_size 98304
-gpgpu_cache:dl1  S:4:128:64,L:T:m:L:L,A:512:8,16:0,32
-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P,A:192:4,32:0,32
-gpgpu_memory_partition_indexing 2
-gpgpu_dram_buswidth 16
-gpgpu_dram_burst_length 2
-dram_data_command_freq_ratio 2  # double data rate
-dram_dual_bus_interface 1
-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS
-gpgpu_dram_timing_opt "nbk=16:CCD=1:RRD=3:RCD=12:RAS=28:RP=12:RC=40:
                        CL=12:WL=2:CDLR=3:WR=10:nbkgrp=4:CCDL=2:RTPL=3"
"#;

const V100_UNITS: &str = "
-trace_opcode_latency_initiation_int 2,2
-trace_opcode_latency_initiation_sp 2,2
-trace_opcode_latency_initiation_dp 8,4
-trace_opcode_latency_initiation_sfu 20,8
-trace_opcode_latency_initiation_tensor 2,2
-specialized_unit_1 1,4,4,4,4,BRA
-trace_opcode_latency_initiation_spec_op_1 4,4
-specialized_unit_3 1,4,8,4,4,TENSOR
-trace_opcode_latency_initiation_spec_op_3 2,2
";

const RTX2060S: &str = r#"
-gpgpu_compute_capability_major 7
-gpgpu_n_clusters 34
-gpgpu_n_mem 16
-gpgpu_clock_domains 1905.0:1905.0:1905.0:3500.0
-gpgpu_shader_core_pipeline 1024:32
-gpgpu_adaptive_cache_config 0
-gpgpu_shmem_size 65536
-gpgpu_cache:dl1  S:1:128:512,L:L:s:N:L,A:256:8,16:0,32
-gpgpu_cache:dl2 S:64:128:16,L:B:m:L:P,A:192:4,32:0,32
-gpgpu_memory_partition_indexing 0
-gpgpu_dram_buswidth 2
-gpgpu_dram_burst_length 16
-dram_data_command_freq_ratio 4
-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS
-gpgpu_dram_timing_opt 16:4:10:20:50:20:62:20:8:9:20:4:4:4
"#;

const RTX2060S_UNITS: &str = "
-trace_opcode_latency_initiation_int 2,2
-trace_opcode_latency_initiation_sp 2,2
-trace_opcode_latency_initiation_dp 64,64
-trace_opcode_latency_initiation_sfu 21,8
-trace_opcode_latency_initiation_tensor 16,16
-specialized_unit_1 1,4,4,4,4,BRA
-trace_opcode_latency_initiation_spec_op_1 4,4
-specialized_unit_4 1,4,4,4,4,UDP
-trace_opcode_latency_initiation_spec_op_4 4,1
";

/// Loads a configuration and a `trace.config` from one folder.
fn machine(folder: &Path, options: &str, units: &str) -> Machine {
    let file = folder.join("gpgpusim.config");
    std::fs::write(&file, options).unwrap();
    std::fs::write(folder.join("trace.config"), units).unwrap();
    load(file.to_str().unwrap(), &[]).unwrap()
}

fn toml_of(file: &Path) -> String {
    let (_, conversion) = load_with_conversion(file.to_str().unwrap(), &[]).unwrap();
    conversion.unwrap().to_toml()
}

/// All keys except texts, with the address map as fields.
fn keys(machine: &Machine) -> Vec<(String, Value)> {
    let mut keys = flatten(machine);
    keys.retain(|(key, _)| !["name", "description", "dram.address.map"].contains(&key.as_str()));
    let map = machine.address_map().unwrap().layout().to_string();
    keys.push(("layout".to_owned(), Value::String(map)));
    keys
}

#[test]
fn the_options_of_the_mirrored_machines_give_their_presets() {
    let dir = tempfile::tempdir().unwrap();
    let mirrors = [("v100", V100, V100_UNITS), ("rtx2060s", RTX2060S, RTX2060S_UNITS)];
    for (preset, options, units) in mirrors {
        let machine = machine(dir.path(), &format!("{COMMON}{options}"), units);
        assert_eq!(keys(&machine), keys(&load(preset, &[]).unwrap()), "{preset}");
    }
}

#[test]
fn a_converted_machine_has_the_name_of_its_folder_and_survives_a_round_trip() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("SM7_MINE");
    std::fs::create_dir(&folder).unwrap();
    let direct = machine(&folder, &format!("{COMMON}{V100}"), V100_UNITS);
    assert_eq!(direct.name, "SM7_MINE");
    let config = folder.join("gpgpusim.config");
    let text = toml_of(&config);
    let toml = dir.path().join("mine.toml");
    std::fs::write(&toml, &text).unwrap();
    let again = load(toml.to_str().unwrap(), &[]).unwrap();
    assert_eq!(flatten(&again), flatten(&direct), "{text}");
    let line = COMMON.lines().position(|line| line.contains("dram_latency")).unwrap() + 1;
    let expected = format!("to_dram_latency = 100 # -dram_latency 100 (line {line})");
    assert!(text.contains(&expected), "{text}");
    assert!(
        text.contains(
            "fp64]\nlatency = 8 # -trace_opcode_latency_initiation_dp 8,4 (trace.config, line 4)"
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "# -gpgpu_kernel_launch_latency 5000 (line 3): cycle counts exclude launches"
        ),
        "{text}"
    );
}

#[test]
fn channels_that_are_not_a_power_of_two_are_interleaved() {
    let dir = tempfile::tempdir().unwrap();
    let options = format!("{COMMON}{V100}-gpgpu_n_mem 24\n-gpgpu_n_mem_per_ctrlr 1\n");
    let machine = machine(dir.path(), &options, "");
    assert_eq!(machine.dram.address.interleave_bytes, 256);
    assert_eq!(machine.dram.channels, 24);
    // Without a `trace.config`, the latencies of the functional simulator apply, here those of the preset.
    assert_eq!(machine.sm.units.fp64.latency, 8);
}

/// GDDR5 with two chips moves 64 bytes per command, and lines of L1 without sectors take that size.
#[test]
fn sectors_have_the_size_of_l2_and_at_least_a_burst() {
    let dir = tempfile::tempdir().unwrap();
    let options = "-gpgpu_n_mem_per_ctrlr 2\n-gpgpu_dram_buswidth 4\n-gpgpu_dram_burst_length 8\n\
        -gpgpu_cache:dl1 N:32:128:4,L:L:m:N:H,S:64:8,8\n-gpgpu_dram_timing_opt nbk=16:CCD=2\n\
        -gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS\n";
    let machine = machine(dir.path(), &format!("{COMMON}{RTX2060S}{options}"), RTX2060S_UNITS);
    assert_eq!(machine.l2.cache.sector_bytes, 64);
    assert_eq!(machine.l1.cache.sector_bytes, 64);
    let file = dir.path().join("gpgpusim.config");
    let text = toml_of(&file);
    assert!(text.contains("sectors are not smaller than a burst of DRAM"), "{text}");
}

#[test]
fn wrong_values_name_their_option_or_key_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("gpgpusim.config");
    let lines = format!("{COMMON}{V100}").lines().count();
    for (option, expected) in [
        ("-gpgpu_n_mem many", "-gpgpu_n_mem = many: expected a whole number"),
        ("-gpgpu_cache:dl2 S:32", "expected `none` or <S|N>:<sets>"),
        ("-gpgpu_scheduler greedy", "expected lrr, gto, old"),
        ("-gpgpu_memory_partition_indexing 9", "expected 0 (none), 1 (XOR), 2 (polynomial)"),
        ("-gpgpu_clock_domains 1:2", "expected four frequencies in MHz"),
        ("-gpgpu_n_clusters 0", "`sm.count` = 0 is not valid: expected 1 to 256"),
        ("-gpgpu_dram_timing_opt nbk=16:TCC=9", "expected DRAM times in command cycles"),
    ] {
        std::fs::write(&file, format!("{COMMON}{V100}{option}\n")).unwrap();
        let error = load(file.to_str().unwrap(), &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{option}: {error}");
        let place = format!("gpgpusim.config:{}: ", lines + 1);
        assert!(error.contains(&place), "{option}: {error}");
    }
}
