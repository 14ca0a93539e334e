//! The controller of a perfect DRAM: requests complete on arrival.

use super::{MemoryController, dummy, pop};
use crate::context::Context;
use std::collections::VecDeque;
use warpmem_params::Counter;
use warpmem_sim::{DramCycle, Request, RequestId, RequestKind, Ticks};

/// The counts, and the completed reads that wait for room.
pub(super) struct Perfect {
    reads: u64,
    writes: u64,
    /// Completed reads by slice, with their times. Unbounded, so that a fill that waits for dirty
    /// data to leave cannot block them.
    done: Vec<VecDeque<(Ticks, RequestId)>>,
}

impl Perfect {
    pub fn counters(&self) -> Vec<Counter> {
        let counter = |name, value| Counter { name, value };
        vec![counter("perfect_reads", self.reads), counter("perfect_writes", self.writes)]
    }
}

impl MemoryController {
    /// Replaces the channel by a perfect DRAM: reads complete after the latency from the slice and
    /// return when the port of the slice has room; writes vanish.
    pub fn perfect(mut self) -> MemoryController {
        let done = vec![VecDeque::new(); self.slices.len()];
        self.perfect = Some(Perfect { reads: 0, writes: 0, done });
        self
    }

    pub(super) fn step_perfect(&mut self, cycle: DramCycle, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        self.end_loads(cycle, ctx);
        for slice in 0..self.slices.len() {
            let misses = self.slices[slice].misses;
            while let Some(id) = ctx.fabric.ready(misses, now) {
                self.take_perfect(slice, id, cycle, ctx);
            }
            if let Some((ready, _)) = ctx.fabric.head(misses) {
                ctx.fabric.wake(self.unit, ready);
            }
            self.send_back(slice, now, ctx);
        }
    }

    /// Takes the item at the head of a port: completes a read, removes a write or a dummy request.
    fn take_perfect(&mut self, slice: usize, id: RequestId, cycle: DramCycle, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        let Request { kind, load, .. } = *ctx.requests.get(id);
        let is_dummy = dummy(id, ctx).is_some();
        pop(self.slices[slice].misses, id, now, ctx);
        self.end_load(load, cycle, ctx);
        let Some(perfect) = &mut self.perfect else { return };
        if is_dummy || kind == RequestKind::Writeback {
            perfect.writes += u64::from(!is_dummy);
            ctx.requests.remove(id);
            return;
        }
        perfect.reads += 1;
        let due = self.clock.at(self.transit.end(cycle));
        perfect.done[slice].push_back((due, id));
        let stamps = ctx.requests.stamps_mut(id);
        (stamps.dram_entered, stamps.dram_started, stamps.dram_finished) = (due, due, due);
    }

    fn send_back(&mut self, slice: usize, now: Ticks, ctx: &mut Context) {
        let fills = self.slices[slice].fills;
        let Some(perfect) = &mut self.perfect else { return };
        while let Some(&(due, id)) = perfect.done[slice].front() {
            if due > now {
                ctx.fabric.wake(self.unit, due);
                return;
            }
            if !ctx.fabric.room_or_wake(fills) {
                return;
            }
            perfect.done[slice].pop_front();
            ctx.fabric.push(fills, id, now);
        }
    }
}
