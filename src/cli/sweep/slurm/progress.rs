//! Progress messages while the tasks are queued or running.

use super::queue::Queued;
use crate::cli::output::note;
use crate::cli::progress::bar;
use indicatif::ProgressBar;
use std::time::{Duration, Instant};
use warpmem_support::text::counted;

/// Progress bar on standard error if it is a terminal, and notes.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
    /// Number of cells of the plan, and of those finished before.
    cells: usize,
    before: usize,
    finished: usize,
    /// Number of resubmitted tasks.
    again: usize,
    /// Last reported problem.
    trouble: String,
}

impl Progress {
    /// Starts the progress of `cells` cells, `before` of them finished.
    pub fn new(cells: usize, before: usize) -> Progress {
        let bar = bar("{bar:30} {percent:>3} % · runs {pos}/{len} · {msg} · {eta} left");
        bar.set_length(cells as u64);
        bar.set_position(before as u64);
        bar.set_message("asking Slurm");
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(200));
        let (begun, trouble) = (Instant::now(), String::new());
        Progress { bar, begun, cells, before, finished: before, again: 0, trouble }
    }

    pub fn note(&self, text: &str) {
        self.bar.suspend(|| note(text));
    }

    /// Notes that tasks were submitted, `again` of them repeatedly.
    pub fn submitted(&mut self, job: &str, tasks: usize, again: usize) {
        self.again += again;
        self.note(&format!("submitted {} as job {job}", counted(tasks, "task")));
    }

    /// Reports a problem, once while it remains the same.
    pub fn trouble(&mut self, what: &str) {
        if self.trouble != what {
            self.trouble = what.to_owned();
            self.note(&format!("note: {what}"));
        }
    }

    /// Shows the number of finished cells, and the state of the tasks.
    pub fn show(&mut self, finished: usize, queued: &[Queued]) {
        self.finished = finished;
        let minutes = self.begun.elapsed().as_secs_f64() / 60.0;
        self.bar.set_position(finished as u64);
        self.bar.set_message(format!(
            "{} · {:.1} runs/min",
            places(queued),
            self.made() as f64 / minutes
        ));
    }

    fn made(&self) -> usize {
        self.finished.saturating_sub(self.before)
    }

    /// Removes the bar and returns the summary: `488 runs on Slurm in 62.1 s; 2 tasks were
    /// resubmitted; 12 of 500 cells already existed`.
    pub fn finish(self) -> String {
        self.bar.finish_and_clear();
        let (runs, seconds) = (counted(self.made(), "run"), self.begun.elapsed().as_secs_f64());
        let again = match self.again {
            0 => String::new(),
            1 => "; 1 task was resubmitted".to_owned(),
            tasks => format!("; {tasks} tasks were resubmitted"),
        };
        let before = match self.before {
            0 => String::new(),
            before => format!("; {before} of {} cells already existed", self.cells),
        };
        format!("{runs} on Slurm in {seconds:.1} s{again}{before}")
    }
}

/// Summarizes task states: `4 running, 12 waiting (Resources)`.
fn places(queued: &[Queued]) -> String {
    let waiting: Vec<&Queued> = queued.iter().filter(|task| task.is_pending).collect();
    let running = format!("{} running", queued.len() - waiting.len());
    match waiting.first() {
        None => running,
        Some(first) => format!("{running}, {} waiting ({})", waiting.len(), first.reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_by_where_they_are() {
        let task = |number, is_pending, reason: &str| Queued {
            job: "1".to_owned(),
            number,
            is_pending,
            reason: reason.to_owned(),
        };
        assert_eq!(places(&[]), "0 running");
        let queued =
            [task(1, false, "None"), task(2, true, "Resources"), task(3, true, "Priority")];
        assert_eq!(places(&queued[..1]), "1 running");
        assert_eq!(places(&queued), "1 running, 2 waiting (Resources)");
    }
}
