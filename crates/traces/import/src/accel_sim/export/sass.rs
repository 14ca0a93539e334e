//! Instruction lines of version 5.

use std::fmt::Write;

use warpmem_trace::{CacheOp, Instruction, KernelInfo, Kind, OpClass, Space, WARP_SIZE};

use super::super::address::is_one_run;
use super::registers::Operands;
use super::steps::{Step, What};

/// Maximum bytes per lane of an instruction that reads or writes registers.
const WIDEST: u32 = 32;

/// Source registers that Accel-Sim keeps.
pub const MAX_SOURCES: usize = 4;

/// Fails on the first memory instruction or cluster barrier without an opcode, and on barriers for
/// some warps of a CTA: those of Accel-Sim always wait for all.
pub fn check(instructions: &[Instruction], kernel: &KernelInfo) -> Result<(), String> {
    let all = kernel.threads_per_cta().div_ceil(WARP_SIZE as u64);
    instructions.iter().try_for_each(|instruction| {
        let Instruction { kind, pc, barrier, .. } = *instruction;
        let some = barrier.and_then(|barrier| barrier.warps).filter(|&some| u64::from(some) < all);
        match some {
            _ if kind.is_memory() || kind.is_of_cluster() => memory(instruction).map(drop),
            None if kind != Kind::BarrierArrive => Ok(()),
            None => {
                Err(format!("no SASS opcode of Accel-Sim arrives and does not wait (pc {pc:#x})"))
            }
            Some(some) => Err(format!(
                "a barrier for {some} of {all} warps (pc {pc:#x}): those of Accel-Sim are for all"
            )),
        }
    })
}

/// Appends the line of an instruction; fails if no opcode expresses it.
pub fn write(
    step: &Step,
    instructions: &[Instruction],
    operands: Operands<'_>,
    addresses: &[u64],
    text: &mut String,
) -> Result<(), String> {
    let (opcode, width, immediate) = match step.what {
        What::Compute(class) => (compute(class).to_string(), 0, 0),
        What::Commit => ("LDGDEPBAR".to_string(), 0, 0),
        What::Wait(groups) => ("DEPBAR.LE".to_string(), 0, groups),
        What::Record(id, kind) => {
            let instruction = &instructions[id.0 as usize];
            match kind {
                Kind::Barrier => {
                    let id = instruction.barrier.map_or(0, |barrier| barrier.id);
                    ("BAR.SYNC".to_string(), 0, id.into())
                }
                Kind::Fence => ("MEMBAR.SC.GPU".to_string(), 0, 0),
                Kind::Exit | Kind::End => ("EXIT".to_string(), 0, 0),
                _ => (memory(instruction)?, instruction.width, 0),
            }
        }
    };
    append(text, format_args!("{:04x} {:08x} ", step.pc, step.mask));
    append_registers(text, operands.dest.as_slice());
    append(text, format_args!("{opcode} "));
    append_registers(text, operands.srcs);
    append(text, format_args!("{width} "));
    if width > 0 {
        append_addresses(text, step.mask, addresses);
    }
    append(text, format_args!("{immediate} \n"));
    Ok(())
}

fn append(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a String takes any text");
}

fn append_registers(text: &mut String, registers: &[u8]) {
    append(text, format_args!("{} ", registers.len()));
    registers.iter().for_each(|register| append(text, format_args!("R{register} ")));
}

/// Appends the addresses in the shortest mode that holds them.
fn append_addresses(text: &mut String, mask: u32, addresses: &[u64]) {
    let Some((&base, rest)) = addresses.split_first() else { return text.push_str("1 0x0 0 ") };
    // Neither short mode holds a difference beyond a signed 64-bit number.
    let deltas = rest.iter().zip(addresses).map(|(to, from)| to.checked_signed_diff(*from));
    let stride = deltas.clone().next().unwrap_or(Some(0));
    let is_short = |delta: Option<i64>| delta.is_some_and(|delta| i32::try_from(delta).is_ok());
    match stride {
        Some(stride) if is_one_run(mask) && deltas.clone().all(|delta| delta == Some(stride)) => {
            append(text, format_args!("1 {base:#x} {stride} "));
        }
        _ if deltas.clone().all(is_short) => {
            append(text, format_args!("2 {base:#x} "));
            deltas.flatten().for_each(|delta| append(text, format_args!("{delta} ")));
        }
        _ => {
            text.push_str("0 ");
            addresses.iter().for_each(|address| append(text, format_args!("{address:#018x} ")));
        }
    }
}

/// Returns a typical opcode of the class.
fn compute(class: OpClass) -> &'static str {
    match class {
        OpClass::Integer => "IADD3",
        OpClass::Fp32 => "FFMA",
        OpClass::Fp64 => "DFMA",
        OpClass::Sfu => "MUFU.RCP",
        OpClass::Tensor => "HMMA.884.F32.F32",
        OpClass::Control => "BRA",
        OpClass::Uniform => "UIADD3",
        OpClass::Other => "NOP",
        OpClass::Fp16 => "HFMA2",
    }
}

fn memory(instruction: &Instruction) -> Result<String, String> {
    let Instruction { kind, space, width, cache_op, .. } = *instruction;
    let operation = operation(kind, space).ok_or_else(|| {
        format!("no SASS opcode is a {kind:?} in {space:?} space (pc {:#x})", instruction.pc)
    })?;
    let width = match width {
        1 => ".U8",
        2 => ".U16",
        4 => "",
        8 => ".64",
        16 => ".128",
        32 => ".256",
        _ if width > WIDEST => {
            let pc = instruction.pc;
            return Err(format!(
                "Accel-Sim's text has no bulk copies, and one of {width} bytes per lane is at pc \
                 {pc:#x}"
            ));
        }
        _ => {
            let pc = instruction.pc;
            return Err(format!("no SASS opcode accesses {width} bytes per lane (pc {pc:#x})"));
        }
    };
    Ok(format!("{operation}{width}{}", cache_modifier(cache_op)))
}

fn operation(kind: Kind, space: Space) -> Option<&'static str> {
    Some(match (kind, space) {
        (Kind::Load, Space::Global) => "LDG.E",
        (Kind::Load, Space::Local) => "LDL",
        (Kind::Load, Space::Shared) => "LDS",
        (Kind::Load, Space::Constant) => "LDC",
        (Kind::Load, Space::Texture) => "SULD",
        (Kind::Store, Space::Global) => "STG.E",
        (Kind::Store, Space::Local) => "STL",
        (Kind::Store, Space::Shared) => "STS",
        (Kind::Store, Space::Texture) => "SUST",
        (Kind::Atomic, Space::Global) => "ATOMG.E.ADD",
        (Kind::Atomic, Space::Shared) => "ATOMS.ADD",
        (Kind::Atomic, Space::Texture) => "SUATOM",
        (Kind::Reduction, Space::Global) => "RED.E.ADD",
        (Kind::Reduction, Space::Shared) => "REDAS",
        (Kind::Reduction, Space::Texture) => "SURED",
        (Kind::AsyncCopy, Space::Global) => "LDGSTS.E",
        (Kind::Prefetch, Space::Global) => "CCTL.E.PF2",
        _ => return None,
    })
}

fn cache_modifier(cache_op: CacheOp) -> &'static str {
    match cache_op {
        CacheOp::Default => "",
        CacheOp::All => ".CA",
        CacheOp::Global => ".CG",
        CacheOp::Streaming => ".EF",
        CacheOp::LastUse => ".LU",
        CacheOp::Volatile => ".STRONG.SYS",
        CacheOp::ReadOnly => ".CONSTANT",
        CacheOp::StrongGpu => ".STRONG.GPU",
    }
}
