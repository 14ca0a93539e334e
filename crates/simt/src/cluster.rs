//! Clusters: CTAs that run at the same time, reach each other's shared memory, and wait for each
//! other at a barrier. Without clusters, a CTA is one of its own.
//!
//! An address of shared memory is the rank of its CTA in the cluster, from bit 24 on, and an offset:
//! it means the same in all CTAs of the cluster, and in the trace.

use warpmem_ptx::Function;
use warpmem_trace::MAX_CLUSTER;

use crate::bounds::Limits;
use crate::cta::{Cta, Ended, Stop};
use crate::error::LaunchError;
use crate::global::Global;
use crate::launch::Launch;
use crate::prepared::Prepared;
use crate::recorder::WarpRecorder;
use crate::warp::{ClusterPhase, Rows, State};

/// Bits of an offset in shared memory.
const OFFSET_BITS: u32 = 24;

/// Instructions after which the first turn of a cluster is over, and a later one: short enough that
/// one that opens a barrier of the program's own does not run far ahead of those that waited at it,
/// of which LonestarGPU's bfs makes use.
const FIRST_TURN: u64 = 1 << 16;
const LATER_TURN: u64 = 1 << 10;

/// The rank of the CTA to which an address of shared memory belongs.
pub(crate) const fn rank_of(address: u64) -> u64 {
    address >> OFFSET_BITS
}

/// The offset of an address in the shared memory of its CTA.
pub(crate) fn offset_of(address: u64) -> u64 {
    address & ((1 << OFFSET_BITS) - 1)
}

/// The address of an offset in the shared memory of a CTA.
pub(crate) fn address_in(rank: u64, offset: u64) -> u64 {
    rank << OFFSET_BITS | offset
}

/// The clusters of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClusterShape {
    pub sides: [u32; 3],
    /// The launch or the kernel says them.
    pub is_explicit: bool,
}

impl ClusterShape {
    /// Those that a launch and its kernel ask for.
    pub fn of(launch: &Launch, kernel: &Function) -> Result<ClusterShape, LaunchError> {
        let limit = kernel.cluster;
        let Some(sides) = launch.cluster.or(limit.exactly) else {
            return match limit.explicit {
                false => Ok(ClusterShape { sides: [1; 3], is_explicit: false }),
                true => Err(refused(kernel, "a launch must say its clusters (.explicitcluster)")),
            };
        };
        let shape = ClusterShape { sides, is_explicit: true };
        let [x, y, z] = sides;
        if let Some([rx, ry, rz]) = limit.exactly.filter(|&exactly| exactly != sides) {
            let why = format!(
                "clusters of {x} x {y} x {z} CTAs, but it is compiled for {rx} x {ry} x {rz} \
                 (.reqnctapercluster)"
            );
            return Err(refused(kernel, why));
        }
        let ctas = sides.iter().fold(1u32, |ctas, &side| ctas.saturating_mul(side));
        let most = limit.at_most.unwrap_or(MAX_CLUSTER).min(MAX_CLUSTER);
        if !(1..=most).contains(&ctas) {
            let why = format!("clusters of {x} x {y} x {z} CTAs; 1 to {most} are possible");
            return Err(refused(kernel, why));
        }
        if launch.grid.iter().zip(sides).any(|(ctas, side)| !ctas.is_multiple_of(side)) {
            let [gx, gy, gz] = launch.grid;
            let why = format!(
                "clusters of {x} x {y} x {z} CTAs do not divide the grid of {gx} x {gy} x {gz}"
            );
            return Err(refused(kernel, why));
        }
        Ok(shape)
    }

    /// CTAs of a cluster.
    pub fn ctas(&self) -> u32 {
        self.sides.iter().product()
    }

    /// Clusters of a grid along each axis.
    pub fn clusters(&self, grid: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| grid[axis] / self.sides[axis])
    }

    /// Coordinates of the CTA of a rank in the cluster of a number; both count x fastest.
    fn block(&self, grid: [u32; 3], number: u64, rank: u32) -> [u32; 3] {
        let [clusters_x, clusters_y, _] = self.clusters(grid).map(u64::from);
        let [x, y, _] = self.sides;
        let cluster = [
            number % clusters_x,
            number / clusters_x % clusters_y,
            number / clusters_x / clusters_y,
        ];
        let place = [rank % x, rank / x % y, rank / x / y];
        std::array::from_fn(|axis| cluster[axis] as u32 * self.sides[axis] + place[axis])
    }
}

fn refused(kernel: &Function, reason: impl Into<String>) -> LaunchError {
    LaunchError::Cluster { kernel: kernel.name.clone(), reason: reason.into() }
}

/// What the CTAs of a cluster have of each other.
#[derive(Debug)]
pub(crate) struct Peers {
    /// Shared memory by rank. That of the CTA that executes is taken out.
    memories: Vec<Vec<u8>>,
    /// CTAs that have ended, a bit for each rank.
    ended: u32,
    /// A warp has arrived at the barrier since it was looked at.
    pub has_arrivals: bool,
}

impl Peers {
    fn new(ctas: u32, shared_bytes: u32) -> Peers {
        let memories = (0..ctas).map(|_| vec![0; shared_bytes as usize]).collect();
        Peers { memories, ended: 0, has_arrivals: false }
    }

    /// CTAs of the cluster.
    pub fn ctas(&self) -> usize {
        self.memories.len()
    }

    pub fn take(&mut self, rank: u32) -> Vec<u8> {
        std::mem::take(&mut self.memories[rank as usize])
    }

    pub fn give(&mut self, rank: u32, memory: Vec<u8>) {
        self.memories[rank as usize] = memory;
    }

    fn has_ended(&self, rank: u64) -> bool {
        self.ended >> rank & 1 == 1
    }

    /// The shared memory of another CTA; the error says why it cannot be reached.
    pub fn memory(&mut self, rank: u64) -> Result<&mut [u8], String> {
        let ctas = self.ctas();
        if rank >= ctas as u64 {
            return Err(format!("there is no CTA {rank} in a cluster of {ctas}"));
        }
        if self.has_ended(rank) {
            return Err(format!(
                "CTA {rank} of the cluster has ended: it must wait, as at the cluster's barrier, \
                 until no other uses its shared memory"
            ));
        }
        Ok(&mut self.memories[rank as usize])
    }
}

/// CTAs that run together.
pub(crate) struct Cluster<W> {
    /// By rank.
    pub ctas: Vec<Cta<W>>,
    peers: Peers,
    has_begun: bool,
}

impl<W: WarpRecorder> Cluster<W> {
    /// The cluster of a number, with a recorder for each of its warps, and memory of warps that have
    /// ended.
    pub fn new(
        prepared: &Prepared<'_>,
        number: u64,
        mut recorder: impl FnMut() -> W,
        spare: &mut Vec<Rows>,
    ) -> Cluster<W> {
        let (shape, grid) = (prepared.cluster, prepared.launch.grid);
        let size = shape.ctas();
        let cta = |rank| {
            let number_of_cta = number * u64::from(size) + u64::from(rank);
            let block = shape.block(grid, number, rank);
            Cta::new(prepared, number_of_cta, rank, block, &mut recorder, spare)
        };
        let ctas = (0..size).map(cta).collect();
        Cluster { ctas, peers: Peers::new(size, prepared.shared_bytes), has_begun: false }
    }

    /// What its CTAs leave when they have ended; the memory of their warps goes to others.
    pub fn end(self, spare: &mut Vec<Rows>) -> impl Iterator<Item = Ended<W>> {
        self.ctas.into_iter().map(|cta| cta.end(spare))
    }

    pub fn has_ended(&self) -> bool {
        self.ctas.iter().all(Cta::has_ended)
    }

    /// Lets the warps of all CTAs go on, round after round, until none can or the turn is over.
    pub fn turn(
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

    /// Instructions of a turn that begins.
    fn budget(&mut self, prepared: &Prepared<'_>, limits: Limits) -> u64 {
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        match prepared.launch.workspace {
            0 if has_begun => LATER_TURN,
            0 => FIRST_TURN,
            // CTAs of a cooperative launch do wait for each other.
            _ => {
                let warps: usize = self.ctas.iter().map(|cta| cta.warps.len()).sum();
                u64::from(limits.warp_turn) * warps as u64
            }
        }
    }

    /// Lets each warp of a CTA go on once; whether one did.
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
            self.peers.ended |= 1 << at;
        }
        Ok(moved)
    }

    /// Lets the warps go on that wait at the cluster's barrier, if all that have not ended have
    /// arrived; whether there are such.
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
