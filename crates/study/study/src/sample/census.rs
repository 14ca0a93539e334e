//! Measures of each CTA of a part, collected in one pass without simulation.

use super::{Part, PartProgress, ProgressCallback, SampleError};
use std::sync::Arc;
use warpmem_trace::{Chunk, Instruction, Kind, Record, Space, Trace};

/// Log2 of the counted line size in bytes: 128, independent of the machine.
const LINE_BITS: u32 = 7;

/// Measures of one or several CTAs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Warp instructions, including compute.
    pub warp_instructions: u64,
    pub records: u64,
    /// Distinct 128-byte lines of global memory per record, summed over the records.
    pub lines: u64,
    /// Bytes of global memory accessed by active lanes.
    pub bytes: u64,
    /// Loads of global memory with an active lane.
    pub loads: u64,
    /// Share of `lines` that belongs to loads.
    pub load_lines: u64,
}

impl Measures {
    pub fn add(&mut self, other: &Measures) {
        self.warp_instructions += other.warp_instructions;
        self.records += other.records;
        self.lines += other.lines;
        self.bytes += other.bytes;
        self.loads += other.loads;
        self.load_lines += other.load_lines;
    }

    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Measures>) -> Measures {
        all.into_iter().fold(Measures::default(), |mut sum, one| {
            sum.add(one);
            sum
        })
    }
}

/// Measures of the CTAs of a part, 48 bytes per CTA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// Measures by kernel of the part and CTA of the kernel's part.
    pub kernels: Vec<Vec<Measures>>,
}

impl Census {
    /// # Errors
    /// If the trace is damaged or `progress` stops the pass.
    pub fn of(
        trace: &Trace,
        part: &Part,
        progress: &mut ProgressCallback<'_>,
    ) -> Result<Census, SampleError> {
        let mut watch = PartProgress::new(part, progress);
        let mut kernels = Vec::with_capacity(part.kernels.len());
        for kernel in &part.kernels {
            let sites: Vec<Site> =
                trace.instructions(kernel.kernel)?.iter().map(Site::of).collect();
            let mut measures = Vec::with_capacity(kernel.ctas.len());
            kernel.for_each(trace, |chunk, place| {
                measures.push(measure(chunk, place, &sites)?);
                watch.done()
            })?;
            kernels.push(measures);
        }
        Ok(Census { kernels })
    }

    /// Sums over all CTAs.
    pub fn total(&self) -> Measures {
        Measures::sum(self.kernels.iter().flatten())
    }
}

/// Counts of a static instruction.
struct Site {
    /// Warp instructions: the memory instruction and the compute before it.
    warp_instructions: u64,
    is_global: bool,
    is_load: bool,
    width: u64,
}

impl Site {
    fn of(instruction: &Instruction) -> Site {
        let itself = u64::from(instruction.kind != Kind::End);
        Site {
            warp_instructions: instruction.compute.len() as u64 + itself,
            is_global: instruction.space == Space::Global,
            is_load: instruction.kind == Kind::Load,
            width: instruction.width.into(),
        }
    }
}

fn measure(chunk: &Arc<Chunk>, place: usize, sites: &[Site]) -> Result<Measures, SampleError> {
    let mut sum = Measures::default();
    let (mut record, mut touched) = (Record::new(), Vec::new());
    for warp in 0..chunk.ctas()[place].warps.len() {
        let mut cursor = chunk.warp(place, warp);
        while cursor.next(&mut record)? {
            let site = &sites[record.instruction.0 as usize];
            sum.records += 1;
            sum.warp_instructions += site.warp_instructions;
            if site.is_global && record.mask != 0 {
                let lines = lines(record.active_addresses(), site.width, &mut touched);
                sum.lines += lines;
                sum.bytes += site.width * u64::from(record.mask.count_ones());
                sum.loads += u64::from(site.is_load);
                sum.load_lines += if site.is_load { lines } else { 0 };
            }
        }
    }
    Ok(sum)
}

/// Counts the distinct lines among `width` bytes from each address; `touched` is a reusable buffer.
fn lines(addresses: &[u64], width: u64, touched: &mut Vec<u64>) -> u64 {
    touched.clear();
    for &address in addresses {
        let within = address & ((1 << LINE_BITS) - 1);
        for further in 0..=(within + width.saturating_sub(1)) >> LINE_BITS {
            let line = address.wrapping_add(further << LINE_BITS) >> LINE_BITS;
            // Neighbouring lanes mostly share a line.
            if touched.last() != Some(&line) {
                touched.push(line);
            }
        }
    }
    if !touched.is_sorted() {
        touched.sort_unstable();
    }
    let changes = touched.windows(2).filter(|pair| pair[0] != pair[1]).count();
    changes as u64 + u64::from(!touched.is_empty())
}

#[cfg(test)]
mod tests {
    fn lines(addresses: &[u64], width: u64) -> u64 {
        super::lines(addresses, width, &mut vec![7])
    }

    #[test]
    fn lines_are_counted_once_each_wherever_the_lanes_are() {
        let unit: Vec<u64> = (0..32).map(|lane| 0x1000 + 4 * lane).collect();
        assert_eq!(lines(&unit, 4), 1);
        assert_eq!(lines(&unit.iter().map(|a| a + 64).collect::<Vec<_>>(), 4), 2);
        let strided: Vec<u64> = (0..32).map(|lane| 0x1000 + 128 * lane).collect();
        assert_eq!(lines(&strided, 4), 32);
        assert_eq!(lines(&[0x100, 0x900, 0x104, 0x904, 0x108], 4), 2, "back and forth");
        assert_eq!(lines(&[0x17e], 4), 2, "across the end of a line");
        assert_eq!(lines(&[u64::MAX], 4), 2, "around the end of memory");
        assert_eq!(lines(&[100], 200), 3, "the line between the ends");
        assert_eq!(lines(&[7], 1), 1);
        assert_eq!(lines(&[64, 64 + (1 << 16)], 1 << 16), 1025, "bulk copies side by side");
        assert_eq!(lines(&[], 4), 0);
    }
}
