//! The choice between the read and the write queue.

use super::queues::{READS, WRITES};
use crate::Dram;

/// Write drain: writes are served from the high watermark down to the low one and while there is no
/// read. Each drain serves at least `write_min_drain` writes while there are any.
pub(super) struct WriteDrain {
    /// Queue being served.
    serving: usize,
    draining: bool,
    /// Writes completed since the current drain began.
    drained: u32,
    high_watermark: u32,
    low_watermark: u32,
    min_drain: u32,
    /// Number of drains started by the high watermark.
    drains: u64,
}

impl WriteDrain {
    pub fn new(dram: &Dram) -> WriteDrain {
        WriteDrain {
            serving: READS,
            draining: false,
            drained: 0,
            high_watermark: dram.write_high_watermark,
            low_watermark: dram.write_low_watermark,
            min_drain: dram.write_min_drain,
            drains: 0,
        }
    }

    /// Returns the queue being served.
    #[inline]
    pub fn serving(&self) -> usize {
        self.serving
    }

    /// Returns the number of writes at which a drain begins.
    pub fn high_watermark(&self) -> u32 {
        self.high_watermark
    }

    /// Returns the number of drains.
    pub fn drains(&self) -> u64 {
        self.drains
    }

    /// Chooses the queue to serve from the number of requests in each; returns whether it changed.
    pub fn choose(&mut self, present: [u32; 2]) -> bool {
        let [reads, writes] = present;
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

    /// Counts a completed write.
    pub fn write_left(&mut self) {
        self.drained += 1;
    }
}
