//! The task array: submits due tasks, waits, and gathers the cells of tasks that have left the
//! queue.

use super::job::Job;
use super::options::SlurmOptions;
use super::place::Place;
use super::progress::Progress;
use super::queue::{self, Queued};
use super::script::Script;
use super::task::{State, Task};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::note;
use crate::record::ResultsError;
use crate::study::sweep::{Shard, Sweep, SweepError};
use anyhow::Context;
use std::thread::sleep;
use std::time::Duration;
use warpmem_support::text::counted;

pub struct Array<'s, 'p> {
    sweep: &'s mut Sweep<'p>,
    place: &'s Place,
    options: &'s SlurmOptions,
    job: &'s Job,
    tasks: Vec<Task>,
    progress: Progress,
}

impl<'s, 'p> Array<'s, 'p> {
    /// Makes an array of `of` tasks, `queued` of them in the queue.
    ///
    /// # Errors
    /// If the directory of a task cannot be read.
    pub fn new(
        sweep: &'s mut Sweep<'p>,
        place: &'s Place,
        options: &'s SlurmOptions,
        job: &'s Job,
        queued: &[Queued],
    ) -> anyhow::Result<Array<'s, 'p>> {
        let task = |shard: Shard| {
            let number = shard.number();
            let (run_ids, missing) = (sweep.run_ids(Some(shard)), sweep.missing(Some(shard)));
            let mut task = Task::new(shard, place.shard(number), run_ids, missing);
            if let Some(queued) = queued.iter().find(|queued| queued.number == number) {
                task.submitted(place.log(&queued.job, number));
            }
            task
        };
        let tasks: Vec<Task> = Shard::all(job.tasks).map(task).collect();
        let progress = Progress::new(sweep.run_ids(None).len(), finished(&tasks)?);
        Ok(Array { sweep, place, options, job, tasks, progress })
    }

    /// Waits until no task is in the queue and none is due, or, after Ctrl-C, until all are
    /// cancelled. Returns messages about abandoned tasks.
    ///
    /// # Errors
    /// If Slurm refuses the tasks, or cells cannot be moved. Tasks in the queue remain there.
    pub fn wait(mut self, interrupt: &Interrupt) -> anyhow::Result<Vec<String>> {
        let mut is_cancelled = false;
        let mut pause = Pause::SHORTEST;
        loop {
            if interrupt.is_asked() && !is_cancelled {
                self.cancel()?;
                is_cancelled = true;
                pause = Pause::SHORTEST;
            }
            let is_submitted = !is_cancelled && self.submit_due()?;
            if !self.is_under_way(is_cancelled) {
                break;
            }
            pause = if is_submitted { Pause::SHORTEST } else { pause.longer() };
            pause.sleep(interrupt);
            self.look(is_cancelled)?;
        }
        note(&self.progress.finish());
        let given_up = self.tasks.iter().filter(|task| task.state == State::GivenUp);
        Ok(given_up.map(Task::complaint).collect())
    }

    fn is_under_way(&self, is_cancelled: bool) -> bool {
        let is_awaited = |state| state == State::Queued || (state == State::Due && !is_cancelled);
        self.tasks.iter().any(|task| is_awaited(task.state))
    }

    /// Submits the due tasks in one array; returns whether there were any. If Slurm refuses, they
    /// stay due while others are in the queue, because it may accept fewer at a time.
    fn submit_due(&mut self) -> anyhow::Result<bool> {
        let numbers = self.deal()?;
        if numbers.is_empty() {
            return Ok(false);
        }
        let Array { place, options, job, .. } = *self;
        let script = Script { options, place, job };
        let id = match queue::submit(&script.text(&numbers), &script.arguments(&numbers)) {
            Ok(id) => id,
            Err(refused) if self.tasks.iter().any(|task| task.state == State::Queued) => {
                self.progress.trouble(&format!("{refused:#}; tried again"));
                return Ok(false);
            }
            Err(refused) => return Err(refused.context("failed to submit the tasks")),
        };
        let is_again = |number: &&usize| self.tasks[**number - 1].log.is_some();
        let again = numbers.iter().filter(is_again).count();
        self.progress.submitted(&id, numbers.len(), again);
        for number in numbers {
            self.tasks[number - 1].submitted(place.log(&id, number));
        }
        Ok(true)
    }

    /// Moves finished cells of due tasks to their directories, and returns the numbers of these
    /// tasks.
    fn deal(&mut self) -> anyhow::Result<Vec<usize>> {
        let mut numbers = Vec::new();
        for task in self.tasks.iter().filter(|task| task.state == State::Due) {
            if is_free(self.sweep.deal(task.shard, &task.directory))? {
                numbers.push(task.shard.number());
            }
        }
        Ok(numbers)
    }

    /// Checks for tasks that have left the queue, and shows the progress of the others.
    fn look(&mut self, is_cancelled: bool) -> anyhow::Result<()> {
        let queued = match queue::tasks(&self.job.name) {
            Ok(queued) => queued,
            // Without an answer the state of the tasks is unknown, and they continue.
            Err(error) => {
                self.progress.trouble(&format!("{error:#}; asked again"));
                return Ok(());
            }
        };
        for at in 0..self.tasks.len() {
            let task = &mut self.tasks[at];
            let found = queued.iter().find(|queued| queued.number == task.shard.number());
            match (task.state, found) {
                (State::Queued, None) => self.gather(at, is_cancelled)?,
                // Slurm accepted the task, though `sbatch` got no answer in time.
                (State::Due, Some(found)) => {
                    task.submitted(self.place.log(&found.job, found.number));
                }
                _ => {}
            }
        }
        self.progress.show(finished(&self.tasks)?, &queued);
        Ok(())
    }

    /// Gathers the cells of a task that has left the queue, once its process has ended.
    fn gather(&mut self, at: usize, is_cancelled: bool) -> anyhow::Result<()> {
        let task = &mut self.tasks[at];
        if !is_free(self.sweep.gather(&task.directory))? {
            let place = task.directory.display();
            self.progress
                .trouble(&format!("{place} is in use, though its task has left the queue"));
            return Ok(());
        }
        task.ended(self.sweep.missing(Some(task.shard)));
        if task.state == State::Due && !is_cancelled {
            let (number, missing) = (task.shard.number(), task.missing());
            let log =
                task.log.as_ref().map_or(String::new(), |log| format!(" ({})", log.display()));
            self.progress.note(&format!(
                "note: task {number} ended with {} missing{log}; it is resubmitted",
                counted(missing, "cell")
            ));
        }
        Ok(())
    }

    fn cancel(&mut self) -> anyhow::Result<()> {
        let job_name = &self.job.name;
        queue::cancel(job_name).with_context(|| {
            format!("the tasks are in the queue: cancel them with `scancel --name={job_name}`")
        })
    }
}

/// Counts the cells with results.
fn finished(tasks: &[Task]) -> Result<usize, ResultsError> {
    tasks.iter().map(Task::finished).sum()
}

/// Returns whether the cells were moved; otherwise a process is still writing the directory.
fn is_free(moved: Result<(), SweepError>) -> Result<bool, SweepError> {
    match moved {
        Err(error) if error.is_in_use() => Ok(false),
        moved => moved.map(|()| true),
    }
}

/// Growing interval between polls: short sweeps end without delay, long ones do not burden Slurm.
#[derive(Clone, Copy)]
struct Pause(Duration);

impl Pause {
    const SHORTEST: Pause = Pause(Duration::from_millis(200));
    const LONGEST: Duration = Duration::from_secs(10);
    /// Interval at which Ctrl-C is checked.
    const STEP: Duration = Duration::from_millis(100);

    fn longer(self) -> Pause {
        Pause((self.0 * 5 / 4).min(Pause::LONGEST))
    }

    /// Sleeps until the end of the interval or Ctrl-C.
    fn sleep(self, interrupt: &Interrupt) {
        let was_asked = interrupt.is_asked();
        let mut left = self.0;
        while !left.is_zero() && interrupt.is_asked() == was_asked {
            let step = left.min(Pause::STEP);
            sleep(step);
            left -= step;
        }
    }
}
