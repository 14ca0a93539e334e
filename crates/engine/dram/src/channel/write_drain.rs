//! Which queue is served, reads or writes, where they have a queue each.

use super::queues::{READS, WRITES};
use crate::Dram;

/// Writes are served from the high watermark down to the low one and when there is no read, and
/// then at least `write_min_drain` of them as long as there are any.
pub(super) struct WriteDrain {
    /// The queue that is served.
    serving: usize,
    draining: bool,
    /// Writes that have left since writes are served.
    drained: u32,
    high_watermark: u32,
    low_watermark: u32,
    min_drain: u32,
    /// Times that the high watermark was reached.
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

    /// The queue that is served.
    #[inline]
    pub fn serving(&self) -> usize {
        self.serving
    }

    /// The number of writes at which a drain begins.
    pub fn high_watermark(&self) -> u32 {
        self.high_watermark
    }

    /// Times that a drain began.
    pub fn drains(&self) -> u64 {
        self.drains
    }

    /// Chooses the queue to serve, by the requests in each; true if that changed.
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

    /// A write has left the channel.
    pub fn write_left(&mut self) {
        self.drained += 1;
    }
}
