//! Which queue is served, reads or writes, where they have a queue each; and how often the data bus
//! turns around.

use super::{READS, WRITES};
use crate::Dram;
use crate::request::CommandKind;

/// Writes are served from the high watermark down to the low one and when there is no read, and
/// then at least `write_min_drain` of them as long as there are any.
#[repr(C)]
pub(super) struct Direction {
    /// The queue that is served.
    pub serving: usize,
    /// Kind of the last column command, and how many of that kind passed a bank that needs the
    /// other.
    pub last_column: Option<CommandKind>,
    draining: bool,
    pub passed: u32,
    /// Column commands that may pass a bank that waits for the data bus to turn around.
    pub limit: u32,
    /// Writes that have left since writes are served.
    drained: u32,
    pub high_watermark: u32,
    low_watermark: u32,
    min_drain: u32,
    pub turnarounds: u64,
    /// Times that the high watermark was reached.
    pub drains: u64,
}

impl Direction {
    pub fn new(dram: &Dram) -> Direction {
        Direction {
            high_watermark: dram.write_high_watermark,
            low_watermark: dram.write_low_watermark,
            min_drain: dram.write_min_drain,
            serving: READS,
            draining: false,
            drained: 0,
            limit: dram.read_queue,
            last_column: None,
            passed: 0,
            turnarounds: 0,
            drains: 0,
        }
    }

    /// Chooses the queue to serve; true if that changed.
    pub fn choose(&mut self, waiting: [u32; 2]) -> bool {
        let [reads, writes] = waiting;
        if writes <= self.low_watermark {
            self.draining = false;
        } else if writes >= self.high_watermark && !self.draining {
            self.draining = true;
            self.drains += 1;
        }
        let unfinished = self.serving == WRITES && self.drained < self.min_drain;
        let wanted = self.draining || reads == 0 || unfinished;
        let serving = if writes > 0 && wanted { WRITES } else { READS };
        let changed = serving != self.serving;
        if changed {
            self.drained = 0;
        }
        self.serving = serving;
        changed
    }

    /// A write has left the channel.
    pub fn write_left(&mut self) {
        self.drained += 1;
    }

    /// A column command issues while banks that need the other kind wait, or not: counts
    /// turnarounds of the data bus, and commands that pass a bank waiting for one.
    pub fn note(&mut self, kind: CommandKind, others_wait: bool) {
        if self.last_column != Some(kind) {
            self.turnarounds += u64::from(self.last_column.is_some());
            self.last_column = Some(kind);
            self.passed = 0;
        }
        self.passed = if others_wait { self.passed + 1 } else { 0 };
    }
}
