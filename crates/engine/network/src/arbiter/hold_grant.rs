//! Hold grant: the last input granted an output keeps it while it has a packet for it in every
//! cycle.

use super::{Arbiter, ArbiterEntry, Contest, LastGrants, Output, PacketView, on_requests};
use warpmem_params::{Complexity, PolicyInfo, Shape};

const INFO: PolicyInfo = PolicyInfo {
    name: "hold-grant",
    summary: "for requests: the last input granted an output keeps it while it has a packet for it",
    source: "Yuan et al., MICRO 2009, section 3.2 (HG)",
    params: Vec::new,
};

pub(super) const ENTRY: ArbiterEntry = ArbiterEntry {
    info: INFO,
    build: |context, _| Ok(on_requests(context, || HoldGrant { last: LastGrants::new(context) })),
};

struct HoldGrant {
    last: LastGrants,
}

impl Arbiter for HoldGrant {
    fn designate(&mut self, contest: &Contest) -> Option<usize> {
        self.last.holder(contest)
    }

    fn granted(&mut self, output: Output, input: usize, _: PacketView) {
        self.last.granted(output, input);
    }

    /// Returns the cost by Table 1 of the paper: one bit per pair of an input and an output, set if
    /// they were matched last, and compared with the request of the input.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        Some(shape.routers.held_grants())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use warpmem_sim::RowId;

    #[test]
    fn the_last_input_keeps_its_output_across_rows() {
        let mut bench = Bench::new("hold-grant");
        assert_eq!(bench.designate(0, &[1, 2, 200]), None, "no input has used it");
        bench.wants(200).row = RowId(3);
        bench.grant(0, 200);
        bench.wants(200).row = RowId(4);
        assert_eq!(bench.designate(0, &[1, 2, 200]), Some(200));
        bench.grant(0, 2);
        assert_eq!(bench.designate(0, &[1, 2, 200]), Some(2), "also with another input's grant");
    }

    #[test]
    fn a_paused_input_is_not_preferred_later() {
        let mut bench = Bench::new("hold-grant");
        bench.grant(0, 1);
        assert_eq!(bench.designate(0, &[0, 2]), None, "it requests nothing");
        assert_eq!(bench.designate_late(0, &[0, 1]), None, "a cycle has passed without it");
        assert_eq!(bench.designate(0, &[0, 1]), Some(1));
    }

    #[test]
    fn grants_are_held_per_output() {
        let mut bench = Bench::new("hold-grant");
        bench.grant(0, 1);
        bench.grant(1, 2);
        assert_eq!([0, 1, 2].map(|o| bench.designate(o, &[1, 2])), [Some(1), Some(2), None]);
    }
}
