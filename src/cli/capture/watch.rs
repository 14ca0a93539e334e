//! Progress of a capture on standard error.

use super::super::interrupt::Interrupt;
use super::super::progress::bar;
use crate::capture::Observer;
use indicatif::{HumanCount, ProgressBar};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A progress bar over the CTAs of a launch.
pub struct Bar {
    bar: ProgressBar,
    begun: Instant,
    interrupt: Interrupt,
    launch: Mutex<Launch>,
}

#[derive(Default)]
struct Launch {
    /// Label: `axpy, launch 2/7`.
    name: String,
    drawn: Option<Instant>,
    /// Warp instructions of earlier launches.
    before: u64,
    executed: u64,
}

impl Bar {
    pub fn new(interrupt: Interrupt) -> Bar {
        let bar = bar("{bar:30} CTAs {pos}/{len} of {msg} · {eta} left");
        Bar { bar, begun: Instant::now(), interrupt, launch: Mutex::default() }
    }

    /// Removes the bar; returns the elapsed seconds.
    pub fn finish(self) -> f64 {
        self.bar.finish_and_clear();
        self.begun.elapsed().as_secs_f64()
    }
}

impl Observer for Bar {
    fn launch(&self, number: usize, launches: usize, kernel: &str, ctas: u64) {
        let mut launch = self.launch.lock().unwrap_or_else(PoisonError::into_inner);
        let before = launch.before + launch.executed;
        let name = match launches {
            0 => format!("{kernel}, launch {number}"),
            _ => format!("{kernel}, launch {number}/{launches}"),
        };
        *launch = Launch { name, before, ..Launch::default() };
        self.bar.reset();
        self.bar.set_length(ctas);
    }

    fn advance(&self, ctas: u64, warp_instructions: u64) -> bool {
        const BETWEEN_DRAWS: Duration = Duration::from_millis(100);
        let mut launch = self.launch.lock().unwrap_or_else(PoisonError::into_inner);
        launch.executed = warp_instructions;
        if launch.drawn.is_none_or(|drawn| drawn.elapsed() > BETWEEN_DRAWS) {
            launch.drawn = Some(Instant::now());
            let all = launch.before + launch.executed;
            let rate = HumanCount((all as f64 / self.begun.elapsed().as_secs_f64()) as u64);
            self.bar.set_position(ctas);
            self.bar.set_message(format!("{} · {rate} warp instructions/s", launch.name));
        }
        !self.interrupt.is_asked()
    }

    /// Prints to standard error; standard output is the list of launches.
    fn print(&self, text: &str) {
        self.bar.suspend(|| eprint!("{text}"));
    }

    fn is_stopped(&self) -> bool {
        self.interrupt.is_asked()
    }
}
