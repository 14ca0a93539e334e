//! Functional warming of L2 over what a run skips.
//!
//! An LRU cache holds the lines touched last. The skipped CTAs are therefore counted from the last one
//! back, until they have touched more lines than L2 holds; those from there on are executed without
//! time, a full machine at once, each warp a record at a time, through the L1 of an SM. This
//! leaves about the lines, dirty data and order that the skipped CTAs would have left, at the cost of
//! reading as much of the trace as L2 remembers. L1, first-level TLBs and DRAM rows are left to the
//! simulated CTAs before a drawn part.

use super::system::System;
use crate::cta::{Gap, Place};
use crate::sm::{Code, Replay};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use warpmem_machine::Machine;
use warpmem_sim::SmId;
use warpmem_trace::{Chunk, Trace, TraceError, WarpCursor};

/// Lines to find, in capacities of L2: sets do not fill evenly.
const CAPACITIES: f64 = 1.5;
/// Sectors read without a new line, in capacities of L2 in lines, after which all lines are taken to be
/// known.
const PATIENCE: usize = 4;

/// Warms L2 over what a run skips.
pub(super) struct Warming<'t> {
    trace: &'t Trace,
    replay: Replay,
    recent: Recent,
    /// Number of SMs.
    sms: usize,
    /// The kernel whose code was used last, and the chunk that was read last.
    code: Option<(u32, Arc<Code>)>,
    chunk: Option<((u32, usize), Arc<Chunk>)>,
}

/// A CTA that is executed on an SM.
struct Resident {
    sm: usize,
    code: Arc<Code>,
    warps: Vec<WarpCursor>,
}

/// A chunk of a launch, and the first of its CTAs that counts, by its index in the chunk.
struct Start {
    launch: u32,
    chunk: usize,
    cta: usize,
}

impl<'t> Warming<'t> {
    /// Returns none if nothing is skipped, or there is no L2 to warm.
    pub fn new(system: &System, machine: &Machine, trace: &'t Trace) -> Option<Warming<'t>> {
        let skips = system.dispatcher().is_sampled() || machine.run.fast_forward > 0;
        let is_needed = skips && machine.l2.enabled;
        is_needed.then(|| Warming {
            trace,
            replay: Replay::new(machine),
            recent: Recent::new(machine),
            sms: machine.sm.count as usize,
            code: None,
            chunk: None,
        })
    }

    /// Warms L2 if launches or CTAs have been skipped.
    pub fn follow(&mut self, system: &mut System) -> Result<(), TraceError> {
        let Some(gap) = system.take_gap() else { return Ok(()) };
        self.recent.clear();
        if let Some(start) = self.find_start(&gap)? {
            self.carry_out(&start, &gap, system)?;
        }
        Ok(())
    }

    /// Returns where the accesses begin that L2 remembers; none if the gap has no CTAs.
    fn find_start(&mut self, gap: &Gap) -> Result<Option<Start>, TraceError> {
        let mut start = None;
        for launch in (gap.from.launch..=gap.to.launch).rev() {
            for chunk in self.trace.kernels()[launch as usize].chunks.clone().rev() {
                for cta in self.ctas(gap, launch, chunk)?.rev() {
                    let (code, data) = self.open(launch, chunk)?;
                    for warp in 0..data.ctas()[cta].warps.len() {
                        let (mut warp, recent) = (data.warp(cta, warp), &mut self.recent);
                        let mut touch = |address, _| recent.touch(address);
                        while self.replay.step(&mut warp, &code, None, &mut touch)? {}
                    }
                    start = Some(Start { launch, chunk, cta });
                    if self.recent.is_complete() {
                        return Ok(start);
                    }
                }
            }
        }
        Ok(start)
    }

    /// Carries out the accesses of a gap from `start` on.
    fn carry_out(
        &mut self,
        start: &Start,
        gap: &Gap,
        system: &mut System,
    ) -> Result<(), TraceError> {
        for launch in start.launch..=gap.to.launch {
            let chunks = self.trace.kernels()[launch as usize].chunks.clone();
            let first = if launch == start.launch { start.chunk } else { chunks.start };
            let mut ctas = Vec::new();
            for chunk in first..chunks.end {
                let held = self.ctas(gap, launch, chunk)?;
                let is_first = (launch, chunk) == (start.launch, start.chunk);
                ctas.extend(
                    held.skip_while(|&cta| is_first && cta < start.cta).map(|cta| (chunk, cta)),
                );
            }
            self.execute(launch, &ctas, system)?;
        }
        Ok(())
    }

    /// Executes CTAs of a launch, given by chunk and index, on a full machine: each warp a record at a
    /// time, so that their accesses mix as those of resident warps do.
    fn execute(
        &mut self,
        launch: u32,
        ctas: &[(usize, usize)],
        system: &mut System,
    ) -> Result<(), TraceError> {
        let (wave, l1_bytes) = system.dispatcher().residency(launch);
        self.replay.begin_kernel(l1_bytes);
        let mut left = ctas.iter();
        let mut resident: Vec<Resident> = Vec::new();
        for (slot, &(chunk, cta)) in left.by_ref().take(wave as usize).enumerate() {
            resident.push(self.start(launch, chunk, cta, slot % self.sms)?);
        }
        while !resident.is_empty() {
            for cta in &mut resident {
                self.step(cta, system)?;
                if cta.warps.is_empty()
                    && let Some(&(chunk, next)) = left.next()
                {
                    *cta = self.start(launch, chunk, next, cta.sm)?;
                }
            }
            resident.retain(|cta| !cta.warps.is_empty());
        }
        Ok(())
    }

    fn start(
        &mut self,
        launch: u32,
        chunk: usize,
        cta: usize,
        sm: usize,
    ) -> Result<Resident, TraceError> {
        let (code, data) = self.open(launch, chunk)?;
        let warps = (0..data.ctas()[cta].warps.len()).map(|warp| data.warp(cta, warp)).collect();
        Ok(Resident { sm, code, warps })
    }

    /// Executes a record of each warp of a CTA, and removes the warps that have ended.
    fn step(&mut self, cta: &mut Resident, system: &mut System) -> Result<(), TraceError> {
        let Resident { sm, code, warps } = cta;
        let mut access = |address, access| system.warm(SmId::new(*sm), address, access);
        let mut at = 0;
        while at < warps.len() {
            if self.replay.step(&mut warps[at], code, Some(*sm), &mut access)? {
                at += 1;
            } else {
                warps.remove(at);
            }
        }
        Ok(())
    }

    /// Returns the CTAs of a chunk that are in the gap, by their index in the chunk.
    fn ctas(
        &self,
        gap: &Gap,
        launch: u32,
        chunk: usize,
    ) -> Result<std::ops::Range<usize>, TraceError> {
        let held = self.trace.chunk_ctas(launch as usize, chunk)?;
        let bound = |place: Place, otherwise: u32| {
            let cta = if place.launch == launch { place.cta } else { otherwise };
            (cta.clamp(held.start, held.end) - held.start) as usize
        };
        Ok(bound(gap.from, held.start)..bound(gap.to, held.end))
    }

    /// Returns the code and the data of a chunk.
    fn open(&mut self, launch: u32, chunk: usize) -> Result<(Arc<Code>, Arc<Chunk>), TraceError> {
        let code = match self.code.take_if(|(of, _)| *of == launch) {
            Some((_, code)) => code,
            None => Arc::new(Code::new(&self.trace.instructions(launch as usize)?)),
        };
        let data = match self.chunk.take_if(|(of, _)| *of == (launch, chunk)) {
            Some((_, data)) => data,
            None => self.trace.chunk(launch as usize, chunk)?,
        };
        self.code = Some((launch, Arc::clone(&code)));
        self.chunk = Some(((launch, chunk), Arc::clone(&data)));
        Ok((code, data))
    }
}

/// The lines touched last.
struct Recent {
    line_shift: u32,
    /// Capacity of L2 in lines.
    capacity: usize,
    lines: FxHashSet<u64>,
    /// Sectors touched since the last new line.
    since_new: usize,
}

impl Recent {
    fn new(machine: &Machine) -> Recent {
        let cache = &machine.l2.cache;
        let slices = machine.dram.channels * machine.l2.slices_per_channel;
        Recent {
            line_shift: cache.line_bytes.trailing_zeros(),
            capacity: (slices * cache.lines()) as usize,
            lines: FxHashSet::default(),
            since_new: 0,
        }
    }

    fn clear(&mut self) {
        self.lines.clear();
        self.since_new = 0;
    }

    /// Whether earlier accesses hardly matter.
    fn is_complete(&self) -> bool {
        let enough = CAPACITIES * self.capacity as f64;
        self.lines.len() as f64 >= enough || self.since_new >= PATIENCE * self.capacity
    }

    fn touch(&mut self, address: u64) {
        let is_new = self.lines.insert(address >> self.line_shift);
        self.since_new = if is_new { 0 } else { self.since_new + 1 };
    }
}
