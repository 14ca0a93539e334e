//! Decodes an opcode with its modifiers: `LDG.E.128.STRONG.GPU` is a 16-byte global load, strong at
//! GPU scope.

use warpmem_trace::{CacheOp, Kind, OpClass, Space};

use super::opcode_table;
use super::operation::Op;

/// A decoded opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    pub op: Op,
    /// Bytes per lane; meaningless except for memory instructions.
    pub width: u8,
    pub cache_op: CacheOp,
    /// Consecutive registers per destination.
    pub registers: u8,
    /// Whether the table contains the opcode.
    pub known: bool,
    /// Whether the trace's SM version has this opcode.
    pub of_architecture: bool,
}

/// Decodes an opcode with its modifiers for `sm` (70 = Volta; 0 = unknown).
pub fn decode(opcode: &[u8], sm: u32) -> Decoded {
    let mut parts = opcode.split(|&byte| byte == b'.');
    let name = parts.next().unwrap_or_default();
    let modifiers = parts.clone();
    let row = opcode_table::find(name);
    let op = row.map_or(Op::Compute(OpClass::Other), |row| refine(row.op, name, modifiers.clone()));
    let width = width(name, modifiers.clone());
    Decoded {
        op,
        width,
        cache_op: cache_op(&modifiers),
        registers: registers(op, name, width, modifiers),
        known: row.is_some(),
        of_architecture: row.is_none_or(|r| sm == 0 || (r.first_sm..=r.last_sm).contains(&sm)),
    }
}

/// Returns the opcode without its modifiers.
pub fn base_name(opcode: &str) -> &str {
    opcode.split('.').next().unwrap_or(opcode)
}

/// Applies the modifiers that change the operation.
fn refine<'a>(op: Op, name: &[u8], mut modifiers: impl Iterator<Item = &'a [u8]>) -> Op {
    match (op, name) {
        // An arrival does not wait, unlike a barrier record.
        (Op::Barrier, _) if modifiers.any(|m| m == b"ARV") => Op::Compute(OpClass::Control),
        (_, b"CCTL") if modifiers.any(|m| m.starts_with(b"PF")) => {
            Op::Memory { kind: Kind::Prefetch, space: None }
        }
        _ => op,
    }
}

/// Returns the bytes per lane. An 8x8 matrix row of `LDSM`/`STSM` is 16 bytes; otherwise the
/// modifier decides, and the default is a word.
fn width<'a>(name: &[u8], mut modifiers: impl Iterator<Item = &'a [u8]>) -> u8 {
    const WORD: u8 = 4;
    if name == b"LDSM" || name == b"STSM" {
        return 16;
    }
    modifiers.find_map(modifier_width).unwrap_or(WORD)
}

fn modifier_width(modifier: &[u8]) -> Option<u8> {
    Some(match modifier {
        b"8" | b"U8" | b"S8" | b"B8" => 1,
        b"16" | b"U16" | b"S16" | b"B16" => 2,
        b"32" | b"U32" | b"S32" | b"B32" | b"F32" | b"F16x2" | b"BF16x2" | b"BF16_V2" => 4,
        b"64" | b"U64" | b"S64" | b"B64" | b"F64" | b"F32x2" | b"F16x4" | b"BF16x4" => 8,
        b"128" | b"B128" | b"F32x4" | b"F16x8" | b"BF16x8" => 16,
        b"256" | b"B256" => 32,
        _ => return None,
    })
}

/// Returns the cache operator; of several modifiers, the strictest.
fn cache_op<'a>(modifiers: &(impl Iterator<Item = &'a [u8]> + Clone)) -> CacheOp {
    let has = |name: &[u8]| modifiers.clone().any(|m| m == name);
    let strong = has(b"STRONG");
    if has(b"CV") || has(b"MMIO") || strong && has(b"SYS") {
        CacheOp::Volatile
    } else if strong && has(b"GPU") {
        CacheOp::StrongGpu
    } else if has(b"CG") || has(b"BYPASS") || has(b"NA") {
        CacheOp::Global
    } else if has(b"CONSTANT") || has(b"CI") || has(b"NC") {
        CacheOp::ReadOnly
    } else if has(b"EF") || has(b"CS") {
        CacheOp::Streaming
    } else if has(b"LU") {
        CacheOp::LastUse
    } else if has(b"CA") {
        CacheOp::All
    } else {
        CacheOp::Default
    }
}

/// Returns the registers per destination: a load of 16 bytes to R4 writes R4 to R7. `LDSM` writes
/// one register per matrix, up to four, whatever its width.
fn registers<'a>(
    op: Op,
    name: &[u8],
    width: u8,
    mut modifiers: impl Iterator<Item = &'a [u8]>,
) -> u8 {
    let Op::Memory { space, .. } = op else { return 1 };
    match (name, space) {
        (b"LDSM", _) => {
            modifiers.find_map(|m| matches!(m, b"2" | b"4").then(|| m[0] - b'0')).unwrap_or(1)
        }
        (_, Some(Space::Texture)) => 1,
        _ => width.div_ceil(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(opcode: &str) -> Decoded {
        decode(opcode.as_bytes(), 0)
    }

    #[test]
    fn width_comes_from_the_modifiers() {
        for (opcode, width, registers) in [
            ("LDG.E.SYS", 4, 1),
            ("LDG.E.U8.SYS", 1, 1),
            ("LDG.E.S16", 2, 1),
            ("LDG.E.64.SYS", 8, 2),
            ("LDS.U.128", 16, 4),
            ("LDG.E.LTC128B.64", 8, 2),
            ("LDGSTS.E.BYPASS.LTC128B.128", 16, 4),
            ("LDSM.16.M88.4", 16, 4),
            ("LDSM.16.MT88.2", 16, 2),
            ("LDSM.16.M88", 16, 1),
            ("ATOMG.E.ADD.F64.RN.STRONG.GPU", 8, 2),
            ("RED.E.ADD.F16x2.RN.STRONG.GPU", 4, 1),
            ("ATOM.E.CAS.64", 8, 2),
            ("IMAD.WIDE.U32", 4, 1),
            ("TEX.SCR.B.LL", 4, 1),
        ] {
            let decoded = of(opcode);
            assert_eq!((decoded.width, decoded.registers), (width, registers), "{opcode}");
        }
    }

    #[test]
    fn cache_operators() {
        for (opcode, cache_op) in [
            ("LDG.E.SYS", CacheOp::Default),
            ("LDG.E.STRONG.SYS", CacheOp::Volatile),
            ("LDG.E.STRONG.GPU", CacheOp::StrongGpu),
            ("LDG.E.64.STRONG.CTA", CacheOp::Default),
            ("LDG.E.CV", CacheOp::Volatile),
            ("LDG.E.CG", CacheOp::Global),
            ("LDG.E.CA", CacheOp::All),
            ("LDG.E.128.CONSTANT.SYS", CacheOp::ReadOnly),
            ("LDG.E.CI", CacheOp::ReadOnly),
            ("LDG.E.NC", CacheOp::ReadOnly),
            ("STG.E.EF", CacheOp::Streaming),
            ("LDL.LU", CacheOp::LastUse),
            ("LDGSTS.E.BYPASS.128", CacheOp::Global),
        ] {
            assert_eq!(of(opcode).cache_op, cache_op, "{opcode}");
        }
    }

    #[test]
    fn kinds_and_spaces() {
        let memory = |kind, space| Op::Memory { kind, space };
        for (opcode, op) in [
            ("LDG.E", memory(Kind::Load, Some(Space::Global))),
            ("LD.E", memory(Kind::Load, None)),
            ("STL", memory(Kind::Store, Some(Space::Local))),
            ("ATOMS.ADD", memory(Kind::Atomic, Some(Space::Shared))),
            ("RED.E.ADD.STRONG.GPU", memory(Kind::Reduction, Some(Space::Global))),
            ("LDGSTS.E", memory(Kind::AsyncCopy, Some(Space::Global))),
            ("CCTL.E.PF2", memory(Kind::Prefetch, None)),
            ("CCTL.IVALL", Op::Compute(OpClass::Other)),
            ("BAR.SYNC.DEFER_BLOCKING", Op::Barrier),
            ("BAR.ARV", Op::Compute(OpClass::Control)),
            ("MEMBAR.SC.GPU", Op::Fence),
            ("EXIT", Op::Exit),
            ("LDGDEPBAR", Op::AsyncCommit),
            ("DEPBAR.LE", Op::AsyncWait),
            ("HFMA2.MMA", Op::Compute(OpClass::Fp16)),
            ("HADD2_32I", Op::Compute(OpClass::Fp16)),
            ("HGMMA.64x128x16.F32", Op::Compute(OpClass::Tensor)),
            ("MUFU.RCP", Op::Compute(OpClass::Sfu)),
            ("UIADD3", Op::Compute(OpClass::Uniform)),
            ("R2UR", Op::Compute(OpClass::Uniform)),
            ("REDUX.SUM.S32", Op::Compute(OpClass::Uniform)),
            ("ERRBAR", Op::Compute(OpClass::Integer)),
            ("BSSY", Op::Compute(OpClass::Control)),
        ] {
            assert_eq!(of(opcode).op, op, "{opcode}");
        }
    }

    #[test]
    fn unknown_opcodes_are_other_and_reported() {
        let decoded = of("FROBNICATE.X");
        assert!(!decoded.known);
        assert_eq!(decoded.op, Op::Compute(OpClass::Other));
    }

    #[test]
    fn opcodes_of_another_architecture_are_reported() {
        assert!(!decode(b"UIADD3", 70).of_architecture);
        assert!(decode(b"UIADD3", 75).of_architecture);
        assert!(decode(b"UIADD3", 0).of_architecture);
    }
}
