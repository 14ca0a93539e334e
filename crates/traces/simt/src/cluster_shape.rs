//! Assignment of a launch's CTAs to clusters.

use warpmem_ptx::Function;
use warpmem_trace::MAX_CLUSTER;

use crate::error::LaunchError;
use crate::launch::Launch;

/// Cluster shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClusterShape {
    pub sides: [u32; 3],
    /// Whether the launch or the kernel sets it.
    pub is_explicit: bool,
}

impl ClusterShape {
    /// Returns the shape that a launch and its kernel request.
    pub fn of(launch: &Launch, kernel: &Function) -> Result<ClusterShape, LaunchError> {
        let limit = kernel.cluster;
        let Some(sides) = launch.cluster.or(limit.exactly) else {
            return match limit.explicit {
                false => Ok(ClusterShape { sides: [1; 3], is_explicit: false }),
                true => {
                    Err(refused(kernel, "a launch must set its cluster shape (.explicitcluster)"))
                }
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

    /// Returns the CTAs of a cluster.
    pub fn ctas(&self) -> u32 {
        self.sides.iter().product()
    }

    /// Returns the clusters of a grid along each axis.
    pub fn clusters(&self, grid: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| grid[axis] / self.sides[axis])
    }

    /// Returns the coordinates of a CTA from its cluster number and rank, which both count x fastest.
    pub fn block(&self, grid: [u32; 3], number: u64, rank: u32) -> [u32; 3] {
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
