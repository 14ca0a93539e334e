//! The argument that names a suite.

use crate::cli::files::NamesFiles;
use crate::files::claims::Claims;
use crate::params::{did_you_mean, nearest};
use crate::study::suite::Suite;
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
        Suite::names().any(|name| name == self.0)
    }

    /// Opens the built-in suite of this name, or the suite in this file.
    ///
    /// # Errors
    /// If there is neither, or the file is not a suite.
    pub fn open(&self) -> anyhow::Result<Suite> {
        let from = Path::new(&self.0);
        if !self.is_built_in() && !from.exists() {
            let meant = did_you_mean(nearest(&self.0, Suite::names()));
            let valid = Suite::names().collect::<Vec<_>>().join(", ");
            anyhow::bail!("no suite and no file is named `{}`{meant}; suites: {valid}", self.0);
        }
        Ok(Suite::open(from, Path::new(""))?)
    }
}
