//! Clusters: CTAs that run concurrently, share their shared memory, and synchronize at a cluster barrier.
//! Without clusters, each CTA forms its own.

use crate::bounds::Limits;
use crate::cta::{Cta, Stop};
use crate::global::Global;
use crate::peers::Peers;
use crate::prepared::Prepared;
use crate::recorder::{Ended, WarpAssembler};
use crate::warp::{ClusterPhase, Rows, State};

/// Instructions of a cluster's first quantum.
const FIRST_QUANTUM: u64 = 1 << 16;
/// Instructions of a later quantum, short enough that a CTA that opens a barrier built by the program does not
/// run far ahead of the CTAs waiting there, which LonestarGPU's bfs relies on.
const LATER_QUANTUM: u64 = 1 << 10;

/// CTAs that run together.
pub(crate) struct Cluster {
    /// CTAs by rank.
    pub ctas: Vec<Cta>,
    peers: Peers,
    has_begun: bool,
}

impl Cluster {
    /// Creates cluster `number`, with the records of each warp; reuses the register memory of ended warps.
    pub fn new(
        prepared: &Prepared<'_>,
        number: u64,
        mut records: impl FnMut() -> Option<WarpAssembler>,
        spare: &mut Vec<Rows>,
    ) -> Cluster {
        let (shape, grid) = (prepared.cluster, prepared.launch.grid);
        let size = shape.ctas();
        let cta = |rank| {
            let number_of_cta = number * u64::from(size) + u64::from(rank);
            let block = shape.block(grid, number, rank);
            Cta::new(prepared, number_of_cta, rank, block, &mut records, spare)
        };
        let ctas = (0..size).map(cta).collect();
        Cluster { ctas, peers: Peers::new(size, prepared.shared_bytes), has_begun: false }
    }

    /// Returns the results of the ended CTAs; recycles the memory of their warps.
    pub fn end(self, spare: &mut Vec<Rows>) -> impl Iterator<Item = Ended> {
        self.ctas.into_iter().map(|cta| cta.end(spare))
    }

    pub fn has_ended(&self) -> bool {
        self.ctas.iter().all(Cta::has_ended)
    }

    /// Runs the warps of all CTAs in rounds, until none can continue or the quantum is exhausted.
    pub fn run_quantum(
        &mut self,
        prepared: &Prepared<'_>,
        mut global: Global<'_>,
        executed: &mut u64,
        limits: Limits,
    ) -> Result<(), Stop> {
        let end = *executed + self.budget(prepared, limits);
        while *executed < end {
            let mut moved = false;
            for at in 0..self.ctas.len() {
                moved |= self.round(at, prepared, global.reborrow(), executed, limits)?;
            }
            moved |= self.peers.has_arrivals && self.complete_phase();
            if !moved {
                break;
            }
        }
        Ok(())
    }

    /// Returns the instructions of the next quantum.
    fn budget(&mut self, prepared: &Prepared<'_>, limits: Limits) -> u64 {
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        match prepared.launch.workspace {
            0 if has_begun => LATER_QUANTUM,
            0 => FIRST_QUANTUM,
            // CTAs of a cooperative launch do wait for each other.
            _ => {
                let warps: usize = self.ctas.iter().map(|cta| cta.warps.len()).sum();
                u64::from(limits.warp_quantum) * warps as u64
            }
        }
    }

    /// Runs each warp of a CTA once; returns whether any made progress.
    fn round(
        &mut self,
        at: usize,
        prepared: &Prepared<'_>,
        global: Global<'_>,
        executed: &mut u64,
        limits: Limits,
    ) -> Result<bool, Stop> {
        if self.peers.has_ended(at as u64) {
            return Ok(false);
        }
        let cta = &mut self.ctas[at];
        let moved = cta.round(prepared, global, &mut self.peers, executed, limits)?;
        if self.peers.ctas() > 1 && cta.has_ended() {
            self.peers.end(at);
        }
        Ok(moved)
    }

    /// Releases the warps at the cluster barrier once all live warps have arrived; returns whether it
    /// released any.
    fn complete_phase(&mut self) -> bool {
        let warps = self.ctas.iter().flat_map(|cta| &cta.warps);
        let mut live = warps.filter(|warp| warp.state != State::Ended).peekable();
        if live.peek().is_none() || live.any(|warp| warp.cluster_phase != ClusterPhase::Arrived) {
            return false;
        }
        self.peers.has_arrivals = false;
        let mut waited = false;
        for warp in self.ctas.iter_mut().flat_map(|cta| &mut cta.warps) {
            warp.cluster_phase = ClusterPhase::Complete;
            waited |= warp.leave_cluster_barrier();
        }
        waited
    }
}
