//! The L1 data path of whole instructions: how long loads and stores occupy the load/store unit.
//!
//! An instruction takes one cycle for each data wavefront, a pass over the banks of the unified
//! store, and its lines take time at the tags; the longer of the two counts. The rule and its
//! parameters follow the strides of gpu-benches on A100 (`gpu-strides`), in which 311 of 334
//! figures are the larger of the profiler's data and tag wavefronts within 5 %.

use super::entry::Entry;
use super::sectors::Sector;
use warpmem_machine::{DataPath, Machine};
use warpmem_sim::CoreCycle;

/// Width of a bank, bytes.
const BANK_BYTES: u64 = 4;
/// Banks of the data path.
const BANKS: u64 = 32;
/// Bytes of one wavefront.
const WAVEFRONT_BYTES: u64 = BANKS * BANK_BYTES;
const SECTOR_BYTES: u64 = 32;
/// Sectors of an instruction of 32 lanes that straddle sectors: two for each.
const MOST_SECTORS: u32 = 64;

/// The data path, and the tags' use of it.
pub(super) struct Wavefronts {
    entries: u32,
    line_shift: u32,
    sectors_per_line: u32,
    tags_per_cycle: u64,
    tag_overhead: u64,
    /// First free slot of the tags, `tags_per_cycle` slots per cycle.
    free_slot: u64,
    /// Cycles taken so far.
    cycles: u64,
}

impl Wavefronts {
    /// Builds the data path of a machine, if it has wavefronts.
    pub fn new(machine: &Machine) -> Option<Wavefronts> {
        let l1 = &machine.l1;
        let sectors_per_line = l1.cache.line_bytes / l1.cache.sector_bytes;
        (l1.data_path == DataPath::Wavefronts).then(|| Wavefronts {
            entries: l1.tags_per_cycle * sectors_per_line * l1.latency + MOST_SECTORS,
            line_shift: l1.cache.line_bytes.trailing_zeros(),
            sectors_per_line,
            tags_per_cycle: l1.tags_per_cycle.into(),
            tag_overhead: l1.tag_overhead.into(),
            free_slot: 0,
            cycles: 0,
        })
    }

    /// Returns the lookups that the pipeline holds: those of each cycle of its latency, and one
    /// instruction.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Returns the sectors that the tags look up per cycle.
    #[inline]
    pub fn lookups_per_cycle(&self) -> u32 {
        self.tags_per_cycle as u32 * self.sectors_per_line
    }

    /// Returns the sectors of an instruction that enter together: all that are left, or as many as
    /// 32 lanes touch, since a bulk copy may have more than the pipeline holds.
    pub fn part(entry: &Entry) -> &[Sector] {
        let left = &entry.lists.sectors.as_slice()[entry.sent..];
        &left[..left.len().min(MOST_SECTORS as usize)]
    }

    /// Takes the data path in `cycle` for sectors of an instruction that moves `bytes`; returns for
    /// how many cycles.
    pub fn take(&mut self, sectors: &[Sector], bytes: u64, cycle: CoreCycle) -> u64 {
        let first = self.free_slot.max(cycle.number() * self.tags_per_cycle);
        self.free_slot = first + self.lines(sectors) + self.tag_overhead;
        let tags = self.free_slot / self.tags_per_cycle - cycle.number();
        let cycles = self.data(sectors, bytes).max(tags);
        self.cycles += cycles;
        cycles
    }

    /// Returns the cycles for which the data path has been taken.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Returns the data wavefronts: the distinct words of the busiest bank, and at least one for
    /// each wavefront's worth of lane data (64-bit accesses take two half warps).
    fn data(&self, sectors: &[Sector], bytes: u64) -> u64 {
        let moved = bytes.min(u64::from(MOST_SECTORS) * SECTOR_BYTES).div_ceil(WAVEFRONT_BYTES);
        busiest_bank(sectors).max(moved).max(1)
    }

    /// Returns the number of distinct lines.
    fn lines(&self, sectors: &[Sector]) -> u64 {
        let line = |sector: &Sector| sector.address >> self.line_shift;
        let is_first = |&(at, sector): &(usize, &Sector)| {
            // Sectors of a line mostly are neighbours.
            !sectors[..at].iter().rev().any(|other| line(other) == line(sector))
        };
        sectors.iter().enumerate().filter(is_first).count() as u64
    }
}

/// Returns the number of distinct words in the bank that holds most of them. A byte of `banks`
/// counts the words of a bank; a sector covers the eight banks of one element.
fn busiest_bank(sectors: &[Sector]) -> u64 {
    let mut banks = [0u64; (BANKS * BANK_BYTES / SECTOR_BYTES) as usize];
    for sector in sectors {
        let at = sector.address / SECTOR_BYTES % banks.len() as u64;
        banks[at as usize] += words_touched(sector.bytes);
    }
    banks.iter().flat_map(|counts| counts.to_le_bytes()).max().unwrap_or(0).into()
}

/// Returns a byte of 1 for each of a sector's eight words of which `bytes` contains a byte.
fn words_touched(bytes: u32) -> u64 {
    let pairs = bytes | bytes >> 1;
    let words = u64::from((pairs | pairs >> 2) & 0x1111_1111);
    let words = (words | words << 16) & 0x0000_ffff_0000_ffff;
    let words = (words | words << 8) & 0x00ff_00ff_00ff_00ff;
    (words | words << 4) & 0x0101_0101_0101_0101
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn data_path() -> Wavefronts {
        let keys = ["l1.data_path=wavefronts".to_owned()];
        Wavefronts::new(&warpmem_machine::load("accelsim-qv100", &keys).unwrap()).unwrap()
    }

    /// Returns the sectors of lanes that read `width` bytes every `stride` bytes.
    fn sectors(stride: u64, width: u64) -> Vec<Sector> {
        let mut out: Vec<Sector> = Vec::new();
        for byte in (0..32).flat_map(|lane| (0..width).map(move |byte| lane * stride + byte)) {
            let address = byte / SECTOR_BYTES * SECTOR_BYTES;
            let at = out.iter().position(|sector| sector.address == address);
            let at = at.unwrap_or_else(|| {
                out.push(Sector { address, ..Sector::BLANK });
                out.len() - 1
            });
            out[at].bytes |= 1 << (byte - address);
        }
        out
    }

    /// Returns the cycles of the first load, and of four in a row.
    fn cycles(stride: u64, width: u64) -> (u64, u64) {
        let (mut path, sectors) = (data_path(), sectors(stride, width));
        let mut now = CoreCycle::ZERO;
        let mut first = 0;
        for load in 0..4 {
            let cycles = path.take(&sectors, 32 * width, now);
            now += cycles;
            first = if load == 0 { cycles } else { first };
        }
        (first, now.number())
    }

    #[test]
    fn a_coalesced_load_takes_one_cycle() {
        assert_eq!([cycles(4, 4), cycles(0, 4), cycles(1, 1)], [(1, 4); 3]);
    }

    #[test]
    fn loads_of_64_and_128_bits_take_half_and_quarter_warps() {
        assert_eq!([cycles(8, 8), cycles(0, 8)], [(2, 8); 2]);
        assert_eq!([cycles(16, 16), cycles(0, 16)], [(4, 16); 2]);
    }

    #[test]
    fn bank_conflicts_take_a_wavefront_for_each_word_of_the_busiest_bank() {
        let strides = [2, 4, 8, 16, 32].map(|words| cycles(4 * words, 4).0);
        assert_eq!(strides, [2, 4, 8, 16, 32]);
        assert_eq!(cycles(32, 8), (8, 32), "stride of four doubles");
    }

    /// Strides without bank conflicts touch many lines: 3, 5, 9 and 32 of them.
    #[test]
    fn tags_take_half_a_cycle_and_a_quarter_for_each_line() {
        let four_loads = [3, 5, 9, 33].map(|words| cycles(4 * words, 4).1);
        assert_eq!(four_loads, [3, 5, 9, 32].map(|lines| lines + 2));
    }

    #[test]
    fn a_coalesced_load_across_a_line_takes_one_cycle() {
        let mut path = data_path();
        let mut sectors = sectors(4, 4);
        sectors.iter_mut().for_each(|sector| sector.address += 96);
        let mut now = CoreCycle::ZERO;
        for _ in 0..100 {
            now += path.take(&sectors, 128, now);
        }
        assert_eq!(now.number(), 100);
    }

    proptest! {
        #[test]
        fn the_busiest_bank_is_that_of_a_direct_count(
            picked in prop::collection::btree_map(0u64..64, any::<u32>(), 1..=64),
        ) {
            let sectors: Vec<Sector> = (picked.iter())
                .map(|(&at, &bytes)| Sector { address: at * SECTOR_BYTES, bytes, ..Sector::BLANK })
                .collect();
            let mut banks = [0; BANKS as usize];
            for sector in &sectors {
                for word in (0..8).filter(|word| sector.bytes >> (4 * word) & 15 != 0) {
                    banks[((sector.address / BANK_BYTES + word) % BANKS) as usize] += 1;
                }
            }
            prop_assert_eq!(busiest_bank(&sectors), banks.into_iter().max().unwrap());
        }
    }
}
