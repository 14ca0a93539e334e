//! Compares the assembler with a direct implementation of the definitions on random instruction
//! streams.

use std::collections::BTreeSet;

use crate::common::{one_warp, read_all, temporary_writer};
use proptest::prelude::*;
use warpmem_trace::*;

#[derive(Clone, Debug)]
enum Op {
    Compute { class: OpClass, mask: u32, dests: Vec<u16>, srcs: Vec<u16> },
    Memory { kind: Kind, mask: u32, dests: Vec<u16>, srcs: Vec<u16> },
    Barrier,
    Fence,
    Exit,
    WaitAsync,
}

impl Op {
    fn registers(&self) -> (&[u16], &[u16]) {
        match self {
            Op::Compute { dests, srcs, .. } | Op::Memory { dests, srcs, .. } => (dests, srcs),
            _ => (&[], &[]),
        }
    }

    fn touches(&self, reg: u16) -> bool {
        let (dests, srcs) = self.registers();
        dests.contains(&reg) || srcs.contains(&reg)
    }

    fn is_compute(&self) -> bool {
        matches!(self, Op::Compute { .. })
    }
}

fn op() -> impl Strategy<Value = Op> {
    let registers = || prop::collection::vec(0u16..6, 0..3);
    let compute = (0..OpClass::COUNT, any::<u32>(), registers(), registers()).prop_map(
        |(class, mask, dests, srcs)| Op::Compute { class: OpClass::ALL[class], mask, dests, srcs },
    );
    let kind = prop_oneof![Just(Kind::Load), Just(Kind::AsyncCopy)];
    let memory =
        (kind, any::<u32>(), registers(), registers()).prop_map(|(kind, mask, dests, srcs)| {
            let dests = if kind == Kind::Load { dests } else { Vec::new() };
            Op::Memory { kind, mask, dests, srcs }
        });
    prop_oneof![
        12 => compute,
        5 => memory,
        1 => Just(Op::Barrier),
        1 => Just(Op::Fence),
        1 => Just(Op::Exit),
        1 => Just(Op::WaitAsync),
    ]
}

fn program() -> impl Strategy<Value = Vec<Op>> {
    prop_oneof![prop::collection::vec(op(), 0..30), prop::collection::vec(op(), 100..250)]
}

fn regs(numbers: &[u16]) -> Vec<Reg> {
    numbers.iter().map(|&number| Reg(number)).collect()
}

fn addresses(mask: u32) -> Vec<u64> {
    (0..u64::from(mask.count_ones())).map(|lane| lane * 4).collect()
}

/// Operands of registers without known banks: spread over the banks, repeats counted once.
fn operands(op: &Op) -> Operands {
    let sources: BTreeSet<&u16> = op.registers().1.iter().collect();
    Operands::spread(sources.len())
}

/// Expected records: static part, mask, compute lanes.
type Expected = (Instruction, u32, [u32; OpClass::COUNT]);

/// Computes the records as [`Instruction`] defines them, by searching the whole stream.
fn reference(program: &[Op]) -> Vec<Expected> {
    let is_wait = |op: &&Op| matches!(op, Op::WaitAsync);
    let stream: Vec<&Op> = program.iter().filter(|op| !is_wait(op)).collect();
    // Positions of waits: each precedes the instruction at its position.
    let waits = program.iter().enumerate().filter(|(_, op)| is_wait(op));
    let waits: Vec<usize> =
        waits.map(|(at, _)| program[..at].iter().filter(|op| !is_wait(op)).count()).collect();

    let deps = |at: usize| {
        let (dests, srcs) = stream[at].registers();
        let writers = dests.iter().chain(srcs).filter_map(|reg| {
            let writer =
                (0..at).rev().find(|&before| stream[before].registers().0.contains(reg))?;
            stream[writer].is_compute().then_some(at - writer)
        });
        let mut deps: Vec<usize> = writers.filter(|&distance| distance <= 64).collect();
        deps.sort_unstable();
        deps.dedup();
        deps.into_iter().map(|distance| distance as u8).collect::<Vec<u8>>()
    };
    let use_distance = |at: usize| {
        let later = at + 1..stream.len();
        let (dests, _) = stream[at].registers();
        // Overwriting a register counts as a use.
        let used = later.clone().find(|&user| dests.iter().any(|&reg| stream[user].touches(reg)));
        let is_copy = matches!(stream[at], Op::Memory { kind: Kind::AsyncCopy, .. });
        let waited = waits.iter().copied().find(|&user| is_copy && later.contains(&user));
        used.or(waited).map(|user| (user - at - 1) as u32)
    };

    let mut records = Vec::new();
    let mut record_positions = Vec::new();
    let mut gap = 0..0;
    for at in 0..=stream.len() {
        let op = stream.get(at);
        if op.is_some_and(|op| op.is_compute()) {
            gap.end += 1;
            continue;
        }
        if op.is_none() && gap.is_empty() {
            break;
        }
        let mut lanes = [0; OpClass::COUNT];
        let compute = gap.clone().map(|compute| {
            let Op::Compute { class, mask, .. } = stream[compute] else { unreachable!() };
            lanes[*class as usize] += mask.count_ones();
            Compute { class: *class, deps: deps(compute), operands: operands(stream[compute]) }
        });
        let compute = compute.collect();
        let (kind, mask, barrier) = match op {
            None => (Kind::End, 0, None),
            Some(Op::Memory { kind, mask, .. }) => (*kind, *mask, None),
            Some(Op::Barrier) => (Kind::Barrier, 3, Some(Barrier::of_cta(9))),
            Some(Op::Fence) => (Kind::Fence, 5, None),
            Some(_) => (Kind::Exit, 6, None),
        };
        let loads = op.map_or(&[][..], |op| op.registers().1).iter().filter_map(|reg| {
            let writer =
                (0..at).rev().find(|&before| stream[before].registers().0.contains(reg))?;
            record_positions.iter().position(|&position| position == writer)
        });
        let address_from = loads.max().map(|load| (record_positions.len() - load) as u32);
        let instruction = Instruction {
            pc: if kind == Kind::End { 0 } else { at as u64 },
            kind,
            space: if kind.is_memory() { Space::Global } else { Space::None },
            cache_op: CacheOp::Default,
            width: if kind.is_memory() { 4 } else { 0 },
            barrier,
            destinations: 0,
            mbarrier: None,
            l2_policy: None,
            deps: if op.is_some() { deps(at) } else { Vec::new() },
            operands: op.map_or(Operands::NONE, |op| operands(op)),
            use_distance: if op.is_some() { use_distance(at) } else { None },
            address_from,
            compute,
        };
        records.push((instruction, mask, lanes));
        record_positions.push(at);
        gap = at + 1..at + 1;
    }
    records
}

fn push(assembler: &mut WarpAssembler, program: &[Op]) {
    let mut pc = 0;
    for op in program {
        match op {
            Op::Compute { class, mask, dests, srcs } => {
                let (dests, srcs) = (regs(dests), regs(srcs));
                assembler.compute(*class, *mask, Registers::new(&dests, &srcs));
            }
            Op::Memory { kind, mask, dests, srcs } => {
                let (kind, mask) = (*kind, *mask);
                let op =
                    MemoryOp { kind, space: Space::Global, width: 4, cache_op: CacheOp::Default };
                let (dests, srcs) = (regs(dests), regs(srcs));
                let registers = Registers::new(&dests, &srcs);
                assembler.memory(pc, op, mask, registers, &addresses(mask));
            }
            Op::Barrier => assembler.barrier(pc, Barrier::of_cta(9), 3),
            Op::Fence => assembler.fence(pc, 5),
            Op::Exit => assembler.exit(pc, 6),
            Op::WaitAsync => {
                assembler.wait_async();
                continue;
            }
        }
        pc += 1;
    }
}

/// Assembles each program as one warp of one CTA and reads the warps back.
fn assemble(programs: &[Vec<Op>]) -> Vec<Vec<Expected>> {
    let (directory, path, mut writer) = temporary_writer();
    let mut assembler = WarpAssembler::new();
    let mut cta = CtaBuilder::new();
    writer.begin_kernel(KernelInfo::default()).unwrap();
    cta.begin([0; 3]);
    for (number, program) in programs.iter().enumerate() {
        cta.begin_warp(number as u32);
        push(&mut assembler, program);
        assembler.finish(writer.dictionary(), &mut cta);
    }
    writer.cta(&cta).unwrap();
    writer.end_kernel().unwrap();
    writer.finish().unwrap();
    let trace = Trace::open(&path).unwrap();
    let dictionary = trace.instructions(0).unwrap();
    let warps = read_all(&trace).unwrap().into_iter().map(|(_, records)| {
        let expected = records.iter().map(|record| {
            let instruction = dictionary[record.instruction.0 as usize].clone();
            (instruction, record.mask, record.compute_lanes)
        });
        expected.collect()
    });
    let warps = warps.collect();
    drop(directory);
    warps
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn records_match_the_reference(programs in prop::collection::vec(program(), 1..4)) {
        let assembled = assemble(&programs);
        for (program, records) in programs.iter().zip(&assembled) {
            prop_assert_eq!(records, &reference(program));
        }
    }
}

fn load(dests: &[u16], srcs: &[u16]) -> Op {
    Op::Memory { kind: Kind::Load, mask: 1, dests: dests.into(), srcs: srcs.into() }
}

fn add(dests: &[u16], srcs: &[u16]) -> Op {
    Op::Compute { class: OpClass::Integer, mask: 1, dests: dests.into(), srcs: srcs.into() }
}

fn static_parts(program: Vec<Op>) -> Vec<Instruction> {
    assemble(&[program]).remove(0).into_iter().map(|(instruction, ..)| instruction).collect()
}

#[test]
fn a_result_used_by_the_next_instruction_has_distance_zero() {
    let parts =
        static_parts(vec![load(&[1], &[]), load(&[2], &[1]), add(&[3], &[]), load(&[], &[2])]);
    assert_eq!(parts[0].use_distance, Some(0));
    assert_eq!(parts[1].use_distance, Some(1));
    assert_eq!(parts[2].use_distance, None);
    assert_eq!(parts.iter().map(|p| p.address_from).collect::<Vec<_>>(), [None, Some(1), Some(1)]);
}

#[test]
fn use_distance_ends_at_any_register_of_a_wide_load_and_at_overwriting() {
    let parts = static_parts(vec![load(&[1, 2], &[]), add(&[5], &[]), add(&[2], &[])]);
    assert_eq!(parts[0].use_distance, Some(1));
}

#[test]
fn dependences_reach_64_instructions_and_exclude_memory_results() {
    let between = |count| std::iter::repeat_n(add(&[9], &[]), count);
    let program = |count| {
        let mut program = vec![add(&[1], &[]), load(&[2], &[])];
        program.extend(between(count));
        program.push(load(&[], &[1, 2]));
        program
    };
    assert_eq!(static_parts(program(62))[1].deps, [64]);
    assert!(static_parts(program(63))[1].deps.is_empty());
}

#[test]
fn overwriting_a_result_is_a_dependence_and_overwriting_a_source_is_not() {
    let parts = static_parts(vec![add(&[1], &[2]), add(&[1], &[]), add(&[2], &[]), load(&[], &[])]);
    let deps: Vec<_> = parts[0].compute.iter().map(|compute| compute.deps.clone()).collect();
    assert_eq!(deps, [vec![], vec![1], vec![]]);
}

#[test]
fn use_distance_of_a_copy_ends_at_its_wait() {
    let copy = Op::Memory { kind: Kind::AsyncCopy, mask: 1, dests: vec![], srcs: vec![] };
    let program =
        vec![copy.clone(), copy.clone(), Op::WaitAsync, add(&[], &[]), copy, Op::WaitAsync];
    let distances: Vec<_> = static_parts(program).iter().map(|part| part.use_distance).collect();
    assert_eq!(distances, [Some(1), Some(0), None]);
}

/// The in-order waits apply to the copies before and after it.
#[test]
fn copies_that_signal_an_mbarrier_leave_the_wait_order() {
    let trace = one_warp(|assembler| {
        let cache_op = CacheOp::Global;
        let op = MemoryOp { kind: Kind::AsyncCopy, space: Space::Global, width: 4096, cache_op };
        let none = Registers::new(&[], &[]);
        for (pc, signals) in [(0, false), (16, true), (32, false)] {
            assembler.memory(pc, op, 1, none, &[4096]);
            if signals {
                assembler.with_mbarrier(Mbarrier::Signal { offset: 64 });
            }
        }
        for _ in 0..2 {
            assembler.wait_async_first(1);
            assembler.fence(80, 1);
        }
    });
    let dictionary = trace.instructions(0).unwrap();
    let uses: Vec<_> = dictionary[..3].iter().map(|copy| copy.use_distance).collect();
    assert_eq!(uses, [Some(2), None, Some(1)]);
}

#[test]
fn an_empty_warp_has_no_records_and_trailing_compute_becomes_an_end_record() {
    assert!(static_parts(vec![]).is_empty());
    let parts = static_parts(vec![load(&[1], &[]), add(&[2], &[1])]);
    assert_eq!(parts[1].kind, Kind::End);
    assert_eq!(parts[1].compute.len(), 1);
    assert_eq!(parts[0].use_distance, Some(0));
}

#[test]
fn known_operands_are_kept() {
    let (_directory, path, mut writer) = temporary_writer();
    let mut assembler = WarpAssembler::new();
    let mut cta = CtaBuilder::new();
    writer.begin_kernel(KernelInfo::default()).unwrap();
    cta.begin([0; 3]);
    cta.begin_warp(0);
    let op =
        MemoryOp { kind: Kind::Load, space: Space::Global, width: 4, cache_op: CacheOp::Default };
    let known = [Operands::of([4, 8, 12]), Operands::of([1, 2, 3]), Operands::of([6])];
    let registers = |operands| Registers { dests: &[], srcs: &[], operands };
    // Loads that differ only in their operands are two instructions.
    assembler.compute(OpClass::Fp16, 1, registers(known[0]));
    assembler.memory(0, op, 1, registers(known[1]), &[0]);
    assembler.compute(OpClass::Fp16, 1, registers(known[0]));
    assembler.memory(0, op, 1, registers(known[2]), &[0]);
    assembler.compute(OpClass::Fp16, 1, registers(known[1]));
    assembler.memory(0, op, 1, registers(known[2]), &[0]);
    assembler.finish(writer.dictionary(), &mut cta);
    writer.cta(&cta).unwrap();
    writer.end_kernel().unwrap();
    writer.finish().unwrap();
    let dictionary = Trace::open(&path).unwrap().instructions(0).unwrap();
    let read: Vec<_> =
        dictionary.iter().map(|part| (part.compute[0].operands, part.operands)).collect();
    assert_eq!(read, [(known[0], known[1]), (known[0], known[2]), (known[1], known[2])]);
}

#[test]
fn finish_clears_the_state_of_the_warp() {
    let first = vec![add(&[1], &[]), load(&[2], &[])];
    let second = vec![load(&[], &[1, 2])];
    let assembled = assemble(&[first, second.clone()]);
    assert_eq!(assembled[1], reference(&second));
    assert_eq!(assembled[1][0].0.address_from, None);
}

#[test]
fn used_after_sets_the_use_distance_without_registers() {
    let trace = one_warp(|assembler| {
        let op = MemoryOp {
            kind: Kind::Load,
            space: Space::Global,
            width: 4,
            cache_op: CacheOp::Default,
        };
        assembler.used_after(9); // nothing to say it of
        for pc in 0..2 {
            assembler.memory(pc, op, 1, Registers::new(&[], &[]), &[0]);
        }
        assembler.used_after(1);
        assembler.exit(2, 1);
    });
    let dictionary = trace.instructions(0).unwrap();
    let uses: Vec<_> =
        dictionary.iter().map(|part| (part.use_distance, part.address_from)).collect();
    assert_eq!(uses, [(None, None), (Some(1), None), (None, None)]);
}

/// A copy is no instruction, and its readers wait for the load that it names; a copy of nothing names nothing.
#[test]
fn a_renamed_register_keeps_its_writer() {
    let trace = one_warp(|assembler| {
        let op = MemoryOp {
            kind: Kind::Load,
            space: Space::Global,
            width: 4,
            cache_op: CacheOp::Default,
        };
        let [load, copy, unset] = [Reg(0), Reg(1), Reg(2)];
        assembler.memory(0, op, 1, Registers::new(&[load], &[]), &[0]);
        assembler.rename(Registers::new(&[copy], &[load]));
        assembler.memory(1, op, 1, Registers::new(&[], &[copy]), &[0]);
        assembler.rename(Registers::new(&[copy], &[unset]));
        assembler.memory(2, op, 1, Registers::new(&[], &[copy]), &[0]);
    });
    let dictionary = trace.instructions(0).unwrap();
    let links: Vec<_> =
        dictionary.iter().map(|part| (part.use_distance, part.address_from)).collect();
    assert_eq!(links, [(Some(0), None), (None, Some(1)), (None, None)]);
}
