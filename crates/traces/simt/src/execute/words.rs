//! Arguments and results of calls, as words of each lane.

use crate::lanes::lanes_of;
use crate::program::{FrameSlot, Passed, Step};
use crate::warp::{Frame, Warp};

/// Lanes and their values.
pub(super) type LaneWords = Vec<(usize, u64)>;

/// Reads the words of an argument: for each word, the lanes and their values.
pub(super) fn words_of(
    warp: &Warp,
    step: &Step,
    frame: &Frame,
    passed: Passed,
    bytes: u64,
    lanes: u32,
) -> LaneWords {
    let starts = || (0..bytes).step_by(8);
    match passed {
        Passed::FrameSlot(slot) => starts()
            .flat_map(|at| {
                let length = bytes.min(slot.bytes).saturating_sub(at).min(8);
                lanes_of(lanes)
                    .map(move |lane| (lane, warp.read_slot(frame, slot, lane, at, length)))
            })
            .collect(),
        Passed::Value(at) => {
            let values = warp.wide(step.sources[at]);
            lanes_of(lanes).map(|lane| (lane, values[lane])).collect()
        }
    }
}

/// Writes the words read by [`words_of`] to a slot of a frame.
pub(super) fn write_words(
    warp: &mut Warp,
    frame: &Frame,
    slot: FrameSlot,
    values: &[(usize, u64)],
) {
    let words = slot.bytes.div_ceil(8).max(1) as usize;
    let lanes = values.len() / words;
    for (word, values) in (0..).zip(values.chunks(lanes.max(1))) {
        let length = slot.bytes.saturating_sub(word * 8).min(8);
        for &(lane, value) in values {
            warp.write_slot(frame, slot, lane, word * 8, length, value);
        }
    }
}
