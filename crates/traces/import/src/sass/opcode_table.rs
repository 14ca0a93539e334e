//! Every SASS opcode of Kepler to Blackwell that a trace may contain, and its operation.
//!
//! Names follow NVIDIA's "CUDA Binary Utilities", chapter Instruction Set Reference, and the
//! opcodes found in traces. Classes follow NVIDIA's documentation, or else Accel-Sim's opcode maps;
//! `docs/import.md` lists the differences. Modifiers (`.E`, `.128`, …) are not here:
//! [`super::opcode`] decodes them. To add an opcode, add its row in alphabetical order.

use warpmem_trace::{Kind, OpClass, Space};

use super::operation::Op;

/// An opcode and the SM versions that have it.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub first_sm: u32,
    pub last_sm: u32,
    pub op: Op,
}

const fn row(name: &'static str, first_sm: u32, last_sm: u32, op: Op) -> Row {
    Row { name, first_sm, last_sm, op }
}

const fn memory(kind: Kind, space: Space) -> Op {
    Op::Memory { kind, space: Some(space) }
}

/// Generic addressing: the address says which space.
const fn generic(kind: Kind) -> Op {
    Op::Memory { kind, space: None }
}

const KEPLER: u32 = 30;
const MAXWELL: u32 = 50;
const PASCAL: u32 = 60;
const PASCAL_LAST: u32 = 69;
const VOLTA: u32 = 70;
const TURING: u32 = 75;
const AMPERE: u32 = 80;
const ADA: u32 = 89;
const HOPPER: u32 = 90;
const BLACKWELL: u32 = 100;
/// Still there in the newest known architecture.
const LAST: u32 = u32::MAX;

const INTEGER: Op = Op::Compute(OpClass::Integer);
const FP32: Op = Op::Compute(OpClass::Fp32);
const FP16: Op = Op::Compute(OpClass::Fp16);
const FP64: Op = Op::Compute(OpClass::Fp64);
const SFU: Op = Op::Compute(OpClass::Sfu);
const TENSOR: Op = Op::Compute(OpClass::Tensor);
const CONTROL: Op = Op::Compute(OpClass::Control);
const UNIFORM: Op = Op::Compute(OpClass::Uniform);
const OTHER: Op = Op::Compute(OpClass::Other);

use Kind::{AsyncCopy, Atomic, Load, Prefetch, Reduction, Store};
use Space::{Constant, Global, Local, Shared, Texture};

/// Sorted by name.
#[rustfmt::skip]
static TABLE: &[Row] = &[
    row("ACQBULK", HOPPER, LAST, CONTROL),
    row("ACQSHMINIT", HOPPER, LAST, CONTROL),
    row("AL2P", KEPLER, LAST, OTHER),
    row("ALD", KEPLER, LAST, OTHER),
    row("ARRIVES", AMPERE, LAST, CONTROL),
    row("AST", KEPLER, LAST, OTHER),
    row("ATOM", KEPLER, LAST, generic(Atomic)),
    row("ATOMG", VOLTA, LAST, memory(Atomic, Global)),
    row("ATOMS", MAXWELL, LAST, memory(Atomic, Shared)),
    row("B2R", KEPLER, LAST, INTEGER),
    row("BAR", KEPLER, LAST, Op::Barrier),
    row("BFE", KEPLER, PASCAL_LAST, INTEGER),
    row("BFI", KEPLER, PASCAL_LAST, INTEGER),
    row("BGMMA", HOPPER, LAST, TENSOR),
    row("BMMA", VOLTA, LAST, TENSOR),
    row("BMOV", VOLTA, LAST, CONTROL),
    row("BMSK", VOLTA, LAST, INTEGER),
    row("BPT", KEPLER, LAST, CONTROL),
    row("BRA", KEPLER, LAST, CONTROL),
    row("BREAK", VOLTA, LAST, CONTROL),
    row("BREV", VOLTA, LAST, INTEGER),
    row("BRK", KEPLER, PASCAL_LAST, CONTROL),
    row("BRX", KEPLER, LAST, CONTROL),
    row("BRXU", TURING, LAST, CONTROL),
    row("BSSY", VOLTA, LAST, CONTROL),
    row("BSYNC", VOLTA, LAST, CONTROL),
    row("CAL", KEPLER, PASCAL_LAST, CONTROL),
    row("CALL", VOLTA, LAST, CONTROL),
    row("CCTL", KEPLER, LAST, OTHER),
    row("CCTLL", KEPLER, LAST, OTHER),
    row("CCTLS", KEPLER, LAST, OTHER),
    row("CCTLT", KEPLER, LAST, OTHER),
    row("CGAERRBAR", HOPPER, LAST, INTEGER),
    row("COLLECTIVE", HOPPER, LAST, CONTROL),
    row("CONT", KEPLER, PASCAL_LAST, CONTROL),
    row("CREDUX", BLACKWELL, LAST, INTEGER),
    row("CS2R", MAXWELL, LAST, INTEGER),
    row("CS2UR", TURING, LAST, UNIFORM),
    row("CSET", KEPLER, PASCAL_LAST, INTEGER),
    row("CSETP", KEPLER, PASCAL_LAST, INTEGER),
    row("DADD", KEPLER, LAST, FP64),
    row("DEPBAR", KEPLER, LAST, Op::AsyncWait),
    row("DFMA", KEPLER, LAST, FP64),
    row("DMMA", VOLTA, LAST, TENSOR),
    row("DMNMX", KEPLER, PASCAL_LAST, FP64),
    row("DMUL", KEPLER, LAST, FP64),
    row("DSET", KEPLER, PASCAL_LAST, FP64),
    row("DSETP", KEPLER, LAST, FP64),
    row("ELECT", HOPPER, LAST, CONTROL),
    row("ENDCOLLECTIVE", HOPPER, LAST, CONTROL),
    row("ERRBAR", VOLTA, LAST, INTEGER),
    row("EXIT", KEPLER, LAST, Op::Exit),
    row("F2F", KEPLER, LAST, INTEGER),
    row("F2FP", TURING, LAST, INTEGER),
    row("F2I", KEPLER, LAST, INTEGER),
    row("F2IP", TURING, LAST, INTEGER),
    row("FADD", KEPLER, LAST, FP32),
    row("FADD32I", KEPLER, LAST, FP32),
    row("FCHK", KEPLER, LAST, FP32),
    row("FCMP", KEPLER, PASCAL_LAST, FP32),
    row("FENCE", HOPPER, LAST, Op::Fence),
    row("FFMA", KEPLER, LAST, FP32),
    row("FFMA2", BLACKWELL, LAST, FP32),
    row("FFMA32I", KEPLER, LAST, FP32),
    row("FLO", KEPLER, LAST, INTEGER),
    row("FMNMX", KEPLER, LAST, FP32),
    row("FMNMX3", BLACKWELL, LAST, FP32),
    row("FMUL", KEPLER, LAST, FP32),
    row("FMUL2", BLACKWELL, LAST, FP32),
    row("FMUL32I", KEPLER, LAST, FP32),
    row("FOOTPRINT", KEPLER, LAST, OTHER),
    row("FRND", VOLTA, LAST, INTEGER),
    row("FSEL", VOLTA, LAST, FP32),
    row("FSET", KEPLER, LAST, FP32),
    row("FSETP", KEPLER, LAST, FP32),
    row("FSWZ", KEPLER, PASCAL_LAST, FP32),
    row("FSWZADD", MAXWELL, LAST, FP32),
    row("GETCRSPTR", KEPLER, LAST, OTHER),
    row("GETLMEMBASE", KEPLER, LAST, INTEGER),
    row("HADD2", MAXWELL, LAST, FP16),
    row("HADD2_32I", MAXWELL, LAST, FP16),
    row("HFMA2", MAXWELL, LAST, FP16),
    row("HFMA2_32I", MAXWELL, LAST, FP16),
    row("HGMMA", HOPPER, LAST, TENSOR),
    row("HMMA", VOLTA, LAST, TENSOR),
    row("HMNMX2", AMPERE, LAST, FP16),
    row("HMUL2", MAXWELL, LAST, FP16),
    row("HMUL2_32I", MAXWELL, LAST, FP16),
    row("HSET2", MAXWELL, LAST, FP16),
    row("HSETP2", MAXWELL, LAST, FP16),
    row("I2F", KEPLER, LAST, INTEGER),
    row("I2FP", AMPERE, LAST, INTEGER),
    row("I2I", KEPLER, LAST, INTEGER),
    row("I2IP", VOLTA, LAST, INTEGER),
    row("IABS", VOLTA, LAST, INTEGER),
    row("IADD", KEPLER, LAST, INTEGER),
    row("IADD3", MAXWELL, LAST, INTEGER),
    row("IADD32I", KEPLER, LAST, INTEGER),
    row("ICMP", KEPLER, PASCAL_LAST, INTEGER),
    row("IDE", KEPLER, PASCAL_LAST, CONTROL),
    row("IDP", VOLTA, LAST, INTEGER),
    row("IDP4A", PASCAL, LAST, INTEGER),
    row("IGMMA", HOPPER, LAST, TENSOR),
    row("IMAD", KEPLER, LAST, INTEGER),
    row("IMAD32I", KEPLER, LAST, INTEGER),
    row("IMADSP", KEPLER, PASCAL_LAST, INTEGER),
    row("IMMA", VOLTA, LAST, TENSOR),
    row("IMNMX", KEPLER, LAST, INTEGER),
    row("IMUL", KEPLER, LAST, INTEGER),
    row("IMUL32I", KEPLER, LAST, INTEGER),
    row("IPA", KEPLER, LAST, OTHER),
    row("ISAD", KEPLER, PASCAL_LAST, INTEGER),
    row("ISBERD", KEPLER, LAST, OTHER),
    row("ISBEWR", KEPLER, LAST, OTHER),
    row("ISCADD", KEPLER, PASCAL_LAST, INTEGER),
    row("ISCADD32I", KEPLER, PASCAL_LAST, INTEGER),
    row("ISET", KEPLER, PASCAL_LAST, INTEGER),
    row("ISETP", KEPLER, LAST, INTEGER),
    row("JCAL", KEPLER, PASCAL_LAST, CONTROL),
    row("JMP", KEPLER, LAST, CONTROL),
    row("JMX", KEPLER, LAST, CONTROL),
    row("JMXU", TURING, LAST, CONTROL),
    row("KILL", KEPLER, LAST, CONTROL),
    row("LD", KEPLER, LAST, generic(Load)),
    row("LDC", KEPLER, LAST, memory(Load, Constant)),
    row("LDCU", BLACKWELL, LAST, memory(Load, Constant)),
    row("LDG", KEPLER, LAST, memory(Load, Global)),
    row("LDGDEPBAR", AMPERE, LAST, Op::AsyncCommit),
    row("LDGMC", HOPPER, LAST, memory(Load, Global)),
    row("LDGSTS", AMPERE, LAST, memory(AsyncCopy, Global)),
    row("LDL", KEPLER, LAST, memory(Load, Local)),
    row("LDS", KEPLER, LAST, memory(Load, Shared)),
    row("LDSLK", KEPLER, LAST, memory(Load, Shared)),
    row("LDSM", TURING, LAST, memory(Load, Shared)),
    row("LDTM", BLACKWELL, LAST, TENSOR),
    row("LDU", KEPLER, LAST, memory(Load, Global)),
    row("LEA", MAXWELL, LAST, INTEGER),
    row("LEPC", VOLTA, LAST, INTEGER),
    row("LONGJMP", KEPLER, PASCAL_LAST, CONTROL),
    row("LOP", KEPLER, LAST, INTEGER),
    row("LOP3", MAXWELL, LAST, INTEGER),
    row("LOP32I", KEPLER, LAST, INTEGER),
    row("MATCH", VOLTA, LAST, INTEGER),
    row("MEMBAR", KEPLER, LAST, Op::Fence),
    row("MOV", KEPLER, LAST, INTEGER),
    row("MOV32I", KEPLER, LAST, INTEGER),
    row("MOVM", TURING, LAST, INTEGER),
    row("MUFU", KEPLER, LAST, SFU),
    row("NANOSLEEP", VOLTA, LAST, CONTROL),
    row("NOP", KEPLER, LAST, OTHER),
    row("OMMA", ADA, LAST, TENSOR),
    row("OUT", KEPLER, LAST, OTHER),
    row("P2R", KEPLER, LAST, INTEGER),
    row("PBK", KEPLER, PASCAL_LAST, CONTROL),
    row("PCNT", KEPLER, PASCAL_LAST, CONTROL),
    row("PIXLD", KEPLER, LAST, OTHER),
    row("PLONGJMP", KEPLER, PASCAL_LAST, CONTROL),
    row("PLOP3", VOLTA, LAST, INTEGER),
    row("PMTRIG", KEPLER, LAST, OTHER),
    row("POPC", KEPLER, LAST, INTEGER),
    row("PREEXIT", HOPPER, LAST, CONTROL),
    row("PRET", KEPLER, PASCAL_LAST, CONTROL),
    row("PRMT", KEPLER, LAST, INTEGER),
    row("PSET", KEPLER, PASCAL_LAST, INTEGER),
    row("PSETP", KEPLER, LAST, INTEGER),
    row("QGMMA", HOPPER, LAST, TENSOR),
    row("QMMA", ADA, LAST, TENSOR),
    row("QSPC", VOLTA, LAST, INTEGER),
    row("R2B", KEPLER, LAST, INTEGER),
    row("R2P", KEPLER, LAST, INTEGER),
    row("R2UR", TURING, LAST, UNIFORM),
    row("RAM", KEPLER, PASCAL_LAST, CONTROL),
    row("RED", KEPLER, LAST, memory(Reduction, Global)),
    row("REDAS", HOPPER, LAST, memory(Reduction, Shared)),
    row("REDG", HOPPER, LAST, memory(Reduction, Global)),
    row("REDUX", AMPERE, LAST, UNIFORM),
    row("RET", KEPLER, LAST, CONTROL),
    row("RPCMOV", VOLTA, LAST, CONTROL),
    row("RRO", KEPLER, PASCAL_LAST, FP32),
    row("RTT", KEPLER, LAST, CONTROL),
    row("S2R", KEPLER, LAST, INTEGER),
    row("S2UR", TURING, LAST, UNIFORM),
    row("SAM", KEPLER, PASCAL_LAST, CONTROL),
    row("SEL", KEPLER, LAST, INTEGER),
    row("SETCRSPTR", KEPLER, LAST, OTHER),
    row("SETCTAID", KEPLER, LAST, INTEGER),
    row("SETLMEMBASE", KEPLER, LAST, INTEGER),
    row("SGXT", VOLTA, LAST, INTEGER),
    row("SHF", KEPLER, LAST, INTEGER),
    row("SHFL", KEPLER, LAST, INTEGER),
    row("SHL", KEPLER, LAST, INTEGER),
    row("SHR", KEPLER, LAST, INTEGER),
    row("SSY", KEPLER, PASCAL_LAST, CONTROL),
    row("ST", KEPLER, LAST, generic(Store)),
    row("STAS", HOPPER, LAST, memory(Store, Shared)),
    row("STG", MAXWELL, LAST, memory(Store, Global)),
    row("STL", KEPLER, LAST, memory(Store, Local)),
    row("STP", KEPLER, LAST, OTHER),
    row("STS", KEPLER, LAST, memory(Store, Shared)),
    row("STSCUL", KEPLER, LAST, memory(Store, Shared)),
    row("STSM", HOPPER, LAST, memory(Store, Shared)),
    row("STSUL", KEPLER, LAST, memory(Store, Shared)),
    row("STTM", BLACKWELL, LAST, TENSOR),
    row("SUATOM", MAXWELL, LAST, memory(Atomic, Texture)),
    row("SUBFM", KEPLER, LAST, OTHER),
    row("SUCLAMP", KEPLER, LAST, OTHER),
    row("SUEAU", KEPLER, LAST, OTHER),
    row("SULD", MAXWELL, LAST, memory(Load, Texture)),
    row("SULDGA", KEPLER, LAST, memory(Load, Texture)),
    row("SULEA", KEPLER, LAST, OTHER),
    row("SUQ", KEPLER, LAST, OTHER),
    row("SURED", MAXWELL, LAST, memory(Reduction, Texture)),
    row("SUST", MAXWELL, LAST, memory(Store, Texture)),
    row("SUSTGA", KEPLER, LAST, memory(Store, Texture)),
    row("SYNC", MAXWELL, PASCAL_LAST, CONTROL),
    row("SYNCS", HOPPER, LAST, CONTROL),
    row("TEX", KEPLER, LAST, memory(Load, Texture)),
    row("TEXDEPBAR", KEPLER, LAST, OTHER),
    row("TEXS", MAXWELL, LAST, memory(Load, Texture)),
    row("TLD", KEPLER, LAST, memory(Load, Texture)),
    row("TLD4", KEPLER, LAST, memory(Load, Texture)),
    row("TLD4S", MAXWELL, LAST, memory(Load, Texture)),
    row("TLDS", MAXWELL, LAST, memory(Load, Texture)),
    row("TMML", KEPLER, LAST, OTHER),
    row("TTUCCTL", KEPLER, LAST, OTHER),
    row("TTUCLOSE", KEPLER, LAST, OTHER),
    row("TTUGO", KEPLER, LAST, OTHER),
    row("TTULD", KEPLER, LAST, OTHER),
    row("TTUMACROFUSE", KEPLER, LAST, OTHER),
    row("TTUOPEN", KEPLER, LAST, OTHER),
    row("TTUST", KEPLER, LAST, OTHER),
    row("TXA", KEPLER, LAST, memory(Load, Texture)),
    row("TXD", KEPLER, LAST, memory(Load, Texture)),
    row("TXQ", KEPLER, LAST, OTHER),
    row("UBLKCP", HOPPER, LAST, memory(AsyncCopy, Global)),
    row("UBLKPF", HOPPER, LAST, memory(Prefetch, Global)),
    row("UBLKRED", HOPPER, LAST, memory(Reduction, Global)),
    row("UBMSK", TURING, LAST, UNIFORM),
    row("UBREV", TURING, LAST, UNIFORM),
    row("UCGABAR_ARV", HOPPER, LAST, CONTROL),
    row("UCGABAR_WAIT", HOPPER, LAST, CONTROL),
    row("UCLEA", TURING, LAST, UNIFORM),
    row("UF2F", TURING, LAST, UNIFORM),
    row("UF2FP", TURING, LAST, UNIFORM),
    row("UF2I", TURING, LAST, UNIFORM),
    row("UF2IP", TURING, LAST, UNIFORM),
    row("UFADD", TURING, LAST, UNIFORM),
    row("UFFMA", TURING, LAST, UNIFORM),
    row("UFLO", TURING, LAST, UNIFORM),
    row("UFMNMX", TURING, LAST, UNIFORM),
    row("UFMUL", TURING, LAST, UNIFORM),
    row("UFRND", TURING, LAST, UNIFORM),
    row("UFSEL", TURING, LAST, UNIFORM),
    row("UFSET", TURING, LAST, UNIFORM),
    row("UFSETP", TURING, LAST, UNIFORM),
    row("UGETNEXTWORKID", TURING, LAST, UNIFORM),
    row("UI2F", TURING, LAST, UNIFORM),
    row("UI2FP", TURING, LAST, UNIFORM),
    row("UI2I", TURING, LAST, UNIFORM),
    row("UI2IP", TURING, LAST, UNIFORM),
    row("UIABS", TURING, LAST, UNIFORM),
    row("UIADD3", TURING, LAST, UNIFORM),
    row("UIMAD", TURING, LAST, UNIFORM),
    row("UIMNMX", TURING, LAST, UNIFORM),
    row("UISETP", TURING, LAST, UNIFORM),
    row("ULDC", TURING, LAST, UNIFORM),
    row("ULEA", TURING, LAST, UNIFORM),
    row("ULOP", TURING, LAST, UNIFORM),
    row("ULOP3", TURING, LAST, UNIFORM),
    row("ULOP32I", TURING, LAST, UNIFORM),
    row("UMEMSETS", TURING, LAST, UNIFORM),
    row("UMOV", TURING, LAST, UNIFORM),
    row("UP2UR", TURING, LAST, UNIFORM),
    row("UPLOP3", TURING, LAST, UNIFORM),
    row("UPOPC", TURING, LAST, UNIFORM),
    row("UPRMT", TURING, LAST, UNIFORM),
    row("UPSETP", TURING, LAST, UNIFORM),
    row("UR2UP", TURING, LAST, UNIFORM),
    row("USEL", TURING, LAST, UNIFORM),
    row("USETMAXREG", HOPPER, LAST, CONTROL),
    row("USETSHMSZ", HOPPER, LAST, CONTROL),
    row("USGXT", TURING, LAST, UNIFORM),
    row("USHF", TURING, LAST, UNIFORM),
    row("USHL", TURING, LAST, UNIFORM),
    row("USHR", TURING, LAST, UNIFORM),
    row("UTCATOMSWS", BLACKWELL, LAST, TENSOR),
    row("UTCBAR", BLACKWELL, LAST, TENSOR),
    row("UTCCP", BLACKWELL, LAST, TENSOR),
    row("UTCHMMA", BLACKWELL, LAST, TENSOR),
    row("UTCIMMA", BLACKWELL, LAST, TENSOR),
    row("UTCMXQMMA", BLACKWELL, LAST, TENSOR),
    row("UTCOMMA", BLACKWELL, LAST, TENSOR),
    row("UTCQMMA", BLACKWELL, LAST, TENSOR),
    row("UTCSHIFT", BLACKWELL, LAST, TENSOR),
    row("UTMACCTL", KEPLER, LAST, OTHER),
    row("UTMACMDFLUSH", KEPLER, LAST, OTHER),
    row("UTMALDG", HOPPER, LAST, memory(AsyncCopy, Global)),
    row("UTMAPF", HOPPER, LAST, memory(Prefetch, Global)),
    row("UTMAREDG", HOPPER, LAST, memory(Reduction, Global)),
    row("UTMASTG", HOPPER, LAST, memory(Store, Global)),
    row("UVIADD", TURING, LAST, UNIFORM),
    row("UVIMNMX", TURING, LAST, UNIFORM),
    row("UVIRTCOUNT", TURING, LAST, UNIFORM),
    row("UVOTE", TURING, LAST, UNIFORM),
    row("VABSDIFF", KEPLER, PASCAL_LAST, INTEGER),
    row("VABSDIFF4", KEPLER, LAST, INTEGER),
    row("VADD", KEPLER, PASCAL_LAST, INTEGER),
    row("VHMNMX", HOPPER, LAST, INTEGER),
    row("VIADD", ADA, LAST, INTEGER),
    row("VIADDMNMX", HOPPER, LAST, INTEGER),
    row("VIMNMX", HOPPER, LAST, INTEGER),
    row("VIMNMX3", BLACKWELL, LAST, INTEGER),
    row("VMAD", KEPLER, PASCAL_LAST, INTEGER),
    row("VMNMX", KEPLER, PASCAL_LAST, INTEGER),
    row("VOTE", KEPLER, LAST, INTEGER),
    row("VOTEU", TURING, LAST, UNIFORM),
    row("VSET", KEPLER, PASCAL_LAST, INTEGER),
    row("VSETP", KEPLER, PASCAL_LAST, INTEGER),
    row("VSHL", KEPLER, PASCAL_LAST, INTEGER),
    row("VSHR", KEPLER, PASCAL_LAST, INTEGER),
    row("WARPGROUP", HOPPER, LAST, CONTROL),
    row("WARPGROUPDEPBAR", HOPPER, LAST, CONTROL),
    row("WARPGROUPSET", HOPPER, LAST, CONTROL),
    row("WARPSYNC", VOLTA, LAST, CONTROL),
    row("XMAD", MAXWELL, PASCAL_LAST, INTEGER),
    row("YIELD", VOLTA, LAST, CONTROL),
];

/// The row of an opcode without its modifiers.
pub fn find(name: &[u8]) -> Option<&'static Row> {
    let at = TABLE.binary_search_by(|row| row.name.as_bytes().cmp(name)).ok()?;
    Some(&TABLE[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_without_repeats() {
        for pair in TABLE.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
        }
    }

    #[test]
    fn every_opcode_is_found_and_exists_in_some_architecture() {
        for row in TABLE {
            assert_eq!(find(row.name.as_bytes()).map(|found| found.name), Some(row.name));
            assert!(row.first_sm <= row.last_sm, "{}", row.name);
        }
        assert!(find(b"FROB").is_none());
    }

    #[test]
    fn every_architecture_has_its_opcodes() {
        let has = |sm: u32, name: &str| {
            find(name.as_bytes()).is_some_and(|row| (row.first_sm..=row.last_sm).contains(&sm))
        };
        for (sm, own, foreign) in [
            (35, "SSY", "XMAD"),
            (52, "XMAD", "BSSY"),
            (61, "XMAD", "HMMA"),
            (70, "HMMA", "UIADD3"),
            (75, "UIADD3", "LDGSTS"),
            (86, "LDGSTS", "VIADD"),
            (89, "VIADD", "HGMMA"),
            (90, "HGMMA", "UTCHMMA"),
        ] {
            assert!(has(sm, own), "{own} in sm_{sm}");
            assert!(!has(sm, foreign), "{foreign} in sm_{sm}");
        }
    }
}
