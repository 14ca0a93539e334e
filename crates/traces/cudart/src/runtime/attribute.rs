//! Launch attributes.

use warpmem_simt::AccessWindow;
use warpmem_trace::Eviction;

use crate::host;
use crate::status::{Outcome, Status};

/// `cudaLaunchAttribute`, `CUlaunchAttribute`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    kind: u32,
    _padding: u32,
    value: [u32; 16],
}

/// Attribute of launches and streams that sets an access policy window
/// (`cudaLaunchAttributeAccessPolicyWindow`, `cudaStreamAttributeAccessPolicyWindow`).
pub const WINDOW: u32 = 1;

/// `cudaAccessPolicyWindow`, `CUaccessPolicyWindow`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PolicyWindow {
    base: u64,
    bytes: u64,
    hit_ratio: f32,
    hit: u32,
    miss: u32,
}

impl PolicyWindow {
    fn of(value: [u32; 16]) -> PolicyWindow {
        let long = |at: usize| u64::from(value[at + 1]) << 32 | u64::from(value[at]);
        let hit_ratio = f32::from_bits(value[4]);
        PolicyWindow { base: long(0), bytes: long(2), hit_ratio, hit: value[5], miss: value[6] }
    }

    /// Converts the window; `None` if it is empty, which removes a window.
    ///
    /// # Errors
    /// When a property or the ratio is invalid.
    pub fn window(self) -> Outcome<Option<AccessWindow>> {
        let PolicyWindow { base, bytes, hit_ratio, hit, miss } = self;
        let (hit, miss) = (eviction(hit)?, eviction(miss)?);
        if !(0.0..=1.0).contains(&hit_ratio) {
            return Err(Status::INVALID_VALUE.into());
        }
        let window = AccessWindow::new(base, bytes, hit_ratio, hit, miss);
        Ok((bytes > 0).then_some(window))
    }
}

/// Converts a `cudaAccessProperty`, `CUaccessProperty`.
fn eviction(property: u32) -> Outcome<Eviction> {
    match property {
        0 => Ok(Eviction::Normal),
        1 => Ok(Eviction::First),
        2 => Ok(Eviction::Last),
        _ => Err(Status::INVALID_VALUE.into()),
    }
}

/// The launch attributes that have an effect.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaunchAttributes {
    pub is_cooperative: bool,
    /// CTAs of a cluster.
    pub cluster: Option<[u32; 3]>,
    pub window: Option<AccessWindow>,
}

impl LaunchAttributes {
    /// Reads the attributes; ignores those without effect.
    ///
    /// # Safety
    /// The array has `count` attributes.
    pub unsafe fn of(attributes: *const LaunchAttribute, count: u32) -> Outcome<LaunchAttributes> {
        const COOPERATIVE: u32 = 2;
        const CLUSTER: u32 = 4;
        let mut asked = LaunchAttributes::default();
        for at in 0..count as usize {
            // SAFETY: guaranteed by the caller.
            let LaunchAttribute { kind, value, .. } =
                unsafe { host::get(attributes.wrapping_add(at)) }?;
            match kind {
                COOPERATIVE => asked.is_cooperative |= value[0] != 0,
                WINDOW => asked.window = PolicyWindow::of(value).window()?,
                CLUSTER => asked.cluster = Some([value[0], value[1], value[2]]),
                _ => {}
            }
        }
        Ok(asked)
    }
}
