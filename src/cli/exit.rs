//! Error reports and exit statuses of failed commands.

use super::output::complain;
use super::tables;
use crate::gpu::engine::RunError;
use crate::import::ImportError;
use crate::standalone::dram::StandaloneError as ChannelError;
use crate::standalone::network::StandaloneError as NetworkError;
use crate::study::cells::CellError;
use crate::study::correlate::OursError;
use crate::study::profile::ProfileError;
use crate::study::sample::SampleError;
use crate::study::suite::GenerateError;
use crate::study::sweep::TracesError;
use crate::workload::WorkloadError;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::error::Error;
use std::panic::{PanicHookInfo, UnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use warpmem_support::program;

/// Exit status after a failure of the program itself.
const FAILURE: u8 = 1;
/// Exit status after bad usage or input, or an output that cannot be written.
const BAD_INPUT: u8 = 2;
/// Exit status that a shell reports for a process ended by SIGINT (2).
const INTERRUPTED: u8 = 128 + 2;

/// Interruption by the user; the message describes the results kept.
#[derive(Debug, thiserror::Error)]
#[error("interrupted: {kept}")]
pub struct Interrupted {
    pub kept: String,
}

/// Failure of a captured program.
#[derive(Debug, thiserror::Error)]
#[error("the program {how}; {}", kept_of(.kept))]
pub struct ProgramFailed {
    pub how: String,
    /// Number of launches in the trace.
    pub kept: Option<u64>,
    /// Exit status of the command.
    pub status: u8,
}

fn kept_of(kept: &Option<u64>) -> String {
    match kept {
        Some(launches) => format!("the trace has the finished launches: {launches}"),
        None => "nothing is written".into(),
    }
}

/// Rule violations in a log of DRAM commands.
#[derive(Debug, thiserror::Error)]
#[error("{violations} violations in {commands} commands")]
pub struct IllegalCommands {
    pub violations: u64,
    pub commands: u64,
}

/// Panics so far, the latest last.
static PANICS: Mutex<Vec<Panic>> = Mutex::new(Vec::new());

struct Panic {
    /// Message with its location: `message, at file:line`.
    message: String,
    backtrace: Backtrace,
}

/// Silences the panic message: some panics are expected and caught, and [`run`] reports the others.
pub fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(remember));
}

fn remember(panic: &PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("a panic without a message");
    let place = panic.location().map(|place| format!(", at {place}")).unwrap_or_default();
    let panic = Panic { message: format!("{what}{place}"), backtrace: Backtrace::capture() };
    PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(panic);
}

/// Reports the panic that ended the program in one line, with a backtrace if RUST_BACKTRACE
/// requests it.
fn report_panic() {
    let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    let last = panics.pop();
    let what = last.as_ref().map_or(String::new(), |panic| format!(": {}", panic.message));
    complain(&format!(
        "error: this is a fault of {}; please report it with the command and its input{what}",
        program::name()
    ));
    for earlier in panics.iter().rev() {
        complain(&format!("  after: {}", earlier.message));
    }
    for panic in last.iter().chain(panics.iter().rev()) {
        if panic.backtrace.status() == BacktraceStatus::Captured {
            complain(&format!("{}:\n{}", panic.message, panic.backtrace));
        }
    }
}

/// Runs `work` and reports its outcome. A panic is a failure of the program itself.
pub fn run(work: impl FnOnce() -> anyhow::Result<()> + UnwindSafe) -> ExitCode {
    match catch_unwind(work) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => report(&error),
        Err(_) => {
            report_panic();
            ExitCode::from(FAILURE)
        }
    }
}

/// Returns whether the error is a failure of the program itself.
pub fn is_fault(error: &anyhow::Error) -> bool {
    error.chain().find_map(status) == Some(FAILURE)
}

/// Prints the chain of causes and chooses the exit status.
fn report(error: &anyhow::Error) -> ExitCode {
    complain(&format!("error: {error}"));
    for cause in error.chain().skip(1) {
        complain(&format!("  caused by: {cause}"));
    }
    let status = error.chain().find_map(status).unwrap_or(BAD_INPUT);
    ExitCode::from(status)
}

/// Returns the exit status of an error.
fn status(error: &(dyn Error + 'static)) -> Option<u8> {
    if error.is::<Interrupted>() {
        return Some(INTERRUPTED);
    }
    if let Some(failed) = error.downcast_ref::<ProgramFailed>() {
        return Some(failed.status);
    }
    let of_run = error.downcast_ref().and_then(|error| match error {
        RunError::Interrupted => Some(INTERRUPTED),
        error if error.is_fault() => Some(FAILURE),
        _ => None,
    });
    let is_interrupted = matches!(error.downcast_ref(), Some(WorkloadError::Interrupted))
        || matches!(error.downcast_ref(), Some(ChannelError::Interrupted))
        || matches!(error.downcast_ref(), Some(NetworkError::Interrupted))
        || matches!(error.downcast_ref(), Some(ProfileError::Interrupted))
        || matches!(error.downcast_ref(), Some(SampleError::Interrupted))
        || matches!(error.downcast_ref(), Some(ImportError::Cancelled))
        || error.downcast_ref().is_some_and(CellError::is_interruption)
        || error.downcast_ref().is_some_and(OursError::is_interruption)
        || error.downcast_ref().is_some_and(GenerateError::is_interruption)
        || error.downcast_ref().is_some_and(TracesError::is_interruption);
    let is_failure = tables::is_fault(error)
        || error.is::<IllegalCommands>()
        || matches!(error.downcast_ref(), Some(ChannelError::Stuck { .. }))
        || matches!(error.downcast_ref(), Some(NetworkError::Stuck { .. }));
    of_run
        .or_else(|| is_interrupted.then_some(INTERRUPTED))
        .or_else(|| is_failure.then_some(FAILURE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(error: anyhow::Error) -> Option<u8> {
        error.context("failed to do it").chain().find_map(status)
    }

    #[test]
    fn a_panic_is_a_failure_of_the_program() {
        assert_eq!(run(|| panic!("broken")), ExitCode::from(FAILURE));
        assert_eq!(run(|| anyhow::bail!("bad input")), ExitCode::from(BAD_INPUT));
        assert_eq!(run(|| Ok(())), ExitCode::SUCCESS);
    }

    #[test]
    fn an_interruption_a_failure_and_bad_input_differ() {
        let deadlock = RunError::Deadlock { cycle: 1, state: Vec::new() };
        let kept = "1 of 2 runs".to_owned();
        assert_eq!(status_of(RunError::Interrupted.into()), Some(INTERRUPTED));
        assert_eq!(status_of(WorkloadError::Interrupted.into()), Some(INTERRUPTED));
        assert_eq!(status_of(Interrupted { kept }.into()), Some(INTERRUPTED));
        assert_eq!(status_of(ChannelError::Interrupted.into()), Some(INTERRUPTED));
        let stuck = ChannelError::Stuck { channel: 0, cycle: 1, pending: 1 };
        assert_eq!(status_of(stuck.into()), Some(FAILURE));
        assert_eq!(status_of(NetworkError::Interrupted.into()), Some(INTERRUPTED));
        assert_eq!(status_of(ProfileError::Interrupted.into()), Some(INTERRUPTED));
        let stuck = NetworkError::Stuck { cycle: 1, packets: 1, state: Vec::new() };
        assert_eq!(status_of(stuck.into()), Some(FAILURE));
        assert!(is_fault(&anyhow::Error::new(deadlock).context("failed to do it")));
        assert!(!is_fault(&anyhow::anyhow!("bad input")));
        assert_eq!(status_of(warpmem_comparison::Error::NoRuns.into()), None);
    }
}
