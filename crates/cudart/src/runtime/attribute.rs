//! Attributes of launches.

use crate::host;
use crate::status::Outcome;

/// `cudaLaunchAttribute`, `CUlaunchAttribute`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    kind: u32,
    _padding: u32,
    value: [u32; 16],
}

/// What attributes ask for.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaunchAttributes {
    pub is_cooperative: bool,
    /// CTAs of a cluster.
    pub cluster: Option<[u32; 3]>,
}

impl LaunchAttributes {
    /// Other attributes decide nothing here.
    ///
    /// # Safety
    /// There are so many attributes.
    pub unsafe fn of(attributes: *const LaunchAttribute, count: u32) -> Outcome<LaunchAttributes> {
        const COOPERATIVE: u32 = 2;
        const CLUSTER: u32 = 4;
        let mut asked = LaunchAttributes::default();
        for at in 0..count as usize {
            // SAFETY: as the caller promises.
            let LaunchAttribute { kind, value, .. } =
                unsafe { host::get(attributes.wrapping_add(at)) }?;
            match kind {
                COOPERATIVE => asked.is_cooperative |= value[0] != 0,
                CLUSTER => asked.cluster = Some([value[0], value[1], value[2]]),
                _ => {}
            }
        }
        Ok(asked)
    }
}
