//! Clusters: groups of CTAs that run at the same time and access each other's shared memory.

use crate::record::KernelInfo;

/// Maximum CTAs of a cluster.
pub const MAX_CLUSTER: u32 = 16;

/// An address in the shared memory of a cluster: the rank of a CTA, and an offset in its shared
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterAddress {
    /// Number of the CTA in its cluster, x fastest.
    pub rank: u32,
    pub offset: u32,
}

impl ClusterAddress {
    /// Bits of the offset, below the rank.
    const OFFSET_BITS: u32 = 24;

    /// Returns the address as stored in records: the offset, and the rank from bit 24.
    pub fn encode(self) -> u64 {
        u64::from(self.rank) << ClusterAddress::OFFSET_BITS | u64::from(self.offset)
    }

    /// Decodes the address of a record in [`Space::Cluster`].
    pub fn of(address: u64) -> ClusterAddress {
        let offset = address as u32 & ((1 << ClusterAddress::OFFSET_BITS) - 1);
        ClusterAddress { rank: (address >> ClusterAddress::OFFSET_BITS) as u32, offset }
    }
}

impl KernelInfo {
    /// Returns the CTAs per cluster, 1 for a kernel without clusters.
    pub fn ctas_per_cluster(&self) -> u32 {
        let sides = self.cluster.unwrap_or([1; 3]);
        sides.iter().fold(1, |ctas, &side| side.saturating_mul(ctas))
    }

    /// Returns the cluster of the CTA at `block` and its rank there, x fastest.
    fn place_in_cluster(&self, block: [u32; 3]) -> ([u32; 3], u32) {
        let [sx, sy, sz] = self.cluster.unwrap_or([1; 3]).map(|side| side.max(1));
        let [x, y, z] = block;
        ([x / sx, y / sy, z / sz], ((z % sz) * sy + y % sy) * sx + x % sx)
    }

    /// Checks that the shape of the clusters is valid.
    pub(crate) fn check_cluster(&self) -> Result<(), String> {
        let Some([x, y, z]) = self.cluster else { return Ok(()) };
        match self.ctas_per_cluster() {
            1..=MAX_CLUSTER => Ok(()),
            _ => Err(format!("a cluster of {x} x {y} x {z} CTAs; 1 to {MAX_CLUSTER} are possible")),
        }
    }

    /// Checks that `ctas` CTAs form whole clusters.
    pub(crate) fn check_whole_clusters(&self, ctas: u32) -> Result<(), String> {
        let size = self.ctas_per_cluster();
        if ctas.is_multiple_of(size) {
            return Ok(());
        }
        Err(format!("{ctas} CTAs in clusters of {size}: the last cluster is incomplete"))
    }
}

/// Checks that the CTAs of each cluster are consecutive.
#[derive(Clone, Copy, Default)]
pub(crate) struct Clusters {
    ctas: u32,
    /// Cluster of the previous CTA.
    cluster: [u32; 3],
}

impl Clusters {
    /// Checks the next CTA of a kernel.
    pub fn add(&mut self, info: &KernelInfo, block: [u32; 3]) -> Result<(), String> {
        let (cluster, rank) = info.place_in_cluster(block);
        let expected = self.ctas % info.ctas_per_cluster();
        let [x, y, z] = block;
        if rank != expected {
            return Err(format!(
                "CTA ({x}, {y}, {z}) has rank {rank} in its cluster where rank {expected} comes next: \
                 the CTAs of a cluster follow each other by rank, x fastest"
            ));
        }
        if rank > 0 && cluster != self.cluster {
            return Err(format!("CTA ({x}, {y}, {z}) follows one of another cluster"));
        }
        (self.ctas, self.cluster) = (self.ctas + 1, cluster);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(cluster: [u32; 3]) -> KernelInfo {
        KernelInfo { cluster: Some(cluster), ..KernelInfo::default() }
    }

    #[test]
    fn an_address_names_a_cta_and_a_byte() {
        let address = ClusterAddress { rank: 5, offset: 0x1234 };
        assert_eq!(address.encode(), 0x500_1234);
        assert_eq!(ClusterAddress::of(0x500_1234), address);
    }

    #[test]
    fn cluster_ranks_count_x_fastest() {
        let kernel = kernel([2, 3, 2]);
        assert_eq!(kernel.ctas_per_cluster(), 12);
        assert_eq!(kernel.place_in_cluster([3, 4, 1]), ([1, 1, 0], (3 + 1) * 2 + 1));
        assert_eq!(KernelInfo::default().place_in_cluster([3, 4, 1]), ([3, 4, 1], 0));
    }

    #[test]
    fn clusters_have_one_to_sixteen_ctas() {
        let check = |cluster| kernel(cluster).check_cluster();
        assert_eq!(check([4, 2, 2]), Ok(()));
        assert!(check([17, 1, 1]).unwrap_err().contains("17 x 1 x 1"));
        assert!(check([2, 0, 1]).is_err());
        assert!(check([u32::MAX; 3]).is_err());
    }

    #[test]
    fn ctas_of_a_cluster_are_consecutive() {
        let kernel = kernel([1, 2, 1]);
        let order = |blocks: &[[u32; 3]]| {
            let mut clusters = Clusters::default();
            blocks.iter().try_for_each(|&block| clusters.add(&kernel, block))
        };
        assert_eq!(order(&[[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]), Ok(()));
        let row = order(&[[0, 0, 0], [1, 0, 0]]).unwrap_err();
        assert!(row.contains("CTA (1, 0, 0) has rank 0"), "{row}");
        let other = order(&[[0, 0, 0], [1, 1, 0]]).unwrap_err();
        assert!(other.contains("follows one of another cluster"), "{other}");
        assert!(order(&[[0, 1, 0]]).is_err(), "a kernel begins with rank 0");
        assert!(kernel.check_whole_clusters(3).is_err());
        assert_eq!(kernel.check_whole_clusters(4), Ok(()));
    }
}
