//! Import of Accel-Sim traces through the public interface: captured traces, where available, and
//! small handwritten ones.

mod captured;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use warpmem::import::{EmptyMasks, ImportError, ImportOptions, ImportSummary, import_accel_sim};
use warpmem_testing::cases;
use warpmem_trace::{Barrier, Instruction, Kind, OpClass, Operands, Record, Space, Trace};

/// Returns the folder of reference material beside the repository.
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

fn captured(name: &str) -> Option<PathBuf> {
    shared(&format!("traces/{name}"))
}

struct Imported {
    summary: ImportSummary,
    trace: Trace,
    _folder: tempfile::TempDir,
}

fn try_import(input: &Path, options: &ImportOptions) -> Result<Imported, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.wmt");
    let imported = import_accel_sim(input, &output, options, &());
    if imported.is_err() {
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "a failed import leaves nothing behind");
    }
    let summary = imported?;
    assert_eq!(std::fs::metadata(&output).unwrap().len(), summary.bytes_out);
    Ok(Imported { summary, trace: Trace::open(&output).unwrap(), _folder: folder })
}

fn import(input: &Path) -> Imported {
    try_import(input, &ImportOptions::default()).unwrap()
}

/// Returns all records of a warp, with their instructions.
fn warp(trace: &Trace, kernel: usize, cta: usize, warp: usize) -> Vec<(Instruction, Record)> {
    let instructions = trace.instructions(kernel).unwrap();
    let chunk = trace.chunk(kernel, 0).unwrap();
    let mut cursor = chunk.warp(cta, warp);
    let mut record = Record::new();
    let mut records = Vec::new();
    while cursor.next(&mut record).unwrap() {
        let instruction = instructions[record.instruction.0 as usize].clone();
        records.push((instruction, record.clone()));
    }
    records
}

/// Checks the invariants of every imported trace.
fn check_consistent(Imported { summary, trace, .. }: &Imported) {
    assert_eq!(summary.unknown_opcodes, BTreeMap::new());
    let kernels = trace.kernels();
    assert_eq!(kernels.len(), summary.kernels.len());
    for (kernel, counts) in kernels.iter().zip(&summary.kernels) {
        assert_eq!(kernel.info.name, counts.name);
        assert_eq!(u64::from(kernel.ctas), counts.ctas);
        assert_eq!(kernel.warps, counts.warps);
        assert_eq!(kernel.warp_instructions, counts.warp_instructions);
        assert_eq!(kernel.thread_instructions, counts.thread_instructions);
    }
    let compute: u64 = summary.compute.values().sum();
    let records = summary.barriers + summary.fences + summary.exits;
    assert_eq!(compute + records + summary.memory_instructions(), summary.warp_instructions);
    assert_eq!(summary.opcodes.values().sum::<u64>(), summary.warp_instructions);
    assert_eq!(summary.address_modes.iter().sum::<u64>(), summary.memory_instructions());
}

/// Makes a grouped kernel of one CTA with one warp for each of `warps`, in version 5 on Ampere.
fn grouped(warps: &[&str]) -> String {
    let header = "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (64,1,1)\n\
                  -shmem = 1\n-nregs = 21955\n-binary version = 80\n-cuda stream id = 94234523413248\n\
                  -shmem base_addr = 0x00007f0002000000\n-local mem base_addr = 0x00007f0000000000\n\
                  -nvbit version = 1.5.5\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n\
                  #traces format = nonsense\n\n";
    let warps = warps.iter().enumerate().map(|(number, lines)| {
        format!("warp = {number}\ninsts = {}\n{lines}\n", lines.trim().lines().count())
    });
    let warps: String = warps.collect();
    format!("{header}#BEGIN_TB\n\nthread block = 0,0,0\n\n{warps}\n#END_TB\n")
}

fn import_text(text: &str) -> Result<Imported, ImportError> {
    import_text_with(text, &ImportOptions::default())
}

fn import_text_with(text: &str, options: &ImportOptions) -> Result<Imported, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel-1.traceg");
    std::fs::write(&path, text).unwrap();
    try_import(&path, options)
}

fn only_warp(lines: &str) -> (Vec<(Instruction, Record)>, ImportSummary) {
    let imported = import_text(&grouped(&[lines])).unwrap();
    (warp(&imported.trace, 0, 0, 0), imported.summary)
}

#[test]
fn dependences_follow_the_registers_of_the_trace() {
    let (records, _) = only_warp(
        "0000 ffffffff 1 R4 IADD3 2 R255 R255 0 0\n\
         0010 ffffffff 1 R8 LDG.E.128 1 R4 16 1 0x7f0100000000 16 0\n\
         0020 ffffffff 1 R255 IADD3 1 R255 0 0\n\
         0030 ffffffff 1 R255 IADD3 1 R255 0 0\n\
         0040 ffffffff 1 R9 FADD 2 R11 R3 0 0\n\
         0050 ffffffff 0 STG.E 2 R9 R20 4 1 0x7f0200000000 4 0\n\
         0060 ffffffff 1 R6 LDG.E.64 1 R4 8 1 0x7f0100000000 8 0\n\
         0070 ffffffff 1 R5 LDG.E 1 R7 4 1 0x7f0100000000 4 0\n",
    );
    let [wide, store, pair, chased] = &records[..] else { panic!("{records:?}") };
    assert_eq!(wide.0.deps, [1], "the address comes from the instruction before");
    assert_eq!(wide.0.use_distance, Some(2), "first read through the last of four registers");
    assert_eq!((wide.0.kind, wide.0.space, wide.0.width), (Kind::Load, Space::Global, 16));
    assert!(store.0.compute.iter().all(|c| c.deps.is_empty()), "R255 is no dependence");
    assert_eq!(store.0.deps, [1]);
    assert_eq!((pair.0.use_distance, chased.0.address_from), (Some(0), Some(1)));
    assert_eq!(chased.0.use_distance, None);
}

#[test]
fn partial_exit_keeps_the_remaining_lanes() {
    let (records, summary) = only_warp(
        "0000 000000ff 0 EXIT 0 0 0\n0010 0000000f 0 EXIT 0 0 0\n\
         0020 0000000f 1 R1 MOV 0 0 0\n0030 00000003 0 EXIT 0 0 0\n",
    );
    let masks: Vec<u32> = records.iter().map(|(_, record)| record.mask).collect();
    assert_eq!(masks, [0xf0, 0, 0x3]);
    assert!(records.iter().all(|(instruction, _)| instruction.kind == Kind::Exit));
    assert_eq!((summary.repaired_exits, summary.warp_instructions), (2, 4));
    assert_eq!(summary.repaired_lanes, 4 + 4, "lanes 0 to 3 twice");
    assert_eq!(summary.without_lanes, BTreeMap::from([("exit", 1)]));
    assert_eq!(summary.thread_instructions, 4 + 4 + 2);
}

const WITH_EMPTY_MASKS: &str = "\
    0000 0000ffff 1 R4 MOV 0 0 0\n\
    0010 00000000 1 R4 IMAD 1 R4 0 0\n\
    0020 00000000 1 R5 HADD2 1 R4 0 0\n\
    0030 00000000 1 R6 LDG.E 1 R4 4 1 0x0 0 0\n\
    0040 0000ffff 1 R7 LDG.E 1 R4 4 1 0x7f0100000000 4 0\n\
    0050 00000000 0 MEMBAR.SC.GPU 0 0 0\n\
    0060 00000000 0 STG.E 2 R4 R7 4 0 0\n\
    0070 00000000 0 EXIT 0 0 0\n\
    0080 0000ffff 0 EXIT 0 0 0\n";

#[test]
fn instructions_with_empty_masks_are_kept_or_dropped_and_counted() {
    let import = |empty_masks| {
        let options = ImportOptions { empty_masks, ..ImportOptions::default() };
        let imported = import_text_with(&grouped(&[WITH_EMPTY_MASKS]), &options).unwrap();
        check_consistent(&imported);
        imported
    };
    let (kept, dropped) = (import(EmptyMasks::Keep), import(EmptyMasks::Drop));
    let empty = [("control", 1), ("exit", 1), ("fp16", 1), ("integer", 1), ("memory", 2)];
    assert_eq!(kept.summary.without_lanes, BTreeMap::from(empty));
    assert_eq!(dropped.summary.without_lanes, kept.summary.without_lanes);
    assert_eq!((kept.summary.dropped, dropped.summary.dropped), (0, 6));
    assert_eq!((kept.summary.warp_instructions, dropped.summary.warp_instructions), (9, 3));
    let lanes = 3 * 16;
    assert_eq!(kept.summary.thread_instructions, lanes);
    assert_eq!(dropped.summary.thread_instructions, lanes);

    let load = |imported: &Imported, at: usize| warp(&imported.trace, 0, 0, 0)[at].0.clone();
    let (with, without) = (load(&kept, 1), load(&dropped, 0));
    assert_eq!((with.pc, without.pc), (0x40, 0x40));
    assert_eq!(with.deps, [3], "the address comes from the empty IMAD, as the registers say");
    assert_eq!(without.deps, [1], "the address comes from the MOV");
    assert_eq!((with.use_distance, without.use_distance), (Some(1), None));
    let kinds =
        |imported| warp(&imported, 0, 0, 0).into_iter().map(|(i, _)| i.kind).collect::<Vec<_>>();
    use Kind::{Exit, Load, Store};
    assert_eq!(kinds(kept.trace), [Load, Load, Store, Exit, Exit]);
    assert_eq!(kinds(dropped.trace), [Load, Exit]);
}

/// Returns the warp and thread instructions issued by a run.
fn run(imported: &Imported) -> (u64, u64) {
    let machine = warpmem::machine::load("li2015", &[]).unwrap();
    let simulation = warpmem::gpu::engine::Simulation::new(&machine, &imported.trace);
    let run = simulation.run(&mut warpmem::gpu::results::Discard);
    let sum = |of: fn(&warpmem::gpu::results::SmResult) -> u64, sms: &[_]| sms.iter().map(of).sum();
    let sms = run.unwrap().sms;
    (sum(|sm| sm.warp_instructions, &sms), sum(|sm| sm.thread_instructions, &sms))
}

#[test]
fn a_run_issues_the_instructions_that_the_import_counted() {
    let nothing = "0000 00000000 1 R4 MOV 0 0 0\n0010 00000000 0 EXIT 0 0 0\n";
    let text = grouped(&[WITH_EMPTY_MASKS, nothing]);
    for (empty_masks, expected) in [(EmptyMasks::Keep, 11), (EmptyMasks::Drop, 3)] {
        let options = ImportOptions { empty_masks, ..ImportOptions::default() };
        let imported = import_text_with(&text, &options).unwrap();
        let summary = &imported.summary;
        assert_eq!(summary.warp_instructions, expected);
        let counted = (summary.warp_instructions, summary.thread_instructions);
        assert_eq!(run(&imported), counted, "{empty_masks:?}");
    }
}

#[test]
fn zero_register_is_never_an_operand() {
    let (records, summary) = only_warp(
        "0000 ffffffff 1 R255 LDG.E 1 R255 4 1 0x7f0100000000 4 0\n\
         0010 ffffffff 1 R252 LDG.E.128 1 R255 16 1 0x7f0100000000 16 0\n\
         0020 ffffffff 1 R254 LDG.E.64 1 R255 8 1 0x7f0100000000 8 0\n\
         0030 ffffffff 0 STG.E 2 R2 R255 4 1 0x7f0200000000 4 0\n\
         0040 ffffffff 0 STG.E.64 2 R255 R2 8 1 0x7f0200000000 8 0\n\
         0050 ffffffff 1 R255 IMAD.WIDE 3 R255 R255 R255 0 0\n\
         0060 ffffffff 1 R255 IADD3 3 R255 R255 R255 0 0\n\
         0070 ffffffff 1 R4 ATOMG.E.ADD 2 R255 R255 4 1 0x7f0200000000 4 0\n\
         0080 ffffffff 1 R255 MOV 1 R254 0 0\n\
         0090 ffffffff 0 RED.E.ADD 2 R255 R254 4 1 0x7f0200000000 4 0\n",
    );
    let uses: Vec<_> = records.iter().map(|(i, _)| (i.use_distance, i.address_from)).collect();
    // Only R254 links instructions: both wide loads write it, MOV and RED read it.
    let of_254 = [(None, None), (Some(0), None), (Some(5), None)];
    assert_eq!(uses[..3], of_254);
    assert_eq!(uses[3..6], [(None, None); 3]);
    assert_eq!(uses[6], (None, Some(4)), "the data comes from the second wide load");
    let deps = |i: &Instruction| i.compute.iter().map(|c| c.deps.clone()).collect::<Vec<_>>();
    assert!(records.iter().all(|(i, _)| i.deps.is_empty() && deps(i).concat().is_empty()));
    let operands: Vec<u8> = records.iter().map(|(i, _)| i.operands.sources).collect();
    assert_eq!(operands, [0, 0, 0, 1, 1, 0, 1]);
    assert_eq!(records[5].0.compute[0].operands, Operands::NONE);
    assert_eq!(summary.memory_instructions(), 7);
}

#[test]
fn operands_are_counted_by_bank() {
    let (records, _) = only_warp(
        "0000 ffffffff 1 R4 FFMA 3 R8 R12 R16 0 0\n\
         0010 ffffffff 1 R4 FFMA 3 R8 R8 R9 0 0\n\
         0020 ffffffff 1 R4 HFMA2.MMA 3 R1 R3 R255 0 0\n\
         0030 ffffffff 1 P0 ISETP.GE 4 R0 R2 P1 UR4 0 0\n\
         0040 ffffffff 0 STG.E 2 R2 R6 4 1 0x7f0200000000 4 0\n",
    );
    let [(store, _)] = &records[..] else { panic!("{records:?}") };
    let counts = |o: Operands| (o.sources, o.bank_reads, o.bank_reads_of_2);
    let read: Vec<_> = store.compute.iter().map(|c| (c.class, counts(c.operands))).collect();
    let expected = [
        (OpClass::Fp32, (3, 3, 3)),
        (OpClass::Fp32, (2, 1, 1)),
        (OpClass::Fp16, (2, 1, 2)),
        (OpClass::Integer, (2, 1, 2)),
    ];
    assert_eq!(read, expected);
    assert_eq!(counts(store.operands), (2, 2, 2));
}

#[test]
fn an_async_copy_is_used_by_the_wait_for_its_group() {
    let (records, summary) = only_warp(
        "0000 ffffffff 0 LDGSTS.E.BYPASS.128 2 R9 R10 16 1 0x7f0100000000 16 0\n\
         0010 ffffffff 0 LDGSTS.E.BYPASS.128 2 R9 R10 16 1 0x7f0100000200 16 0\n\
         0020 ffffffff 0 LDGDEPBAR 0 0 0\n\
         0030 ffffffff 0 LDGSTS.E 2 R9 R10 4 1 0x7f0100000400 4 0\n\
         0040 ffffffff 0 LDGDEPBAR 0 0 0\n\
         0050 ffffffff 0 DEPBAR.LE 0 0 1\n\
         0060 ffffffff 0 BAR.SYNC 0 0 3\n\
         0070 ffffffff 0 DEPBAR.LE 0 0 0\n",
    );
    let uses: Vec<Option<u32>> = records.iter().map(|(i, _)| i.use_distance).collect();
    assert_eq!(uses, [Some(4), Some(3), Some(3), None, None]);
    assert_eq!(records[0].0.kind, Kind::AsyncCopy);
    assert_eq!(records[3].0.barrier, Some(Barrier::of_cta(3)));
    assert_eq!(records[0].1.addresses[31], 0x7f01_0000_0000 + 31 * 16);
    assert_eq!(summary.compute["control"], 4);
}

#[test]
fn generic_addresses_go_to_their_space_as_offsets() {
    let (records, _) = only_warp(
        "0000 0000000f 1 R4 LD.E 1 R2 4 1 0x7f0002000010 4 0\n\
         0010 0000000f 0 ST.E 2 R2 R5 4 1 0x7f0000000020 4 0\n\
         0020 0000000f 1 R4 LD.E 1 R2 4 1 0x7f1000000000 4 0\n\
         0030 0000000f 1 R4 ATOM.E.ADD 2 R2 R3 4 1 0x7f1000000000 4 0\n",
    );
    let spaces: Vec<Space> = records.iter().map(|(i, _)| i.space).collect();
    assert_eq!(spaces, [Space::Shared, Space::Local, Space::Global, Space::Global]);
    let first: Vec<u64> = records.iter().map(|(_, record)| record.addresses[0]).collect();
    assert_eq!(first, [0x10, 0x20, 0x7f10_0000_0000, 0x7f10_0000_0000]);
    assert_eq!(records[3].0.kind, Kind::Atomic);
}

#[test]
fn unsupported_instructions_are_counted_and_named() {
    let (records, summary) = only_warp(
        "0000 ffffffff 1 R9 LDC.64 0 0 0\n\
         0010 ffffffff 1 R4 TEX.SCR.B.LL 2 R4 R6 0 0\n\
         0020 ffffffff 1 R4 FROB.X 1 R4 4 1 0x7f0000000000 4 0\n\
         0030 00000000 1 R4 LDG.E 1 R4 4 1 0x0 0 0\n\
         0040 00000000 0 BAR.SYNC 0 0 0\n",
    );
    assert_eq!(summary.memory_without_addresses["LDC.64"], 1);
    assert_eq!(summary.memory_without_addresses["TEX.SCR.B.LL"], 1);
    assert_eq!(summary.unknown_opcodes, BTreeMap::from([("FROB.X".to_string(), 1)]));
    assert_eq!((summary.compute["integer"], summary.compute["other"]), (1, 2));
    assert_eq!(summary.without_lanes, BTreeMap::from([("control", 1), ("memory", 1)]));
    assert_eq!((summary.all_without_lanes(), summary.dropped, summary.barriers), (2, 0, 0));
    assert_eq!(summary.address_modes, [0, 1, 0], "an unknown opcode is no memory instruction");
    let kinds: Vec<Kind> = records.iter().map(|(i, _)| i.kind).collect();
    assert_eq!(kinds, [Kind::Load, Kind::End], "a barrier without lanes blocks no warp");
    assert!(records[0].1.active_addresses().is_empty());
}

#[test]
fn nonsense_header_is_reported_and_tolerated() {
    let imported = import_text(&grouped(&["0000 ffffffff 0 EXIT 0 0 0"])).unwrap();
    let info = &imported.trace.kernels()[0].info;
    assert_eq!((info.shared_bytes, info.registers_per_thread), (1, 0));
    assert_eq!((info.stream, info.sm_version), (94_234_523_413_248, 80));
    assert!(imported.summary.notes.iter().any(|note| note.contains("nregs = 21955")));

    let bare = "#BEGIN_TB\nthread block = 0,0,0\nwarp = 2\ninsts = 1\n\
                0 0 0 2 0000 ffffffff 0 EXIT 0 0\n#END_TB\n";
    let imported = import_text(bare).unwrap();
    let info = &imported.trace.kernels()[0].info;
    assert_eq!((info.name.as_str(), info.block), ("kernel-1.traceg", [96, 1, 1]));
}

#[test]
fn a_malformed_line_is_named_with_file_and_line() {
    let text = grouped(&["0000 ffffffff 1 R1 MOV 0 0 0\n0010 fffffffff 0 EXIT 0 0 0"]);
    let line = 1 + text.lines().position(|line| line.starts_with("0010")).unwrap();
    let error = import_text(&text).err().unwrap().to_string();
    assert!(error.contains(&format!("kernel-1.traceg:{line}: expected an active mask")), "{error}");
    assert!(error.contains("`0010 fffffffff 0 EXIT 0 0 0`"), "{error}");
}

#[test]
fn damaged_and_empty_files_leave_no_trace_behind() {
    let text = grouped(&["0000 ffffffff 1 R1 MOV 0 0 0"]);
    for (text, expected) in [
        ("", "the file is empty"),
        ("-kernel name = k\n", "no instruction"),
        (text.strip_suffix("#END_TB\n").unwrap(), "truncated"),
        ("nonsense\n", "CTA coordinates"),
        ("#BEGIN_TB\n", "truncated"),
    ] {
        let error = import_text(text).err().unwrap().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let error = try_import(&folder.path().join("missing"), &ImportOptions::default());
    assert!(error.err().unwrap().to_string().contains("missing"));
}

#[test]
fn a_broken_kernel_stops_the_later_ones() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let warps = vec!["0000 ffffffff 1 R1 MOV 0 0 0"; 64];
    let one = grouped(&warps);
    let (header, cta) = one.split_at(one.find("#BEGIN_TB").unwrap());
    let cta_at = |x: u32| cta.replace("thread block = 0,0,0", &format!("thread block = {x},0,0"));
    let many = header.to_string() + &(0..200).map(cta_at).collect::<String>();
    assert!(import_text(&many).is_ok());
    write("kernel-1.traceg", &grouped(&["oops"]));
    (2..10).for_each(|number| write(&format!("kernel-{number}.traceg"), &many));
    let list: String = (1..10).map(|number| format!("kernel-{number}.traceg\n")).collect();
    write("kernelslist.g", &list);
    let options = ImportOptions { jobs: 4, ..ImportOptions::default() };
    let error = try_import(folder.path(), &options).err().unwrap().to_string();
    assert!(error.contains("kernel-1.traceg:"), "{error}");
}

#[test]
fn kernels_outside_the_list_are_refused() {
    let Some(folder) = captured("pytorch-linear-v100") else { return };
    let options = ImportOptions { kernels: Some(100..=132), ..ImportOptions::default() };
    let error = try_import(&folder, &options).err().unwrap().to_string();
    assert!(error.contains("valid are 1..=131"), "{error}");
}

#[test]
fn the_number_of_jobs_does_not_change_the_trace() {
    let Some(folder) = captured("pytorch-linear-v100") else { return };
    let hash = |jobs| {
        let options = ImportOptions { kernels: Some(1..=20), jobs, ..ImportOptions::default() };
        try_import(&folder, &options).unwrap().trace.header().content_hash
    };
    assert_eq!(hash(1), hash(4));
}

#[test]
fn a_cancelled_import_stops_and_leaves_nothing() {
    struct Stop;
    impl warpmem::import::Progress for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("kernel-1.traceg");
    std::fs::write(&input, grouped(&["0000 ffffffff 0 EXIT 0 0 0"])).unwrap();
    let output = folder.path().join("out.wmt");
    let result = import_accel_sim(&input, &output, &ImportOptions::default(), &Stop);
    assert!(matches!(result, Err(ImportError::Cancelled)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(100)))]

    /// Damaged text, grouped or raw, is imported or refused without panic.
    #[test]
    fn damaged_text_never_panics(
        raw: bool,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let lines = "0000 ffffffff 1 R1 MOV 0 0 0\n\
                     0010 0000ff00 1 R8 LDG.E.128 1 R4 16 1 0x7f0100000000 16 0\n\
                     0020 00000005 0 LDGSTS.E 2 R9 R10 4 2 0x7f0100000000 -784 0\n\
                     0030 00000003 0 STS 2 R9 R10 4 0 0x0 0x10 0\n\
                     0040 ffffffff 0 DEPBAR.LE 0 0 1\n0050 00000000 0 EXIT 0 0 0\n";
        let mut text = if raw {
            let lines = lines.lines().map(|line| format!("0 0 0 1 {line}\n"));
            format!("-accelsim tracer version = 5\n\n{}", lines.collect::<String>())
        } else {
            grouped(&[lines, lines])
        }
        .into_bytes();
        for (at, byte) in edits {
            let at = at.index(text.len());
            text[at] = byte;
        }
        if let Some(cut) = cut {
            text.truncate(cut.index(text.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernel-1.traceg");
        std::fs::write(&path, text).unwrap();
        let _ = try_import(&path, &ImportOptions::default());
    }
}
