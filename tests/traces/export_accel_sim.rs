//! A trace exported to Accel-Sim text and imported again is the same trace.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use warpmem::import::{
    ExportOptions, ExportSummary, ImportError, ImportOptions, export_accel_sim, import_accel_sim,
};
use warpmem::study::sample;
use warpmem::study::sample::Selection;
use warpmem_testing::cases;
use warpmem_trace::{
    Barrier, CacheOp, CtaBuilder, Instruction, KernelInfo, Kind, MAX_WIDTH, MemoryOp, OpClass,
    Operands, Provenance, Record, Reg, Registers, Space, Trace, TraceWriter, WarpAssembler,
    WriterOptions,
};

fn captured(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// Exports a trace and imports the text.
fn round_trip(trace: &Trace, xz: Option<u32>) -> Result<(ExportSummary, Trace), ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    let summary = export_accel_sim(trace, &text, ExportOptions { xz }, &())?;
    let back = folder.path().join("back.wmt");
    let imported = import_accel_sim(&text, &back, &ImportOptions::default(), &())?;
    assert_eq!(imported.unknown_opcodes.len(), 0, "{:?}", imported.unknown_opcodes);
    assert_eq!(imported.text_bytes, summary.text_bytes);
    assert_eq!(imported.warp_instructions, summary.warp_instructions);
    Ok((summary, Trace::open(&back).unwrap()))
}

/// Returns every record of a kernel with its CTA and warp, and its instruction in place of the
/// index.
fn records(trace: &Trace, kernel: usize) -> Vec<([u32; 3], u32, Instruction, Record)> {
    let instructions = trace.instructions(kernel).unwrap();
    let mut records = Vec::new();
    for chunk in trace.kernels()[kernel].chunks.clone() {
        let chunk = trace.chunk(kernel, chunk).unwrap();
        for (cta, entry) in chunk.ctas().iter().enumerate() {
            for (warp, warp_entry) in entry.warps.iter().enumerate() {
                let mut cursor = chunk.warp(cta, warp);
                let mut record = Record::new();
                while cursor.next(&mut record).unwrap() {
                    let instruction = instructions[record.instruction.0 as usize].clone();
                    records.push((
                        entry.block,
                        warp_entry.warp_in_cta,
                        instruction,
                        record.clone(),
                    ));
                }
            }
        }
    }
    records
}

/// Asserts that two traces are equal except for provenance, instruction numbers and operands;
/// without `exact`, also except for dependences.
fn assert_same(left: &Trace, right: &Trace, exact: bool) {
    assert_eq!(left.kernels().len(), right.kernels().len());
    assert_eq!(left.header().memcpys, right.header().memcpys);
    for kernel in 0..left.kernels().len() {
        assert_eq!(left.kernels()[kernel].info.name, right.kernels()[kernel].info.name);
        let (mut left, mut right) = (records(left, kernel), records(right, kernel));
        assert_eq!(left.len(), right.len());
        for (one, other) in left.iter_mut().zip(&mut right) {
            one.3.instruction = other.3.instruction;
            assert_eq!(one.3.active_addresses(), other.3.active_addresses());
            one.3.addresses = other.3.addresses;
            forget_operands(&mut one.2);
            forget_operands(&mut other.2);
            if !exact {
                forget_dependences(&mut one.2);
                forget_dependences(&mut other.2);
            }
            assert_eq!(one, other);
        }
    }
}

fn forget_operands(instruction: &mut Instruction) {
    instruction.operands = Operands::NONE;
    instruction.compute.iter_mut().for_each(|compute| compute.operands = Operands::NONE);
}

fn forget_dependences(instruction: &mut Instruction) {
    instruction.deps.clear();
    instruction.use_distance = None;
    instruction.address_from = None;
    instruction.compute.iter_mut().for_each(|compute| compute.deps.clear());
}

fn import(input: &Path, options: &ImportOptions) -> (Trace, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.wmt");
    import_accel_sim(input, &path, options, &()).unwrap();
    (Trace::open(&path).unwrap(), folder)
}

#[test]
fn captured_kernels_come_back() {
    let Some(folder) = captured("pytorch-linear-v100") else { return };
    let options = ImportOptions { kernels: Some(1..=14), ..ImportOptions::default() };
    let (trace, _folder) = import(&folder, &options);
    let (summary, back) = round_trip(&trace, Some(1)).unwrap();
    assert_eq!(summary.approximated, 0);
    assert_same(&trace, &back, true);
}

#[test]
fn barriers_wide_shared_loads_and_atomics_come_back() {
    for folder in ["accel-sim-gemm-tiled", "accel-sim-histogram"] {
        let Some(folder) = captured(folder) else { return };
        let (trace, _folder) = import(&folder, &ImportOptions::default());
        let (summary, back) = round_trip(&trace, None).unwrap();
        assert_eq!((summary.approximated, summary.over_register_limit), (0, 0));
        assert_same(&trace, &back, true);
    }
}

/// Accel-Sim would stop at the first CTA of the grid missing from the file.
#[test]
fn a_part_of_a_kernel_has_a_grid_of_its_ctas() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/cache-resident/reduction.wmt");
    let trace = Trace::open(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.wmt");
    let ctas = "3..5,9".parse().unwrap();
    let selected = Selection { ctas, ..Selection::all() }.of(&trace).unwrap();
    let go_on = &mut |_| ControlFlow::Continue(());
    let options = WriterOptions::default();
    sample::write(&trace, &selected, &path, Provenance::default(), options, go_on).unwrap();
    let part = Trace::open(&path).unwrap();
    let (_, back) = round_trip(&part, None).unwrap();
    assert_eq!(part.kernels()[0].info.grid, [64, 1, 1]);
    assert_eq!(back.kernels()[0].info.grid, [3, 1, 1]);
    assert_same(&part, &back, false);
    let (_, whole) = round_trip(&trace, None).unwrap();
    assert_eq!(whole.kernels()[0].info.grid, [64, 1, 1]);
}

/// Writes a kernel of one CTA whose warps are made by `fill`.
fn written(fill: impl Fn(&mut WarpAssembler)) -> (Trace, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.wmt");
    let mut writer =
        TraceWriter::create(&path, Provenance::default(), WriterOptions::default()).unwrap();
    writer.memcpy(0x7f00_0000_0000, 4096);
    let info = KernelInfo { name: "k".into(), block: [128, 1, 1], ..KernelInfo::default() };
    writer.begin_kernel(info).unwrap();
    let mut cta = CtaBuilder::new();
    cta.begin([0, 0, 0]);
    cta.begin_warp(3);
    let mut warp = WarpAssembler::new();
    fill(&mut warp);
    warp.finish(writer.dictionary(), &mut cta);
    writer.cta(&cta).unwrap();
    writer.end_kernel().unwrap();
    writer.memcpy(0x7f00_0000_1000, 16);
    writer.finish().unwrap();
    (Trace::open(&path).unwrap(), folder)
}

const NO_REGISTERS: Registers<'_> = Registers { dests: &[], srcs: &[], operands: Operands::NONE };

fn op(kind: Kind, space: Space, width: u32) -> MemoryOp {
    MemoryOp { kind, space, width, cache_op: CacheOp::Default }
}

#[test]
fn every_kind_space_width_and_cache_operator_comes_back() {
    use CacheOp::{All, Default, Global, LastUse, ReadOnly, Streaming, StrongGpu, Volatile};
    let accesses = [
        (Kind::Load, Space::Global),
        (Kind::Load, Space::Local),
        (Kind::Load, Space::Shared),
        (Kind::Load, Space::Constant),
        (Kind::Load, Space::Texture),
        (Kind::Store, Space::Global),
        (Kind::Store, Space::Local),
        (Kind::Store, Space::Shared),
        (Kind::Store, Space::Texture),
        (Kind::Atomic, Space::Global),
        (Kind::Atomic, Space::Shared),
        (Kind::Reduction, Space::Global),
        (Kind::Prefetch, Space::Global),
        (Kind::AsyncCopy, Space::Global),
    ];
    let (trace, _folder) = written(|warp| {
        for (kind, space) in accesses {
            for width in [1, 2, 4, 8, 16, 32] {
                let addresses = [0x100, 0x7f00_0000_0000];
                warp.memory(0x40, op(kind, space, width), 5, NO_REGISTERS, &addresses);
            }
        }
        for cache_op in [All, Default, Global, LastUse, ReadOnly, Streaming, StrongGpu, Volatile] {
            let load = MemoryOp { cache_op, ..op(Kind::Load, Space::Global, 4) };
            warp.memory(0x50, load, 0, NO_REGISTERS, &[]);
        }
        for class in OpClass::ALL {
            warp.compute(class, 0xff, NO_REGISTERS);
        }
        warp.fence(0x60, 1);
        warp.barrier(0x70, Barrier::of_cta(5), 3);
        warp.exit(0x80, 1);
        warp.compute(OpClass::Integer, 2, NO_REGISTERS);
    });
    let (summary, back) = round_trip(&trace, None).unwrap();
    assert_eq!(summary.approximated, 0);
    assert_same(&trace, &back, true);
}

#[test]
fn waits_for_groups_of_async_copies_come_back() {
    let copy = |warp: &mut WarpAssembler, dest: u16| {
        let op = op(Kind::AsyncCopy, Space::Global, 16);
        warp.memory(0x10, op, 1, Registers::new(&[Reg(dest)], &[]), &[0x7f00_0000_0000]);
    };
    let control = |warp: &mut WarpAssembler, srcs: &[Reg]| {
        warp.compute(OpClass::Control, 1, Registers::new(&[], srcs));
    };
    let (trace, _folder) = written(|warp| {
        copy(warp, 1);
        copy(warp, 2);
        control(warp, &[]);
        copy(warp, 3);
        control(warp, &[]);
        control(warp, &[Reg(1), Reg(2)]);
        warp.barrier(0x20, Barrier::of_cta(0), 1);
        control(warp, &[Reg(3)]);
        copy(warp, 4);
    });
    let (summary, back) = round_trip(&trace, None).unwrap();
    assert_eq!(summary.approximated, 0);
    assert_same(&trace, &back, true);
}

#[test]
fn lossy_exports_are_counted() {
    let (trace, _folder) = written(|warp| {
        let op = op(Kind::AsyncCopy, Space::Global, 16);
        warp.memory(0x10, op, 1, NO_REGISTERS, &[0x7f00_0000_0000]);
        warp.wait_async();
        warp.compute(OpClass::Integer, 1, NO_REGISTERS);
    });
    let (summary, back) = round_trip(&trace, None).unwrap();
    assert_eq!(summary.approximated, 1);
    assert_same(&trace, &back, false);
}

#[test]
fn an_existing_folder_is_not_modified() {
    let (trace, folder) = written(|warp| warp.exit(0, 1));
    let error = export_accel_sim(&trace, folder.path(), ExportOptions::default(), &());
    assert!(error.unwrap_err().to_string().contains("exists already"));
}

#[test]
fn a_width_without_opcode_is_refused_and_leaves_nothing() {
    let (trace, _folder) = written(|warp| {
        let op = op(Kind::Load, Space::Global, 12);
        warp.memory(0x10, op, 1, NO_REGISTERS, &[0x100]);
    });
    assert!(refusal(&trace).contains("12 bytes per lane"));
}

/// A copy of 64 KiB would need more registers than exist.
#[test]
fn a_bulk_copy_is_refused_and_leaves_nothing() {
    let (trace, _folder) = written(|warp| {
        let op = op(Kind::AsyncCopy, Space::Global, MAX_WIDTH);
        warp.memory(0x10, op, 1, NO_REGISTERS, &[0x100]);
        warp.wait_async();
        warp.exit(0x20, 1);
    });
    let error = refusal(&trace);
    let reason = "no bulk copies, and one of 65536 bytes per lane is at pc 0x10";
    assert!(error.contains(reason), "{error}");
}

#[test]
fn barriers_for_some_warps_are_refused_with_their_place() {
    let barrier = |warps| move |warp: &mut WarpAssembler| warp.barrier(0x20, warps, 1);
    let error = refusal(&written(barrier(Barrier::of_warps(1, 1))).0);
    let reason = "a barrier for 1 of 4 warps (pc 0x20): those of Accel-Sim are for all";
    assert!(error.contains(reason), "{error}");
    let (all, _folder) = written(barrier(Barrier::of_warps(1, 4)));
    assert!(round_trip(&all, None).is_ok());
    let arrival = |warp: &mut WarpAssembler| warp.barrier_arrive(0x20, Barrier::of_warps(1, 4), 1);
    let error = refusal(&written(arrival).0);
    let reason = "no SASS opcode of Accel-Sim arrives and does not wait (pc 0x20)";
    assert!(error.contains(reason), "{error}");
}

/// Returns the error of an export that leaves no files.
fn refusal(trace: &Trace) -> String {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("text");
    let error = export_accel_sim(trace, &folder, ExportOptions::default(), &()).unwrap_err();
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    error.to_string()
}

/// An instruction of a random program.
#[derive(Clone, Debug)]
enum Random {
    Compute(usize, Option<u16>, Vec<u16>, u32),
    Load(u32, u16, Vec<u16>),
    Store(Vec<u16>, Vec<u64>),
    Barrier,
}

/// Number of registers of random programs; few, so that they are reused soon.
const REGISTERS: u16 = 24;

fn instruction(widths: &'static [u32]) -> impl Strategy<Value = Random> {
    let reg = || 0..REGISTERS;
    let regs = || prop::collection::vec(reg(), 0..3);
    prop_oneof![
        4 => (0..OpClass::COUNT, prop::option::of(reg()), regs(), any::<u32>())
            .prop_map(|(class, dest, srcs, mask)| Random::Compute(class, dest, srcs, mask)),
        3 => (prop::sample::select(widths), reg(), regs())
            .prop_map(|(width, dest, srcs)| Random::Load(width, dest, srcs)),
        1 => (regs(), prop::collection::vec(0..u64::MAX - 4, 1..5))
            .prop_map(|(srcs, addresses)| Random::Store(srcs, addresses)),
        1 => Just(Random::Barrier),
    ]
}

fn assemble(warp: &mut WarpAssembler, program: &[Random]) {
    let regs = |numbers: &[u16]| numbers.iter().map(|&n| Reg(n)).collect::<Vec<_>>();
    for (number, random) in program.iter().enumerate() {
        let pc = 16 * number as u64;
        match random {
            Random::Compute(class, dest, srcs, mask) => {
                let (dests, srcs) = (regs(dest.as_slice()), regs(srcs));
                warp.compute(OpClass::ALL[*class], *mask, Registers::new(&dests, &srcs));
            }
            Random::Load(width, dest, srcs) => {
                let dests: Vec<u16> = (*dest..dest + width.div_ceil(4) as u16).collect();
                let op = op(Kind::Load, Space::Global, *width);
                let (dests, srcs) = (regs(&dests), regs(srcs));
                warp.memory(pc, op, 0b10, Registers::new(&dests, &srcs), &[0x1234]);
            }
            Random::Store(srcs, addresses) => {
                let mask = (1 << addresses.len()) - 1;
                let op = op(Kind::Store, Space::Global, 4);
                warp.memory(pc, op, mask, Registers::new(&[], &regs(srcs)), addresses);
            }
            Random::Barrier => warp.barrier(pc, Barrier::of_cta(1), u32::MAX),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(16)))]

    #[test]
    fn random_programs_come_back(program in prop::collection::vec(instruction(&[1, 4]), 1..300)) {
        let (trace, _folder) = written(|warp| assemble(warp, &program));
        let (summary, back) = round_trip(&trace, None).unwrap();
        prop_assert_eq!(summary.approximated, 0);
        assert_same(&trace, &back, true);
    }

    /// A wide load may overwrite the results of several others at once, which no register
    /// assignment reproduces; then the summary says so and the rest is equal.
    #[test]
    fn random_programs_with_wide_loads_come_back(
        program in prop::collection::vec(instruction(&[4, 8, 16]), 1..300),
    ) {
        let (trace, _folder) = written(|warp| assemble(warp, &program));
        let (summary, back) = round_trip(&trace, None).unwrap();
        assert_same(&trace, &back, summary.approximated == 0);
    }
}
