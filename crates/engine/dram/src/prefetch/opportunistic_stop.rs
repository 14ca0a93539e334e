//! `opportunistic-stop`: prefetches lines of an open row until a request waits for another row of
//! its bank.

use super::{Bus, Cached, Lines, OpenRow, PrefetchEntry, Prefetcher, Trigger, fits};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "opportunistic-stop",
    summary: "prefetches lines of an open row that no request waits for, until a request to another row of the bank arrives",
    source: "OWL 2013, Section 4.4, first scheme",
    params: Lines::params,
};

pub(super) const ENTRY: PrefetchEntry = PrefetchEntry {
    info: INFO,
    build: |machine, params| {
        let lines: Lines = params.read();
        fits(&INFO, machine)?;
        Ok(Box::new(OpportunisticStop { lines }))
    },
};

struct OpportunisticStop {
    lines: Lines,
}

impl Prefetcher for OpportunisticStop {
    fn skips_cached(&self) -> bool {
        self.lines.cached == Cached::Skip
    }

    fn trigger(&self) -> Trigger {
        self.lines.trigger
    }

    fn bus(&self) -> Bus {
        self.lines.bus
    }

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
        let stop = OpportunisticStop { lines: Lines::default() };
        assert!(stop.goes_on(&row));
        assert!(!stop.goes_on(&OpenRow { waiting: 1, pending: 1, ..row }));
    }
}
