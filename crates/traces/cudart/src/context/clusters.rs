//! Clusters of CTAs that kernels are launched in, as programs choose them.

use warpmem_ptx::ClusterLimit;

use crate::status::{Failure, Outcome, Status};

use super::engine::Engine;
use super::kernels::{KernelId, LaunchShape};

/// CTAs of a cluster that every device with clusters has (CUDA C++ Programming Guide, "Thread Block
/// Clusters"), and those that a kernel may be allowed.
const PORTABLE: u32 = 8;
const LARGEST: u32 = 16;

/// Numbers of attributes (the manual, `cudaFuncAttribute` and `CUfunction_attribute`).
const MUST_BE_SET: u32 = 10;
const REQUIRED: std::ops::RangeInclusive<u32> = 11..=13;
const ALLOWS_LARGEST: u32 = 14;

/// What a program has said of a kernel's clusters.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterAttributes {
    /// CTAs along x, y and z; 0: not said.
    required: [u32; 3],
    allows_largest: bool,
}

impl ClusterAttributes {
    fn required(&self) -> Option<[u32; 3]> {
        self.required.iter().any(|&ctas| ctas > 0).then_some(self.required)
    }
}

fn refused(why: impl Into<String>) -> Failure {
    Failure::new(Status::INVALID_CLUSTER_SIZE, why)
}

fn ctas(cluster: [u32; 3]) -> u32 {
    cluster.iter().fold(1, |ctas, &side| ctas.saturating_mul(side))
}

impl Engine {
    /// Sets an attribute of a kernel, if it is one of its clusters; others decide nothing here.
    ///
    /// # Errors
    /// When there is no such kernel, or its code says otherwise.
    pub fn set_cluster_attribute(&mut self, id: KernelId, number: u32, value: i32) -> Outcome<()> {
        let value = u32::try_from(value).map_err(|_| Status::INVALID_VALUE)?;
        if REQUIRED.contains(&number) {
            if self.cluster_limit(id)?.exactly.is_some() {
                let why = "the kernel is compiled for clusters of its own (.reqnctapercluster)";
                return Err(Failure::new(Status::NOT_PERMITTED, why));
            }
            let axis = (number - REQUIRED.start()) as usize;
            self.cluster_attributes_mut(id)?.required[axis] = value;
        }
        if number == ALLOWS_LARGEST {
            self.cluster_attributes_mut(id)?.allows_largest = value != 0;
        }
        Ok(())
    }

    /// An attribute of a kernel's clusters; `None`: it is none of them.
    ///
    /// # Errors
    /// When there is no such kernel.
    pub fn cluster_attribute(&self, id: KernelId, number: u32) -> Outcome<Option<u32>> {
        let (limit, attributes) = (self.cluster_limit(id)?, self.cluster_attributes(id)?);
        Ok(match number {
            MUST_BE_SET => Some(limit.explicit.into()),
            ALLOWS_LARGEST => Some(attributes.allows_largest.into()),
            _ if REQUIRED.contains(&number) => {
                let required = limit.exactly.unwrap_or(attributes.required);
                Some(required[(number - REQUIRED.start()) as usize])
            }
            _ => None,
        })
    }

    /// The clusters of a launch that says them, or does not; `None`: as the kernel's code says.
    ///
    /// # Errors
    /// When the kernel cannot have them.
    pub fn cluster_of(&self, id: KernelId, given: Option<[u32; 3]>) -> Outcome<Option<[u32; 3]>> {
        let (limit, attributes) = (self.cluster_limit(id)?, self.cluster_attributes(id)?);
        let required = attributes.required();
        if let (Some([x, y, z]), Some([rx, ry, rz])) = (given, required)
            && [x, y, z] != [rx, ry, rz]
        {
            return Err(refused(format!(
                "a launch in clusters of {x} x {y} x {z} CTAs, where the kernel's attributes \
                 require {rx} x {ry} x {rz}"
            )));
        }
        let most = if attributes.allows_largest { LARGEST } else { PORTABLE };
        let cluster = given.or(required);
        match cluster.or(limit.exactly).map(ctas).filter(|&ctas| ctas > most) {
            None => Ok(cluster),
            Some(ctas) => Err(refused(format!(
                "clusters of {ctas} CTAs: at most {PORTABLE} are possible, and {LARGEST} with \
                 cudaFuncAttributeNonPortableClusterSizeAllowed"
            ))),
        }
    }

    /// Clusters that the device has room for at once. Which SMs a cluster can be on is not known
    /// here: every SM counts.
    ///
    /// # Errors
    /// When there is no such kernel, or nobody says its clusters.
    pub fn active_clusters(&self, id: KernelId, shape: &LaunchShape) -> Outcome<u32> {
        let cluster = self.cluster_of(id, shape.cluster)?.or(self.cluster_limit(id)?.exactly);
        let size = cluster.map(ctas).filter(|&ctas| ctas > 0);
        let size = size.ok_or_else(|| refused("the launch does not say its clusters"))?;
        Ok(self.active_ctas(id, shape)? / size)
    }

    /// CTAs of the largest cluster that a kernel can be launched in.
    ///
    /// # Errors
    /// When there is no such kernel.
    pub fn potential_cluster_size(&self, id: KernelId, shape: &LaunchShape) -> Outcome<u32> {
        let attributes = self.cluster_attributes(id)?;
        let most = if attributes.allows_largest { LARGEST } else { PORTABLE };
        let required = self.cluster_limit(id)?.exactly.or(attributes.required());
        Ok(required.map_or(most, ctas).min(self.active_ctas(id, shape)?))
    }

    fn active_ctas(&self, id: KernelId, shape: &LaunchShape) -> Outcome<u32> {
        let threads = ctas(shape.block);
        Ok(self.occupancy(id, threads, shape.shared as usize)?.saturating_mul(self.device().sms))
    }

    fn cluster_limit(&self, id: KernelId) -> Outcome<ClusterLimit> {
        Ok(self.function(id)?.cluster)
    }
}
