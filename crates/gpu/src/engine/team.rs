//! Threads that step the parts of a machine side by side.

use super::part::{Part, Phase};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, yield_now};
use warpmem_sim::{Region, Ticks};

/// Turns of waiting before a thread lets others have its core. A phase takes some ten microseconds, and
/// the next one follows at once.
const SPINS: u32 = 20_000;

/// A part and its region, and the phase to step.
struct Job {
    part: Box<Part>,
    region: Region,
    phase: Phase,
    now: Ticks,
}

/// The part is with the team.
const DONE: u8 = 0;
/// The part is with its thread.
const GIVEN: u8 = 1;
/// The thread is to end.
const OVER: u8 = 2;

/// Where a part is handed to its thread and back.
#[derive(Default)]
struct Slot {
    state: AtomicU8,
    job: Mutex<Option<Job>>,
}

impl Slot {
    fn give(&self, job: Job) {
        *self.job() = Some(job);
        self.state.store(GIVEN, Ordering::Release);
    }

    fn job(&self) -> MutexGuard<'_, Option<Job>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the state is one of `states`, and returns it.
    fn wait_for(&self, states: &[u8]) -> u8 {
        let mut spins = 0;
        loop {
            let now = self.state.load(Ordering::Acquire);
            if states.contains(&now) {
                return now;
            }
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                yield_now();
            }
        }
    }
}

/// Threads for all parts of a machine but the first, which the caller's thread steps.
pub(super) struct Team {
    slots: Vec<Arc<Slot>>,
}

impl Team {
    /// Starts so many threads, which end with the team.
    pub fn start<'scope>(threads: usize, scope: &'scope Scope<'scope, '_>) -> Team {
        let slots: Vec<Arc<Slot>> = (0..threads).map(|_| Arc::default()).collect();
        for slot in &slots {
            let slot = Arc::clone(slot);
            scope.spawn(move || work(&slot));
        }
        Team { slots }
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Steps a phase of all parts, each on a thread of its own.
    ///
    /// # Panics
    /// If a thread has.
    pub fn step(
        &self,
        phase: Phase,
        now: Ticks,
        parts: &mut Vec<Box<Part>>,
        regions: &mut Vec<Region>,
    ) {
        let others = parts.drain(1..).zip(regions.drain(1..));
        for (slot, (part, region)) in self.slots.iter().zip(others) {
            slot.give(Job { part, region, phase, now });
        }
        parts[0].step(phase, now, &mut regions[0]);
        for slot in &self.slots {
            slot.wait_for(&[DONE]);
            let job = slot.job().take().expect("a thread gives its part back unless it panics");
            parts.push(job.part);
            regions.push(job.region);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.slots.iter().for_each(|slot| slot.state.store(OVER, Ordering::Release));
    }
}

/// What a thread does until its team is over.
fn work(slot: &Slot) {
    while slot.wait_for(&[GIVEN, OVER]) == GIVEN {
        // Nobody waits for ever for a thread that panics.
        let _done = Done(slot);
        let Some(mut job) = slot.job().take() else { return };
        job.part.step(job.phase, job.now, &mut job.region);
        *slot.job() = Some(job);
    }
}

/// Gives the slot back to the team, unless that is over.
struct Done<'a>(&'a Slot);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let Done(Slot { state, .. }) = self;
        let _ = state.compare_exchange(GIVEN, DONE, Ordering::AcqRel, Ordering::Relaxed);
    }
}
