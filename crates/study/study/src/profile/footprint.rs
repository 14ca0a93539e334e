//! Footprint of a trace: lines, bytes and pages of each address space, and which are read or
//! written.

use super::access::{Geometry, Touched};
use super::requests::Access;
use super::sampled::{Estimate, Sampled};
use super::sharing::Used;
use super::space::MemorySpace;
use super::translation::PAGE_SHIFTS;
use serde::Serialize;

/// Footprint of a trace in an address space.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Footprint {
    pub space: MemorySpace,
    /// Sampling: one in this many lines was kept; 1 means all, and line counts are exact.
    pub lines_per_kept: u64,
    /// Distinct lines.
    pub lines: Estimate,
    /// Distinct sectors.
    pub sectors: Estimate,
    /// Distinct bytes, at a granularity of 1/32 of a line.
    pub bytes: Estimate,
    /// Lines that are only read.
    pub read_only_lines: Estimate,
    /// Lines that are only written.
    pub written_lines: Estimate,
    /// Lines that are both read and written; atomics do both.
    pub both_lines: Estimate,
    /// Distinct pages of 4 KiB.
    pub small_pages: Estimate,
    /// Distinct pages of 64 KiB.
    pub medium_pages: Estimate,
    /// Distinct pages of 2 MiB.
    pub large_pages: Estimate,
}

/// Accesses to a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    parts: u32,
    is_read: bool,
    is_written: bool,
    pub used: Used,
}

/// Lines and pages of an address space.
pub(super) struct FootprintTally {
    space: MemorySpace,
    geometry: Geometry,
    pub lines: Sampled<Line>,
    pages: [Sampled<()>; PAGE_SHIFTS.len()],
    /// Most recent page of each size; most accesses hit it again.
    latest: [u64; PAGE_SHIFTS.len()],
}

impl FootprintTally {
    /// Makes a tally that keeps at most `limit` lines and `limit` pages of each size.
    pub fn new(space: MemorySpace, geometry: Geometry, limit: usize) -> FootprintTally {
        FootprintTally {
            space,
            geometry,
            lines: Sampled::new(limit),
            pages: PAGE_SHIFTS.map(|_| Sampled::new(limit)),
            latest: PAGE_SHIFTS.map(|_| u64::MAX),
        }
    }

    /// Records that an instruction of a CTA touches a line.
    pub fn access(&mut self, touched: Touched, access: Access, cta: u64) {
        let is_new = !self.lines.keeps(touched.line) || self.update(touched, access, cta);
        if is_new {
            self.note_pages(self.geometry.address(touched.line));
        }
    }

    /// Updates the line; returns whether it is new.
    fn update(&mut self, touched: Touched, access: Access, cta: u64) -> bool {
        let (line, is_new) = self.lines.entry(touched.line, Line::default);
        line.parts |= touched.parts;
        line.is_read |= access.reads();
        line.is_written |= access.writes();
        line.used.by.add(cta);
        line.used.accesses += 1;
        if is_new {
            self.lines.shrink(|_| ());
        }
        is_new
    }

    /// Adds the pages of an address. The larger pages around a known page are known.
    fn note_pages(&mut self, address: u64) {
        for ((pages, latest), shift) in self.pages.iter_mut().zip(&mut self.latest).zip(PAGE_SHIFTS)
        {
            let page = address >> shift;
            if *latest == page {
                return;
            }
            *latest = page;
            if pages.keeps(page) {
                if !pages.entry(page, || ()).1 {
                    return;
                }
                pages.shrink(|()| ());
            }
        }
    }

    pub fn figures(&self) -> Footprint {
        let geometry = self.geometry;
        let lines = &self.lines;
        let count = |of: fn(&Line) -> bool| lines.sum(|line| of(line).into());
        let [small_pages, medium_pages, large_pages] =
            self.pages.each_ref().map(|pages| pages.sum(|()| 1));
        Footprint {
            space: self.space,
            lines_per_kept: lines.weight(),
            lines: lines.sum(|_| 1),
            sectors: lines.sum(|line| geometry.sectors(line.parts).into()),
            bytes: lines.sum(|line| geometry.bytes(line.parts)),
            read_only_lines: count(|line| line.is_read && !line.is_written),
            written_lines: count(|line| line.is_written && !line.is_read),
            both_lines: count(|line| line.is_read && line.is_written),
            small_pages,
            medium_pages,
            large_pages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Options;

    fn tally(limit: usize) -> FootprintTally {
        FootprintTally::new(MemorySpace::Global, Geometry::new(&Options::default()), limit)
    }

    fn touch(tally: &mut FootprintTally, line: u64, parts: u32, access: Access) {
        tally.access(Touched { line, parts }, access, 0);
    }

    fn exact(value: u64) -> Estimate {
        Estimate { value, standard_error: 0.0 }
    }

    #[test]
    fn three_lines_by_hand() {
        let mut tally = tally(100);
        touch(&mut tally, 0, 0x3, Access::Load);
        touch(&mut tally, 0, 0x6, Access::Load);
        touch(&mut tally, 31, u32::MAX, Access::Store);
        touch(&mut tally, 32, 0x101, Access::Atomic);
        touch(&mut tally, 1 << 14, 1, Access::Load);
        touch(&mut tally, 1 << 14, 1, Access::Store);
        let expected = Footprint {
            space: MemorySpace::Global,
            lines_per_kept: 1,
            lines: exact(4),
            sectors: exact(1 + 4 + 2 + 1),
            bytes: exact(4 * (3 + 32 + 2 + 1)),
            read_only_lines: exact(1),
            written_lines: exact(1),
            both_lines: exact(2),
            small_pages: exact(3),
            medium_pages: exact(2),
            large_pages: exact(2),
        };
        assert_eq!(tally.figures(), expected);
    }

    #[test]
    fn more_lines_than_fit_are_estimated() {
        let mut tally = tally(512);
        for line in 0..32_768 {
            touch(&mut tally, line, 0xff, Access::Load);
        }
        let figures = tally.figures();
        assert!([64, 128].contains(&figures.lines_per_kept), "32,768 / 32 would not fit");
        for (estimate, truth) in [
            (figures.lines, 32_768.0),
            (figures.bytes, 32.0 * 32_768.0),
            (figures.small_pages, 1024.0),
        ] {
            assert!(estimate.standard_error > 0.0 && estimate.standard_error < 0.1 * truth);
            assert!(
                (estimate.value as f64 - truth).abs() < 3.0 * estimate.standard_error,
                "{estimate:?}"
            );
        }
        assert_eq!(figures.large_pages, exact(2), "pages have a limit of their own");
    }
}
