//! What goes to standard output and what to standard error.

use anyhow::Context;
use std::io::{self, ErrorKind, Write};

/// Writes a command's result. A reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("failed to write to standard output"),
    }
}

/// Writes a line to standard error; that nobody reads it is no reason to end.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Columns of the terminal; where there is none, as many as a wide page has.
pub fn width() -> usize {
    const PAGE: usize = 120;
    terminal_size::terminal_size_of(io::stdout()).map_or(PAGE, |(width, _)| width.0.into())
}
