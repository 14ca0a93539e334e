//! The static part of instruction lines, parsed once per distinct text.
//!
//! All executions of an instruction repeat the text from the destination count to the width, so a
//! line is recognised by its PC and one comparison of bytes; only mask and addresses are parsed
//! every time.

use rustc_hash::FxHashMap;
use warpmem_trace::{Operands, Reg, Registers};

use crate::error::Expected;
use crate::sass::opcode::{self, Decoded};
use crate::sass::operation::Op;
use crate::text::{self, Tokens};

/// Index of a [`Code`] within its kernel.
pub type CodeId = u32;

/// The part of an instruction that all its executions share.
#[derive(Clone, Debug)]
pub struct Code {
    pub pc: u64,
    /// With modifiers.
    pub opcode: Box<str>,
    pub decoded: Decoded,
    /// Registers written, including all registers of a wide load.
    pub dests: Box<[Reg]>,
    pub srcs: Box<[Reg]>,
    pub operands: Operands,
    /// Whether lines of this code carry an address block.
    pub addressed: bool,
    /// First immediate, where it matters: a barrier's id, or the groups that a `DEPBAR` leaves
    /// outstanding.
    pub immediate: i64,
}

impl Code {
    pub fn registers(&self) -> Registers<'_> {
        Registers { dests: &self.dests, srcs: &self.srcs, operands: self.operands }
    }
}

/// The codes of one kernel, in order of first appearance.
#[derive(Debug)]
pub struct CodeTable {
    sm: u32,
    /// Last code found for each PC; only unusual traces have several per PC.
    by_pc: FxHashMap<u64, CodeId>,
    entries: Vec<Entry>,
    /// Code of the previous line.
    last: CodeId,
    /// Codes not yet returned by [`CodeTable::take_new`].
    new: Vec<Code>,
    /// Total text of all entries, bytes.
    bytes: usize,
}

/// Maximum text of a kernel's entries: several hundred thousand distinct instructions.
const MAX_BYTES: usize = if cfg!(test) { 1 << 20 } else { 16 << 20 };

#[derive(Debug)]
struct Entry {
    pc: u64,
    /// From the destination count to the width, or to the immediate where that matters.
    text: Box<[u8]>,
    op: Op,
    /// Bytes per lane.
    width: u8,
    addressed: bool,
    /// The next code with the same PC.
    next: Option<CodeId>,
    /// Code of the line that last followed one of this code: a prediction of the next.
    follower: CodeId,
}

/// The code of a recognised line, without a table look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub id: CodeId,
    pub op: Op,
    /// Bytes per lane.
    pub width: u8,
    pub addressed: bool,
}

impl CodeTable {
    pub fn new(sm: u32) -> CodeTable {
        CodeTable {
            sm,
            by_pc: FxHashMap::default(),
            entries: Vec::new(),
            last: 0,
            new: Vec::new(),
            bytes: 0,
        }
    }

    /// Reads the static part of a line after its PC and mask.
    pub fn find(&mut self, pc: u64, tokens: &mut Tokens<'_>) -> Result<Found, Expected> {
        let id = match self.known(pc, tokens.rest()) {
            Some(id) => {
                tokens.skip(self.entries[id as usize].text.len());
                id
            }
            None => self.add(pc, tokens)?,
        };
        self.entries[self.last as usize].follower = id;
        self.last = id;
        let entry = &self.entries[id as usize];
        Ok(Found { id, op: entry.op, width: entry.width, addressed: entry.addressed })
    }

    /// Returns the code of this PC that `line` starts with.
    fn known(&self, pc: u64, line: &[u8]) -> Option<CodeId> {
        let expected = self.entries.get(self.last as usize)?.follower;
        if self.entries[expected as usize].is_of(pc, line) {
            return Some(expected);
        }
        let mut candidate = self.by_pc.get(&pc).copied();
        while let Some(id) = candidate
            && !self.entries[id as usize].is_of(pc, line)
        {
            candidate = self.entries[id as usize].next;
        }
        candidate
    }

    fn add(&mut self, pc: u64, tokens: &mut Tokens<'_>) -> Result<CodeId, Expected> {
        let (code, text) = parse(pc, tokens, self.sm)?;
        self.bytes += text.len();
        if self.bytes > MAX_BYTES {
            return Err("at most 16 MiB of distinct instructions in a kernel".into());
        }
        let id = self.entries.len() as CodeId;
        self.entries.push(Entry {
            pc,
            text: text.into(),
            op: code.decoded.op,
            width: code.decoded.width,
            addressed: code.addressed,
            next: self.by_pc.insert(pc, id),
            follower: id,
        });
        self.new.push(code);
        Ok(id)
    }

    /// Returns the codes found since the last call, in order.
    pub fn take_new(&mut self) -> Vec<Code> {
        std::mem::take(&mut self.new)
    }
}

impl Entry {
    /// Returns whether a line with this PC starts with the tokens of the text.
    fn is_of(&self, pc: u64, line: &[u8]) -> bool {
        self.pc == pc && line.starts_with(&self.text) && text::is_end(line.get(self.text.len()))
    }
}

/// Upper bound on the registers of an instruction.
const MAX_REGISTERS: u32 = 64;

/// Parses the static part; returns it with its text.
fn parse<'a>(pc: u64, tokens: &mut Tokens<'a>, sm: u32) -> Result<(Code, &'a [u8]), Expected> {
    let line = tokens.rest();
    let written = parse_registers(tokens, "the number of destination registers", sm)?;
    let opcode = tokens.expect(OPCODE)?;
    if !opcode.first().is_some_and(u8::is_ascii_uppercase) || !opcode.is_ascii() {
        return Err(OPCODE.into());
    }
    let decoded = opcode::decode(opcode, sm);
    let srcs = parse_registers(tokens, "the number of source registers", sm)?;
    let addressed = parse_addressed(tokens, decoded.op)?;
    let immediate = match decoded.op {
        Op::Barrier | Op::AsyncWait if !addressed => {
            tokens.next().and_then(text::signed).unwrap_or(0)
        }
        _ => 0,
    };
    let read = line.len() - tokens.rest().len();
    let code = Code {
        pc,
        opcode: String::from_utf8_lossy(opcode).into(),
        decoded,
        dests: written.iter().flat_map(|&reg| widen(reg, decoded.registers)).collect(),
        operands: Operands::of(srcs.iter().filter(|reg| is_general(**reg)).map(|reg| reg.0)),
        srcs: srcs.into(),
        addressed,
        immediate,
    };
    Ok((code, line[..read].trim_ascii_end()))
}

const OPCODE: &str = "a SASS opcode in capital letters";

/// Reads the access width, which determines whether an address block follows. An exit must have
/// none: the repair of its mask would separate it from its block, which is read back with the mask
/// it was parsed with.
fn parse_addressed(tokens: &mut Tokens<'_>, op: Op) -> Result<bool, Expected> {
    let addressed = tokens.decimal("the access width in bytes")? != 0;
    if addressed && op == Op::Exit {
        return Err("the access width 0 of an EXIT, which has no addresses".into());
    }
    Ok(addressed)
}

fn parse_registers(
    tokens: &mut Tokens<'_>,
    count: &'static str,
    sm: u32,
) -> Result<Vec<Reg>, Expected> {
    let count_is = tokens.decimal(count)?;
    if count_is > MAX_REGISTERS {
        return Err(count.into());
    }
    let mut registers = Vec::new();
    for _ in 0..count_is {
        const REGISTER: &str = "a register (R0 to R255, UR0 to UR255, P0 to P7, UP0 to UP7)";
        let token = tokens.expect(REGISTER)?;
        registers.extend(parse_register(token, sm).ok_or(REGISTER)?);
    }
    Ok(registers)
}

/// General registers are numbered 0 to 254; uniform and predicate registers follow.
const UNIFORM_BASE: u16 = 256;
const PREDICATE_BASE: u16 = 512;
const UNIFORM_PREDICATE_BASE: u16 = 520;
/// First number that no register of a trace uses.
pub const FIRST_UNUSED: u16 = 528;

/// Parses a register. The inner value is `None` for constant registers, which are never dependences
/// (R255, UR63 or UR255, P7 and UP7, called RZ, URZ, PT and UPT in SASS).
fn parse_register(token: &[u8], sm: u32) -> Option<Option<Reg>> {
    let digits = token.iter().position(u8::is_ascii_digit).unwrap_or(token.len());
    let (file, number) = token.split_at(digits);
    if number.is_empty() {
        return matches!(file, b"RZ" | b"URZ" | b"PT" | b"UPT").then_some(None);
    }
    let number = u16::try_from(text::decimal(number)?).ok()?;
    let (base, last, constant) = match file {
        b"R" => (0, 255, 255),
        b"UR" => (UNIFORM_BASE, 255, uniform_zero(sm)),
        b"P" => (PREDICATE_BASE, 7, 7),
        b"UP" => (UNIFORM_PREDICATE_BASE, 7, 7),
        _ => return None,
    };
    if number > last {
        return None;
    }
    Some((number != constant).then_some(Reg(base + number)))
}

/// Returns the number of URZ: of 64 uniform registers up to Hopper and for unknown architectures,
/// of 256 after it.
fn uniform_zero(sm: u32) -> u16 {
    const BLACKWELL: u32 = 100;
    if sm < BLACKWELL { 63 } else { 255 }
}

/// Returns whether a register is in the banked general register file.
fn is_general(reg: Reg) -> bool {
    reg.0 < UNIFORM_BASE
}

/// Iterates over the registers of one destination.
fn widen(first: Reg, registers: u8) -> impl Iterator<Item = Reg> {
    let last = if is_general(first) {
        (first.0 + u16::from(registers.max(1)) - 1).min(254)
    } else {
        first.0
    };
    (first.0..=last).map(Reg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> Result<Code, Expected> {
        parse(0x10, &mut Tokens::new(line.as_bytes()), 70).map(|(code, _)| code)
    }

    fn regs(numbers: &[u16]) -> Vec<Reg> {
        numbers.iter().map(|&n| Reg(n)).collect()
    }

    #[test]
    fn a_wide_load_writes_consecutive_registers() {
        let load = code("1 R20 LDS.U.128 1 R11 16 1 0x0 16").unwrap();
        assert_eq!(*load.dests, regs(&[20, 21, 22, 23]));
        assert_eq!(*load.srcs, regs(&[11]));
        let pair = code("1 R4 IMAD.WIDE 2 R6 R7 0 0").unwrap();
        assert_eq!(*pair.dests, regs(&[4]), "compute keeps the numbers of the trace");
        let matrix = code("1 R8 LDSM.16.M88.2 1 R3 2 1 0x0 16").unwrap();
        assert_eq!(*matrix.dests, regs(&[8, 9]));
    }

    #[test]
    fn constant_registers_are_not_dependences() {
        let code = code("1 R255 IMAD.MOV.U32 5 R255 RZ URZ UR63 R3 0 0").unwrap();
        assert_eq!(*code.dests, []);
        assert_eq!(*code.srcs, regs(&[3]));
    }

    #[test]
    fn the_uniform_zero_register_is_the_last_of_its_architecture() {
        let sources = |sm| {
            let text = b"0 UIADD3 2 UR63 UR255 0 0";
            parse(0x10, &mut Tokens::new(text), sm).unwrap().0.srcs
        };
        assert_eq!(*sources(90), regs(&[UNIFORM_BASE + 255]));
        assert_eq!(*sources(100), regs(&[UNIFORM_BASE + 63]));
    }

    #[test]
    fn a_wide_load_ends_at_the_last_register() {
        let dests = |line: &str| code(line).unwrap().dests;
        assert_eq!(*dests("1 R252 LDG.E.128 1 R2 16 1 0x0 16"), regs(&[252, 253, 254]));
        assert_eq!(*dests("1 R254 LDG.E.64 1 R2 8 1 0x0 8"), regs(&[254]));
        assert_eq!(*dests("1 R255 LDG.E.128 1 R2 16 1 0x0 16"), []);
    }

    #[test]
    fn version_6_registers_do_not_collide() {
        let code = code("3 UP0 P0 UP7 UISETP.GE 5 R0 UR0 P1 PT UR62 0 0").unwrap();
        assert_eq!(*code.dests, regs(&[520, 512]));
        assert_eq!(*code.srcs, regs(&[0, 256, 513, 318]));
        assert!(code.dests.iter().chain(&code.srcs).all(|reg| reg.0 < FIRST_UNUSED));
    }

    #[test]
    fn the_immediate_is_read_where_it_matters() {
        assert_eq!(code("0 BAR.SYNC 0 0 3").unwrap().immediate, 3);
        assert_eq!(code("0 DEPBAR.LE 0 0 1").unwrap().immediate, 1);
        assert_eq!(code("0 BAR.SYNC 0 0").unwrap().immediate, 0);
    }

    #[test]
    fn malformed_static_parts() {
        for (line, expected) in [
            ("", "number of destination"),
            ("ffffffff 1 R1 MOV 0 0", "number of destination"),
            ("1 R300 MOV 0 0", "register"),
            ("1 X1 MOV 0 0", "register"),
            ("1 R1 mov 0 0", "opcode"),
            ("1 R1 MOV", "number of source"),
            ("1 R1 MOV 0", "width"),
            ("1 R1 MOV 2 R1 0", "register"),
            ("4000000000 R1 MOV 0 0", "number of destination"),
            ("0 EXIT 0 4 0 0x80", "EXIT"),
        ] {
            let error = code(line).unwrap_err().0;
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn known_texts_are_recognised_and_longer_tokens_differ() {
        let mut table = CodeTable::new(70);
        let mut find = |line: &str| {
            let mut tokens = Tokens::new(line.as_bytes());
            let found = table.find(0x10, &mut tokens).unwrap();
            (found.id, tokens.rest().len())
        };
        assert_eq!(find("1 R1 LDG.E 1 R2 4 1 0x0 4"), (0, 7));
        assert_eq!(find("1 R1 LDG.E 1 R2 4 1 0x80 4"), (0, 8));
        assert_eq!(find("1 R1 LDG.E 1 R2 40 1 0x80 4"), (1, 8));
        assert_eq!(find("1 R1 LDG.E 1 R2 4 1 0x80 4"), (0, 8));
        assert_eq!(table.take_new().len(), 2);
        assert_eq!(table.take_new().len(), 0);
    }

    #[test]
    fn the_predicted_code_is_verified() {
        let mut table = CodeTable::new(70);
        let mut find =
            |pc: u64, line: &str| table.find(pc, &mut Tokens::new(line.as_bytes())).unwrap().id;
        let (one, two) = ("1 R1 MOV 0 0", "1 R2 MOV 0 0");
        // 0 was followed by 1; then the same text at another PC, another text at its PC, and 1
        // again.
        let found =
            [(0, one), (1, one), (0, one), (2, one), (0, one), (1, two), (0, one), (1, one)];
        assert_eq!(found.map(|(pc, line)| find(pc, line)), [0, 1, 0, 2, 0, 3, 0, 1]);
    }
}
