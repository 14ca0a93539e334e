//! The profile of a trace: its instructions, their divergence, footprint and reuse, and how
//! accesses spread over a machine's channels. Nothing is simulated: the figures describe the trace,
//! before any cache.
//!
//! All records are read once. The tables of lines, rows and pages have a maximum size. Of a larger
//! footprint they keep a sample, chosen by a hash of the line (SHARDS, FAST 2015), and the figures
//! say so.

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

use profiler::Profiler;
use serde::Serialize;
use std::ops::ControlFlow;
use warpmem_machine::{Machine, MachineError};
use warpmem_trace::{Trace, TraceError};

/// Units of the counts, and sizes of the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// A power of two from 64 to 4096.
    pub line_bytes: u32,
    /// A power of two from a 32nd of a line to a line.
    pub sector_bytes: u32,
    /// Most lines of an address space, rows, and pages of a size that are kept.
    pub footprint_limit: usize,
    /// Most lines whose reuse is followed.
    pub reuse_limit: usize,
    /// Sizes of caches whose miss ratios are counted; bytes, rounded down to lines.
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

/// Progress of the reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Records read; a trace's index says how many there are.
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

/// The profile of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    pub line_bytes: u32,
    pub sector_bytes: u32,
    /// Records read.
    pub records: u64,
    /// Over all kernels.
    pub all: Part,
    /// Launches of the same name together, in the order of their first.
    pub kernels: Vec<Part>,
    /// Static global memory instructions, the one with the most lines first.
    pub sites: Vec<Site>,
    /// Address spaces that the trace touches.
    pub footprint: Vec<Footprint>,
    pub compulsory: Compulsory,
    /// Of global lines.
    pub reuse: Reuse,
    /// Of global lines.
    pub line_sharing: Sharing,
    pub spread: Spread,
}

/// Reads all records of a trace once and profiles them for this machine's channels. `progress` gets the number of
/// records read, at intervals, and may stop the profile.
///
/// # Errors
/// If an option or the machine's address map is not valid, the trace is damaged, or `progress` stopped the profile.
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
