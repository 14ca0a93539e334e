//! Runs long work on a separate thread, while the calling thread watches for Ctrl-C and reports
//! progress to Python.

use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use warpmem::gpu::engine::{Progress, ProgressReport};
use warpmem::study::cells;
use warpmem::workload::Stop;

/// Polling interval.
const INTERVAL: Duration = Duration::from_millis(100);

/// Progress of the work, and its stop flag.
#[derive(Default)]
pub struct Board {
    done: AtomicU64,
    total: AtomicU64,
    stopped: Arc<AtomicBool>,
}

impl Board {
    pub fn of(total: u64) -> Board {
        Board { total: total.into(), ..Board::default() }
    }

    pub fn set(&self, done: u64, total: u64) {
        self.done.store(done, Relaxed);
        self.total.store(total, Relaxed);
    }

    pub fn set_done(&self, done: u64) {
        self.done.store(done, Relaxed);
    }

    pub fn add(&self, done: u64) {
        self.done.fetch_add(done, Relaxed);
    }

    pub fn add_total(&self, more: u64) {
        self.total.fetch_add(more, Relaxed);
    }

    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Sets the amount done, and asks the work to stop if it must.
    pub fn tell(&self, done: u64) -> ControlFlow<()> {
        self.set_done(done);
        match self.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Fails if the work must stop.
    pub fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.is_stopped(), "interrupted");
        Ok(())
    }

    /// Returns a stop for generators, triggered with the work.
    pub fn generator_stop(&self) -> Stop {
        Stop::when(Arc::clone(&self.stopped))
    }
}

/// Calls `work` without Python's lock, and `progress` with the amount done and the total, at intervals and at the end.
/// Ctrl-C, or an exception of `progress`, stops the work; the exception is raised again.
pub fn watched<T: Send>(
    py: Python<'_>,
    board: &Board,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let tell = || -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &progress {
                progress.call1(py, (board.done.load(Relaxed), board.total.load(Relaxed)))?;
            }
            Ok(())
        })
    };
    let (result, told) = py.detach(|| {
        thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let worker = scope.spawn(move || {
                // Dropped at the end, also on a panic.
                let _ended = ended;
                work()
            });
            let mut told = Ok(());
            while end.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if told.is_ok() {
                    told = tell();
                }
                if told.is_err() {
                    board.stop();
                }
            }
            let told = told.and_then(|()| tell());
            (worker.join(), told)
        })
    });
    told?;
    result.map_or_else(|panic| resume_unwind(panic), Ok)
}

impl cells::Watcher for Board {
    type Progress<'a> = BoardProgress<'a>;

    fn watch(&self) -> BoardProgress<'_> {
        BoardProgress { board: self, seen: 0 }
    }

    fn fail(&self) {
        self.stop();
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped()
    }
}

/// Adds the warp instructions of a run.
pub struct BoardProgress<'a> {
    board: &'a Board,
    seen: u64,
}

impl cells::RunProgress for BoardProgress<'_> {
    fn done(mut self, end: &ProgressReport) {
        self.report(end);
    }
}

impl Progress for BoardProgress<'_> {
    fn report(&mut self, report: &ProgressReport) -> bool {
        self.board.add(report.warp_instructions.saturating_sub(self.seen));
        self.seen = report.warp_instructions;
        !self.board.is_stopped()
    }
}
