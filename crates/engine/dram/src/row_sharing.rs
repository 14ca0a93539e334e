//! The CTAs that access each row of a channel (Jog et al., ASPLOS 2013, Table 4).

use super::DramRequest;
use crate::SharedRows;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use warpmem_sim::{BankId, RowId};

/// An access of a CTA to a row of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Use {
    bank: BankId,
    row: RowId,
    cta: u32,
}

/// Rows of a channel with the CTAs whose requests have entered its queue. Memory grows with the
/// pairs of row and CTA.
#[derive(Debug, Default)]
pub struct RowSharing {
    uses: FxHashSet<Use>,
}

impl RowSharing {
    /// Records a request that enters the queue.
    pub fn note(&mut self, request: &DramRequest) {
        let DramRequest { bank, row, cta, .. } = *request;
        if cta != DramRequest::NO_CTA {
            self.uses.insert(Use { bank, row, cta });
        }
    }

    /// Adds the rows to `rows`, by the number of CTAs that accessed each.
    ///
    /// A CTA counts as consecutive in a row if its predecessor or successor accessed the row too,
    /// so 1, 2, 3 and 4 are all consecutive. A row of a single CTA has none, as the paper's SCP
    /// with one CTA per row and no sharing.
    pub fn add_to(&self, rows: &mut BTreeMap<u32, SharedRows>) {
        let mut uses: Vec<Use> = self.uses.iter().copied().collect();
        uses.sort_unstable();
        for row in uses.chunk_by(|one, other| (one.bank, one.row) == (other.bank, other.row)) {
            let shared = rows.entry(row.len() as u32).or_default();
            shared.rows += 1;
            shared.consecutive_ctas += consecutive(row);
        }
    }
}

/// Counts the CTAs with a neighbour among those of one row, given in ascending order.
fn consecutive(row: &[Use]) -> u64 {
    let follows = |at: usize| at > 0 && row.get(at).is_some_and(|u| u.cta == row[at - 1].cta + 1);
    (0..row.len()).filter(|&at| follows(at) || follows(at + 1)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::read;

    /// Returns the rows by number of CTAs, with the consecutive ones, after requests of (bank, row,
    /// CTA).
    fn shared(requests: &[(u16, u32, u32)]) -> Vec<(u32, u64, u64)> {
        let mut sharing = RowSharing::default();
        for &(bank, row, cta) in requests {
            sharing.note(&DramRequest { cta, ..read(0, bank, row) });
        }
        let mut rows = BTreeMap::new();
        sharing.add_to(&mut rows);
        rows.iter().map(|(&ctas, shared)| (ctas, shared.rows, shared.consecutive_ctas)).collect()
    }

    /// Returns the numbers of CTAs and of consecutive CTAs of a single row.
    fn of_one_row<const N: usize>(ctas: [u32; N]) -> (u32, u64) {
        let [(count, 1, consecutive)] = shared(&ctas.map(|cta| (0, 7, cta)))[..] else {
            panic!("one row");
        };
        (count, consecutive)
    }

    #[test]
    fn ctas_with_a_neighbour_in_the_row_are_consecutive() {
        assert_eq!(of_one_row([1, 2, 3, 4]), (4, 4), "the paper's example: all");
        assert_eq!(of_one_row([3, 1, 4, 2]), (4, 4), "in any order");
        assert_eq!(of_one_row([1, 3, 5]), (3, 0));
        assert_eq!(of_one_row([0, 1, 9, 20, 21, 22]), (6, 5));
        assert_eq!(of_one_row([8]), (1, 0));
        assert_eq!(of_one_row([u32::MAX - 2, u32::MAX - 1]), (2, 2));
    }

    #[test]
    fn a_cta_counts_once_however_many_requests_it_makes() {
        assert_eq!(of_one_row([5, 5, 6, 5]), (2, 2));
    }

    #[test]
    fn requests_without_a_cta_do_not_count() {
        assert_eq!(of_one_row([DramRequest::NO_CTA, 4, DramRequest::NO_CTA]), (1, 0));
        assert_eq!(shared(&[(0, 7, DramRequest::NO_CTA)]), []);
    }

    #[test]
    fn rows_are_distinguished_by_bank_and_number() {
        let requests = [(0, 7, 1), (0, 7, 2), (1, 7, 1), (0, 8, 2), (1, 9, 4), (1, 9, 5)];
        assert_eq!(shared(&requests), [(1, 2, 0), (2, 2, 4)]);
    }
}
