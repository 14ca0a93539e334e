//! Creates the trace of an import.

use std::path::Path;

use warpmem_support::files::claims::is_same;
use warpmem_trace::{Provenance, TraceWriter, WriterOptions};

use crate::error::ImportError;

/// Refuses an output that is one of the inputs.
///
/// # Errors
/// Names the output.
pub fn check(output: &Path, inputs: &[&Path]) -> Result<(), ImportError> {
    match inputs.iter().any(|input| is_same(input, output)) {
        true => Err(ImportError::file(output, "it is the input; the trace needs another name")),
        false => Ok(()),
    }
}

/// Creates the trace of an import; `what` names the kind of input.
///
/// # Errors
/// If the trace would replace the input, or no file can be created.
pub fn create(
    output: &Path,
    (what, input): (&str, &Path),
    command: &str,
    options: &WriterOptions,
) -> Result<TraceWriter, ImportError> {
    check(output, &[input])?;
    let provenance = Provenance {
        tool: format!("warpmem {}", env!("CARGO_PKG_VERSION")),
        source: format!("{what} {}", input.display()),
        command: command.to_owned(),
    };
    Ok(TraceWriter::create(output, provenance, options.clone())?)
}
