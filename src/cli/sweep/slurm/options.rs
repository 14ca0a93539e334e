//! Options of a submission to Slurm.

use std::num::NonZeroUsize;

/// Options of a sweep on Slurm.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Slurm")]
pub struct SlurmOptions {
    /// Run the cells as a Slurm array, wait for its tasks, resubmit those that died, and assemble
    /// the tables. Ctrl-C cancels the tasks. If the command was killed, running it again waits for
    /// the tasks still in the queue
    #[arg(long, conflicts_with_all = ["shard", "jobs"])]
    slurm: bool,
    /// Tasks of the array, each a shard of the cells; by default one cell per processor, 100 tasks
    /// at most
    #[arg(long, value_name = "N", requires = "slurm")]
    tasks: Option<NonZeroUsize>,
    /// Processors per task, each of which runs a cell at a time; 1 by default
    #[arg(long, value_name = "N", requires = "slurm")]
    cpus: Option<NonZeroUsize>,
    /// Partition of the tasks
    #[arg(long, value_name = "NAME", requires = "slurm", value_parser = line)]
    partition: Option<String>,
    /// Time limit of a task, as Slurm writes it: 90 (minutes), 12:00:00, 2-00:00:00. A task that
    /// ends at its limit keeps its finished cells and is resubmitted for the others
    #[arg(long, value_name = "TIME", requires = "slurm", value_parser = line)]
    time: Option<String>,
    /// Memory of a task, as Slurm writes it: 4G
    #[arg(long, value_name = "SIZE", requires = "slurm", value_parser = line)]
    mem: Option<String>,
    /// Account that pays for the tasks
    #[arg(long, value_name = "NAME", requires = "slurm", value_parser = line)]
    account: Option<String>,
    /// Any other option of sbatch, as a line of the batch script; may be repeated
    #[arg(long = "sbatch-option", value_name = "OPTION", requires = "slurm", value_parser = option, allow_hyphen_values = true)]
    others: Vec<String>,
}

/// Default maximum of tasks, which keeps the scheduler and the log directory manageable.
const MOST_TASKS: usize = 100;

impl SlurmOptions {
    pub fn is_asked(&self) -> bool {
        self.slurm
    }

    /// Returns the processors per task.
    pub fn cpus(&self) -> usize {
        self.cpus.map_or(1, NonZeroUsize::get)
    }

    /// Returns the number of tasks for `cells` cells; every task has a cell.
    pub fn tasks(&self, cells: usize) -> usize {
        let default = || cells.div_ceil(self.cpus()).min(MOST_TASKS);
        self.tasks.map_or_else(default, NonZeroUsize::get).min(cells)
    }

    /// Returns the options of `sbatch` for a task's resources.
    pub fn resources(&self) -> Vec<String> {
        let typed = [
            ("partition", &self.partition),
            ("time", &self.time),
            ("mem", &self.mem),
            ("account", &self.account),
        ];
        let typed = typed.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let typed = typed.map(|(name, value)| format!("--{name}={value}"));
        typed.chain([format!("--cpus-per-task={}", self.cpus())]).collect()
    }

    /// Returns other options of `sbatch`, as typed.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(String::as_str)
    }
}

/// Parses a value that fits on a line of the batch script.
fn line(text: &str) -> Result<String, String> {
    match text.is_empty() || text.contains(char::is_control) {
        true => Err("expected text without line breaks".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn option(text: &str) -> Result<String, String> {
    match text.starts_with('-') {
        true => line(text),
        false => Err("expected an option of sbatch, as in `--sbatch-option=--qos=high`".to_owned()),
    }
}
