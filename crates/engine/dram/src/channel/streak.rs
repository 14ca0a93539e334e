//! Row streaks and their breakers (Yuan 2009, section 5.2).

use crate::queue::{Queue, Queued, Slot};
use crate::request::DramRequest;
use crate::{BankResult, Breaker};
use warpmem_sim::RowId;

/// The requests to one row that a bank serves in succession.
#[derive(Clone, Default)]
pub(super) struct Streak {
    row: Option<RowId>,
}

impl Streak {
    /// Serves the request in `slot`, which is still in its queue.
    pub fn serve(&mut self, queue: &Queue, slot: Slot, count: &mut BankResult) {
        let served = queue.get(slot);
        let DramRequest { bank, row, .. } = served.request;
        let Some(old) = self.row.replace(row).filter(|&old| old != row) else { return };
        count.row_switches += 1;
        let behind = |waiting: &&Queued| waiting.order > served.order;
        let mut to_old = queue.requests_to(bank, old).map(|(_, waiting)| waiting);
        if let Some(stranded) = to_old.find(behind) {
            count.stranded_switches += 1;
            let since = queue.since(slot).map(|(_, waiting)| waiting);
            let breakers = since.take_while(|breaker| breaker.order < stranded.order);
            credit(breakers, stranded, count);
        }
    }
}

/// Counts each kind of breaker at most once.
fn credit<'a>(
    breakers: impl Iterator<Item = &'a Queued>,
    stranded: &Queued,
    count: &mut BankResult,
) {
    let mut met = [false; Breaker::COUNT];
    breakers.for_each(|breaker| met[kind(&breaker.request, &stranded.request) as usize] = true);
    let counts = count.streak_breakers.iter_mut().zip(met);
    counts.for_each(|(count, met)| *count += u64::from(met));
}

fn kind(breaker: &DramRequest, stranded: &DramRequest) -> Breaker {
    if breaker.sm != stranded.sm || breaker.sm == DramRequest::NO_SOURCE {
        Breaker::OtherCore
    } else if breaker.cta != stranded.cta {
        Breaker::SameCoreOtherCta
    } else {
        Breaker::SameCta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::{DramCycle, read};

    /// SM and CTA of a request.
    type From = (u16, u32);

    const NO_SM: From = (DramRequest::NO_SOURCE, u32::MAX);

    /// Serves the requests (bank, row, source) in `order`, given by index; all of them wait from
    /// the start.
    fn serve(requests: &[(u16, u32, From)], order: &[usize]) -> BankResult {
        let mut queue = Queue::new(2, requests.len());
        let queued = |(id, &(bank, row, (sm, cta))): (u32, &_)| Queued {
            request: DramRequest { sm, cta, ..read(id, bank, row) },
            arrived: DramCycle::ZERO,
            order: id.into(),
        };
        let slots: Vec<Slot> = (0..).zip(requests).map(|r| queue.push(queued(r))).collect();
        let (mut streak, mut count) = (Streak::default(), BankResult::default());
        for &index in order {
            streak.serve(&queue, slots[index], &mut count);
            queue.take(slots[index]);
        }
        count
    }

    fn counted(switches: u64, stranded: u64, breakers: [u64; Breaker::COUNT]) -> BankResult {
        BankResult {
            row_switches: switches,
            stranded_switches: stranded,
            streak_breakers: breakers,
            ..BankResult::default()
        }
    }

    /// Serves the requests of one bank in order of arrival.
    fn in_order(requests: &[(u32, From)]) -> BankResult {
        let requests: Vec<_> = requests.iter().map(|&(row, from)| (0, row, from)).collect();
        serve(&requests, &Vec::from_iter(0..requests.len()))
    }

    #[test]
    fn a_breaker_is_classified_by_the_sm_and_the_cta_of_the_stranded_request() {
        let (stranded, cases) =
            ((3, 7), [((4, 7), [1, 0, 0]), ((3, 8), [0, 1, 0]), ((3, 7), [0, 0, 1])]);
        for (breaker, breakers) in cases {
            let count = in_order(&[(1, (0, 0)), (2, breaker), (1, stranded)]);
            assert_eq!(count, counted(2, 1, breakers), "{breaker:?}");
        }
    }

    #[test]
    fn requests_without_an_sm_count_as_another_core() {
        for (breaker, stranded) in [(NO_SM, (3, 7)), ((3, 7), NO_SM), (NO_SM, NO_SM)] {
            let count = in_order(&[(1, (3, 7)), (2, breaker), (1, stranded)]);
            assert_eq!(
                (count.stranded_switches, count.streak_breakers),
                (1, [1, 0, 0]),
                "{breaker:?}, {stranded:?}"
            );
        }
    }

    #[test]
    fn a_switch_credits_each_kind_once() {
        let (other, core, own) = ((9, 7), (3, 8), (3, 7));
        let count =
            in_order(&[(1, own), (2, other), (2, other), (3, core), (3, core), (4, own), (1, own)]);
        assert_eq!(count, counted(4, 1, [1, 1, 1]));
    }

    #[test]
    fn breakers_precede_the_first_stranded_request() {
        // The switch from row 1 has only the request of the same CTA as breaker; the one of another
        // core arrived after the stranded request.
        let count = in_order(&[(1, (0, 0)), (2, (0, 0)), (1, (0, 0)), (3, (5, 5)), (1, (0, 0))]);
        // The switch from row 1 to row 3 adds the request of the other core.
        assert_eq!(count, counted(4, 2, [1, 0, 1]));
    }

    #[test]
    fn an_older_request_is_neither_stranded_nor_a_breaker() {
        let own = (0, 0);
        // The request left in row 1 is older than the one to row 2, so it is not stranded.
        let count = serve(&[(0, 1, own), (0, 1, own), (0, 2, own)], &[0, 2, 1]);
        assert_eq!(count, counted(2, 0, [0; 3]));
        // The request to row 3 arrived first, so it does not break the streak of row 1.
        let all = [(0, 3, (9, 9)), (0, 1, own), (0, 2, own), (0, 1, own)];
        let count = serve(&all, &[1, 2, 3, 0]);
        assert_eq!(count, counted(3, 1, [0, 0, 1]));
    }

    #[test]
    fn rows_of_different_banks_are_distinct() {
        let own = (0, 0);
        let count = serve(&[(0, 1, own), (0, 2, own), (1, 1, own)], &[0, 1]);
        assert_eq!(count, counted(1, 0, [0; 3]));
    }

    #[test]
    fn requests_to_one_row_are_one_streak() {
        let count = in_order(&[(1, (0, 0)), (1, (1, 0)), (1, (2, 0))]);
        assert_eq!(count, counted(0, 0, [0; 3]));
    }
}
