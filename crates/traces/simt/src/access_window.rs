use warpmem_trace::{Eviction, L2Policy};

/// Range of global memory whose L2 eviction priority a launch sets (CUDA, `cudaAccessPolicyWindow`). An
/// access with its own cache policy overrides the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessWindow {
    /// First byte, and number of bytes.
    pub base: u64,
    pub bytes: u64,
    pub policy: L2Policy,
}

impl AccessWindow {
    /// Creates a window. A share of its lines, 0 to 1 rounded up to sixteenths, gets priority `hit`, the
    /// others `miss`.
    pub fn new(base: u64, bytes: u64, share: f32, hit: Eviction, miss: Eviction) -> AccessWindow {
        let policy = match (share * 16.0).ceil().clamp(0.0, 16.0) as u8 {
            0 => L2Policy::of_all(miss),
            sixteenths => L2Policy { primary: hit, sixteenths, secondary: miss },
        };
        AccessWindow { base, bytes, policy }
    }

    /// Returns the policy of an access at `address`; `None` outside the window.
    pub(crate) fn policy_at(&self, address: u64) -> Option<L2Policy> {
        let is_in = address.checked_sub(self.base).is_some_and(|offset| offset < self.bytes);
        is_in.then_some(self.policy)
    }
}
