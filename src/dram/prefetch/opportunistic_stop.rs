//! `opportunistic-stop`: lines of an open row until a request waits for another row of its bank.

use super::{OpenRow, PrefetchEntry, Prefetcher, fits};
use crate::registry::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "opportunistic-stop",
    summary: "lines of an open row that nothing waits for, until a request comes for another row of the bank",
    source: "OWL 2013, Section 4.4, first scheme",
    params: &[],
};

pub(super) const ENTRY: PrefetchEntry = PrefetchEntry {
    info: INFO,
    build: |machine, params| {
        params.none(&INFO)?;
        fits(&INFO, machine)?;
        Ok(Box::new(OpportunisticStop))
    },
};

struct OpportunisticStop;

impl Prefetcher for OpportunisticStop {
    fn goes_on(&self, row: &OpenRow) -> bool {
        row.waiting == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_to_another_row_is_enough_to_stop() {
        let row = OpenRow { waiting: 0, prefetched: 3, pending: 40 };
        assert!(OpportunisticStop.goes_on(&row));
        assert!(!OpportunisticStop.goes_on(&OpenRow { waiting: 1, pending: 1, ..row }));
    }
}
