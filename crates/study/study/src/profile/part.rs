//! Counts by kernel, and their sum over all kernels.

use super::dependences::{DependenceTally, Dependences};
use super::intensity::Intensity;
use super::mix::{Mix, MixTally};
use super::requests::{Access, Divergence, RequestTally};
use super::spread::{ChannelSpread, Places, SpreadTally};
use super::translation::{TranslationBySize, TranslationTally};
use serde::Serialize;

/// Profile of some launches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Name of the kernel; empty for all kernels together.
    pub name: String,
    pub launches: u64,
    pub mix: Mix,
    /// Divergence of loads, stores and atomics of global memory.
    pub divergence: Vec<Divergence>,
    /// Translation divergence by page size, smallest first.
    pub translation: TranslationBySize,
    pub spread: ChannelSpread,
    pub intensity: Intensity,
    pub dependences: Dependences,
}

#[derive(Clone)]
pub(super) struct PartTally {
    pub name: String,
    pub launches: u64,
    pub mix: MixTally,
    pub requests: [RequestTally; Access::ALL.len()],
    pub translation: TranslationTally,
    pub spread: SpreadTally,
    /// Bytes of global memory requested by lanes.
    pub requested_bytes: u64,
    pub dependences: DependenceTally,
}

impl PartTally {
    pub fn new(name: &str, places: &Places) -> PartTally {
        PartTally {
            name: name.to_owned(),
            launches: 0,
            mix: MixTally::default(),
            requests: Default::default(),
            translation: TranslationTally::default(),
            spread: SpreadTally::new(places),
            requested_bytes: 0,
            dependences: DependenceTally::default(),
        }
    }

    pub fn merge(&mut self, other: &PartTally) {
        self.launches += other.launches;
        self.mix.merge(&other.mix);
        self.requests.iter_mut().zip(&other.requests).for_each(|(mine, theirs)| mine.merge(theirs));
        self.translation.merge(&other.translation);
        self.spread.merge(&other.spread);
        self.requested_bytes += other.requested_bytes;
        self.dependences.merge(&other.dependences);
    }

    pub fn figures(&self, places: &Places, sector_bytes: u32) -> Part {
        let sectors: u64 = self.requests.iter().map(|requests| requests.sectors.sum()).sum();
        let sector_bytes = sectors * u64::from(sector_bytes);
        let divergence = Access::ALL.into_iter().zip(&self.requests);
        Part {
            name: self.name.clone(),
            launches: self.launches,
            mix: self.mix.figures(),
            divergence: divergence.map(|(access, tally)| tally.divergence(access)).collect(),
            translation: self.translation.figures(),
            spread: self.spread.figures(places),
            intensity: Intensity::new(&self.mix.compute_lanes, self.requested_bytes, sector_bytes),
            dependences: self.dependences.figures(),
        }
    }
}
