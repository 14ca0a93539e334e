//! Kernel files as the tracer wrote them: one line per instruction in the order of delivery by the
//! GPU, CTAs and warps interleaved.
//!
//! A CTA may end on the last line only, so all records of a file are collected, a few bytes each,
//! and grouped at the end of the file.

use rustc_hash::FxHashMap;
use warpmem_trace::Kind;

use super::cta::{Cta, Size, WarpSpan};
use super::line::{Line, LineParser, Parsed};
use crate::error::Expected;
use crate::sass::operation::Op;
use crate::text::Tokens;

/// Parses the lines after the header; returns the CTAs at the end.
#[derive(Debug)]
pub struct Raw {
    pub parser: LineParser,
    index: FxHashMap<[u32; 3], usize>,
    ctas: Vec<Collected>,
    /// Bytes of the CTAs.
    bytes: u64,
}

/// Maximum bytes of a file's CTAs, which are all held until its last line.
const MAX_BYTES: u64 = if cfg!(test) { 1 << 20 } else { 4 << 30 };

#[derive(Debug)]
struct Collected {
    block: [u32; 3],
    /// Indexed by warp number.
    warps: Vec<Warp>,
    size: Size,
}

#[derive(Debug, Default)]
struct Warp {
    lines: Vec<Line>,
    addresses: Vec<u8>,
    /// The last line, if it may be the first of an async copy's two.
    half_copy: Option<HalfCopy>,
}

#[derive(Clone, Copy, Debug)]
struct HalfCopy {
    pc: u64,
    /// Start of its address block.
    addresses: usize,
}

impl Raw {
    pub fn new(parser: LineParser) -> Raw {
        Raw { parser, index: FxHashMap::default(), ctas: Vec::new(), bytes: 0 }
    }

    pub fn line(&mut self, line: &[u8]) -> Result<(), Expected> {
        let mut tokens = Tokens::new(line);
        if tokens.rest().is_empty() || tokens.rest().starts_with(b"#") {
            return Ok(());
        }
        let place = self.parser.place(&mut tokens)?.unwrap_or_default();
        let next = self.ctas.len();
        let at = *self.index.entry(place.block).or_insert(next);
        if at == next {
            let (block, warps) = (place.block, Vec::new());
            self.ctas.push(Collected { block, warps, size: Size::default() });
            self.bytes += size_of::<Collected>() as u64;
        }
        let Collected { warps, size, .. } = &mut self.ctas[at];
        let warp = place.warp as usize;
        if warps.len() <= warp {
            self.bytes += ((warp + 1 - warps.len()) * size_of::<Warp>()) as u64;
            warps.resize_with(warp + 1, Warp::default);
        }
        let warp = &mut warps[warp];
        let start = warp.addresses.len();
        let parsed = self.parser.instruction(&mut tokens, &mut warp.addresses)?;
        size.add(&parsed)?;
        self.bytes += (size_of::<Line>() + warp.addresses.len() - start) as u64;
        warp.push(parsed, start);
        if self.bytes <= MAX_BYTES {
            return Ok(());
        }
        Err("the end of a raw file, which is collected in at most 4 GiB of memory: group it with the tracer's \
             post-traces-processing first"
            .into())
    }

    /// Returns the CTAs by z, y, x, the launch order of a grid.
    pub fn finish(self) -> impl Iterator<Item = Cta> {
        let mut ctas = self.ctas;
        ctas.sort_unstable_by_key(|cta| [cta.block[2], cta.block[1], cta.block[0]]);
        ctas.into_iter().map(Collected::join)
    }
}

impl Warp {
    /// Adds a line whose address block starts at `addresses`. The tracer writes an async copy
    /// twice, with its shared and then its global addresses; the second line replaces the first.
    fn push(&mut self, Parsed { line, op, pc, .. }: Parsed, addresses: usize) {
        let is_copy = matches!(op, Op::Memory { kind: Kind::AsyncCopy, .. });
        match self.half_copy.take() {
            Some(half) if is_copy && half.pc == pc => {
                self.addresses.drain(half.addresses..addresses);
                self.lines.pop();
            }
            _ => self.half_copy = is_copy.then_some(HalfCopy { pc, addresses }),
        }
        self.lines.push(line);
    }
}

impl Collected {
    fn join(self) -> Cta {
        let mut cta = Cta { block: self.block, ..Cta::default() };
        for (number, warp) in self.warps.into_iter().enumerate() {
            if !warp.lines.is_empty() {
                cta.warps.push(WarpSpan { warp: number as u32, lines: warp.lines.len() });
                cta.lines.extend(warp.lines);
                cta.addresses.extend(warp.addresses);
            }
        }
        cta
    }
}

#[cfg(test)]
mod tests {
    use warpmem_trace::WARP_SIZE;

    use super::super::header::Header;
    use super::super::line::Coordinates;
    use super::*;
    use crate::packed::Expander;

    fn collect(text: &str) -> Vec<Cta> {
        let mut raw = Raw::new(LineParser::new(&Header::default(), Coordinates::Warp));
        text.lines().for_each(|line| raw.line(line.as_bytes()).unwrap());
        raw.finish().collect()
    }

    #[test]
    fn interleaved_warps_keep_their_order() {
        let ctas = collect(
            "1 0 0 1 0000 ffffffff 1 R1 MOV 0 0\n0 1 0 0 0000 0000000f 1 R1 MOV 0 0\n\n\
             1 0 0 0 0000 000000ff 1 R1 MOV 0 0\n1 0 0 1 0010 00000001 0 EXIT 0 0\n",
        );
        assert_eq!(ctas.iter().map(|cta| cta.block).collect::<Vec<_>>(), [[1, 0, 0], [0, 1, 0]]);
        let spans = [WarpSpan { warp: 0, lines: 1 }, WarpSpan { warp: 1, lines: 2 }];
        assert_eq!(ctas[0].warps, spans);
        let masks: Vec<u32> = ctas[0].lines.iter().map(|line| line.mask).collect();
        assert_eq!(masks, [0xff, 0xffff_ffff, 1]);
    }

    fn refusal(lines: impl Iterator<Item = String>) -> String {
        let mut raw = Raw::new(LineParser::new(&Header::default(), Coordinates::Warp));
        lines.map(|line| raw.line(line.as_bytes())).find_map(Result::err).unwrap().0.into_owned()
    }

    #[test]
    fn gathered_rows_are_bounded() {
        // One endless CTA, and endless CTAs with an instruction in their last warp.
        let one = refusal((0u64..).map(|_| "0 0 0 0 0000 ffffffff 1 R1 MOV 0 0".to_owned()));
        assert!(one.contains("a thread block take at most 4 GiB"), "{one}");
        let many = refusal((0u64..).map(|x| format!("{x} 0 0 63 0000 ffffffff 1 R1 MOV 0 0")));
        assert!(many.contains("the end of a raw file"), "{many}");
    }

    #[test]
    fn an_async_copy_written_twice_keeps_the_global_addresses() {
        let copy = |warp: u32, address: &str| {
            format!("0 0 0 {warp} 0010 00000003 0 LDGSTS.E 2 R9 R10 4 1 {address} 4\n")
        };
        let text = copy(0, "0x40")
            + &copy(1, "0x80")
            + &copy(0, "0x7f0000000000")
            + &copy(1, "0x7f0000000080")
            + &copy(0, "0x60")
            + &copy(0, "0x7f0000000100");
        let ctas = collect(&text);
        assert_eq!(ctas[0].lines.len(), 3);
        let mut expander = Expander::new(&ctas[0].addresses);
        let mut lanes = [0; WARP_SIZE];
        for expected in [0x7f00_0000_0000u64, 0x7f00_0000_0100, 0x7f00_0000_0080] {
            assert_eq!(expander.next(3, &mut lanes).1, [expected, expected + 4]);
        }
    }

    #[test]
    fn an_async_copy_written_once_is_kept() {
        let ctas = collect(
            "0 0 0 0 0010 00000001 0 LDGSTS.E 2 R9 R10 4 1 0x7f0000000000 0\n\
             0 0 0 0 0020 00000001 0 LDGSTS.E 2 R9 R12 4 1 0x7f0000000080 0\n",
        );
        assert_eq!(ctas[0].lines.len(), 2);
    }
}
