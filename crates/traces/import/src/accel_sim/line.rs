//! Instruction lines: coordinates, mask, code and addresses.

use super::address;
use super::code::{CodeId, CodeTable};
use super::header::Header;
use crate::error::Expected;
use crate::sass::operation::Op;
use crate::text::{self, Leading, Tokens};

/// An instruction as executed by one warp. Its addresses are stored separately, see [`address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub code: CodeId,
    pub mask: u32,
}

/// The coordinates at the start of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// None: the section headings give them.
    None,
    /// CTA x, y, z and warp.
    Warp,
    /// The same, then seven numbers about the CTA's cluster.
    WarpAndCluster,
}

/// The position of a line in its grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub block: [u32; 3],
    pub warp: u32,
}

/// Highest warp number plus one: twice what 1024 threads need.
pub const MAX_WARPS: u32 = 64;

/// Parses the lines of one kernel.
#[derive(Debug)]
pub struct LineParser {
    coordinates: Coordinates,
    line_numbers: bool,
    /// Text and value of the last mask, most often repeated by the next line.
    mask: ([u8; MASK_DIGITS], u32),
    pub codes: CodeTable,
}

/// A parsed line; its addresses are appended to the given buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    pub line: Line,
    pub op: Op,
    pub pc: u64,
    /// Whether it has an address block.
    pub addressed: bool,
}

impl LineParser {
    pub fn new(header: &Header, coordinates: Coordinates) -> LineParser {
        LineParser {
            coordinates,
            line_numbers: header.line_numbers,
            mask: (*b"00000000", 0),
            codes: CodeTable::new(header.sm_version),
        }
    }

    /// Reads the coordinates, if lines have them.
    pub fn place(&self, tokens: &mut Tokens<'_>) -> Result<Option<Place>, Expected> {
        if self.coordinates == Coordinates::None {
            return Ok(None);
        }
        let mut coordinate = || tokens.decimal("CTA coordinates x y z");
        let block = [coordinate()?, coordinate()?, coordinate()?];
        let warp = parse_warp(tokens.next())?;
        if self.coordinates == Coordinates::WarpAndCluster {
            for _ in 0..7 {
                tokens.decimal("seven numbers of the CTA's cluster (version 6)")?;
            }
        }
        Ok(Some(Place { block, warp }))
    }

    /// Reads the rest of the line, from its line number or PC on.
    pub fn instruction(
        &mut self,
        tokens: &mut Tokens<'_>,
        addresses: &mut Vec<u8>,
    ) -> Result<Parsed, Expected> {
        if self.line_numbers {
            tokens.decimal("a source line number (the header says `enable lineinfo = 1`)")?;
        }
        let pc = tokens.hex("a hexadecimal PC")?;
        let mask = self.mask(tokens)?;
        let found = self.codes.find(pc, tokens)?;
        if found.addressed {
            address::parse(tokens, mask, found.width.into(), addresses)?;
        }
        check_tail(tokens)?;
        let line = Line { code: found.id, mask };
        Ok(Parsed { line, op: found.op, pc, addressed: found.addressed })
    }

    fn mask(&mut self, tokens: &mut Tokens<'_>) -> Result<u32, Expected> {
        let text = tokens.rest();
        if text.starts_with(&self.mask.0) && text::is_end(text.get(MASK_DIGITS)) {
            tokens.skip(MASK_DIGITS);
            return Ok(self.mask.1);
        }
        let (mask, bytes) = leading_mask(text)
            .ok_or("an active mask of up to 8 hexadecimal digits, a warp's 32 lanes")?;
        tokens.skip(bytes);
        if let Some(digits) = text[..bytes].first_chunk() {
            self.mask = (*digits, mask);
        }
        Ok(mask)
    }
}

const MASK_DIGITS: usize = 8;

fn leading_mask(text: &[u8]) -> Leading<u32> {
    let (mask, bytes) = text::leading_hex(text)?;
    let is_mask = bytes <= MASK_DIGITS && text::is_end(text.get(bytes));
    Some((u32::try_from(mask).ok().filter(|_| is_mask)?, bytes))
}

pub fn parse_warp(token: Option<&[u8]>) -> Result<u32, Expected> {
    let warp = token.and_then(text::decimal).filter(|&warp| warp < u64::from(MAX_WARPS));
    warp.map(|warp| warp as u32).ok_or_else(|| "a warp number from 0 to 63".into())
}

/// Checks the tokens after width and addresses, which are skipped: immediates, then stored data or
/// register values, and the placeholder for the addresses of an instruction without active lanes.
fn check_tail(tokens: &Tokens<'_>) -> Result<(), Expected> {
    if matches!(tokens.rest(), b"" | b"0") {
        return Ok(());
    }
    match tokens.clone().next() {
        None | Some(b"STORE_DATA" | b"Val" | b"NoVal") => Ok(()),
        Some(token) if is_number(token) => Ok(()),
        Some(_) => Err("an immediate, STORE_DATA, Val or NoVal after width and addresses".into()),
    }
}

fn is_number(token: &[u8]) -> bool {
    text::signed(token).is_some() || text::decimal(token).is_some() || text::hex(token).is_some()
}

#[cfg(test)]
mod tests {
    use warpmem_trace::{Kind, Reg, Space, WARP_SIZE};

    use super::super::code::Code;
    use super::*;
    use crate::packed::Expander;

    struct Read {
        place: Option<Place>,
        mask: u32,
        code: Code,
        addresses: Vec<u64>,
    }

    fn read(line: &str, coordinates: Coordinates, line_numbers: bool) -> Result<Read, Expected> {
        let header = Header { line_numbers, ..Header::default() };
        let mut parser = LineParser::new(&header, coordinates);
        let mut tokens = Tokens::new(line.as_bytes());
        let mut bytes = Vec::new();
        let place = parser.place(&mut tokens)?;
        let mask = parser.instruction(&mut tokens, &mut bytes)?.line.mask;
        let code = parser.codes.take_new().remove(0);
        let mut lanes = [0; WARP_SIZE];
        let addresses = match code.addressed {
            true => Expander::new(&bytes).next(mask, &mut lanes).1.to_vec(),
            false => Vec::new(),
        };
        Ok(Read { place, mask, code, addresses })
    }

    fn place(x: u32, y: u32, z: u32, warp: u32) -> Option<Place> {
        Some(Place { block: [x, y, z], warp })
    }

    #[test]
    fn version_missing() {
        let line = "0 0 0 0 0290 ffff0000 1 R8 LDG.E.SYS 1 R2 4 1 0x00007fe033702880 4 ";
        let read = read(line, Coordinates::Warp, false).unwrap();
        assert_eq!(read.place, place(0, 0, 0, 0));
        assert_eq!((read.code.pc, read.mask), (0x290, 0xffff_0000));
        assert_eq!((&*read.code.dests, &*read.code.srcs), (&[Reg(8)][..], &[Reg(2)][..]));
        assert_eq!(read.addresses.len(), 16);
        assert_eq!(read.addresses[15], 0x7fe0_3370_2880 + 60);
    }

    #[test]
    fn version_1_2() {
        let line = "0 0 0 1 0090 ffffffff 1 R4 LDG.E.64.SYS 1 R4 8 1 0x00007f2d93400100 8 ";
        let read = read(line, Coordinates::Warp, false).unwrap();
        assert_eq!(read.place, place(0, 0, 0, 1));
        assert_eq!(read.code.decoded.width, 8);
        assert_eq!(*read.code.dests, [Reg(4), Reg(5)]);
        assert_eq!(read.addresses[31], 0x7f2d_9340_0100 + 31 * 8);
    }

    #[test]
    fn version_3_raw() {
        let line = "6 0 0 3 0098 ffffffff 1 R4 LDG.E.64 1 R4 8 1 0x7f32c550c300 8 ";
        let read = read(line, Coordinates::Warp, false).unwrap();
        assert_eq!(read.place, place(6, 0, 0, 3));
        assert_eq!(read.code.pc, 0x98);
    }

    #[test]
    fn version_3() {
        let line = "0430 00000707 1 R14 LDG.E.CONSTANT.SYS 1 R10 4 2 0x7fa60fe01400 0 0 16 0 0 ";
        let read = read(line, Coordinates::None, false).unwrap();
        assert_eq!(read.place, None);
        let base = 0x7fa6_0fe0_1400;
        assert_eq!(read.addresses, [base, base, base, base + 16, base + 16, base + 16]);
    }

    #[test]
    fn version_4() {
        let line = "0098 ffffffff 1 R4 LDG.E.CG 1 R4 4 1 0x7f2b2d500000 4 ";
        let read = read(line, Coordinates::None, false).unwrap();
        assert_eq!(read.code.decoded.cache_op, warpmem_trace::CacheOp::Global);
    }

    #[test]
    fn version_5() {
        let line = "00a0 ffffffff 1 R4 LDG.E 1 R4 4 1 0x7fb0fc430e00 4 0 ";
        let read = read(line, Coordinates::None, false).unwrap();
        assert_eq!(read.addresses[1], 0x7fb0_fc43_0e04);
    }

    #[test]
    fn version_5_raw_with_line_numbers() {
        let line = "15 0 0 19 0 0090 ffffffff 1 R4 LDG.E.64.SYS 1 R4 8 1 0x7fceb2ae2900 8 0 ";
        let read = read(line, Coordinates::Warp, true).unwrap();
        assert_eq!(read.place, place(15, 0, 0, 19));
        assert_eq!((read.code.pc, read.mask), (0x90, 0xffff_ffff));
    }

    #[test]
    fn stored_values_at_the_end() {
        let line = "00d0 ffffffff 0 STG.E.SYS 2 R6 R9 4 1 0x7fabb9200000 4 0 STORE_DATA I32 1 \
                    REG0:T0:0x00000000 T1:0x40400000 ";
        let read = read(line, Coordinates::None, false).unwrap();
        assert_eq!(
            read.code.decoded.op,
            Op::Memory { kind: Kind::Store, space: Some(Space::Global) }
        );
        assert_eq!(read.addresses[31], 0x7fab_b920_0000 + 124);
    }

    #[test]
    fn a_mask_of_zero_has_a_placeholder() {
        let line = "0080 00000000 1 R6 LDG.E.64 1 R28 8 1 0x0 0 0 ";
        let read = read(line, Coordinates::None, false).unwrap();
        assert_eq!((read.mask, read.addresses.len()), (0, 0));
    }

    #[test]
    fn an_async_copy_with_deltas() {
        let deltas = "16 ".repeat(15) + "784 " + &"16 ".repeat(15);
        let line = format!(
            "05e0 ffffffff 0 LDGSTS.E.BYPASS.LTC128B.128 2 R9 R10 16 2 0x7f35f6200000 {deltas}0 "
        );
        let read = read(&line, Coordinates::None, false).unwrap();
        let op = Op::Memory { kind: Kind::AsyncCopy, space: Some(Space::Global) };
        assert_eq!((read.code.decoded.op, read.code.decoded.width), (op, 16));
        assert_eq!(read.addresses[16], 0x7f35_f620_0000 + 15 * 16 + 784);
        assert_eq!(read.addresses[31], 0x7f35_f620_0000 + 30 * 16 + 784);
    }

    #[test]
    fn version_6_raw() {
        let line = "1 2 3 4 0 0 0 0 0 0 0 0090 ffffffff 2 R4 P0 LDG.E 2 UR4 R4 4 1 0x7f0000000000 4 \
                    0 16 Val 1 0x3f ";
        let read = read(line, Coordinates::WarpAndCluster, false).unwrap();
        assert_eq!(read.place, place(1, 2, 3, 4));
        assert_eq!(read.addresses.len(), 32);
        assert!(self::read(line, Coordinates::Warp, false).is_err());
    }

    #[test]
    fn a_width_field_does_not_override_the_opcode() {
        let line = "0090 00000001 1 R4 LDG.E.128 1 R4 4 1 0x7f0000000000 0 ";
        let read = read(line, Coordinates::None, false).unwrap();
        assert_eq!(read.code.decoded.width, 16);
    }

    #[test]
    fn every_line_has_its_own_mask() {
        let mut parser = LineParser::new(&Header::default(), Coordinates::None);
        let texts =
            ["0000000f", "0000000f", "000000f0", "f", "f", "0x0000ff", "0000000F", "0000000f"];
        let masks = texts.map(|mask| {
            let line = format!("0000 {mask} 0 EXIT 0 0");
            let mut tokens = Tokens::new(line.as_bytes());
            parser.instruction(&mut tokens, &mut Vec::new()).unwrap().line.mask
        });
        assert_eq!(masks, [0xf, 0xf, 0xf0, 0xf, 0xf, 0xff, 0xf, 0xf]);
    }

    #[test]
    fn malformed_lines_say_what_was_expected() {
        for (line, expected) in [
            ("zz ffffffff 1 R1 MOV 0 0", "PC"),
            ("0000", "mask"),
            ("0000 1ffffffff 1 R1 MOV 0 0", "mask"),
            ("0000 ffffffff 1 R1 MOV 0 0 oops", "immediate"),
            ("0000 ffffffff 1 R1 LDG.E 1 R2 4", "address mode"),
            ("0000 ffffffff 1 R1 LDG.E 1 R2 4 7 0x0 4", "address mode"),
            ("0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x0", "stride"),
        ] {
            let error = read(line, Coordinates::None, false).err().expect(line).0;
            assert!(error.contains(expected), "{line}: {error}");
        }
        let error = read("0 0 x 1 0000", Coordinates::Warp, false).err().unwrap().0;
        assert!(error.contains("CTA coordinates"), "{error}");
        let error = read("0 0 0 64 0000", Coordinates::Warp, false).err().unwrap().0;
        assert!(error.contains("warp number"), "{error}");
    }
}
