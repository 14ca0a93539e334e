//! Captured traces, and traces of reference runs: counts of the import compared with theirs.

use super::{Imported, captured, check_consistent, import, shared, try_import};
use serde_json::Value;
use warpmem::import::ImportOptions;
use warpmem_trace::{Kind, Space};

/// Checks the warp and thread instructions of each kernel against Accel-Sim's counts.
fn check_reference(folder: &str, imported: &Imported) {
    let Some(path) = shared("reference/accel-sim/results.json") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let results: Value = serde_json::from_str(&text).unwrap();
    let runs = results["runs"].as_array().unwrap();
    let of_folder = |run: &&Value| run["trace_dir"].as_str().unwrap().ends_with(folder);
    let run = runs.iter().find(of_folder).expect(folder);
    let kernels = run["kernels"].as_array().unwrap();
    assert!(!kernels.is_empty());
    for (reference, counts) in kernels.iter().zip(&imported.summary.kernels) {
        let number = |key: &str| reference[key].as_u64().unwrap();
        assert_eq!(number("trace_warp_instructions"), counts.warp_instructions, "{}", counts.file);
        assert_eq!(number("trace_warps"), counts.warps, "{}", counts.file);
        assert_eq!(number("gpu_sim_insn"), counts.thread_instructions, "{}", counts.file);
    }
}

/// Checks that the trace of a reference run imports to the counts of that run.
fn check_folder(folder: &str) -> Option<Imported> {
    let imported = import(&captured(folder)?);
    check_consistent(&imported);
    check_reference(folder, &imported);
    Some(imported)
}

#[test]
fn generated_traces_have_the_counts_of_the_reference() {
    for folder in ["vecadd", "gups", "stream-triad", "pointer-chase", "histogram", "spmv-vector"] {
        check_folder(&format!("accel-sim-{folder}"));
    }
}

#[test]
fn gemm_has_its_barriers_and_shared_accesses() {
    let Some(imported) = check_folder("accel-sim-gemm-tiled") else { return };
    let summary = &imported.summary;
    assert_eq!(summary.barriers, summary.opcodes["BAR"]);
    assert_eq!(summary.memory_count(Kind::Load, Space::Shared), summary.opcodes["LDS"]);
    assert_eq!(summary.memory_count(Kind::Store, Space::Shared), summary.opcodes["STS"]);
}

#[test]
fn many_kernels_and_copies_have_the_counts_of_the_reference() {
    let Some(folder) = captured("accel-sim-bfs") else { return };
    let options = ImportOptions { kernels: Some(1..=9), ..ImportOptions::default() };
    let imported = try_import(&folder, &options).unwrap();
    assert_eq!(imported.summary.kernels.len(), 9);
    check_consistent(&imported);
    check_reference("accel-sim-bfs", &imported);
}

#[test]
fn copies_are_kept_with_their_kernel() {
    let Some(folder) = captured("accel-sim-transpose") else { return };
    let imported = import(&folder.join("kernelslist.g"));
    check_consistent(&imported);
    let memcpy = &imported.trace.header().memcpys[0];
    assert_eq!((memcpy.before_kernel, memcpy.bytes), (0, 4_194_304));
    assert_eq!(memcpy.address, 0x7f4a_3200_0000);
    assert_eq!(imported.summary.memcpys, 1);
}

#[test]
fn a_captured_application_has_the_counts_of_its_provenance() {
    let Some(imported) = check_folder("pytorch-linear-v100") else { return };
    let summary = &imported.summary;
    assert_eq!(summary.kernels.len(), 131);
    assert_eq!((summary.ctas, summary.warps), (2_001, 8_228));
    assert_eq!(summary.warp_instructions, 642_881);
    let count = |name: &str| summary.opcodes[name];
    assert_eq!([count("LDG"), count("STG")], [4_041, 3_261]);
    assert_eq!([count("STS"), count("LDS")], [52_228, 93_391]);
    assert_eq!(summary.memory_instructions(), 152_921);
    assert_eq!(summary.address_modes, [0, 144_272, 8_649]);
    assert_eq!(summary.global_sectors, 3_173);
}

#[test]
fn exits_of_resuming_lanes_are_repaired() {
    let Some(folder) = captured("pytorch-linear-v100") else { return };
    let options = ImportOptions { kernels: Some(1..=40), ..ImportOptions::default() };
    let imported = try_import(&folder, &options).unwrap();
    assert_eq!(imported.summary.kernels.len(), 40);
    check_reference("pytorch-linear-v100", &imported);
    let summary = &imported.summary;
    let repaired: Vec<_> = summary.kernels.iter().filter(|k| k.repaired_exits > 0).collect();
    let numbers: Vec<u64> = repaired.iter().map(|kernel| kernel.number).collect();
    assert_eq!(numbers, [7, 12, 20, 25, 33, 38]);
    assert!(repaired.iter().all(|kernel| kernel.repaired_lanes >= kernel.repaired_exits));
    assert_eq!(repaired.iter().map(|k| k.repaired_exits).sum::<u64>(), summary.repaired_exits);
    assert_eq!(repaired.iter().map(|k| k.repaired_lanes).sum::<u64>(), summary.repaired_lanes);

    let options = ImportOptions { kernels: Some(12..=13), ..ImportOptions::default() };
    let part = try_import(&folder, &options).unwrap().summary;
    assert_eq!(part.kernels, summary.kernels[11..13], "numbered by their place in the list");
    let json = serde_json::to_value(&part).unwrap();
    assert_eq!(json["kernels"][0]["number"], 12);
    assert_eq!(json["kernels"][0]["repaired_lanes"], json["repaired_lanes"]);
    assert_eq!(json["kernels"][1]["repaired_exits"], 0);
}

#[test]
fn raw_files_have_the_counts_of_their_provenance() {
    let Some(folder) = captured("raw-v100") else { return };
    let small = import(&folder.join("kernel-100.trace.xz"));
    check_consistent(&small);
    let summary = &small.summary;
    assert_eq!((summary.ctas, summary.warps, summary.warp_instructions), (1, 4, 182));
    assert_eq!((summary.opcodes["LDG"], summary.opcodes["STG"]), (1, 1));

    let large = import(&folder.join("kernel-1638.trace.xz"));
    check_consistent(&large);
    let summary = &large.summary;
    assert_eq!((summary.ctas, summary.warps, summary.warp_instructions), (256, 1_024, 89_408));
    let opcodes = ["LDG", "STG", "STS", "LDS"].map(|name| summary.opcodes[name]);
    assert_eq!(opcodes, [32, 256, 8_192, 14_592]);
    assert_eq!(summary.address_modes, [0, 21_792, 1_280]);
    assert_eq!(summary.without_lanes["memory"], 15_360);
}

#[test]
fn line_numbers_and_stored_values_change_nothing() {
    let Some(folder) = captured("vectoradd-sm75") else { return };
    for file in [
        "vecAdd-lineinfo.kernel-1-ctx_0x1868c30.trace.xz",
        "vecAdd-lineinfo-storedata.kernel-1-ctx_0x189ec30.trace.xz",
    ] {
        let imported = import(&folder.join(file));
        check_consistent(&imported);
        let summary = &imported.summary;
        assert_eq!((summary.ctas, summary.warps, summary.warp_instructions), (98, 3_136, 46_941));
        assert_eq!((summary.opcodes["LDG"], summary.opcodes["STG"]), (6_250, 3_125));
        assert_eq!(summary.global_sectors, 75_000);
    }
}

#[test]
fn raw_and_grouped_forms_are_the_same_trace() {
    let Some(folder) = captured("vectoradd-sm75") else { return };
    let grouped = import(&folder.join("kernel-1-ctx_0x2356c30.traceg.xz"));
    check_consistent(&grouped);
    check_reference("vectoradd-sm75", &grouped);
    let summary = &grouped.summary;
    assert_eq!((summary.ctas, summary.warps), (4_096, 32_768));
    assert_eq!((summary.opcodes["LDG"], summary.opcodes["STG"]), (65_536, 32_768));
    assert_eq!(summary.global_sectors, 393_216);

    let raw = import(&folder.join("kernel-1-ctx_0x2356c30.trace.xz"));
    assert_eq!(raw.trace.header().content_hash, grouped.trace.header().content_hash);
    assert_eq!(raw.trace.kernels()[0].info.stream, 47_005_056);
}
