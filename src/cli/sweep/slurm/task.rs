//! A task of the array, and its handling after it has left the queue.

use crate::record::{ResultsError, cell_names};
use crate::study::sweep::Shard;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Number of consecutive submissions without a finished cell after which a task is abandoned.
const MOST_FRUITLESS: u32 = 3;

/// State of a task. Its cells are in its own directory while it is in the queue, otherwise in the
/// directory of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// To be submitted.
    Due,
    /// In the queue, or still ending.
    Queued,
    Done,
    GivenUp,
}

pub struct Task {
    pub shard: Shard,
    pub directory: PathBuf,
    run_ids: HashSet<String>,
    pub state: State,
    /// Number of cells without results, as of its last time outside the queue.
    missing: usize,
    /// Number of submissions since the last one that finished a cell.
    fruitless: u32,
    /// Log of the latest submission.
    pub log: Option<PathBuf>,
}

impl Task {
    /// Makes a task with `missing` cells, which is due if there are any.
    pub fn new(shard: Shard, directory: PathBuf, run_ids: HashSet<&str>, missing: usize) -> Task {
        let run_ids = run_ids.into_iter().map(str::to_owned).collect();
        let state = if missing == 0 { State::Done } else { State::Due };
        Task { shard, directory, run_ids, state, missing, fruitless: 0, log: None }
    }

    pub fn submitted(&mut self, log: PathBuf) {
        self.state = State::Queued;
        self.log = Some(log);
    }

    /// Records that the task left the queue with `missing` cells unfinished. Slurm's exit state is
    /// ignored.
    pub fn ended(&mut self, missing: usize) {
        self.fruitless = if missing < self.missing { 0 } else { self.fruitless + 1 };
        self.missing = missing;
        self.state = match missing {
            0 => State::Done,
            _ if self.fruitless < MOST_FRUITLESS => State::Due,
            _ => State::GivenUp,
        };
    }

    /// Returns the number of cells without results, as of its last time outside the queue.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// Returns the number of its cells.
    pub fn cells(&self) -> usize {
        self.run_ids.len()
    }

    /// Counts the cells that have results now.
    pub fn finished(&self) -> Result<usize, ResultsError> {
        match self.state {
            State::Queued => finished_in(&self.directory, &self.run_ids),
            _ => Ok(self.cells() - self.missing),
        }
    }

    /// Explains why the task was abandoned, with the end of its log.
    pub fn complaint(&self) -> String {
        let (number, of) = (self.shard.number(), self.shard.of());
        let what = format!(
            "the task of shard {number}/{of} ended {MOST_FRUITLESS} times in a row without finishing one of its {} missing cells",
            self.missing
        );
        match self.log.as_deref().map(|log| (log, last_lines(log))) {
            Some((log, Some(lines))) => format!("{what}; {} ends with:{lines}", log.display()),
            Some((log, None)) => {
                format!("{what}; it wrote no log {}: it may not have started", log.display())
            }
            None => what,
        }
    }
}

fn finished_in(directory: &Path, run_ids: &HashSet<String>) -> Result<usize, ResultsError> {
    Ok(cell_names(directory)?.intersection(run_ids).count())
}

/// Returns the last lines of a log, each on its own line; none if there is no log or it is empty.
fn last_lines(log: &Path) -> Option<String> {
    const MOST_LINES: usize = 10;
    let content = std::fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&content);
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(MOST_LINES)..];
    let shown = last.iter().map(|line| format!("\n    {line}")).collect::<String>();
    (!shown.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn task(missing: usize) -> Task {
        let shard = "2/4".parse().unwrap();
        let run_ids = ["a", "b", "c", "d", "e"].into();
        Task::new(shard, PathBuf::from("none"), run_ids, missing)
    }

    #[test]
    fn a_task_is_submitted_again_until_it_has_no_cell_missing() {
        let mut task = task(5);
        for missing in [3, 2, 1] {
            assert_eq!(task.state, State::Due);
            task.submitted(PathBuf::from("log"));
            task.ended(missing);
        }
        assert_eq!((task.state, task.finished().unwrap()), (State::Due, 4));
        task.ended(0);
        assert_eq!((task.state, task.finished().unwrap()), (State::Done, 5));
    }

    #[test]
    fn a_task_is_given_up_after_three_ends_without_another_cell() {
        let mut task = task(5);
        let mut states = Vec::new();
        for missing in [5, 5, 4, 4, 4, 4] {
            task.ended(missing);
            states.push(task.state);
        }
        use State::{Due, GivenUp};
        assert_eq!(states, [Due, Due, Due, Due, Due, GivenUp]);
        assert_eq!(self::task(0).state, State::Done);
    }

    #[test]
    fn cells_of_a_task_in_the_queue_are_counted_in_its_directory() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(5);
        task.directory = folder.path().to_owned();
        task.submitted(PathBuf::from("log"));
        assert_eq!(task.finished().unwrap(), 0);
        for name in ["a", "b", "another"] {
            fs::create_dir_all(folder.path().join("cells").join(name)).unwrap();
        }
        assert_eq!(task.finished().unwrap(), 2);
    }

    #[test]
    fn a_complaint_has_the_end_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("7_2.log");
        let mut task = task(5);
        task.submitted(log.clone());
        let what = "the task of shard 2/4 ended 3 times in a row without finishing one of its 5 missing cells";
        let log_name = log.display();
        let no_log = format!("{what}; it wrote no log {log_name}: it may not have started");
        assert_eq!(task.complaint(), no_log);
        let lines: Vec<String> = (0..20).map(|n| format!("line {n}")).collect();
        fs::write(&log, lines.join("\n")).unwrap();
        let complaint = task.complaint();
        assert!(complaint.starts_with(&format!("{what}; {log_name} ends with:\n    line 10\n")));
        assert!(complaint.ends_with("\n    line 19"), "{complaint}");
    }
}
