//! Hash-matching hold grant: the last input granted an output keeps it while the hash of the row is
//! unchanged.

use super::{Arbiter, ArbiterEntry, Contest, LastGrants, Output, PacketView, on_requests};
use warpmem_params::{Complexity, PolicyInfo, Shape, params};
use warpmem_sim::RowId;

const INFO: PolicyInfo = PolicyInfo {
    name: "hash-matching-hold-grant",
    summary: "for requests: hold-grant while the hash of the row equals that of the output's last request",
    source: "Yuan et al., MICRO 2009, section 3.4 (HMHG)",
    params: Parameters::params,
};

params! {
    struct Parameters {
        /// width of the hash of a row; the paper finds no gain beyond 4
        bits: u32 = 4, in 1..=32, unit "bits";
    }
}

pub(super) const ENTRY: ArbiterEntry = ArbiterEntry {
    info: INFO,
    build: |context, params| {
        let Parameters { bits } = params.read();
        Ok(on_requests(context, || HashMatching {
            last: LastGrants::new(context),
            hashes: vec![0; context.outputs],
            bits,
        }))
    },
};

struct HashMatching {
    last: LastGrants,
    /// Hash of the last granted row, by output; meaningless before the first grant.
    hashes: Vec<u32>,
    bits: u32,
}

impl Arbiter for HashMatching {
    fn designate(&mut self, contest: &Contest) -> Option<usize> {
        let input = self.last.holder(contest)?;
        let row = (contest.packet)(input).row;
        (self.hashes[contest.output.index] == folded(row, self.bits)).then_some(input)
    }

    fn granted(&mut self, output: Output, input: usize, packet: PacketView) {
        self.last.granted(output, input);
        self.hashes[output.index] = folded(packet.row, self.bits);
    }

    /// Returns the cost by Table 1 of the paper: hold grant, and per output a hash, stored and
    /// compared.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let routers = shape.routers;
        let hashes = u64::from(self.bits) * routers.outputs;
        let hashes = Complexity { stored: hashes, compared: hashes };
        Some(routers.held_grants() + hashes * routers.count)
    }
}

/// Returns the XOR of the pieces of `bits` bits of `row`. The paper does not specify the hash.
fn folded(row: RowId, bits: u32) -> u32 {
    let mask = u32::MAX >> (32 - bits);
    let pieces = (0..32).step_by(bits as usize).map(|low| row.0 >> low & mask);
    pieces.fold(0, |hash, piece| hash ^ piece)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::folded;
    use warpmem_sim::RowId;

    const RULE: &str = "hash-matching-hold-grant";

    #[test]
    fn hashes_fold_all_bits_of_a_row() {
        assert_eq!(folded(RowId(0xabc), 4), 0xa ^ 0xb ^ 0xc);
        assert_eq!(folded(RowId(0x8000_0001), 4), 8 ^ 1);
        assert_eq!(folded(RowId(0xf000_0000), 5), 0b11 ^ 0b11000, "a last piece of two bits");
        assert_eq!([folded(RowId(0b1011), 1), folded(RowId(0b1111), 1)], [1, 0], "parity");
        assert_eq!(folded(RowId(0x1234_5678), 32), 0x1234_5678);
    }

    #[test]
    fn the_last_input_keeps_its_output_within_rows_of_a_hash() {
        let mut bench = Bench::new(RULE);
        bench.wants(1).row = RowId(0);
        assert_eq!(bench.designate(0, &[1, 2]), None, "no input has used it");
        bench.grant(0, 1);
        assert_eq!(bench.designate(0, &[1, 2]), Some(1));
        bench.wants(1).row = RowId(0x11);
        assert_eq!(bench.designate(0, &[1, 2]), Some(1), "1 and 1 make 0");
        bench.wants(1).row = RowId(0x01);
        assert_eq!(bench.designate(0, &[1, 2]), None);
        bench.wants(1).row = RowId(0x11);
        assert_eq!(bench.designate_late(0, &[1, 2]), None, "it has not used it for a cycle");
        assert_eq!(bench.designate(0, &[2]), None, "it requests nothing");
    }

    #[test]
    fn more_bits_distinguish_more_rows() {
        let mut bench = Bench::new("hash-matching-hold-grant(bits=5)");
        bench.wants(1).row = RowId(0);
        bench.grant(0, 1);
        bench.wants(1).row = RowId(0x11);
        assert_eq!(bench.designate(0, &[1, 2]), None);
    }

    #[test]
    fn each_output_keeps_one_hash_for_all_banks() {
        let mut bench = Bench::new(RULE);
        bench.wants(1).row = RowId(5);
        bench.grant(0, 1);
        bench.wants(1).bank = 3;
        assert_eq!(bench.designate(0, &[1]), Some(1), "the row of another bank counts");
        bench.wants(1).row = RowId(6);
        bench.grant(1, 1);
        assert_eq!(bench.designate(0, &[1]), None);
        bench.wants(1).row = RowId(5);
        assert_eq!(bench.designate(0, &[1]), Some(1), "the row of another output does not");
    }
}
