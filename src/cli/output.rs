//! Standard output and standard error.

use super::descriptors;
use anyhow::Context;
use indicatif::ProgressDrawTarget;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use warpmem_support::text::printable;

/// Writes a command's result, with control characters escaped.
pub fn print(text: &str) -> anyhow::Result<()> {
    let text = printable(text);
    written(|| {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    })
}

/// Writes to standard output with `write`. A reader that has closed the pipe (`| head`) is not an
/// error; a missing standard output is.
pub fn written(write: impl FnOnce() -> io::Result<()>) -> anyhow::Result<()> {
    const FAILURE: &str = "failed to write to standard output";
    if descriptors::stdout_was_closed() {
        return Err(anyhow::anyhow!("it is closed")).context(FAILURE);
    }
    match write() {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context(FAILURE),
    }
}

/// Whether to suppress notes and progress.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses notes and progress from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Returns the destination of progress: standard error if it is a terminal and progress is not
/// suppressed.
pub fn progress_target() -> ProgressDrawTarget {
    match QUIET.load(Ordering::Relaxed) {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    }
}

/// Writes a note on the work's progress or outcome to standard error, unless suppressed.
pub fn note(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        complain(text);
    }
}

/// Warns on standard error of a probable mistake.
pub fn warn(text: &str) {
    complain(&format!("warning: {text}"));
}

/// Reports a failure or an omission on standard error. A closed standard error is not an error.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// Returns the width of the terminal in columns; without a terminal, that of a wide page.
pub fn width() -> usize {
    const PAGE: usize = 120;
    terminal_size::terminal_size_of(io::stdout()).map_or(PAGE, |(width, _)| width.0.into())
}
