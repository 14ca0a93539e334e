//! Slurm's client commands.

use anyhow::{Context, bail};
use std::env;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::process::{Child, Command, Stdio};

/// A task that is in the queue: pending, running or ending.
#[derive(Debug, PartialEq, Eq)]
pub struct Queued {
    /// Id of the array.
    pub job: String,
    /// Number within the array.
    pub number: usize,
    pub is_pending: bool,
    /// Reason why the task is pending, in Slurm's words.
    pub reason: String,
}

/// Submits a batch script and returns the id of its job.
pub fn submit(script: &str, arguments: &[String]) -> anyhow::Result<String> {
    let mut options = vec!["--parsable"];
    options.extend(arguments.iter().map(String::as_str));
    let output = client("sbatch", &options, script)?;
    // `ID`, or `ID;CLUSTER`.
    let id = output.trim().split(';').next().unwrap_or_default();
    match !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(id.to_owned()),
        false => bail!("`sbatch` printed `{}`: expected the id of a job", output.trim()),
    }
}

/// Returns the tasks of the job in the queue.
pub fn tasks(job_name: &str) -> anyhow::Result<Vec<Queued>> {
    let name = format!("--name={job_name}");
    let options = ["--noheader", "--array", &name, "--format=%F %K %T %r"];
    client("squeue", &options, "")?.lines().map(queued).collect()
}

/// Cancels all tasks of the job.
pub fn cancel(job_name: &str) -> anyhow::Result<()> {
    client("scancel", &[&format!("--name={job_name}")], "").map(drop)
}

/// Parses a line of the queue: `123 7 PENDING Resources`.
fn queued(line: &str) -> anyhow::Result<Queued> {
    let mut words = line.split_whitespace();
    let mut word = || words.next().unwrap_or_default();
    let (job, number, state) = (word().to_owned(), word(), word());
    let Ok(number) = number.parse() else {
        bail!("`squeue` printed `{line}`: expected a job, the number of a task and its state");
    };
    let is_pending = state == "PENDING";
    Ok(Queued { job, number, is_pending, reason: words.collect::<Vec<_>>().join(" ") })
}

/// Runs a command with `input`; returns its standard output.
fn client(program: &str, arguments: &[&str], input: &str) -> anyhow::Result<String> {
    let child = command(program, arguments).spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow::anyhow!(
            "`{program}` is not on the PATH: --slurm needs Slurm's client commands sbatch, squeue and scancel"
        ),
        _ => anyhow::Error::new(error).context(format!("failed to start `{program}`")),
    })?;
    let output = fed(child, input).with_context(|| format!("failed to run `{program}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{program}` failed ({}): {}", output.status, said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in env::vars_os().filter(|(name, _)| is_default(name)) {
        command.env_remove(name);
    }
    // Only this process handles Ctrl-C: a submission must not be interrupted.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// Returns whether a variable sets defaults that would hide tasks, or make `sbatch` wait for them.
fn is_default(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("SQUEUE_") || name.starts_with("SCANCEL_") || name == "SBATCH_WAIT"
}

fn fed(mut child: Child, input: &str) -> std::io::Result<std::process::Output> {
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input.as_bytes()) {
            // The command failed before reading its input; its own message states the reason.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written?,
        }
    }
    child.wait_with_output()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: usize, is_pending: bool, reason: &str) -> Queued {
        Queued { job: "123".to_owned(), number, is_pending, reason: reason.to_owned() }
    }

    #[test]
    fn a_line_of_the_queue_is_a_task() {
        assert_eq!(queued("123 7 PENDING Resources").unwrap(), task(7, true, "Resources"));
        assert_eq!(queued("123 16 RUNNING None").unwrap(), task(16, false, "None"));
        let held = "123 1 PENDING launch failed requeued held ";
        assert_eq!(queued(held).unwrap(), task(1, true, "launch failed requeued held"));
        for line in ["", "123", "123 N/A RUNNING None", "slurm_load_jobs error: Invalid"] {
            let error = queued(line).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`squeue` printed `{line}`")), "{error}");
        }
    }

    #[test]
    fn a_command_that_is_missing_or_fails_is_named() {
        let missing = client("warpmem-no-such-command", &[], "").unwrap_err().to_string();
        assert!(missing.contains("--slurm needs Slurm's client commands"), "{missing}");
        let failed = client("sh", &["-c", "echo no such partition >&2; exit 3"], "text");
        let failed = failed.unwrap_err().to_string();
        assert_eq!(failed, "`sh` failed (exit status: 3): no such partition");
        assert_eq!(client("sh", &["-c", "cat"], "text").unwrap(), "text");
    }
}
