//! The path from a slice to its DRAM channel.

use super::merge_path::{Item, MergePath};
use crate::context::Context;
use crate::side::Sent;
use std::collections::VecDeque;
use warpmem_cache::{CacheController, MshrEntry};
use warpmem_machine::Machine;
use warpmem_params::Counter;
use warpmem_sim::{
    L2Clock, L2Cycle, Needs, PortId, Request, RequestId, RequestKind, SliceId, Ticks,
};

/// Misses and dirty data for the channel. They wait in the port to the channel; if the DRAM
/// scheduler follows merges, in a [`MergePath`] in front of it.
pub(super) struct ToDram {
    port: PortId,
    /// Index of the slice.
    slice: SliceId,
    clock: L2Clock,
    path: Option<Box<MergePath>>,
    /// Without a cache: results of atomics that wait for an entry.
    results: VecDeque<RequestId>,
    /// Entries behind the queue to DRAM, reserved for the requests of one lookup or fill.
    reserved: u32,
}

impl ToDram {
    /// `port`: to the channel. `clock`: of the L2.
    pub fn new(
        machine: &Machine,
        slice: SliceId,
        port: PortId,
        clock: L2Clock,
        needs: &Needs,
    ) -> ToDram {
        ToDram {
            port,
            slice,
            clock,
            path: MergePath::new(machine, needs).map(Box::new),
            results: VecDeque::new(),
            reserved: machine.l2.cache.miss_queue,
        }
    }

    /// Returns the free entries for misses and dirty data.
    pub fn room(&self, ctx: &Context) -> usize {
        let port = || ctx.fabric.room(self.port);
        self.path.as_ref().map_or_else(port, |path| path.room())
    }

    /// Returns the entries reserved for the requests of one lookup or fill.
    pub fn reserved(&self) -> usize {
        self.reserved as usize
    }

    /// Wakes the slice when the port has room.
    pub fn wake_on_room(&self, ctx: &mut Context) {
        ctx.fabric.wake_writer(self.port);
    }

    /// Sends a request. There must be room.
    pub fn send(&mut self, id: RequestId, now: Ticks, ctx: &mut Context) {
        if let Some(path) = &mut self.path {
            path.push(id);
            return;
        }
        ctx.fabric.push(self.port, id, Ticks(now.0 + self.clock.period()));
    }

    /// Sends a write of these sectors. There must be room.
    pub fn write(&mut self, address: u64, sectors: u8, now: Ticks, ctx: &mut Context) {
        let place = ctx.map.locate(address);
        let write = Request::of_slice(address, RequestKind::Writeback, place);
        let id = ctx.requests.add(Request { sectors, ..write }, now);
        self.send(id, now, ctx);
    }

    /// Holds the result of an atomic until there is an entry.
    pub fn hold_result(&mut self, data: RequestId) {
        self.results.push_back(data);
    }

    /// Sends the held results of atomics while there is room, ahead of requests from the network.
    pub fn send_results(&mut self, now: Ticks, ctx: &mut Context) {
        while let Some(&data) = self.results.front() {
            if self.room(ctx) == 0 {
                self.wake_on_room(ctx);
                return;
            }
            self.results.pop_front();
            self.send(data, now, ctx);
        }
    }

    /// Returns whether the DRAM scheduler follows merges.
    #[inline]
    pub fn follows_merges(&self) -> bool {
        self.path.is_some()
    }

    /// Records that a miss has opened an MSHR entry.
    pub fn opened(&mut self, entry: MshrEntry, id: RequestId, ctx: &Context) {
        if let Some(path) = &mut self.path {
            path.opened(entry, id, ctx.requests.stamps(id).created);
        }
    }

    /// Records a merge into an MSHR entry. `same_sm`: another request of its SM is in the entry.
    pub fn merged(&mut self, entry: MshrEntry, same_sm: bool, created: Ticks, now: Ticks) {
        if let Some(path) = &mut self.path {
            path.joined(entry, same_sm, created, self.clock.cycle_of(now));
        }
    }

    /// Ends the record of an MSHR entry whose data have arrived.
    pub fn forget_merges(&mut self, entry: MshrEntry, now: Ticks) {
        if let Some(path) = &mut self.path {
            path.closed(entry, self.clock.cycle_of(now));
        }
    }

    /// Sends one item of the [`MergePath`]: a miss, dirty data or a report of merges. Returns
    /// whether it did.
    pub fn send_one(
        &mut self,
        cache: &CacheController,
        cycle: L2Cycle,
        now: Ticks,
        ctx: &mut Context,
    ) -> bool {
        let Some(path) = &mut self.path else { return false };
        if path.is_idle() || !ctx.fabric.room_or_wake(self.port) {
            return false;
        }
        let Some(item) = path.take(now, cycle) else { return false };
        let dram = ctx.fabric.clock_of();
        let (id, sent) = match item {
            Item::Dummy(entry) => {
                let &Request { address, place, .. } = ctx.requests.get(cache.mshr().first(entry));
                let dummy = Request::of_slice(address, RequestKind::Read, place);
                (ctx.requests.add(dummy, now), path.report(entry, now, dram))
            }
            Item::Request(id) => {
                let entry = cache.outstanding(ctx.requests.get(id).address);
                let sent = match entry.filter(|&entry| path.opens(entry, id)) {
                    Some(entry) => path.depart(entry, now, dram),
                    None => Sent { about: id, merges: 1, age: 0 },
                };
                (id, sent)
            }
        };
        if let Some(merges) = &mut ctx.side.merges {
            merges.push(self.slice, sent);
        }
        ctx.fabric.push(self.port, id, Ticks(now.0 + self.clock.period()));
        true
    }

    /// Returns whether the [`MergePath`] has an item and the port has room; without room, the slice
    /// is woken when there is.
    pub fn can_send_one(&self, ctx: &mut Context) -> bool {
        self.path.as_ref().is_some_and(|path| !path.is_idle()) && ctx.fabric.room_or_wake(self.port)
    }

    /// Returns the counters for the DRAM scheduler.
    pub fn counters(&self) -> impl Iterator<Item = Counter> {
        self.path.iter().flat_map(|path| path.counters())
    }

    pub fn is_idle(&self) -> bool {
        self.results.is_empty() && self.path.as_ref().is_none_or(|path| path.is_idle())
    }

    /// Returns the number of requests that wait in the slice.
    pub fn len(&self) -> usize {
        self.path.as_ref().map_or(0, |path| path.len()) + self.results.len()
    }
}
