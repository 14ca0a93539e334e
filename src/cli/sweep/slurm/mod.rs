//! A sweep on a cluster: an array of tasks scheduled by Slurm, each a shard in its own directory.
//!
//! ```text
//! DIR/slurm/job.json        name and size of the array
//! DIR/slurm/JOB_N.log       output of task N
//! DIR/shards/N/cells/       finished cells of task N while it is in the queue
//! DIR/cells/                all other finished cells
//! ```
//!
//! A task's completion is judged by its cells. Slurm is queried only for the tasks in the queue, by
//! job name, which is derived from the runs and the directory: a process that finds tasks of this
//! name waits for them instead of submitting others.

mod array;
mod job;
mod options;
mod place;
mod progress;
mod queue;
mod script;
mod task;

use self::array::Array;
use self::job::{Job, job_name};
pub use self::options::SlurmOptions;
use self::place::Place;
use self::queue::Queued;
use self::script::Script;
use super::execute::{Options, open_sweep, open_traces, tell};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::{complain, note};
use crate::record::cell_names;
use crate::study::sweep::{
    Expansion, Listed, Outcome, Plan, Planned, Shard, Sweep, expand, listed,
};
use anyhow::{Context, anyhow, bail};
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use warpmem_support::text::counted;

/// A sweep and the options of its submission.
pub struct Request<'a> {
    pub plan: &'a Plan,
    /// File of the plan.
    pub file: &'a Path,
    /// Directory of the results.
    pub directory: &'a Path,
    pub options: &'a Options,
    pub slurm: &'a SlurmOptions,
}

impl Request<'_> {
    /// Runs the cells as tasks of Slurm, and assembles the tables.
    ///
    /// # Errors
    /// If the plan cannot run, Slurm refuses it, results cannot be written, or a task was
    /// abandoned. Finished runs are kept.
    pub fn run(&self, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
        let Request { plan, directory, options, slurm, .. } = *self;
        let place = self.place()?;
        let traces = open_traces(plan, directory, options, interrupt)?;
        let expansion = expand(plan, &traces)?;
        tell(&expansion);
        let (job, queued) = self.find(&place, &expansion)?;
        let mut sweep = open_sweep(expansion, plan, directory, options)?;
        let logs = place.logs();
        fs::create_dir_all(&logs).with_context(|| format!("failed to create {logs}"))?;
        job.write(&place)?;
        gather_all(&mut sweep, &place, &queued)?;
        let given_up = Array::new(&mut sweep, &place, slurm, &job, &queued)?.wait(interrupt)?;
        // Includes cells moved to a task that was never submitted.
        gather_all(&mut sweep, &place, &[])?;
        let mut outcome = sweep.start().skip().assemble()?;
        outcome.interrupted = interrupt.is_asked() && !outcome.is_whole;
        job.remove(&place)?;
        remove(&place.shards())?;
        if outcome.is_whole {
            remove(&place.logs())?;
        }
        match given_up.is_empty() || outcome.interrupted {
            true => Ok(outcome),
            false => Err(refusal(given_up, &outcome, directory)),
        }
    }

    /// Returns the batch script that would be submitted if no task were in the queue.
    ///
    /// # Errors
    /// If the plan cannot run, or has no cell left to run.
    pub fn script(&self, interrupt: &Interrupt) -> anyhow::Result<String> {
        let Request { plan, directory, options, slurm, .. } = *self;
        let place = self.place()?;
        let traces = open_traces(plan, directory, options, interrupt)?;
        let cells = expand(plan, &traces)?.cells;
        let mut in_shards = HashSet::new();
        for shard in shards(&place)? {
            in_shards.extend(cell_names(&shard)?);
        }
        let is_missing = |cell: &Listed<'_, '_>| {
            !cell.is_there && !in_shards.contains(cell.planned.cell.key.run_id())
        };
        let job = Job { name: self.job_name(&place, &cells), tasks: slurm.tasks(cells.len()) };
        let mut numbers = Vec::new();
        for shard in Shard::all(job.tasks) {
            let listed = listed(&cells, plan.recorded(), directory, Some(shard))?;
            numbers.extend(listed.iter().any(is_missing).then_some(shard.number()));
        }
        match numbers.is_empty() {
            true => bail!("all {} cells have finished: nothing to submit", cells.len()),
            false => Ok(Script { options: slurm, place: &place, job: &job }.text(&numbers)),
        }
    }

    fn place(&self) -> anyhow::Result<Place> {
        Place::new(self.file, &self.options.cache_in(self.directory), self.directory)
    }

    /// Finds the job of the sweep, and its tasks in the queue.
    fn find(&self, place: &Place, expansion: &Expansion<'_>) -> anyhow::Result<(Job, Vec<Queued>)> {
        let cells = &expansion.cells;
        let (name, tasks) = (self.job_name(place, cells), self.slurm.tasks(cells.len()));
        let earlier = Job::read(place)?;
        let known = earlier.as_ref().map_or(name.clone(), |job| job.name.clone());
        let queued = queue::tasks(&known)?;
        if queued.is_empty() {
            return Ok((Job { name, tasks }, queued));
        }
        let what = format!("{} of job {}", counted(queued.len(), "task"), ids(&queued));
        let Some(job) = earlier.filter(|job| job.name == name) else {
            bail!(
                "the queue has {what} for {}, from an earlier plan or another build of the program: wait for them, or cancel them with `scancel --name={known}`",
                place.directory
            );
        };
        note(&format!("the queue has {what}: waiting for them"));
        if tasks != job.tasks {
            note(&format!(
                "note: the array keeps its {} until it ends",
                counted(job.tasks, "task")
            ));
        }
        Ok((job, queued))
    }

    fn job_name(&self, place: &Place, cells: &[Planned<'_>]) -> String {
        let run_ids = cells.iter().map(|planned| planned.cell.key.run_id()).collect();
        job_name(&self.plan.name, place, &run_ids, self.plan.recorded())
    }
}

/// Returns whether tasks of a sweep in `directory` may be in the queue.
pub fn is_under_way(directory: &Path) -> bool {
    directory.join("slurm/job.json").exists()
}

fn ids(queued: &[Queued]) -> String {
    let ids: BTreeSet<&str> = queued.iter().map(|task| task.job.as_str()).collect();
    ids.into_iter().collect::<Vec<_>>().join(", ")
}

/// Gathers the cells finished by earlier tasks, including those of an array of another size, except
/// for tasks in the queue.
fn gather_all(sweep: &mut Sweep<'_>, place: &Place, queued: &[Queued]) -> anyhow::Result<()> {
    let in_queue: HashSet<PathBuf> = queued.iter().map(|task| place.shard(task.number)).collect();
    for shard in shards(place)?.iter().filter(|shard| !in_queue.contains(*shard)) {
        sweep.gather(shard)?;
    }
    Ok(())
}

/// Returns the directories of shards.
fn shards(place: &Place) -> anyhow::Result<Vec<PathBuf>> {
    let shards = place.shards();
    let entries = match fs::read_dir(&shards) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect()),
    };
    entries.with_context(|| format!("failed to read directory {shards}"))
}

fn remove(folder: &str) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| format!("failed to remove {folder}")),
    }
}

/// Describes the abandoned tasks.
fn refusal(given_up: Vec<String>, outcome: &Outcome, directory: &Path) -> anyhow::Error {
    let (finished, cells, place) = (outcome.finished, outcome.cells, directory.display());
    let kept = format!("{finished} of {cells} cells are in {place}; run it again to resume");
    let mut complaints = given_up.into_iter();
    let first = complaints.next().unwrap_or_default();
    complaints.for_each(|complaint| complain(&format!("failed: {complaint}")));
    anyhow!(first).context(kept)
}
