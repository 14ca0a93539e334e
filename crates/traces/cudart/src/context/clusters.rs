//! Cluster shapes that programs choose for their kernels.

use warpmem_ptx::ClusterLimit;

use crate::status::{Failure, Outcome, Status};

use super::engine::Engine;
use super::kernels::{KernelId, LaunchShape};

/// CTAs per cluster that every device with clusters supports (CUDA C++ Programming Guide, "Thread Block
/// Clusters"), and the maximum that a kernel may opt in to.
const PORTABLE: u32 = 8;
const LARGEST: u32 = 16;

/// Numbers of attributes (the manual, `cudaFuncAttribute` and `CUfunction_attribute`).
const MUST_BE_SET: u32 = 10;
const REQUIRED: std::ops::RangeInclusive<u32> = 11..=13;
const ALLOWS_LARGEST: u32 = 14;

fn refused(why: impl Into<String>) -> Failure {
    Failure::new(Status::INVALID_CLUSTER_SIZE, why)
}

fn ctas(cluster: [u32; 3]) -> u32 {
    cluster.iter().fold(1, |ctas, &side| ctas.saturating_mul(side))
}

impl Engine {
    /// Sets a cluster attribute of a kernel; ignores other attributes, which have no effect here.
    ///
    /// # Errors
    /// When the kernel does not exist, or the attribute contradicts its code.
    pub fn set_cluster_attribute(&mut self, id: KernelId, number: u32, value: i32) -> Outcome<()> {
        let value = u32::try_from(value).map_err(|_| Status::INVALID_VALUE)?;
        if REQUIRED.contains(&number) {
            if self.cluster_limit(id)?.exactly.is_some() {
                let why = "the kernel's code fixes its cluster shape (.reqnctapercluster)";
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

    /// Returns a cluster attribute of a kernel; `None` if `number` is another attribute.
    ///
    /// # Errors
    /// When the kernel does not exist.
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

    /// Resolves the cluster shape of a launch, given or not; `None` defers to the kernel's code.
    ///
    /// # Errors
    /// When the kernel cannot run with this shape.
    pub fn cluster_of(&self, id: KernelId, given: Option<[u32; 3]>) -> Outcome<Option<[u32; 3]>> {
        let (limit, attributes) = (self.cluster_limit(id)?, self.cluster_attributes(id)?);
        let required = attributes.required();
        if let (Some([x, y, z]), Some([rx, ry, rz])) = (given, required)
            && [x, y, z] != [rx, ry, rz]
        {
            return Err(refused(format!(
                "a launch in clusters of {x} x {y} x {z} CTAs, but the kernel's attributes require {rx} x {ry} x {rz}"
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

    /// Returns the number of clusters that fit on the device at once. Counts every SM: the mapping of
    /// clusters to SMs is not modelled.
    ///
    /// # Errors
    /// When the kernel does not exist, or no cluster shape is given.
    pub fn active_clusters(&self, id: KernelId, shape: &LaunchShape) -> Outcome<u32> {
        let cluster = self.cluster_of(id, shape.cluster)?.or(self.cluster_limit(id)?.exactly);
        let size = cluster.map(ctas).filter(|&ctas| ctas > 0);
        let size = size.ok_or_else(|| refused("the launch gives no cluster shape"))?;
        Ok(self.active_ctas(id, shape)? / size)
    }

    /// Returns the CTAs of the largest cluster that a kernel can be launched with.
    ///
    /// # Errors
    /// When the kernel does not exist.
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
