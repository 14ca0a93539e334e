//! Threads that step the regions of a machine concurrently.
//!
//! A phase takes some ten microseconds, so threads spin between phases. If the host has fewer free
//! cores than threads, the thread of the first region takes back the regions that no thread has
//! started, and shares nothing for a while.

use super::phase::Phase;
use super::region_units::RegionUnits;
use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, Thread, yield_now};
use warpmem_sim::{Region, Ticks};

/// Spin iterations, about 0.1 ms, before an idle thread sleeps, and before a waiting thread yields
/// its core.
const SPINS: u32 = 4_000;

/// Limit of the phases that are not shared after one that a thread missed.
const MAX_UNSHARED: u32 = 1 << 12;

/// The units of a region, and the phase to step.
struct Job {
    part: RegionUnits,
    region: Region,
    phase: Phase,
    now: Ticks,
}

/// The team holds the region.
const DONE: u8 = 0;
/// The region waits for its thread.
const GIVEN: u8 = 1;
/// The thread steps the region.
const TAKEN: u8 = 2;
/// The thread must end.
const OVER: u8 = 3;

/// Handover of a region between the team and a thread.
#[derive(Default)]
struct Mailbox {
    state: AtomicU8,
    /// The thread is asleep or about to sleep.
    sleeps: AtomicBool,
    job: Mutex<Option<Job>>,
}

impl Mailbox {
    fn job(&self) -> MutexGuard<'_, Option<Job>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> u8 {
        self.state.load(Ordering::SeqCst)
    }

    /// Changes the state from `from` to `to`; returns false if it is another.
    fn change(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Waits, in the thread, for a region. Returns false if the thread must end.
    fn wait_for_region(&self) -> bool {
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

    /// Waits until the thread has stepped its region. Returns false if that took long.
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

/// Threads for all regions of a machine but the first, which the caller's thread steps.
pub(super) struct Team {
    threads: Vec<(Arc<Mailbox>, Thread)>,
    /// Remaining phases that are not shared, and their number after the next missed one.
    unshared: Cell<u32>,
    penalty: Cell<u32>,
}

impl Team {
    /// Starts `threads` threads, which end with the team.
    pub fn start<'scope>(threads: usize, scope: &'scope Scope<'scope, '_>) -> Team {
        let start = |_| {
            let mailbox: Arc<Mailbox> = Arc::default();
            let own = Arc::clone(&mailbox);
            let handle = scope.spawn(move || work(&own));
            (mailbox, handle.thread().clone())
        };
        Team {
            threads: (0..threads).map(start).collect(),
            unshared: Cell::new(0),
            penalty: Cell::new(1),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Steps a phase of all regions, each on its own thread if that responds.
    ///
    /// # Panics
    /// If a thread has panicked.
    pub fn step(
        &self,
        phase: Phase,
        now: Ticks,
        parts: &mut Vec<RegionUnits>,
        regions: &mut Vec<Region>,
    ) {
        if self.unshared.get() > 0 {
            self.unshared.set(self.unshared.get() - 1);
            return parts.iter_mut().zip(regions).for_each(|(part, r)| part.step(phase, now, r));
        }
        let others = parts.drain(1..).zip(regions.drain(1..));
        for ((mailbox, thread), (part, region)) in self.threads.iter().zip(others) {
            *mailbox.job() = Some(Job { part, region, phase, now });
            mailbox.state.store(GIVEN, Ordering::SeqCst);
            if mailbox.sleeps.load(Ordering::SeqCst) {
                thread.unpark();
            }
        }
        parts[0].step(phase, now, &mut regions[0]);
        let mut all_came = true;
        for (mailbox, _) in &self.threads {
            let is_back = mailbox.change(GIVEN, DONE);
            all_came &= !is_back && mailbox.wait_until_done();
            let job = mailbox.job().take();
            let mut job = job.expect("a thread returns its region unless it panics");
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
            self.unshared.set(penalty);
            self.penalty.set((2 * penalty).min(MAX_UNSHARED));
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        for (mailbox, thread) in &self.threads {
            mailbox.state.store(OVER, Ordering::SeqCst);
            thread.unpark();
        }
    }
}

/// The loop of a thread, until the team ends.
fn work(mailbox: &Mailbox) {
    while mailbox.wait_for_region() {
        // The state changes even if the step panics, so that the team does not wait forever.
        let _done = Done(mailbox);
        let Some(mut job) = mailbox.job().take() else { return };
        job.part.step(job.phase, job.now, &mut job.region);
        *mailbox.job() = Some(job);
    }
}

/// Returns the region to the team on drop, unless the team has ended.
struct Done<'a>(&'a Mailbox);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.change(TAKEN, DONE);
    }
}
