//! Profiles of GPUs, as Nsight Compute and nvprof print them, beside runs of our machines.
//!
//! ```text
//! text ─▶ table ─▶ formats: launches with readings ─▶ figure: cycles, hit rates, sectors
//!                           │                                    │
//! trace ───────────▶ matching: launches of both sides ─▶ rows ◀──┘◀── our metrics under ncu's names
//! ```

mod error;
mod figure;
mod formats;
mod launch;
mod matching;
mod number;
mod readings;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod unit;

pub use error::ProfileError;
pub use figure::Figure;
pub use formats::Profiler;
pub use launch::{Extent, Launch};
pub use matching::{Match, Matching, TraceLaunch, match_launches};
pub use rows::{Compared, Row, Summary, summary};
use std::path::{Path, PathBuf};

/// The launches of kernels in a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub path: PathBuf,
    pub profiler: Profiler,
    /// In the order of the file.
    pub launches: Vec<Launch>,
}

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// If the file cannot be read or is no profile.
    pub fn read(path: &Path) -> Result<Profile, ProfileError> {
        let io = |source| ProfileError::Io { path: path.to_owned(), source };
        Profile::parse(path, &std::fs::read(path).map_err(io)?)
    }

    /// Parses the content of the file at `path`.
    ///
    /// # Errors
    /// As [`Profile::read`].
    pub fn parse(path: &Path, content: &[u8]) -> Result<Profile, ProfileError> {
        let (profiler, launches) = formats::launches(path, &String::from_utf8_lossy(content))?;
        Ok(Profile { path: path.to_owned(), profiler, launches })
    }

    /// Returns the median clock of the SMs, Hz.
    pub fn sm_clock(&self) -> Option<f64> {
        median(self.launches.iter().filter_map(Launch::sm_clock))
    }

    /// Returns the median clock of DRAM, Hz: half of the data rate of a pin.
    pub fn dram_clock(&self) -> Option<f64> {
        median(self.launches.iter().filter_map(Launch::dram_clock))
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
