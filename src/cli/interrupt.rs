//! Ctrl-C: the first press requests a clean stop, the second terminates the program.

use super::output::note;
use crate::workload::Stop;
use anyhow::Context;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time in which signals are one request: `timeout` and job managers signal a process and then its
/// group.
const ONE_REQUEST: Duration = Duration::from_millis(300);

/// Flag that the user requested a stop.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Handles SIGINT, SIGTERM and SIGHUP; called once per process.
    pub fn install() -> anyhow::Result<Interrupt> {
        let interrupt = Interrupt(Arc::default());
        let asked = Arc::clone(&interrupt.0);
        let mut first: Option<Instant> = None;
        let handler = move || match first {
            None => {
                first = Some(Instant::now());
                asked.store(true, Ordering::Relaxed);
                note("stopping; press Ctrl-C again to stop immediately");
            }
            Some(first) if first.elapsed() > ONE_REQUEST => process::exit(130),
            Some(_) => {}
        };
        ctrlc::set_handler(handler).context("failed to watch for Ctrl-C")?;
        Ok(interrupt)
    }

    /// Returns a stop for generators, triggered by the user.
    pub fn stop(&self) -> Stop {
        Stop::when(Arc::clone(&self.0))
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
