use warpmem_trace::{Eviction, L2Policy};

/// Global memory that a launch says how long to keep in L2 (CUDA, `cudaAccessPolicyWindow`). An access that
/// has a cache policy of its own has that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessWindow {
    /// The first byte, and how many there are.
    pub base: u64,
    pub bytes: u64,
    pub policy: L2Policy,
}

impl AccessWindow {
    /// A window of which a share of the lines, 0 to 1 rounded up to sixteenths, leaves as `hit` says, and
    /// the others as `miss` says.
    pub fn new(base: u64, bytes: u64, share: f32, hit: Eviction, miss: Eviction) -> AccessWindow {
        let policy = match (share * 16.0).ceil().clamp(0.0, 16.0) as u8 {
            0 => L2Policy::of_all(miss),
            sixteenths => L2Policy { primary: hit, sixteenths, secondary: miss },
        };
        AccessWindow { base, bytes, policy }
    }

    /// What it says of an access at `address`.
    pub(crate) fn policy_at(&self, address: u64) -> Option<L2Policy> {
        let is_in = address.checked_sub(self.base).is_some_and(|offset| offset < self.bytes);
        is_in.then_some(self.policy)
    }
}
