//! A channel between its slices' ports: requests in, finished reads out.

use super::scheduler::SCHEDULERS;
use super::{Channel, ChannelStatistics, Request};
use crate::engine::{Clock, Context, Domain, PortId, RequestId, RequestKind, UnitId};
use crate::machine::Machine;
use crate::registry::PolicyError;

/// One channel and where its slices' requests come from and go to.
pub struct Controller {
    unit: UnitId,
    clock: Clock,
    channel: Channel,
    /// Per slice of the channel: misses in, fills out.
    slices: Vec<(PortId, PortId)>,
    /// Slice that has its turn first: the one after that which was last served.
    first: usize,
    bursts_per_sector: u16,
}

impl Controller {
    /// Channel `index` of the machine.
    pub fn new(
        machine: &Machine,
        index: usize,
        clock: Clock,
        slices: Vec<(PortId, PortId)>,
    ) -> Result<Controller, PolicyError> {
        let dram = &machine.dram;
        let scheduler = SCHEDULERS.build(&machine.policy.dram_scheduler, dram)?;
        Ok(Controller {
            unit: UnitId { domain: Domain::Dram, index: index as u32 },
            clock,
            channel: Channel::new(dram, scheduler),
            slices,
            first: 0,
            bursts_per_sector: (machine.llc.cache.sector_bytes / dram.burst_bytes()) as u16,
        })
    }

    /// This channel as the fabric knows it.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// One turn at DRAM cycle `cycle`: requests enter the queues, commands issue, finished reads leave.
    pub fn step(&mut self, cycle: u64, ctx: &mut Context) {
        self.admit(cycle, ctx);
        let room = self.room(ctx);
        let next = self.channel.step(cycle, room);
        let finished = self.complete(ctx);
        let next = self.await_room(cycle, next, room - finished, ctx);
        self.schedule(cycle, next, ctx);
    }

    /// Takes at most one request of each slice into the queues.
    fn admit(&mut self, cycle: u64, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        let (count, first) = (self.slices.len(), self.first);
        for turn in 0..count {
            let slice = (first + turn) % count;
            let (misses, _) = self.slices[slice];
            let Some(id) = ctx.fabric.ready(misses, now) else { continue };
            let request = self.request(id, ctx);
            if !self.channel.accepts(&request) {
                continue;
            }
            ctx.fabric.pop(misses, now);
            ctx.requests.stamps_mut(id).dram_entered = now;
            self.channel.push(cycle, request);
            self.first = (slice + 1) % count;
        }
    }

    fn request(&self, id: RequestId, ctx: &Context) -> Request {
        let row = ctx.requests.get(id);
        let place = ctx.map.locate(row.address);
        Request {
            id: id.0,
            bank: place.bank,
            row: place.row,
            write: row.kind == RequestKind::Writeback,
            bursts: row.sectors.count_ones() as u16 * self.bursts_per_sector,
            sm: row.sm,
            warp: row.warp,
            pc: row.pc as u32,
        }
    }

    /// Reads that may finish without overflowing any slice's port.
    fn room(&self, ctx: &Context) -> u32 {
        let rooms = self.slices.iter().map(|&(_, fills)| ctx.fabric.room(fills));
        rooms.min().unwrap_or(0) as u32
    }

    /// Hands finished reads to their slices; how many there were.
    fn complete(&mut self, ctx: &mut Context) -> u32 {
        let slices = self.slices.len();
        let mut finished = 0;
        for done in self.channel.take_completions() {
            let id = RequestId(done.id);
            if done.write {
                ctx.requests.remove(id);
                continue;
            }
            let data_end = self.clock.at(done.data_end);
            let stamps = ctx.requests.stamps_mut(id);
            stamps.dram_started = self.clock.at(done.first_command);
            stamps.dram_finished = data_end;
            let slice = ctx.requests.get(id).slice as usize % slices;
            ctx.fabric.push(self.slices[slice].1, id, data_end);
            finished += 1;
        }
        finished
    }

    /// The channel planned with room for `planned` reads: the ports may hold more, or may have to.
    fn await_room(
        &self,
        cycle: u64,
        next: Option<u64>,
        planned: u32,
        ctx: &mut Context,
    ) -> Option<u64> {
        if !self.channel.lacks_room(planned) {
            return next;
        }
        let room = self.room(ctx);
        if !self.channel.lacks_room(room) {
            return Some(cycle + 1);
        }
        for &(_, fills) in &self.slices {
            ctx.fabric.wake_writer(fills);
        }
        next
    }

    fn schedule(&mut self, cycle: u64, next: Option<u64>, ctx: &mut Context) {
        let now = self.clock.at(cycle);
        let mut wake = next.unwrap_or(u64::MAX);
        for &(misses, _) in &self.slices {
            let Some((ready, id)) = ctx.fabric.head(misses) else { continue };
            if ready > now {
                wake = wake.min(self.clock.cycle_from(ready));
            } else if self.channel.accepts(&self.request(id, ctx)) {
                wake = wake.min(cycle + 1);
            }
        }
        if wake != u64::MAX {
            ctx.fabric.wake_cycle(self.unit, wake.max(cycle + 1));
        }
    }

    /// What the channel did until `cycle`.
    pub fn finish(&mut self, cycle: u64) -> ChannelStatistics {
        self.channel.statistics(cycle)
    }

    /// Keeps a log of the commands, for the checker.
    pub fn enable_log(&mut self) {
        self.channel.enable_log();
    }

    /// The channel itself.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// State for the deadlock report.
    pub fn describe(&self) -> String {
        format!("channel {}: {} requests pending", self.unit.index, self.channel.pending())
    }
}
