//! Row-matching hold grant: the last input granted an output keeps it while its requests go to the
//! last requested row of their bank.

use super::{
    Arbiter, ArbiterContext, ArbiterEntry, Contest, LastGrants, Output, PacketView, on_requests,
};
use warpmem_params::{Complexity, PolicyInfo, Shape};
use warpmem_sim::RowId;

const INFO: PolicyInfo = PolicyInfo {
    name: "row-matching-hold-grant",
    summary: "for requests: hold-grant while the row equals that of the last request to its DRAM bank",
    source: "Yuan et al., MICRO 2009, sections 3.2 and 3.4 (RMHG)",
    params: Vec::new,
};

pub(super) const ENTRY: ArbiterEntry = ArbiterEntry {
    info: INFO,
    build: |context, _| {
        Ok(on_requests(context, || RowMatching {
            last: LastGrants::new(context),
            rows: Rows::new(context),
        }))
    },
};

/// Row of the last granted request, by router and DRAM bank.
struct Rows {
    banks: usize,
    rows: Vec<Option<RowId>>,
}

impl Rows {
    fn new(context: &ArbiterContext) -> Rows {
        Rows { banks: context.banks, rows: vec![None; context.routers * context.banks] }
    }

    /// Returns the last row of the bank of `packet`.
    fn last(&mut self, router: usize, packet: PacketView) -> &mut Option<RowId> {
        &mut self.rows[router * self.banks + packet.bank as usize]
    }
}

struct RowMatching {
    last: LastGrants,
    rows: Rows,
}

impl Arbiter for RowMatching {
    fn designate(&mut self, contest: &Contest) -> Option<usize> {
        let input = self.last.holder(contest)?;
        let packet = (contest.packet)(input);
        (*self.rows.last(contest.output.router, packet) == Some(packet.row)).then_some(input)
    }

    fn granted(&mut self, output: Output, input: usize, packet: PacketView) {
        self.last.granted(output, input);
        *self.rows.last(output.router, packet) = Some(packet.row);
    }

    /// Returns the cost by Table 1 of the paper: hold grant, and every router stores a row per DRAM
    /// bank and compares one per output.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let (routers, row) = (shape.routers, shape.row_bits);
        let rows = Complexity {
            stored: row * shape.banks * shape.controllers,
            compared: row * routers.outputs,
        };
        Some(routers.held_grants() + rows * routers.count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, OUTPUTS};
    use warpmem_sim::RowId;

    const RULE: &str = "row-matching-hold-grant";

    #[test]
    fn the_last_input_keeps_its_output_within_a_row() {
        let mut bench = Bench::new(RULE);
        assert_eq!(bench.designate(0, &[1, 2]), None, "no input has used it");
        bench.wants(1).row = RowId(0);
        bench.grant(0, 1);
        assert_eq!(bench.designate(0, &[1, 2]), Some(1));
        bench.wants(1).row = RowId(1);
        assert_eq!(bench.designate(0, &[1, 2]), None, "another row");
        bench.wants(1).row = RowId(0);
        assert_eq!(bench.designate_late(0, &[1, 2]), None, "it has not used it for a cycle");
        assert_eq!(bench.designate(0, &[2]), None, "it requests nothing");
    }

    #[test]
    fn a_bank_without_requests_has_no_row() {
        let mut bench = Bench::new(RULE);
        bench.grant(0, 1);
        bench.wants(1).bank = 3;
        bench.wants(1).row = RowId(0);
        assert_eq!(bench.designate(0, &[1, 2]), None);
    }

    #[test]
    fn rows_are_tracked_per_bank_across_inputs_and_outputs() {
        let mut bench = Bench::new(RULE);
        bench.wants(2).bank = 3;
        bench.wants(2).row = RowId(7);
        bench.grant(1, 2);
        bench.wants(1).row = RowId(5);
        bench.grant(0, 1);
        bench.wants(1).bank = 3;
        assert_eq!(bench.designate(0, &[1, 2]), None, "row 5 was another bank's");
        bench.wants(1).row = RowId(7);
        assert_eq!(bench.designate(0, &[1, 2]), Some(1));
    }

    #[test]
    fn routers_track_rows_independently() {
        let mut bench = Bench::new(RULE);
        bench.wants(1).row = RowId(5);
        bench.grant(OUTPUTS, 1);
        bench.wants(1).row = RowId(6);
        bench.grant(0, 1);
        assert_eq!(bench.designate(OUTPUTS, &[1]), None, "row 6 was another router's");
        bench.wants(1).row = RowId(5);
        assert_eq!(bench.designate(OUTPUTS, &[1]), Some(1));
    }
}
