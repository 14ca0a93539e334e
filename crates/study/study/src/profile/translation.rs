//! Translation divergence: distinct pages per warp instruction, by page size.

use super::access::{Geometry, Lines, Touched};
use super::read::{Visitor, read};
use super::requests::{Access, Counts, Distribution};
use super::space::MemorySpace;
use super::{Options, ProfileError, Progress};
use serde::Serialize;
use std::ops::ControlFlow;
use warpmem_record::metrics::quotient;
use warpmem_trace::{Instruction, Record, Trace};

/// Log2 of the bytes of each page size: 4 KiB, 64 KiB and 2 MiB. A line is at most a page.
pub(super) const PAGE_SHIFTS: [u32; SIZES] = [12, 16, 21];

const SIZES: usize = 3;

/// Pages per warp instruction with an active lane that accesses global or local memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TranslationDivergence {
    /// Page size in bytes.
    pub page_bytes: u64,
    /// Number of warp instructions.
    pub instructions: u64,
    /// Distinct pages per instruction.
    pub pages: Distribution,
    /// Fraction of the instructions with more than one page.
    pub multi_page_share: Option<f64>,
}

/// Figures of each page size, smallest first.
pub type TranslationBySize = [TranslationDivergence; SIZES];

/// Reads all records of a trace once and returns only its translation divergence. `progress`
/// receives the number of records read, at intervals, and can stop the reading.
///
/// # Errors
/// If the trace is damaged, or `progress` stopped the reading.
pub fn translation_divergence(
    trace: &Trace,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<TranslationBySize, ProfileError> {
    let mut reader = Reader::new();
    read(trace, &mut reader, progress)?;
    Ok(reader.tally.figures())
}

/// Distinct pages of one instruction; reused across instructions.
pub(super) struct Pages {
    geometry: Geometry,
    /// Numbers of pages of the smallest size.
    pages: Vec<u64>,
}

impl Pages {
    pub fn new(geometry: Geometry) -> Pages {
        Pages { geometry, pages: Vec::new() }
    }

    /// Counts the distinct pages of each size under the distinct lines of an instruction.
    pub fn count(&mut self, lines: &[Touched]) -> [u32; SIZES] {
        if let [_] = lines {
            return [1; SIZES];
        }
        let smallest = PAGE_SHIFTS[0];
        self.pages.clear();
        self.pages.extend(lines.iter().map(|t| self.geometry.address(t.line) >> smallest));
        self.pages.dedup();
        self.pages.sort_unstable();
        PAGE_SHIFTS.map(|shift| {
            self.pages.dedup_by_key(|page| *page >> (shift - smallest));
            self.pages.len() as u32
        })
    }
}

/// Instructions by their number of pages of each size.
#[derive(Clone, Debug, Default)]
pub(super) struct TranslationTally([Counts; SIZES]);

impl TranslationTally {
    pub fn add(&mut self, pages: [u32; SIZES]) {
        self.0.iter_mut().zip(pages).for_each(|(counts, pages)| counts.add(pages));
    }

    pub fn merge(&mut self, other: &TranslationTally) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    pub fn figures(&self) -> TranslationBySize {
        [0, 1, 2].map(|size| {
            let counts = &self.0[size];
            let instructions = counts.count();
            TranslationDivergence {
                page_bytes: 1 << PAGE_SHIFTS[size],
                instructions,
                pages: counts.distribution(),
                multi_page_share: quotient(instructions - counts.of(1), instructions),
            }
        })
    }
}

/// Visitor that counts pages only.
struct Reader {
    /// Access width by static instruction of the kernel, bytes; none for uncounted instructions.
    widths: Vec<Option<u32>>,
    lines: Lines,
    pages: Pages,
    tally: TranslationTally,
}

impl Reader {
    fn new() -> Reader {
        let geometry = Geometry::new(&Options::default());
        Reader {
            widths: Vec::new(),
            lines: Lines::new(geometry),
            pages: Pages::new(geometry),
            tally: TranslationTally::default(),
        }
    }
}

impl Visitor for Reader {
    fn kernel(&mut self, _: usize, instructions: &[Instruction]) {
        let width = |instruction: &Instruction| {
            Access::of(instruction.kind)?;
            let space = MemorySpace::of(instruction.space)?;
            space.has_translation().then_some(instruction.width)
        };
        self.widths = instructions.iter().map(width).collect();
    }

    fn cta(&mut self, _: u64, _: usize) {}

    fn record(&mut self, _: usize, record: &Record) {
        let Some(width) = self.widths[record.instruction.0 as usize] else { return };
        if record.active_addresses().is_empty() {
            return;
        }
        self.lines.fill(record, width);
        self.tally.add(self.pages.count(self.lines.as_slice()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use warpmem_testing::{Step, TestKernel, load, memory, store, trace};
    use warpmem_trace::{Kind, Space};

    /// Counts the pages of a warp's instructions.
    fn of(warp: Vec<Step>) -> TranslationBySize {
        let trace = trace(&[TestKernel::new(vec![vec![warp]])]);
        translation_divergence(&trace, &mut |_| ControlFlow::Continue(())).unwrap()
    }

    /// Returns 32 lane addresses from `first` on, `stride` bytes apart.
    fn lanes(first: u64, stride: u64) -> Vec<u64> {
        (0..32).map(|lane| first + stride * lane).collect()
    }

    fn means(figures: &TranslationBySize) -> [Option<f64>; SIZES] {
        figures.each_ref().map(|size| size.pages.mean)
    }

    #[test]
    fn a_strided_load_touches_a_page_per_lane_or_fewer_of_larger_ones() {
        let figures = of(vec![load(&lanes(0, 8192))]);
        assert_eq!(figures.each_ref().map(|size| size.page_bytes), [4 << 10, 64 << 10, 2 << 20]);
        assert_eq!(means(&figures), [Some(32.0), Some(4.0), Some(1.0)]);
        let several = figures.each_ref().map(|size| size.multi_page_share);
        assert_eq!(several, [Some(1.0), Some(1.0), Some(0.0)]);
    }

    #[test]
    fn a_coalesced_load_touches_one_page_unless_it_crosses_a_border() {
        assert_eq!(means(&of(vec![load(&lanes(4096, 4))])), [Some(1.0); SIZES]);
        let below = |border: u64| means(&of(vec![load(&lanes(border - 64, 4))]));
        assert_eq!(below(4 << 10), [Some(2.0), Some(1.0), Some(1.0)]);
        assert_eq!(below(64 << 10), [Some(2.0), Some(2.0), Some(1.0)]);
        assert_eq!(below(2 << 20), [Some(2.0); SIZES]);
    }

    #[test]
    fn all_accesses_to_global_and_local_memory_count() {
        let at = |space| memory(Kind::Load, space, &[0, 4096]);
        let counted = vec![at(Space::Global), at(Space::Local), store(&[0])];
        let [small, ..] = of(counted);
        assert_eq!((small.instructions, small.pages.max), (3, Some(2)));
        assert_eq!((small.pages.mean, small.multi_page_share), (Some(5.0 / 3.0), Some(2.0 / 3.0)));
        let others = [Space::Shared, Space::Texture, Space::Constant].map(at);
        let [none, ..] = of(others.to_vec());
        assert_eq!((none.instructions, none.multi_page_share), (0, None));
        assert_eq!(none.pages, Distribution::default());
    }

    #[test]
    fn kernels_are_added_up() {
        let mut sum = TranslationTally::default();
        sum.add([1, 1, 1]);
        let mut other = TranslationTally::default();
        other.add([5, 3, 1]);
        sum.merge(&other);
        assert_eq!(means(&sum.figures()), [Some(3.0), Some(2.0), Some(1.0)]);
    }

    proptest! {
        #[test]
        fn pages_are_those_of_the_touched_lines(
            lines in prop::collection::btree_set(0u64..1 << 16, 1..64),
        ) {
            let geometry = Geometry::new(&Options::default());
            let touched: Vec<Touched> =
                lines.iter().rev().map(|&line| Touched { line, parts: 1 }).collect();
            let distinct = PAGE_SHIFTS.map(|shift| {
                let pages = lines.iter().map(|&line| geometry.address(line) >> shift);
                pages.collect::<BTreeSet<u64>>().len() as u32
            });
            prop_assert_eq!(Pages::new(geometry).count(&touched), distinct);
        }
    }
}
