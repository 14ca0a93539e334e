//! `.tracez` kernel files of Accel-Sim 2.0: the text of each warp in Zstandard frames, found through a
//! footer. All numbers are little-endian.
//!
//! ```text
//! header lines, NUL
//! u32 dictionary bytes, u32 instructions per sub-chunk, dictionary
//! per warp: 8 bytes (skipped), then per sub-chunk: u32 bytes, frame
//! footer: u32 CTAs, per CTA:
//!   11 u32: block x y z, cluster x y z, CTA within the cluster x y z, rank, warps
//!   per warp: u32 instructions, u32 sub-chunks, u64 offset, u32 instructions of each sub-chunk
//! u64 offset of the footer
//! ```
//!
//! Written from a description of the format; no file of the tracer itself has been read with it yet.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use zstd::dict::DecoderDictionary;
use zstd::stream::read::Decoder;

use super::ahead::Events;
use super::cta::{Cta, WarpSpan};
use super::event::Event;
use super::header::Header;
use super::kernel::{grouped_coordinates, report, send};
use super::line::{LineParser, MAX_WARPS, Parsed, Place};
use crate::error::{Expected, ImportError};
use crate::progress::Progress;
use crate::text::Tokens;

/// Maximum header, bytes.
const MAX_HEADER: u64 = 1 << 20;
/// Maximum mean line length of a sub-chunk, bytes.
const MAX_LINE: u64 = 16 << 10;
/// Maximum sub-chunk, bytes, packed or not; also maximum dictionary.
const MAX_CHUNK: u64 = 64 << 20;

/// Returns whether a file is in this format: header lines that end with a NUL.
pub fn is_tracez(path: &Path) -> Result<bool, ImportError> {
    let file = File::open(path).map_err(ImportError::io("open", path))?;
    let mut head = Vec::new();
    file.take(64 << 10).read_to_end(&mut head).map_err(ImportError::io("read", path))?;
    Ok(head.trim_ascii_start().starts_with(b"-") && head.contains(&0))
}

/// Parses a file and sends its events.
pub fn parse(path: &Path, progress: &dyn Progress, events: &Events) {
    report(try_parse(path, progress, events), events);
}

fn try_parse(path: &Path, progress: &dyn Progress, events: &Events) -> Result<(), ImportError> {
    let mut source = Source::open(path)?;
    let header = source.header()?;
    let dictionary = source.dictionary()?;
    progress.advance(source.offset);
    let mut footer = source.footer()?;
    let mut warps = Warps {
        parser: LineParser::new(&header, grouped_coordinates(&header)),
        source,
        dictionary,
        progress,
        text_bytes: 0,
    };
    send(events, Event::Header(Box::new(header)))?;
    for _ in 0..footer.u32()? {
        let cta = warps.cta(&mut footer)?;
        send(events, Event::Cta(cta, warps.parser.codes.take_new()))?;
    }
    send(events, Event::End { text_bytes: warps.text_bytes })
}

struct Warps<'a> {
    source: Source<'a>,
    dictionary: DecoderDictionary<'static>,
    parser: LineParser,
    progress: &'a dyn Progress,
    text_bytes: u64,
}

impl Warps<'_> {
    /// Reads the next CTA of the footer.
    fn cta(&mut self, footer: &mut Footer<'_>) -> Result<Cta, ImportError> {
        if self.progress.cancelled() {
            return Err(ImportError::Cancelled);
        }
        let block = [footer.u32()?, footer.u32()?, footer.u32()?];
        for _ in 0..7 {
            footer.u32()?;
        }
        let warps = footer.u32()?;
        if warps > MAX_WARPS {
            return Err(
                footer.bad(format!("{warps} warps in a CTA; at most {MAX_WARPS} are valid"))
            );
        }
        let mut cta = Cta { block, ..Cta::default() };
        for warp in 0..warps {
            let first = cta.lines.len();
            self.warp(warp, &mut cta, footer)?;
            let lines = cta.lines.len() - first;
            if lines > 0 {
                cta.warps.push(WarpSpan { warp, lines });
            }
        }
        Ok(cta)
    }

    fn warp(
        &mut self,
        warp: u32,
        cta: &mut Cta,
        footer: &mut Footer<'_>,
    ) -> Result<(), ImportError> {
        let instructions = footer.u32()?;
        let chunks = footer.u32()?;
        let offset = footer.u64()?;
        let before = cta.lines.len();
        const WARP_HEADER: u64 = 8;
        self.source.seek(offset.saturating_add(WARP_HEADER))?;
        self.progress.advance(WARP_HEADER);
        for _ in 0..chunks {
            self.chunk(warp, footer.u32()?, cta)?;
        }
        let read = (cta.lines.len() - before) as u64;
        if read != u64::from(instructions) {
            let what = format!("warp {warp} has {instructions} instructions, its chunks {read}");
            return Err(footer.bad(what));
        }
        Ok(())
    }

    fn chunk(&mut self, warp: u32, lines: u32, cta: &mut Cta) -> Result<(), ImportError> {
        let offset = self.source.offset;
        let size = self.source.u32()?;
        let packed = self.source.bytes(size.into())?;
        self.progress.advance(4 + u64::from(size));
        let text = self.inflate(&packed, lines, offset)?;
        self.text_bytes += text.len() as u64;
        let here = Place { block: cta.block, warp };
        let mut read = 0;
        for line in text.split(|&byte| byte == b'\n' || byte == 0) {
            let mut tokens = Tokens::new(line);
            if tokens.rest().is_empty() {
                continue;
            }
            read += 1;
            let parsed = self.line(&mut tokens, here, &mut cta.addresses).map_err(|expected| {
                let [x, y, z] = here.block;
                let place = format!("CTA ({x}, {y}, {z}), warp {warp}, line {read} of its chunk");
                expected.within(self.source.path, offset, &place, line)
            })?;
            cta.push(&parsed).map_err(|expected| {
                let place = format!("CTA {:?}, warp {warp}", here.block);
                expected.within(self.source.path, offset, &place, line)
            })?;
        }
        if read != lines {
            let what = format!("a chunk of {lines} instructions holds {read} lines");
            return Err(self.source.bad(offset, what));
        }
        Ok(())
    }

    fn line(
        &mut self,
        tokens: &mut Tokens<'_>,
        here: Place,
        addresses: &mut Vec<u8>,
    ) -> Result<Parsed, Expected> {
        if self.parser.place(tokens)?.is_some_and(|place| place != here) {
            return Err("the coordinates of the thread block and warp in the footer".into());
        }
        self.parser.instruction(tokens, addresses)
    }

    fn inflate(&self, packed: &[u8], lines: u32, offset: u64) -> Result<Vec<u8>, ImportError> {
        let bound = (u64::from(lines) + 1).saturating_mul(MAX_LINE).min(MAX_CHUNK);
        let mut text = Vec::new();
        let inflated = Decoder::with_prepared_dictionary(packed, &self.dictionary)
            .and_then(|decoder| decoder.take(bound).read_to_end(&mut text));
        match inflated {
            Ok(bytes) if (bytes as u64) < bound => Ok(text),
            Ok(_) => {
                let what =
                    format!("a chunk of {lines} instructions inflates to {bound} bytes or more");
                Err(self.source.bad(offset, what))
            }
            Err(error) => Err(self.source.bad(offset, format!("a damaged chunk: {error}"))),
        }
    }
}

struct Source<'a> {
    path: &'a Path,
    file: BufReader<File>,
    /// Offset of the next read.
    offset: u64,
    bytes: u64,
}

impl<'a> Source<'a> {
    fn open(path: &'a Path) -> Result<Source<'a>, ImportError> {
        let file = File::open(path).map_err(ImportError::io("open", path))?;
        let bytes = file.metadata().map_err(ImportError::io("read", path))?.len();
        Ok(Source { path, file: BufReader::new(file), offset: 0, bytes })
    }

    fn header(&mut self) -> Result<Header, ImportError> {
        let mut text = Vec::new();
        loop {
            let byte = self.bytes(1)?[0];
            if byte == 0 {
                break;
            }
            text.push(byte);
            if self.offset > MAX_HEADER {
                return Err(self.bad(self.offset, "the header has no end"));
            }
        }
        let mut header = Header::default();
        text.split(|&byte| byte == b'\n').for_each(|line| header.line(line));
        header.check_isa().map_err(|what| self.bad(0, what))?;
        Ok(header)
    }

    fn dictionary(&mut self) -> Result<DecoderDictionary<'static>, ImportError> {
        let bytes = self.u32()?;
        let _instructions_per_chunk = self.u32()?;
        let dictionary = self.bytes(bytes.into())?;
        Ok(DecoderDictionary::copy(&dictionary))
    }

    /// Opens the footer, a few dozen bytes per warp, on a file handle of its own.
    fn footer(&mut self) -> Result<Footer<'a>, ImportError> {
        const POINTER: u64 = 8;
        let end = self.bytes.saturating_sub(POINTER);
        let back = self.offset;
        self.seek(end)?;
        let start = self.bytes(POINTER)?;
        let start = u64::from_le_bytes(start.try_into().unwrap_or_default());
        if start < back || start > end {
            let what = format!("the footer offset {start} is out of range");
            return Err(self.bad(end, what));
        }
        let failed = |source| ImportError::io("read", self.path)(source);
        let mut file = BufReader::new(File::open(self.path).map_err(failed)?);
        file.seek(io::SeekFrom::Start(start)).map_err(failed)?;
        Ok(Footer { path: self.path, file, at: start, end })
    }

    fn seek(&mut self, offset: u64) -> Result<(), ImportError> {
        // A relative seek keeps the buffer, which almost always holds the next warp.
        let relative = offset.wrapping_sub(self.offset) as i64;
        self.file.seek_relative(relative).map_err(|error| self.failed(offset, &error))?;
        self.offset = offset;
        Ok(())
    }

    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, ImportError> {
        if count > MAX_CHUNK {
            let what = format!("{count} bytes in one piece; at most {MAX_CHUNK} are valid");
            return Err(self.bad(self.offset, what));
        }
        if count > self.bytes.saturating_sub(self.offset) {
            let what = format!("{count} bytes expected at the end of the file; it is truncated");
            return Err(self.bad(self.offset, what));
        }
        let mut bytes = vec![0; count as usize];
        self.file.read_exact(&mut bytes).map_err(|error| self.failed(self.offset, &error))?;
        self.offset += count;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, ImportError> {
        let bytes = self.bytes(4)?;
        Ok(u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    fn failed(&self, offset: u64, error: &io::Error) -> ImportError {
        self.bad(offset, error.to_string())
    }

    fn bad(&self, offset: u64, what: impl Into<std::borrow::Cow<'static, str>>) -> ImportError {
        ImportError::Binary { path: self.path.to_path_buf(), offset, what: what.into() }
    }
}

struct Footer<'a> {
    path: &'a Path,
    file: BufReader<File>,
    /// Offset of the next read, and end of the footer.
    at: u64,
    end: u64,
}

impl Footer<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], ImportError> {
        let mut bytes = [0; N];
        if self.end - self.at < N as u64 {
            return Err(self.bad("the footer ends too early".into()));
        }
        self.file.read_exact(&mut bytes).map_err(|error| self.bad(error.to_string()))?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, ImportError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ImportError> {
        self.take().map(u64::from_le_bytes)
    }

    fn bad(&self, what: String) -> ImportError {
        let (path, offset) = (self.path.to_path_buf(), self.at);
        ImportError::Binary { path, offset, what: what.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ahead;
    use super::*;

    const DICTIONARY: &[u8] = b"0000 ffffffff 1 R1 MOV 0 0 0 \n0010 ffffffff 0 EXIT 0 0 0 \n";
    const HEADER: &[u8] = b"-kernel name = k\n-accelsim tracer version = 6\n";

    fn frame(text: &str) -> Vec<u8> {
        let mut encoder =
            zstd::stream::write::Encoder::with_dictionary(Vec::new(), 1, DICTIONARY).unwrap();
        io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    /// The chunks of a warp's lines.
    type Chunks<'a> = Vec<Vec<&'a str>>;

    fn write(ctas: &[([u32; 3], Vec<Chunks<'_>>)]) -> Vec<u8> {
        let mut file = [HEADER, &[0]].concat();
        file.extend((DICTIONARY.len() as u32).to_le_bytes());
        file.extend(2u32.to_le_bytes());
        file.extend(DICTIONARY);
        let mut footer = (ctas.len() as u32).to_le_bytes().to_vec();
        for (block, warps) in ctas {
            let numbers = block.iter().copied().chain([0; 7]).chain([warps.len() as u32]);
            numbers.for_each(|n| footer.extend(n.to_le_bytes()));
            for chunks in warps {
                let lines: usize = chunks.iter().map(Vec::len).sum();
                footer.extend((lines as u32).to_le_bytes());
                footer.extend((chunks.len() as u32).to_le_bytes());
                footer.extend((file.len() as u64).to_le_bytes());
                file.extend([0xaa; 8]);
                for chunk in chunks {
                    footer.extend((chunk.len() as u32).to_le_bytes());
                    let frame = frame(&(chunk.join("\n") + "\n"));
                    file.extend((frame.len() as u32).to_le_bytes());
                    file.extend(frame);
                }
            }
        }
        let at = file.len() as u64;
        file.extend(footer);
        file.extend(at.to_le_bytes());
        file
    }

    fn sample() -> Vec<u8> {
        let (mov, exit) = ("0000 ffffffff 1 R1 MOV 0 0 0 ", "0010 ffffffff 0 EXIT 0 0 0 ");
        let load = "0008 0000000f 1 R4 LDG.E 1 R2 4 1 0x7f0000000000 4 0 NoVal";
        write(&[
            ([1, 0, 0], vec![vec![vec![mov, load], vec![exit]], vec![vec![exit]]]),
            ([0, 2, 0], vec![vec![], vec![vec![mov]]]),
        ])
    }

    fn read(bytes: &[u8]) -> Result<Vec<Event>, ImportError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernel-1.tracez");
        std::fs::write(&path, bytes).unwrap();
        assert!(is_tracez(&path).unwrap());
        let (events, received) = ahead::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let events = events;
                parse(&path, &(), &events);
            });
            received.collect()
        })
    }

    #[test]
    fn warps_are_joined_from_several_chunks() {
        let events = read(&sample()).unwrap();
        let [
            Event::Header(header),
            Event::Cta(first, codes),
            Event::Cta(second, _),
            Event::End { .. },
        ] = &events[..]
        else {
            panic!("{events:?}");
        };
        assert_eq!(header.name.as_deref(), Some("k"));
        assert_eq!(codes.len(), 3);
        assert_eq!((first.block, second.block), ([1, 0, 0], [0, 2, 0]));
        let spans = [WarpSpan { warp: 0, lines: 3 }, WarpSpan { warp: 1, lines: 1 }];
        assert_eq!(first.warps, spans);
        assert_eq!(second.warps, [WarpSpan { warp: 1, lines: 1 }]);
        let masks: Vec<u32> = first.lines.iter().map(|line| line.mask).collect();
        assert_eq!(masks, [u32::MAX, 0xf, u32::MAX, u32::MAX]);
    }

    #[test]
    fn any_truncation_is_an_error() {
        let whole = sample();
        for cut in HEADER.len() + 1..whole.len() {
            assert!(read(&whole[..cut]).is_err(), "cut at {cut} of {}", whole.len());
        }
    }

    #[test]
    fn no_damaged_byte_panics() {
        let whole = sample();
        for at in HEADER.len() + 1..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x81;
            let _ = read(&damaged);
        }
    }

    #[test]
    fn oversized_chunks_are_refused() {
        let blank = "\n".repeat(MAX_CHUNK as usize + 1);
        let mut bytes = [HEADER, &[0]].concat();
        bytes.extend((DICTIONARY.len() as u32).to_le_bytes());
        bytes.extend(2u32.to_le_bytes());
        bytes.extend(DICTIONARY);
        let (warp, frame) = (bytes.len() as u64, frame(&blank));
        assert!(frame.len() < 10_000, "{}", frame.len());
        bytes.extend([0; 8]);
        bytes.extend((frame.len() as u32).to_le_bytes());
        bytes.extend(&frame);
        let footer = bytes.len() as u64;
        let lines = u32::MAX.to_le_bytes();
        let numbers = [1u32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        bytes.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend([&lines[..], &1u32.to_le_bytes(), &warp.to_le_bytes(), &lines].concat());
        bytes.extend(footer.to_le_bytes());
        let error = read(&bytes).unwrap_err().to_string();
        let expected = "a chunk of 4294967295 instructions inflates to 67108864 bytes or more";
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_bad_line_is_placed() {
        let bytes = write(&[([3, 0, 0], vec![vec![vec!["0000 ffffffff 1 R1 mov 0 0 0"]]])]);
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains("CTA (3, 0, 0), warp 0, line 1"), "{error}");
        assert!(error.contains("opcode"), "{error}");
    }

    #[test]
    fn an_exit_with_addresses_is_placed() {
        let lines = vec!["0000 1 0 EXIT 0 4 0 0x80", "0010 1 1 R4 LDG.E 1 R2 4 0 0x0"];
        let error = read(&write(&[([0; 3], vec![vec![lines]])])).unwrap_err().to_string();
        assert!(error.contains("CTA (0, 0, 0), warp 0, line 1"), "{error}");
        assert!(error.contains("width 0 of an EXIT"), "{error}");
    }
}
