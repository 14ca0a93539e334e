//! A reference: runs of another simulator, in any file format.

use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use super::error::ReferenceError;
use super::reference_run::ReferenceRun;
use super::{accel_sim_log, results_json};
use warpmem_support::files::input::{self, peeked};

/// Number of bytes that identify the format; JSON may begin with whitespace.
const HEAD: u64 = 4096;

/// Runs of another simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub path: PathBuf,
    pub runs: Vec<ReferenceRun>,
}

impl Reference {
    /// Reads results in JSON or a log of Accel-Sim, distinguished by their first bytes.
    ///
    /// # Errors
    /// If the file cannot be read, contains an invalid value, or contains no run.
    pub fn read(path: &Path) -> Result<Reference, ReferenceError> {
        let io = |source| ReferenceError::Io { path: path.to_owned(), source };
        let (head, rest) = peeked(input::open(path).map_err(io)?, HEAD).map_err(io)?;
        let file = BufReader::new(Cursor::new(&head).chain(rest));
        let runs = if matches!(head.trim_ascii_start().first(), Some(b'{' | b'[')) {
            results_json::read(path, file)?
        } else {
            vec![accel_sim_log::read(path, file)?]
        };
        Ok(Reference { path: path.to_owned(), runs })
    }
}
