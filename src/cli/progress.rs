//! Progress of runs on standard error, if it is a terminal, and the summary line.

use super::interrupt::Interrupt;
use super::output::progress_target;
use crate::gpu::engine::{Progress, ProgressReport};
use crate::study::cells::{self, Watcher};
use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

/// Progress of all runs of a command; each run has its own thread.
pub struct Board {
    bar: ProgressBar,
    begun: Instant,
    interrupt: Interrupt,
    /// Whether some run has failed, so that the others should stop.
    failed: AtomicBool,
    runs: u64,
    ctas: u64,
    runs_done: AtomicU64,
    ctas_done: AtomicU64,
    cycles: AtomicU64,
    instructions: AtomicU64,
}

impl Board {
    /// Makes a board for `runs` runs, with `ctas` CTAs and `instructions` warp instructions in
    /// total.
    pub fn new(interrupt: Interrupt, runs: usize, ctas: u64, instructions: u64) -> Board {
        let bar = ProgressBar::with_draw_target(Some(instructions), progress_target());
        Board::on(bar, interrupt, runs, ctas, instructions)
    }

    /// Makes a board as [`Board::new`] does, drawn on an existing bar.
    pub fn on(
        bar: ProgressBar,
        interrupt: Interrupt,
        runs: usize,
        ctas: u64,
        instructions: u64,
    ) -> Board {
        bar.set_length(instructions);
        bar.set_style(style("{bar:30} {percent:>3} % · {msg} · {eta} left"));
        bar.enable_steady_tick(Duration::from_millis(200));
        let board = Board {
            bar,
            begun: Instant::now(),
            interrupt,
            failed: AtomicBool::new(false),
            runs: runs as u64,
            ctas,
            runs_done: AtomicU64::new(0),
            ctas_done: AtomicU64::new(0),
            cycles: AtomicU64::new(0),
            instructions: AtomicU64::new(0),
        };
        board.draw();
        board
    }

    /// Removes the bar and returns the summary: `16 runs in 3.2 s: 1,234,567 warp instructions,
    /// 385,802 per second`.
    pub fn finish(self) -> String {
        self.bar.finish_and_clear();
        let (runs, seconds) = (self.runs_done.load(Relaxed), self.begun.elapsed().as_secs_f64());
        let instructions = self.instructions.load(Relaxed);
        format!(
            "{runs} run{} in {seconds:.1} s: {} warp instructions, {} per second",
            if runs == 1 { "" } else { "s" },
            HumanCount(instructions),
            HumanCount((instructions as f64 / seconds) as u64)
        )
    }

    fn draw(&self) {
        let instructions = self.instructions.load(Relaxed);
        let rate = instructions as f64 / self.begun.elapsed().as_secs_f64();
        let mut message = format!(
            "CTAs {}/{} · {} cycles · {} instructions/s",
            HumanCount(self.ctas_done.load(Relaxed)),
            HumanCount(self.ctas),
            HumanCount(self.cycles.load(Relaxed)),
            HumanCount(rate as u64)
        );
        if self.runs > 1 {
            let done = self.runs_done.load(Relaxed);
            message = format!("runs {done}/{} · {message}", self.runs);
        }
        self.bar.set_position(instructions);
        self.bar.set_message(message);
    }
}

impl Watcher for Board {
    type Progress<'a> = BoardProgress<'a>;

    fn watch(&self) -> BoardProgress<'_> {
        BoardProgress { board: self, seen: NOTHING }
    }

    fn fail(&self) {
        self.failed.store(true, Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.interrupt.is_asked() || self.failed.load(Relaxed)
    }
}

const NOTHING: ProgressReport =
    ProgressReport { ctas_ended: 0, ctas: 0, cycles: 0, warp_instructions: 0 };

/// Adds the reports of one run to its board.
pub struct BoardProgress<'a> {
    board: &'a Board,
    seen: ProgressReport,
}

impl cells::RunProgress for BoardProgress<'_> {
    fn done(mut self, end: &ProgressReport) {
        self.board.runs_done.fetch_add(1, Relaxed);
        self.report(end);
    }
}

impl Progress for BoardProgress<'_> {
    fn report(&mut self, report: &ProgressReport) -> bool {
        let add = |sum: &AtomicU64, of: fn(&ProgressReport) -> u64| {
            sum.fetch_add(of(report).saturating_sub(of(&self.seen)), Relaxed);
        };
        add(&self.board.ctas_done, |r| r.ctas_ended);
        add(&self.board.cycles, |r| r.cycles);
        add(&self.board.instructions, |r| r.warp_instructions);
        self.seen = *report;
        self.board.draw();
        !self.board.is_stopped()
    }
}

/// Makes a bar for work measured by a single count.
pub fn bar(template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(0), progress_target());
    bar.with_style(style(template))
}

/// Makes a style whose templates support, besides indicatif's keys, `rate`: whole steps per second.
pub fn style(template: &str) -> ProgressStyle {
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = write!(out, "{}/s", HumanCount(state.per_sec() as u64));
    };
    let style = ProgressStyle::with_template(template).expect("templates are constants");
    style.progress_chars("=> ").with_key("rate", rate)
}
