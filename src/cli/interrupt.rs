//! Ctrl-C: the first asks for a clean end, the second ends the program at once.

use super::exit::Interrupted;
use super::output::note;
use anyhow::Context;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use warpmem::workload::Stop;

/// Whether the user wants the work to stop.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Handles SIGINT, SIGTERM and SIGHUP; once per process.
    pub fn install() -> anyhow::Result<Interrupt> {
        let interrupt = Interrupt(Arc::default());
        let asked = Arc::clone(&interrupt.0);
        let handler = move || {
            if asked.swap(true, Ordering::Relaxed) {
                process::exit(130);
            }
            note("ending; press Ctrl-C again to end at once");
        };
        ctrlc::set_handler(handler).context("failed to watch for Ctrl-C")?;
        Ok(interrupt)
    }

    /// Stops a generator when the user asks.
    pub fn stop(&self) -> Stop {
        Stop::when(Arc::clone(&self.0))
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Stops with an error if the user asked for it; `kept` says what is kept.
    pub fn check(&self, kept: &str) -> anyhow::Result<()> {
        if self.is_asked() { Err(Interrupted { kept: kept.to_owned() }.into()) } else { Ok(()) }
    }
}
