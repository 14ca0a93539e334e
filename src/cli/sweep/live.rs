//! Progress of a sweep, on standard error if it is a terminal: the latest results, the running
//! cells, and the completed share.

use super::super::interrupt::Interrupt;
use super::super::output::progress_target;
use super::super::progress::{Board, BoardProgress, style};
use crate::gpu::engine::{Progress, ProgressReport};
use crate::gpu::results::RunResult;
use crate::study::cells::{RunProgress as _, Watcher as _};
use crate::study::sweep::{Planned, Watcher};
use indicatif::{HumanCount, MultiProgress, ProgressBar};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use warpmem_support::text::printable_cell;

/// Number of results shown at a time.
const LATEST: usize = 5;

/// The live table.
pub struct Live {
    table: MultiProgress,
    latest: ProgressBar,
    board: Board,
    results: Mutex<Results>,
}

/// Results so far.
struct Results {
    /// IPC of each cell of the plan.
    ipc: Vec<Option<f64>>,
    /// Index of each cell's baseline.
    partners: Vec<Option<usize>>,
    lines: VecDeque<String>,
}

impl Live {
    /// Makes a table for the cells to run, of a plan whose cells have the baselines `partners`.
    pub fn new(
        interrupt: &Interrupt,
        cells: &[&Planned<'_>],
        partners: Vec<Option<usize>>,
    ) -> Live {
        let table = MultiProgress::with_draw_target(progress_target());
        let latest = table.add(ProgressBar::no_length());
        latest.set_style(style("{msg}"));
        let bar = table.add(ProgressBar::no_length());
        let ctas = cells.iter().map(|planned| planned.cell.ctas()).sum();
        let instructions = cells.iter().map(|planned| planned.cell.warp_instructions()).sum();
        let board = Board::on(bar, interrupt.clone(), cells.len(), ctas, instructions);
        let ipc = vec![None; partners.len()];
        let results = Results { ipc, partners, lines: VecDeque::new() };
        Live { table, latest, board, results: Mutex::new(results) }
    }

    /// Removes the table and returns the summary: `16 runs in 3.2 s: …`
    pub fn finish(self) -> String {
        self.latest.finish_and_clear();
        self.board.finish()
    }

    fn results(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Live {
    type Running<'a> = Running<'a>;

    /// Adds a line for the cell, which stays until the value is dropped.
    fn begin(&self, planned: &Planned<'_>) -> Running<'_> {
        let instructions = planned.cell.warp_instructions();
        let line = self.table.insert(1, ProgressBar::new(instructions));
        line.set_style(style("  {percent:>3} %  {prefix}  {msg}"));
        line.set_prefix(printable_cell(&planned.label).into_owned());
        Running { watch: Some(self.board.watch()), line }
    }

    fn ended(&self, at: usize, planned: &Planned<'_>, running: Running<'_>, result: &RunResult) {
        running.done(&planned.cell.end(result));
        let instructions: u64 = result.sms.iter().map(|sm| sm.thread_instructions).sum();
        let ipc = instructions as f64 / result.core_cycles.max(1) as f64;
        let mut results = self.results();
        results.ipc[at] = Some(ipc);
        let base = results.partners[at].and_then(|partner| results.ipc[partner]);
        let ratio = base.filter(|base| *base > 0.0);
        let ratio = ratio.map_or(String::new(), |base| format!("  ×{:.3}", ipc / base));
        results
            .lines
            .push_back(format!("  IPC {ipc:8.3}{ratio:8}  {}", printable_cell(&planned.label)));
        if results.lines.len() > LATEST {
            results.lines.pop_front();
        }
        let lines: Vec<&str> = results.lines.iter().map(String::as_str).collect();
        self.latest.set_message(lines.join("\n"));
    }

    fn stop(&self) {
        self.board.fail();
    }

    fn is_stopped(&self) -> bool {
        self.board.is_stopped()
    }
}

/// A running cell.
pub struct Running<'a> {
    watch: Option<BoardProgress<'a>>,
    line: ProgressBar,
}

impl Running<'_> {
    /// Records the end of the cell with these numbers.
    fn done(mut self, end: &ProgressReport) {
        if let Some(watch) = self.watch.take() {
            watch.done(end);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

impl Progress for Running<'_> {
    fn report(&mut self, report: &ProgressReport) -> bool {
        self.line.set_position(report.warp_instructions);
        self.line.set_message(format!("{} cycles", HumanCount(report.cycles)));
        self.watch.as_mut().is_none_or(|watch| watch.report(report))
    }
}
