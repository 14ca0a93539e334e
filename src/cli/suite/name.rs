//! The argument that names a suite.

use crate::cli::files::NamesFiles;
use crate::files::claims::Claims;
use crate::study::suite::{Suite, SuiteError};
use std::path::Path;

/// Name of a built-in suite, or a TOML file.
#[derive(Clone, Debug)]
pub struct SuiteName(String);

impl From<String> for SuiteName {
    fn from(name: String) -> SuiteName {
        SuiteName(name)
    }
}

impl NamesFiles for SuiteName {
    fn claim(&self, option: &str, claims: &mut Claims) {
        if !self.is_built_in() {
            claims.read(option, Path::new(&self.0));
        }
    }
}

impl SuiteName {
    /// Returns whether this is the name of a built-in suite. Such a name is never a file.
    pub fn is_built_in(&self) -> bool {
        Suite::is_built_in(&self.0)
    }

    /// Returns the size where none is named: none for a file.
    pub fn usual_size(&self) -> Option<&'static str> {
        Suite::usual_size(&self.0)
    }

    /// Opens the built-in suite of this name, or the suite in this file.
    ///
    /// # Errors
    /// If there is neither, or the file is not a suite.
    pub fn open(&self) -> Result<Suite, SuiteError> {
        Suite::find(&self.0)
    }
}
