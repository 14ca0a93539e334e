use serde::{Deserialize, Serialize};

use crate::record::{InstructionId, OpClass};

/// The warps of one CTA, gathered in memory for a [`TraceWriter`](crate::TraceWriter).
/// [`begin`](CtaBuilder::begin) clears the builder and keeps its memory for the next CTA.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CtaBuilder {
    pub(crate) block: [u32; 3],
    warps: Vec<BuiltWarp>,
    records: Vec<BuiltRecord>,
    addresses: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct BuiltWarp {
    warp_in_cta: u32,
    /// Index of its first record.
    start: usize,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct BuiltRecord {
    instruction: InstructionId,
    mask: u32,
    lanes: [u32; OpClass::COUNT],
    /// End of its addresses; they start at the end of the previous record's.
    addresses_end: usize,
}

/// One record as given to [`CtaBuilder::push`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushedRecord<'a> {
    pub instruction: InstructionId,
    pub mask: u32,
    pub lanes: &'a [u32; OpClass::COUNT],
    pub addresses: &'a [u64],
}

impl CtaBuilder {
    pub fn new() -> CtaBuilder {
        CtaBuilder::default()
    }

    /// Starts the CTA at `block`, its coordinates in the grid, and discards the previous one.
    pub fn begin(&mut self, block: [u32; 3]) {
        self.block = block;
        self.warps.clear();
        self.records.clear();
        self.addresses.clear();
    }

    /// Starts a warp of the CTA. Warps may begin in any order, each once; a warp that never begins
    /// does not exist.
    pub fn begin_warp(&mut self, warp_in_cta: u32) {
        self.warps.push(BuiltWarp { warp_in_cta, start: self.records.len() });
    }

    /// Appends a record to the current warp. `addresses` has one entry per active lane, lowest lane
    /// first, and is empty except for memory instructions. `compute_lanes`: as
    /// [`Record::compute_lanes`](crate::Record::compute_lanes).
    ///
    /// # Panics
    /// When no warp has begun.
    pub fn push(
        &mut self,
        id: InstructionId,
        mask: u32,
        compute_lanes: &[u32; OpClass::COUNT],
        addresses: &[u64],
    ) {
        assert!(!self.warps.is_empty(), "a record belongs to a warp: call begin_warp first");
        self.addresses.extend_from_slice(addresses);
        self.records.push(BuiltRecord {
            instruction: id,
            mask,
            lanes: *compute_lanes,
            addresses_end: self.addresses.len(),
        });
    }

    /// Iterates over the warps and their records, in the order of
    /// [`begin_warp`](CtaBuilder::begin_warp).
    pub(crate) fn warps(
        &self,
    ) -> impl Iterator<Item = (u32, impl ExactSizeIterator<Item = PushedRecord<'_>>)> {
        self.warps.iter().enumerate().map(|(index, warp)| {
            let end = self.warps.get(index + 1).map_or(self.records.len(), |next| next.start);
            (warp.warp_in_cta, (warp.start..end).map(|record| self.record(record)))
        })
    }

    /// Returns whether all offsets are in range. Only damaged bytes violate this.
    pub(crate) fn is_consistent(&self) -> bool {
        let warps = self.warps.iter().map(|warp| warp.start);
        let records = self.records.iter().map(|record| record.addresses_end);
        warps.is_sorted()
            && self.warps.last().is_none_or(|warp| warp.start <= self.records.len())
            && records.is_sorted()
            && self.records.last().is_none_or(|record| record.addresses_end <= self.addresses.len())
    }

    /// Returns a warp number that began twice, if any.
    pub(crate) fn repeated_warp(&self) -> Option<u32> {
        let mut numbers: Vec<u32> = self.warps.iter().map(|warp| warp.warp_in_cta).collect();
        numbers.sort_unstable();
        numbers.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }

    fn record(&self, index: usize) -> PushedRecord<'_> {
        let start = if index == 0 { 0 } else { self.records[index - 1].addresses_end };
        let BuiltRecord { instruction, mask, ref lanes, addresses_end } = self.records[index];
        PushedRecord { instruction, mask, lanes, addresses: &self.addresses[start..addresses_end] }
    }
}
