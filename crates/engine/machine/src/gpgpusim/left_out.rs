//! Options without a key: those that do not affect a memory system, and the reasons for the others.

/// Prefixes of options of the functional simulator, statistics, power and files, which describe no
/// part of the machine.
const NO_PART_OF_THE_MACHINE: [&str; 30] = [
    "-accelwattch",
    "-aggregate_power_stats",
    "-dvfs_enabled",
    "-enable_ptx_file_line_stats",
    "-gpgpu_cdp_enabled",
    "-gpgpu_cflog_interval",
    "-gpgpu_clock_gated",
    "-gpgpu_deadlock_detect",
    "-gpgpu_heap_size_limit",
    "-gpgpu_local_mem_map",
    "-gpgpu_max_",
    "-gpgpu_mem_address_mask",
    "-gpgpu_memlatency_stat",
    "-gpgpu_occupancy_sm_number",
    "-gpgpu_ptx_",
    "-gpgpu_runtime_",
    "-gpgpu_stack_size_limit",
    "-gpgpu_warp_issue_shader",
    "-gpgpu_warpdistro_shader",
    "-gpuwattch_xml_file",
    "-hw_perf",
    "-icnt_subnets",
    "-liveness_message_freq",
    "-power_",
    "-ptx_opcode_",
    "-save_embedded_ptx",
    "-steady_",
    "-trace",
    "-visualizer",
    "-gpgpu_compute_capability",
];

/// Options with the only value that the machine models, and the reason why others are left out.
const ONE_VALUE: [(&str, &str, &str); 15] = [
    ("-dram_bnkgrp_indexing_policy", "1", "the bank group is the low bits of the bank"),
    (
        "-dram_elimnate_rw_turnaround",
        "0",
        "dram.timing.twtrs and trtw_gap are the turnaround of the data bus",
    ),
    ("-gpgpu_TB_launch_latency", "0", "CTAs start without latency"),
    (
        "-gpgpu_enable_specialized_operand_collector",
        "0",
        "collectors take every class of instruction",
    ),
    ("-gpgpu_flush_l2_cache", "0", "the L2 keeps its lines between kernels"),
    ("-gpgpu_l1_banks_byte_interleaving", "32", "banks of L1 are interleaved by sector"),
    ("-gpgpu_l1_banks_hashing_function", "0", "banks of L1 are not hashed"),
    ("-gpgpu_perfect_mem", "0", "use policy.ideal"),
    ("-gpgpu_perfect_inst_const_cache", "1", "instruction and constant caches always hit"),
    ("-gpgpu_simple_dram_model", "0", "use policy.ideal"),
    ("-gpgpu_cache:dl2_texture_only", "0", "the L2 holds all data"),
    ("-gpgpu_shmem_warp_parts", "1", "bank conflicts are counted over a whole warp"),
    ("-gpgpu_shmem_limited_broadcast", "0", "a bank broadcasts every word that it reads"),
    ("-l2_ideal", "0", "use policy.ideal"),
    ("-network_mode", "2", "the network is the crossbar of the preset; see policy.topology"),
];

/// Options without a counterpart for any value.
const NO_COUNTERPART: [(&str, &str); 14] = [
    (
        "-gpgpu_kernel_launch_latency",
        "cycle counts exclude launches; set run.launch_latency to include them",
    ),
    ("-gpgpu_cache:dl1Pref", "L1 does not change with a kernel's preference"),
    ("-gpgpu_shmem_sizeDefault", "shared memory does not change with a kernel's preference"),
    ("-gpgpu_shmem_size_Pref", "shared memory does not change with a kernel's preference"),
    ("-gpgpu_l1_cache_write_ratio", "dirty lines of L1 are replaced like clean ones"),
    ("-gpgpu_perf_sim_memcpy", "copies from the host do not fill the L2"),
    ("-gpgpu_cache:il1", "instruction caches always hit"),
    ("-gpgpu_tex_cache", "texture loads are global loads"),
    ("-gpgpu_const_cache", "constant caches always hit"),
    ("-gpgpu_n_cluster_ejection_buffer_size", "replies wait in the network's output buffer"),
    ("-gpgpu_n_ldst_response_buffer_size", "replies wait in the network's output buffer"),
    ("-gpgpu_pipeline_widths", "a scheduler issues one instruction to each unit"),
    ("-gpgpu_operand_collector", "collectors take an instruction of each scheduler a cycle"),
    (
        "-inter_config_file",
        "network files are not read; see policy.topology and the keys of network",
    ),
];

/// Options that state what the model always does.
const IMPLIED: [&str; 11] = [
    "-gpgpu_coalesce_arch",
    "-gpgpu_dual_issue_diff_exec_units",
    "-gpgpu_ignore_resources_limitation",
    "-gpgpu_mem_unit_ports",
    "-gpgpu_reg_bank_use_warp_id",
    "-gpgpu_registers_per_block",
    "-gpgpu_shmem_per_block",
    "-gpgpu_simd_model",
    "-gpgpu_simt_core_sim_order",
    "-gpgpu_tensor_core_avail",
    "-icnt_arbiter_algo",
];

/// Returns the reason why an option has no key; none if it does not describe the machine or states
/// what the model always does.
pub(super) fn reason(name: &str, value: &str) -> Option<&'static str> {
    if let Some((_, modelled, reason)) = ONE_VALUE.iter().find(|(known, ..)| *known == name) {
        return (value != *modelled).then_some(reason);
    }
    if name == "-gpgpu_max_insn_issue_per_warp" {
        return (value != "1").then_some("a scheduler issues one instruction a cycle");
    }
    if let Some((_, reason)) = NO_COUNTERPART.iter().find(|(known, _)| name.starts_with(known)) {
        return Some(reason);
    }
    let is_of = |known: &&str| name.starts_with(*known);
    let is_silent = NO_PART_OF_THE_MACHINE.iter().any(is_of) || IMPLIED.iter().any(is_of);
    (!is_silent).then_some("unknown option")
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn options_left_out_have_a_reason_unless_they_change_nothing() {
        assert_eq!(reason("-gpgpu_flush_l2_cache", "0"), None);
        assert!(reason("-gpgpu_flush_l2_cache", "1").unwrap().contains("between kernels"));
        assert_eq!(reason("-gpgpu_runtime_stat", "500"), None);
        assert!(reason("-gpgpu_cache:dl1PrefL1", "none").unwrap().contains("preference"));
        assert_eq!(reason("-gpgpu_max_insn_issue_per_warp", "1"), None);
        assert!(reason("-gpgpu_max_insn_issue_per_warp", "2").is_some());
        assert_eq!(reason("-gpgpu_warp_drive", "9"), Some("unknown option"));
    }
}
