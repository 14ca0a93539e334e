//! Profile of a trace: its instructions, their divergence, footprint and reuse, and the spread of
//! accesses over a machine's channels. Nothing is simulated: the figures describe the trace, before
//! any cache.
//!
//! All records are read once. The tables of lines, rows and pages have a maximum size. Of a larger
//! footprint they keep a sample, chosen by a hash of the line (SHARDS, FAST 2015), and the figures
//! state it.

mod access;
mod dependences;
mod footprint;
mod intensity;
mod mix;
mod part;
mod profiler;
mod read;
mod requests;
mod reuse;
mod sampled;
mod sharing;
mod sites;
mod space;
mod spread;
mod stack;
#[cfg(test)]
mod tests;
mod translation;

pub use dependences::Dependences;
pub use footprint::Footprint;
pub use intensity::{Compulsory, Intensity};
pub use mix::{InstructionKind, Mix};
pub use part::Part;
pub use requests::{Access, Bin, Distribution, Divergence, Patterns};
pub use reuse::{CacheMisses, Reuse, ReuseBin};
pub use sampled::Estimate;
pub use sharing::{SharedBin, Sharing};
pub use sites::Site;
pub use space::MemorySpace;
pub use spread::{ChannelSpread, Evenness, Spread};
pub use translation::{TranslationBySize, TranslationDivergence, translation_divergence};

use profiler::Profiler;
use serde::Serialize;
use std::ops::ControlFlow;
use warpmem_machine::{Machine, MachineError};
use warpmem_trace::{Trace, TraceError};

/// Granularity of the counts, and sizes of the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Line size in bytes; a power of two from 64 to 4096.
    pub line_bytes: u32,
    /// Sector size in bytes; a power of two from a 32nd of a line to a line.
    pub sector_bytes: u32,
    /// Maximum number of lines kept per address space, of rows, and of pages of each size.
    pub footprint_limit: usize,
    /// Maximum number of lines whose reuse is tracked.
    pub reuse_limit: usize,
    /// Cache sizes whose miss ratios are computed, bytes, rounded down to lines.
    pub caches: Vec<u64>,
}

impl Default for Options {
    /// Lines and sectors of NVIDIA GPUs; L1 caches of 16, 32 and 128 KiB and L2s of 1 and 6 MiB.
    fn default() -> Options {
        Options {
            line_bytes: 128,
            sector_bytes: 32,
            footprint_limit: 1 << 17,
            reuse_limit: 1 << 15,
            caches: vec![16 << 10, 32 << 10, 128 << 10, 1 << 20, 6 << 20],
        }
    }
}

impl Options {
    fn check(&self) -> Result<(), ProfileError> {
        let Options { line_bytes: line, sector_bytes: sector, .. } = *self;
        let rule = |holds: bool, option, value: u32, valid: String| {
            holds.then_some(()).ok_or(ProfileError::Option { option, value, valid })
        };
        let is_line = line.is_power_of_two() && (64..=4096).contains(&line);
        rule(is_line, "line size", line, "a power of two from 64 to 4096 bytes".to_owned())?;
        let is_sector = sector.is_power_of_two() && (line / 32..=line).contains(&sector);
        rule(
            is_sector,
            "sector size",
            sector,
            format!("a power of two from {} to {line} bytes", line / 32),
        )
    }
}

/// Progress of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Records read; a trace's index states the total.
    pub records: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("{option} of {value} bytes; valid: {valid}")]
    Option { option: &'static str, value: u32, valid: String },
    #[error("interrupted while reading the trace")]
    Interrupted,
}

/// Profile of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    pub line_bytes: u32,
    pub sector_bytes: u32,
    /// Records read.
    pub records: u64,
    /// Counts over all kernels.
    pub all: Part,
    /// Counts by kernel name, in order of first launch.
    pub kernels: Vec<Part>,
    /// Static global memory instructions, in order of decreasing number of lines.
    pub sites: Vec<Site>,
    /// Footprints of the touched address spaces.
    pub footprint: Vec<Footprint>,
    pub compulsory: Compulsory,
    /// Reuse of global lines.
    pub reuse: Reuse,
    /// Sharing of global lines.
    pub line_sharing: Sharing,
    pub spread: Spread,
}

/// Reads all records of a trace once and profiles them for this machine's channels. `progress`
/// receives the number of records read, at intervals, and can stop the profile.
///
/// # Errors
/// If an option or the machine's address map is invalid, the trace is damaged, or `progress`
/// stopped the profile.
pub fn profile(
    trace: &Trace,
    machine: &Machine,
    options: &Options,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Profile, ProfileError> {
    options.check()?;
    let mut profiler = Profiler::new(trace, machine, options)?;
    read::read(trace, &mut profiler, progress)?;
    Ok(profiler.figures())
}
