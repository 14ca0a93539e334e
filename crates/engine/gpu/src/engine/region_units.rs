//! The units of a region, stepped by one thread.

use super::instrumented::{State, StepCounts};
use super::phase::Phase;
use crate::context::{Context, Recording};
use crate::controller::MemoryController;
use crate::l2::Slice;
use crate::side::SideChannels;
use crate::sm::{ClusterCta, CtaEnd, Sm};
use std::sync::Arc;
use warpmem_sim::{AddressMap, ClockDomain, CoreCycle, Cycle, Domain, Region, Ticks, domain};
use warpmem_trace::TraceError;

/// The SMs, slices and channels of a region, each kind with consecutive numbers, and the state they
/// share.
pub(super) struct RegionUnits {
    pub first_sm: usize,
    pub sms: Vec<Sm>,
    pub first_slice: usize,
    pub slices: Vec<Slice>,
    pub first_controller: usize,
    pub controllers: Vec<MemoryController>,
    pub map: Arc<AddressMap>,
    pub side: SideChannels,
    pub record: Recording,
    /// CTAs that ended in the current core cycle, in the order of their SMs.
    pub ended: Vec<CtaEnd>,
    /// CTAs whose warps all arrived at the barrier of their cluster in the current core cycle.
    pub arrived: Vec<ClusterCta>,
    /// Number of the dispatcher in the core domain: after the last SM of the machine. The first
    /// region has its wake-ups.
    pub dispatcher: usize,
    /// The dispatcher is due in the current core cycle.
    pub dispatcher_due: bool,
    /// Unit steps so far, by phase.
    pub steps: [u64; Phase::COUNT],
    /// Outcomes of the steps, in instrumented runs.
    pub step_counts: Option<Box<StepCounts>>,
    /// The error that stopped an SM.
    pub error: Option<TraceError>,
}

impl RegionUnits {
    /// Steps the units of a phase that are due at `now`.
    pub fn step(&mut self, phase: Phase, now: Ticks, region: &mut Region) {
        match phase {
            Phase::Memory => self.step_memory(now, region),
            Phase::Core => self.step_core(now, region),
        }
    }

    fn step_memory(&mut self, now: Ticks, region: &mut Region) {
        if self.step_counts.is_some() {
            return self.step_memory_counted(now, region);
        }
        let RegionUnits { controllers, slices, map, side, record, .. } = self;
        let (channel, slice) = (self.first_controller, self.first_slice);
        let Region { fabric, requests } = region;
        let ctx = &mut Context { fabric, requests, map, record, side };
        let steps = &mut self.steps[Phase::Memory as usize];
        *steps += step_due(ctx, now, |unit, cycle, ctx| {
            controllers[unit - channel].step(cycle, ctx);
        });
        *steps += step_due(ctx, now, |unit, cycle, ctx| slices[unit - slice].step(cycle, ctx));
    }

    /// As [`RegionUnits::step_memory`], and counts the outcome of each step.
    fn step_memory_counted(&mut self, now: Ticks, region: &mut Region) {
        let RegionUnits { controllers, slices, map, side, record, step_counts, .. } = self;
        let (channel, slice) = (self.first_controller, self.first_slice);
        let step_counts = step_counts.as_mut().expect("the run is instrumented");
        let Region { fabric, requests } = region;
        let ctx = &mut Context { fabric, requests, map, record, side };
        let steps = &mut self.steps[Phase::Memory as usize];
        *steps += step_due(ctx, now, |unit, cycle, ctx| {
            let channel = &mut controllers[unit - channel];
            let before = State::of_channel(channel, cycle, ctx.fabric.moves());
            channel.step(cycle, ctx);
            step_counts
                .channels
                .add(&before, &State::of_channel(channel, cycle + 1, ctx.fabric.moves()));
        });
        *steps += step_due(ctx, now, |unit, cycle, ctx| {
            let slice = &mut slices[unit - slice];
            let before = State::of_slice(slice, cycle, ctx.fabric.moves());
            slice.step(cycle, ctx);
            step_counts.slices.add(&before, &State::of_slice(slice, cycle + 1, ctx.fabric.moves()));
        });
    }

    fn step_core(&mut self, now: Ticks, region: &mut Region) {
        let Some(cycle) = region.fabric.begin_cycle(Domain::Core, now) else { return };
        while let Some(unit) = region.fabric.wheel(Domain::Core).take() {
            if unit == self.dispatcher {
                self.dispatcher_due = true;
                continue;
            }
            self.steps[Phase::Core as usize] += 1;
            if let Err(error) = self.step_sm(unit, CoreCycle::new(cycle), region) {
                self.error = Some(error);
                return;
            }
        }
        region.fabric.wheel(Domain::Core).end();
    }

    fn step_sm(
        &mut self,
        unit: usize,
        cycle: Cycle<domain::Core>,
        region: &mut Region,
    ) -> Result<(), TraceError> {
        let RegionUnits { map, side, record, step_counts, .. } = self;
        let Region { fabric, requests } = region;
        let sm = &mut self.sms[unit - self.first_sm];
        let before = step_counts.is_some().then(|| State::of_sm(sm, cycle, fabric.moves()));
        sm.step(cycle, &mut Context { fabric, requests, map, record, side })?;
        if let (Some(step_counts), Some(before)) = (step_counts, before) {
            step_counts.sms.add(&before, &State::of_sm(sm, cycle + 1, fabric.moves()));
        }
        while let Some(end) = sm.take_ended() {
            self.ended.push(end);
        }
        while let Some(arrival) = sm.take_arrival() {
            self.arrived.push(arrival);
        }
        Ok(())
    }
}

/// Steps the units of domain `D` that are due at `now`; returns their number.
fn step_due<D: ClockDomain>(
    ctx: &mut Context,
    now: Ticks,
    mut step: impl FnMut(usize, Cycle<D>, &mut Context),
) -> u64 {
    let Some(cycle) = ctx.fabric.begin_cycle(D::DOMAIN, now) else { return 0 };
    let mut steps = 0;
    while let Some(unit) = ctx.fabric.wheel(D::DOMAIN).take() {
        steps += 1;
        step(unit, Cycle::new(cycle), ctx);
    }
    ctx.fabric.wheel(D::DOMAIN).end();
    steps
}
