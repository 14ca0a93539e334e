//! Kernel files in which CTAs and warps follow one another under headings.

use rustc_hash::FxHashSet;

use super::cta::{Cta, WarpSpan};
use super::header::triple;
use super::line::{LineParser, Place, parse_warp};
use crate::error::Expected;
use crate::text::{self, Tokens};

/// Parses the lines after the header; returns a CTA at each of its ends.
#[derive(Debug)]
pub struct Grouped {
    pub parser: LineParser,
    state: State,
    cta: Cta,
    /// `insts = n` of the last warp of `cta`.
    declared: Option<u64>,
    done: FxHashSet<[u32; 3]>,
}

/// Position among the headings of the current CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum State {
    Outside,
    Begun,
    InBlock,
    InWarp,
}

impl Grouped {
    pub fn new(parser: LineParser) -> Grouped {
        Grouped {
            parser,
            state: State::Outside,
            cta: Cta::default(),
            declared: None,
            done: FxHashSet::default(),
        }
    }

    /// Parses a line; returns the CTA that it ends.
    pub fn line(&mut self, line: &[u8]) -> Result<Option<Cta>, Expected> {
        let line = line.trim_ascii();
        match line.first() {
            None => Ok(()),
            Some(b'#') if line == b"#END_TB" => return self.end().map(Some),
            Some(b'#') if line == b"#BEGIN_TB" => self.begin(),
            Some(b'#') => Ok(()),
            Some(b't') => self.block(line),
            Some(b'w') => self.warp(line),
            Some(b'i') => self.instructions(line),
            Some(b'c') if line.starts_with(b"cluster ") => Ok(()),
            _ => self.instruction(line),
        }?;
        Ok(None)
    }

    /// Checks that the last CTA is complete.
    pub fn finish(&self) -> Result<(), &'static str> {
        match self.state {
            State::Outside => Ok(()),
            _ => Err("the file ends inside a thread block (no #END_TB); it is truncated"),
        }
    }

    fn begin(&mut self) -> Result<(), Expected> {
        if self.state != State::Outside {
            return Err("#END_TB before the next #BEGIN_TB".into());
        }
        self.state = State::Begun;
        Ok(())
    }

    fn block(&mut self, line: &[u8]) -> Result<(), Expected> {
        let value = value(line, b"thread block").and_then(triple);
        let block = value.ok_or("`thread block = x,y,z`")?;
        if self.state != State::Begun {
            return Err("`thread block` only once, right after #BEGIN_TB".into());
        }
        if !self.done.insert(block) {
            return Err("each thread block only once".into());
        }
        self.cta = Cta { block, ..Cta::default() };
        self.state = State::InBlock;
        Ok(())
    }

    fn warp(&mut self, line: &[u8]) -> Result<(), Expected> {
        let warp = parse_warp(value(line, b"warp"))?;
        if self.state < State::InBlock {
            return Err("`thread block = x,y,z` before the first warp".into());
        }
        self.close_warp()?;
        if self.cta.warps.iter().any(|span| span.warp == warp) {
            return Err("each warp of a thread block only once".into());
        }
        self.cta.warps.push(WarpSpan { warp, lines: 0 });
        self.state = State::InWarp;
        Ok(())
    }

    fn instructions(&mut self, line: &[u8]) -> Result<(), Expected> {
        let count = value(line, b"insts").and_then(text::decimal);
        if self.state != State::InWarp || self.declared.is_some() {
            return Err("`insts = n` only right after `warp = n`".into());
        }
        self.declared = Some(count.ok_or("`insts = n`")?);
        Ok(())
    }

    fn instruction(&mut self, line: &[u8]) -> Result<(), Expected> {
        let Some(span) = self.cta.warps.last_mut().filter(|_| self.state == State::InWarp) else {
            return Err("`warp = n` before the first instruction".into());
        };
        let mut tokens = Tokens::new(line);
        let here = Place { block: self.cta.block, warp: span.warp };
        if self.parser.place(&mut tokens)?.is_some_and(|place| place != here) {
            return Err("the coordinates of the thread block and warp in the headings above".into());
        }
        let parsed = self.parser.instruction(&mut tokens, &mut self.cta.addresses)?;
        span.lines += 1;
        self.cta.push(&parsed)
    }

    fn close_warp(&mut self) -> Result<(), Expected> {
        let Some(span) = self.cta.warps.last() else { return Ok(()) };
        let declared = self.declared.take();
        if let Some(declared) = declared.filter(|&n| n != span.lines as u64) {
            let (warp, lines) = (span.warp, span.lines);
            return Err(format!(
                "{declared} instructions of warp {warp}, as its `insts` says, before this line; \
                 there are {lines}"
            )
            .into());
        }
        if span.lines == 0 {
            self.cta.warps.pop();
        }
        Ok(())
    }

    fn end(&mut self) -> Result<Cta, Expected> {
        if self.state < State::InBlock {
            return Err("`thread block = x,y,z` before #END_TB".into());
        }
        self.close_warp()?;
        self.state = State::Outside;
        Ok(std::mem::take(&mut self.cta))
    }
}

/// Returns the value of a `key = value` line.
fn value<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let value = line.strip_prefix(key)?.trim_ascii_start().strip_prefix(b"=")?;
    Some(value.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::super::header::Header;
    use super::super::line::Coordinates;
    use super::*;

    fn ctas(text: &str, coordinates: Coordinates) -> Result<Vec<Cta>, String> {
        let parser = LineParser::new(&Header::default(), coordinates);
        let mut grouped = Grouped::new(parser);
        let mut ctas = Vec::new();
        for line in text.lines() {
            ctas.extend(grouped.line(line.as_bytes()).map_err(|expected| expected.0.into_owned())?);
        }
        grouped.finish()?;
        Ok(ctas)
    }

    const MOV: &str = "0000 ffffffff 1 R1 MOV 0 0";

    #[test]
    fn ctas_warps_and_lines() {
        let text = format!(
            "#BEGIN_TB\nthread block = 1,2,3\ncluster id = 0,0,0\ncluster cta = 0,0,0\n\
             cluster rank = 0\nwarp = 4\ninsts = 2\n{MOV}\n{MOV}\n\nwarp = 0\ninsts = 0\n\n\
             warp = 2\n{MOV}\n#END_TB\n\n#BEGIN_TB\nthread block = 0,0,0\n#END_TB\n"
        );
        let ctas = ctas(&text, Coordinates::None).unwrap();
        assert_eq!(ctas[0].block, [1, 2, 3]);
        let spans = [WarpSpan { warp: 4, lines: 2 }, WarpSpan { warp: 2, lines: 1 }];
        assert_eq!(ctas[0].warps, spans, "a warp without instructions is no warp");
        assert_eq!(ctas[0].lines.len(), 3);
        assert_eq!(ctas[1].warps, []);
    }

    #[test]
    fn old_versions_repeat_the_coordinates() {
        let text = |line: &str| {
            format!("#BEGIN_TB\nthread block = 1,0,0\nwarp = 2\ninsts = 1\n{line}\n#END_TB\n")
        };
        assert!(ctas(&text(&format!("1 0 0 2 {MOV}")), Coordinates::Warp).is_ok());
        let error = ctas(&text(&format!("1 0 0 3 {MOV}")), Coordinates::Warp).unwrap_err();
        assert!(error.contains("coordinates"), "{error}");
    }

    #[test]
    fn endless_ctas_and_instructions_are_refused() {
        let refusal = |line: &dyn Fn(u64) -> String| {
            let parser = LineParser::new(&Header::default(), Coordinates::None);
            let mut grouped = Grouped::new(parser);
            for line in ["#BEGIN_TB", "thread block = 0,0,0", "warp = 0"] {
                grouped.line(line.as_bytes()).unwrap();
            }
            let lines = (0u64..).map(|n| grouped.line(line(n).as_bytes()));
            lines.filter_map(Result::err).next().unwrap().0.into_owned()
        };
        let endless = refusal(&|_| MOV.to_owned());
        assert!(endless.contains("a thread block take at most 4 GiB"), "{endless}");
        let opcode = format!("MOV.{}", "X".repeat(1000));
        let distinct = refusal(&|n| format!("{n:04x} ffffffff 1 R1 {opcode} 0 0"));
        assert!(distinct.contains("distinct instructions"), "{distinct}");
    }

    #[test]
    fn damage_is_reported() {
        let head = "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n";
        for (text, expected) in [
            (format!("{head}insts = 2\n{MOV}\n#END_TB"), "2 instructions of warp 0"),
            (format!("{head}insts = 1\n{MOV}\n"), "truncated"),
            (format!("{head}insts = 1\n{MOV}\nwarp = 0\n"), "each warp"),
            (format!("{head}insts = 1\n{MOV}\n#BEGIN_TB"), "#END_TB before"),
            (format!("{head}#END_TB\n{head}"), "each thread block"),
            (MOV.to_string(), "`warp = n`"),
            ("#BEGIN_TB\nwarp = 0".to_string(), "before the first warp"),
            ("#BEGIN_TB\nthread block = 0,0".to_string(), "x,y,z"),
            (format!("{head}insts = many"), "`insts = n`"),
            ("#END_TB".to_string(), "before #END_TB"),
        ] {
            let error = ctas(&text, Coordinates::None).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
