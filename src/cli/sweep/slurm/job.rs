//! The job of a sweep, and the file that records it, so that a later process finds its tasks in the
//! queue.

use super::place::Place;
use crate::files::staged;
use crate::gpu::results::Fnv;
use crate::record::Recorded;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;

/// Maximum length of the plan's name within the job's name.
const LONGEST_NAME: usize = 32;

/// An array in the queue, regardless of its ids: a resubmitted task is in another array of the same
/// name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub name: String,
    /// Number of shards.
    pub tasks: usize,
}

impl Job {
    /// Reads the job of an earlier process, if there was one.
    pub fn read(place: &Place) -> anyhow::Result<Option<Job>> {
        let path = place.job();
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("failed to read {}", path.display()))?,
        };
        let job = serde_json::from_str(&text).with_context(|| {
            format!(
                "{} is not the job of a sweep: if `squeue` shows no task of it, remove the file",
                path.display()
            )
        })?;
        Ok(Some(job))
    }

    /// Writes the file before the first task is submitted, so that every queued task is known.
    pub fn write(&self, place: &Place) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        staged::write(&place.job(), |path| Ok(fs::write(path, text)?))
    }

    /// Removes the file once no task is in the queue.
    pub fn remove(&self, place: &Place) -> anyhow::Result<()> {
        let path = place.job();
        fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))
    }
}

/// Returns the name of the job for these runs in this directory, which is unique among sweeps. It
/// changes with the plan's cells and with the build of the program.
pub fn job_name(plan: &str, place: &Place, run_ids: &HashSet<&str>, recorded: Recorded) -> String {
    let mut run_ids: Vec<&str> = run_ids.iter().copied().collect();
    run_ids.sort_unstable();
    let mut hash = Fnv::new();
    for text in [place.directory.as_str(), &format!("{recorded:?}")].into_iter().chain(run_ids) {
        hash.update(text.as_bytes());
        hash.update(b"\n");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain = plan.chars().take(LONGEST_NAME).map(|c| if is_plain(c) { c } else { '-' });
    format!("sweep-{}-{:016x}", plain.collect::<String>(), hash.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn place(directory: &Path) -> Place {
        let text = |name: &str| directory.join(name).to_str().unwrap().to_owned();
        let (program, plan, cache) = (text("warpmem"), text("plan.toml"), text("traces"));
        Place { program, plan, cache, directory: text("results") }
    }

    #[test]
    fn a_job_is_found_again_and_anything_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        assert_eq!(Job::read(&place).unwrap(), None);
        fs::create_dir_all(place.logs()).unwrap();
        let job = Job { name: "sweep-plan-0".to_owned(), tasks: 16 };
        job.write(&place).unwrap();
        assert_eq!(Job::read(&place).unwrap(), Some(job));
        fs::write(place.job(), "{\"name\": 3}").unwrap();
        let error = Job::read(&place).unwrap_err().to_string();
        assert!(error.contains("job.json is not the job of a sweep"), "{error}");
    }

    #[test]
    fn a_name_is_of_the_runs_what_they_record_and_the_directory() {
        let (here, there) = (place(Path::new("/a")), place(Path::new("/b")));
        let name = |place, runs: &[&str], loads| {
            let recorded = Recorded { loads, ..Recorded::default() };
            job_name("my plan, 2", place, &runs.iter().copied().collect(), recorded)
        };
        let one = name(&here, &["0", "1"], false);
        assert!(one.starts_with("sweep-my-plan--2-") && one.len() == 33, "{one}");
        assert_eq!(one, name(&here, &["1", "0"], false));
        let others = [
            name(&there, &["0", "1"], false),
            name(&here, &["0", "2"], false),
            name(&here, &["0", "1"], true),
        ];
        assert!(!others.contains(&one));
    }
}
