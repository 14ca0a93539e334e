//! Locations of the files of a sweep on Slurm: paths valid for every task, wherever it runs.

use anyhow::{Context, bail};
use std::env;
use std::path::{Path, PathBuf, absolute};

/// Absolute paths.
pub struct Place {
    pub program: String,
    pub plan: String,
    /// Folder of suite traces.
    pub cache: String,
    /// Directory of the sweep's results.
    pub directory: String,
}

impl Place {
    pub fn new(plan: &Path, cache: &Path, directory: &Path) -> anyhow::Result<Place> {
        let program = env::current_exe().context("failed to find the program's own file")?;
        Ok(Place {
            program: text(&program)?,
            plan: text(plan)?,
            cache: text(cache)?,
            directory: text(directory)?,
        })
    }

    /// Returns the folder of the shards.
    pub fn shards(&self) -> String {
        format!("{}/shards", self.directory)
    }

    /// Returns the directory of a shard, by its number.
    pub fn shard(&self, number: usize) -> PathBuf {
        Path::new(&self.shards()).join(number.to_string())
    }

    /// Returns the folder of the tasks' logs.
    pub fn logs(&self) -> String {
        format!("{}/slurm", self.directory)
    }

    /// Returns the log of a task.
    pub fn log(&self, job: &str, number: usize) -> PathBuf {
        Path::new(&self.logs()).join(format!("{job}_{number}.log"))
    }

    /// Returns the file that records the sweep's job.
    pub fn job(&self) -> PathBuf {
        Path::new(&self.logs()).join("job.json")
    }
}

/// Returns an absolute path that a batch script can contain.
fn text(path: &Path) -> anyhow::Result<String> {
    let path = absolute(path).with_context(|| format!("failed to find {}", path.display()))?;
    match path.to_str() {
        // In the name of a log, a backslash disables placeholders.
        Some(text) if !text.contains(|c: char| c.is_control() || c == '\\') => Ok(text.to_owned()),
        _ => bail!(
            "{} cannot be used in a batch script: expected a path in UTF-8 without control characters and backslashes",
            path.display()
        ),
    }
}
