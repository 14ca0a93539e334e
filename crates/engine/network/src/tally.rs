//! The counts of a network, gathered packet by packet.

use super::NetworkContext;
use super::ids::{DestinationId, EntranceId, SourceId};
use super::locality::RowLocality;
use crate::{NetworkResult, NodeResult};
use warpmem_sim::Location;

/// The path of one packet from its source to its destination. Times are in network cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Journey {
    pub source: SourceId,
    pub destination: DestinationId,
    pub flits: u64,
    /// Waiting at the source after it could have left.
    pub wait: u64,
    /// Time from leaving the source until the receiver can take it.
    pub transit: u64,
    pub hops: u64,
    /// Part of `transit` spent in routers and on links in the absence of other packets.
    pub pipeline: u64,
}

/// The counts of one network.
pub(super) struct Tally {
    locality: Option<RowLocality>,
    result: NetworkResult,
}

impl Tally {
    pub fn new(context: &NetworkContext) -> Tally {
        let result = NetworkResult {
            sources: vec![NodeResult::default(); context.inputs.len()],
            destinations: vec![NodeResult::default(); context.outputs.len()],
            ..NetworkResult::default()
        };
        Tally { locality: RowLocality::new(context), result }
    }

    /// Prefetches the counts of a request to `place` that will enter into the host's caches.
    #[inline]
    pub fn will_enter(&self, entrance: EntranceId, place: Location) {
        if let Some(locality) = &self.locality {
            locality.will_enter(entrance, place);
        }
    }

    /// Counts a request to `place` that enters a network of requests.
    #[inline]
    pub fn enter(&mut self, entrance: EntranceId, place: Location) {
        if let Some(locality) = &mut self.locality {
            locality.enter(entrance, place);
        }
    }

    /// Counts a request to `place` that leaves a network of requests.
    #[inline]
    pub fn leave(&mut self, place: Location) {
        if let Some(locality) = &mut self.locality {
            locality.leave(place);
        }
    }

    /// Counts a delivered packet. Inlined, so that the journey is not stored.
    #[inline(always)]
    pub fn pass(&mut self, journey: &Journey) {
        let result = &mut self.result;
        result.latency.record(journey.wait + journey.transit);
        result.pipeline_cycles += journey.pipeline;
        result.hops += journey.hops;
        let source = &mut result.sources[journey.source.index()];
        source.packets += 1;
        source.flits += journey.flits;
        source.wait_cycles += journey.wait;
        let destination = &mut result.destinations[journey.destination.index()];
        destination.packets += 1;
        destination.flits += journey.flits;
    }

    /// Returns the counts of the nodes so far.
    pub fn counts(&self) -> &NetworkResult {
        &self.result
    }

    /// Returns the counts over the first `cycles` network cycles, without links.
    pub fn so_far(&self, cycles: u64) -> NetworkResult {
        let mut result = self.result.clone();
        result.cycles = cycles;
        result.wait_cycles = result.sources.iter().map(|source| source.wait_cycles).sum();
        result.serialisation_cycles = result.sources.iter().map(|source| source.flits).sum();
        let known = result.wait_cycles + result.pipeline_cycles + result.serialisation_cycles;
        result.contention_cycles = result.latency.sum() as u64 - known;
        if let Some(locality) = &self.locality {
            (result.before, result.after) = locality.so_far();
        }
        result
    }
}
