use serde::{Deserialize, Serialize};

use crate::record::{InstructionId, OpClass};

/// The warps of one CTA, gathered in memory for a [`TraceWriter`](crate::TraceWriter). It is reused
/// for one CTA after another: [`begin`](CtaBuilder::begin) clears it and keeps its memory.
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
    /// Where its records start.
    start: usize,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct BuiltRecord {
    instruction: InstructionId,
    mask: u32,
    lanes: [u32; OpClass::COUNT],
    /// Where its addresses end; they start where those of the previous record end.
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

    /// Starts the CTA at `block` (its coordinates in the grid) and discards the previous one.
    pub fn begin(&mut self, block: [u32; 3]) {
        self.block = block;
        self.warps.clear();
        self.records.clear();
        self.addresses.clear();
    }

    /// Starts a warp of the CTA. Warps may be begun in any order, each once; a warp that is left
    /// out does not exist.
    pub fn begin_warp(&mut self, warp_in_cta: u32) {
        self.warps.push(BuiltWarp { warp_in_cta, start: self.records.len() });
    }

    /// Appends a record to the warp begun last. `addresses`: one per active lane, lowest lane
    /// first, none where the instruction is not a memory instruction. `compute_lanes`: as
    /// [`Record::compute_lanes`](crate::Record::compute_lanes).
    ///
    /// # Panics
    /// When no warp has been begun.
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

    /// The warps in the order in which they were begun, each with its records.
    pub(crate) fn warps(
        &self,
    ) -> impl Iterator<Item = (u32, impl ExactSizeIterator<Item = PushedRecord<'_>>)> {
        self.warps.iter().enumerate().map(|(index, warp)| {
            let end = self.warps.get(index + 1).map_or(self.records.len(), |next| next.start);
            (warp.warp_in_cta, (warp.start..end).map(|record| self.record(record)))
        })
    }

    /// Whether its parts lie within it, as they do unless it was read from damaged bytes.
    pub(crate) fn is_consistent(&self) -> bool {
        let warps = self.warps.iter().map(|warp| warp.start);
        let records = self.records.iter().map(|record| record.addresses_end);
        warps.is_sorted()
            && self.warps.last().is_none_or(|warp| warp.start <= self.records.len())
            && records.is_sorted()
            && self.records.last().is_none_or(|record| record.addresses_end <= self.addresses.len())
    }

    /// A warp number that was begun twice, if there is one.
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
