//! The stream of requests that is sent to the channels.

use super::pattern::Pattern;
use super::{RateText, StandaloneError};
use std::fmt;
use std::path::Path;
use warpmem_dram::{Dram, DramRequest};
use warpmem_support::files::input::Rereadable;

/// A stream of requests.
#[derive(Clone, Debug)]
pub struct Stream {
    pub origin: Origin,
    /// Size of a request in bytes, a power of two: an aligned block. Lines of a file may give their
    /// own size. A size below that of a column command counts as one column command.
    pub bytes: u32,
    /// Rate of requests to each channel; none: as fast as it accepts them, or as the file states.
    pub rate: Option<RateText>,
    pub sources: Sources,
}

/// The origin of the requests of a stream.
#[derive(Clone, Debug)]
pub enum Origin {
    /// By banks and rows: a separate walk for each of `channels` channels.
    Pattern { pattern: Pattern, locality: u32, channels: u32, mix: Mix },
    /// By addresses from 0 on, `stride` bytes apart, wrapping around at the end of the map.
    Strided { stride: u64, mix: Mix },
    /// From a file, see [`AccessFile`](super::AccessFile).
    File(Rereadable),
}

impl Origin {
    /// Opens the accesses of a file or pipe.
    ///
    /// # Errors
    /// Returns [`StandaloneError::Io`].
    pub fn file(path: &Path) -> Result<Origin, StandaloneError> {
        Rereadable::of(path).map(Origin::File).map_err(StandaloneError::io("read", path))
    }
}

/// Parameters common to all generated streams.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Requests to all channels together.
    pub requests: u64,
    /// Fraction of reads; every request is drawn independently.
    pub reads: f64,
    pub seed: u64,
}

/// The sources of reads. A file may name them; otherwise `group` successive requests of a channel
/// form a load of a warp. Loads are assigned round robin to the SMs, and to the warps of each SM,
/// and a load has requests on every channel. Writes have no source, like write-backs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sources {
    pub sms: u32,
    /// Warps per SM.
    pub warps: u32,
    pub group: u32,
}

/// Most requests of a stream; times at any rate then fit in 64 bits.
const MOST_REQUESTS: u64 = 1 << 40;
const MOST_CHANNELS: u32 = 1 << 10;
/// Most warps of an SM.
const MOST_WARPS: u32 = 1 << 10;

impl Stream {
    /// Returns the requests to all channels together, if known.
    pub fn requests(&self) -> Option<u64> {
        match &self.origin {
            Origin::Pattern { mix, .. } | Origin::Strided { mix, .. } => Some(mix.requests),
            Origin::File(_) => None,
        }
    }

    /// Returns the number of channels that it uses.
    pub(super) fn channels(&self, dram: &Dram) -> u32 {
        match self.origin {
            Origin::Pattern { channels, .. } => channels,
            Origin::Strided { .. } | Origin::File(_) => dram.channels,
        }
    }

    pub(super) fn check(&self) -> Result<(), StandaloneError> {
        self.sources.check()?;
        match self.origin {
            Origin::Pattern { channels, mix, .. } => {
                within("channels", channels.into(), MOST_CHANNELS.into())?;
                mix.check()
            }
            Origin::Strided { stride, mix } => {
                within("stride", stride, 1 << 63)?;
                mix.check()
            }
            Origin::File(_) => Ok(()),
        }
    }
}

fn within(option: &'static str, value: u64, most: u64) -> Result<(), StandaloneError> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(StandaloneError::option(option, &value, format!("1 to {most}")))
}

impl Mix {
    fn check(&self) -> Result<(), StandaloneError> {
        within("requests", self.requests, MOST_REQUESTS)?;
        if (0.0..=1.0).contains(&self.reads) {
            return Ok(());
        }
        Err(StandaloneError::option("reads", &self.reads, "a fraction from 0 to 1"))
    }
}

impl Sources {
    fn check(&self) -> Result<(), StandaloneError> {
        within("sources", self.sms.into(), DramRequest::NO_SOURCE.into())?;
        within("warps", self.warps.into(), MOST_WARPS.into())?;
        within("group", self.group.into(), u32::MAX.into())
    }

    pub(super) fn warps_of_all(&self) -> u32 {
        self.sms * self.warps
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Pattern { pattern, locality, mix, .. } => {
                write!(f, "{}(locality={locality},{mix}", pattern.name())?;
            }
            Origin::Strided { stride, mix } => write!(f, "strided(stride={stride},{mix}")?,
            Origin::File(file) => write!(f, "{}(", file.given().display())?,
        }
        let Sources { sms, warps, group } = self.sources;
        write!(f, "bytes={},sources={sms},warps={warps},group={group}", self.bytes)?;
        match self.rate {
            Some(rate) => write!(f, ",rate={rate})"),
            None => f.write_str(")"),
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "requests={},reads={},seed={},", self.requests, self.reads, self.seed)
    }
}
