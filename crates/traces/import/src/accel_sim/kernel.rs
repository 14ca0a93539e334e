//! Parses the text of one kernel file into CTAs, on a thread of its own.

use std::path::Path;
use std::sync::mpsc::Receiver;

use super::ahead::Events;
use super::event::Event;
use super::grouped::Grouped;
use super::header::Header;
use super::line::{Coordinates, LineParser};
use super::raw::Raw;
use crate::error::ImportError;
use crate::input::lines_of;

/// Parses the blocks of a file's text.
pub fn parse(path: &Path, blocks: Receiver<Result<Vec<u8>, ImportError>>, events: &Events) {
    let mut parser = Parser { path, events, stage: Stage::Header(Header::default()), line: 0 };
    let result = parser.blocks(blocks).and_then(|text_bytes| {
        parser.finish()?;
        send(events, Event::End { text_bytes })
    });
    report(result, events);
}

/// Forwards a failure; a receiver that is gone has failed itself.
pub fn report(result: Result<(), ImportError>, events: &Events) {
    if let Err(error) = result {
        events.send(Err(error));
    }
}

pub fn send(events: &Events, event: Event) -> Result<(), ImportError> {
    if events.send(Ok(event)) { Ok(()) } else { Err(ImportError::Cancelled) }
}

/// Returns the coordinates that the tracer of this version repeats on the lines of a grouped file.
pub fn grouped_coordinates(header: &Header) -> Coordinates {
    if header.tracer_version < 3 { Coordinates::Warp } else { Coordinates::None }
}

fn raw_coordinates(header: &Header) -> Coordinates {
    if header.tracer_version < 6 { Coordinates::Warp } else { Coordinates::WarpAndCluster }
}

struct Parser<'a> {
    path: &'a Path,
    events: &'a Events,
    stage: Stage,
    /// Lines read.
    line: u64,
}

enum Stage {
    Header(Header),
    Grouped(Grouped),
    Raw(Raw),
}

impl Parser<'_> {
    /// Parses all blocks; returns their bytes.
    fn blocks(
        &mut self,
        blocks: Receiver<Result<Vec<u8>, ImportError>>,
    ) -> Result<u64, ImportError> {
        let mut bytes = 0;
        for block in blocks {
            let block = block?;
            bytes += block.len() as u64;
            for line in lines_of(&block) {
                self.line += 1;
                self.take(line)?;
            }
        }
        Ok(bytes)
    }

    fn take(&mut self, line: &[u8]) -> Result<(), ImportError> {
        if let Stage::Header(header) = &mut self.stage {
            let line = line.trim_ascii();
            match line.first() {
                None => return Ok(()),
                Some(b'#') if line != b"#BEGIN_TB" => return Ok(()),
                Some(b'-') => {
                    header.line(line);
                    return Ok(());
                }
                Some(_) => {}
            }
            let header = std::mem::take(header);
            self.begin(header, line == b"#BEGIN_TB")?;
        }
        let done = match &mut self.stage {
            Stage::Grouped(grouped) => grouped.line(line),
            Stage::Raw(raw) => raw.line(line).map(|()| None),
            Stage::Header(_) => Ok(None),
        };
        let done = done.map_err(|expected| expected.at(self.path, self.line, line))?;
        match (done, &mut self.stage) {
            (Some(cta), Stage::Grouped(grouped)) => {
                send(self.events, Event::Cta(cta, grouped.parser.codes.take_new()))
            }
            _ => Ok(()),
        }
    }

    /// Handles the complete header.
    fn begin(&mut self, header: Header, grouped: bool) -> Result<(), ImportError> {
        header.check_isa().map_err(|what| ImportError::file(self.path, what))?;
        self.stage = if grouped {
            Stage::Grouped(Grouped::new(LineParser::new(&header, grouped_coordinates(&header))))
        } else {
            Stage::Raw(Raw::new(LineParser::new(&header, raw_coordinates(&header))))
        };
        send(self.events, Event::Header(Box::new(header)))
    }

    fn finish(&mut self) -> Result<(), ImportError> {
        match std::mem::replace(&mut self.stage, Stage::Header(Header::default())) {
            Stage::Header(_) if self.line == 0 => {
                Err(ImportError::file(self.path, "the file is empty; expected a kernel trace"))
            }
            Stage::Header(_) => Err(ImportError::file(
                self.path,
                "no instruction in it; expected #BEGIN_TB or instruction lines after the header",
            )),
            Stage::Grouped(grouped) => {
                grouped.finish().map_err(|what| ImportError::file(self.path, what))
            }
            Stage::Raw(mut raw) => {
                let mut codes = raw.parser.codes.take_new();
                raw.finish().try_for_each(|cta| {
                    send(self.events, Event::Cta(cta, std::mem::take(&mut codes)))
                })
            }
        }
    }
}
