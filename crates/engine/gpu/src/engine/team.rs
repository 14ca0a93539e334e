//! Threads that step the parts of a machine side by side.
//!
//! A phase takes some ten microseconds, so that threads wait for the next one awake. Where the host has
//! fewer free cores than threads, the one that steps the first part takes back what no other has begun
//! with, and shares nothing for a while.

use super::part::{Part, Phase};
use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, Thread, yield_now};
use warpmem_sim::{Region, Ticks};

/// Turns of waiting, some 0.1 ms, before a thread that nobody needs sleeps, and before one that waits
/// for another lets others have its core.
const SPINS: u32 = 4_000;

/// Phases, at most, that are not shared after one in which a thread did not come.
const MOST_ALONE: u32 = 1 << 12;

/// A part and its region, and the phase to step.
struct Job {
    part: Part,
    region: Region,
    phase: Phase,
    now: Ticks,
}

/// The part is with the team.
const DONE: u8 = 0;
/// The part waits for its thread.
const GIVEN: u8 = 1;
/// The thread steps it.
const TAKEN: u8 = 2;
/// The thread is to end.
const OVER: u8 = 3;

/// Where a part is handed to its thread and back.
#[derive(Default)]
struct Slot {
    state: AtomicU8,
    /// The thread sleeps, or is about to.
    sleeps: AtomicBool,
    job: Mutex<Option<Job>>,
}

impl Slot {
    fn job(&self) -> MutexGuard<'_, Option<Job>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> u8 {
        self.state.load(Ordering::SeqCst)
    }

    /// Goes from one state to another; false if it is in a third.
    fn change(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// The thread waits for a part; false if it is to end.
    fn wait_for_part(&self) -> bool {
        loop {
            for _ in 0..SPINS {
                match self.state() {
                    GIVEN if self.change(GIVEN, TAKEN) => return true,
                    OVER => return false,
                    _ => spin_loop(),
                }
            }
            self.sleeps.store(true, Ordering::SeqCst);
            if self.state() == DONE {
                thread::park();
            }
            self.sleeps.store(false, Ordering::SeqCst);
        }
    }

    /// Waits until the thread has stepped its part; false if that took long.
    fn wait_until_done(&self) -> bool {
        for _ in 0..SPINS {
            if self.state() == DONE {
                return true;
            }
            spin_loop();
        }
        while self.state() != DONE {
            yield_now();
        }
        false
    }
}

/// Threads for all parts of a machine but the first, which the caller's thread steps.
pub(super) struct Team {
    threads: Vec<(Arc<Slot>, Thread)>,
    /// Phases that are not shared yet, and how many will not be when a thread does not come again.
    alone: Cell<u32>,
    penalty: Cell<u32>,
}

impl Team {
    /// Starts so many threads, which end with the team.
    pub fn start<'scope>(threads: usize, scope: &'scope Scope<'scope, '_>) -> Team {
        let start = |_| {
            let slot: Arc<Slot> = Arc::default();
            let own = Arc::clone(&slot);
            let handle = scope.spawn(move || work(&own));
            (slot, handle.thread().clone())
        };
        Team {
            threads: (0..threads).map(start).collect(),
            alone: Cell::new(0),
            penalty: Cell::new(1),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Steps a phase of all parts, each on a thread of its own where one comes.
    ///
    /// # Panics
    /// If a thread has.
    pub fn step(&self, phase: Phase, now: Ticks, parts: &mut Vec<Part>, regions: &mut Vec<Region>) {
        if self.alone.get() > 0 {
            self.alone.set(self.alone.get() - 1);
            return parts.iter_mut().zip(regions).for_each(|(part, r)| part.step(phase, now, r));
        }
        let others = parts.drain(1..).zip(regions.drain(1..));
        for ((slot, thread), (part, region)) in self.threads.iter().zip(others) {
            *slot.job() = Some(Job { part, region, phase, now });
            slot.state.store(GIVEN, Ordering::SeqCst);
            if slot.sleeps.load(Ordering::SeqCst) {
                thread.unpark();
            }
        }
        parts[0].step(phase, now, &mut regions[0]);
        let mut all_came = true;
        for (slot, _) in &self.threads {
            let is_back = slot.change(GIVEN, DONE);
            all_came &= !is_back && slot.wait_until_done();
            let job = slot.job().take();
            let mut job = job.expect("a thread gives its part back unless it panics");
            if is_back {
                job.part.step(phase, now, &mut job.region);
            }
            parts.push(job.part);
            regions.push(job.region);
        }
        let penalty = self.penalty.get();
        if all_came {
            self.penalty.set((penalty - 1).max(1));
        } else {
            self.alone.set(penalty);
            self.penalty.set((2 * penalty).min(MOST_ALONE));
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        for (slot, thread) in &self.threads {
            slot.state.store(OVER, Ordering::SeqCst);
            thread.unpark();
        }
    }
}

/// What a thread does until its team is over.
fn work(slot: &Slot) {
    while slot.wait_for_part() {
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
        self.0.change(TAKEN, DONE);
    }
}
