//! No rule: the network's own choice applies.

use super::{Arbiter, ArbiterEntry, Contest, Output, PacketView};
use warpmem_params::{Complexity, PolicyInfo, Shape};

const INFO: PolicyInfo = PolicyInfo {
    name: "round-robin",
    summary: "no rule: each output serves its inputs round robin, or as the allocator decides",
    source: "Yuan et al., MICRO 2009 (baseline)",
    params: Vec::new,
};

pub(super) const ENTRY: ArbiterEntry =
    ArbiterEntry { info: INFO, build: |_, _| Ok(Box::new(RoundRobin)) };

pub(super) struct RoundRobin;

impl Arbiter for RoundRobin {
    fn designate(&mut self, _: &Contest) -> Option<usize> {
        None
    }

    fn granted(&mut self, _: Output, _: usize, _: PacketView) {}

    fn decides(&self) -> bool {
        false
    }

    /// Returns no cost: every network has an allocator.
    fn complexity(&self, _: &Shape) -> Option<Complexity> {
        Some(Complexity::NONE)
    }
}
