//! `opportunistic`: reads a minimum number of lines of an open row unconditionally, then more until
//! a request waits for another row.

use super::{Cached, Lines, OpenRow, PrefetchEntry, Prefetcher, Trigger, fits};
use warpmem_params::{Adaptive, PolicyInfo, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "opportunistic",
    summary: "as opportunistic-stop, but reads a minimum number of lines even if requests to other rows wait",
    source: "OWL 2013, Section 4.4, second scheme",
    params: Options::params,
};

pub(super) const ENTRY: PrefetchEntry = PrefetchEntry {
    info: INFO,
    build: |machine, params| {
        let options: Options = params.read();
        let Options { lower, higher, .. } = options;
        INFO.require(lower <= higher, "higher", higher, format!("at least `lower` = {lower}"))?;
        fits(&INFO, machine)?;
        Ok(Box::new(Opportunistic { options, average: Average::default() }))
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// minimum number of lines read from a row while many requests wait
        lower: u32 = 8, in 0.., unit "lines";
        /// minimum number of lines read from a row while few requests wait; at least `lower`
        higher: u32 = 16, in 0.., unit "lines";
        /// number of requests in the channel below which few wait; `adaptive`: their running
        /// average, updated at each arrival
        threshold: Adaptive = Adaptive::Adaptive, in 0.., unit "requests";
        ..lines: Lines;
    }
}

/// Binary logarithm of the inverse weight of the newest sample in the running average.
const WEIGHT_SHIFT: u32 = 7;

/// A running average, scaled by 2 to the power of [`WEIGHT_SHIFT`] and computed by shifts and sums,
/// as in the paper.
#[derive(Default)]
struct Average {
    scaled: u64,
}

impl Average {
    fn add(&mut self, number: u32) {
        self.scaled += u64::from(number);
        self.scaled -= self.scaled >> WEIGHT_SHIFT;
    }

    fn is_above(&self, number: u32) -> bool {
        u64::from(number) << WEIGHT_SHIFT < self.scaled
    }
}

struct Opportunistic {
    options: Options,
    average: Average,
}

impl Opportunistic {
    /// Returns the number of lines that are read unconditionally.
    fn least(&self, pending: u32) -> u32 {
        let few_wait = match self.options.threshold {
            Adaptive::Adaptive => self.average.is_above(pending),
            Adaptive::Fixed(requests) => pending < requests,
        };
        if few_wait { self.options.higher } else { self.options.lower }
    }
}

impl Prefetcher for Opportunistic {
    fn skips_cached(&self) -> bool {
        self.options.lines.cached == Cached::Skip
    }

    fn trigger(&self) -> Trigger {
        self.options.lines.trigger
    }

    fn goes_on(&self, row: &OpenRow) -> bool {
        row.waiting == 0 || row.prefetched < self.least(row.pending)
    }

    fn on_arrival(&mut self, pending: u32) {
        self.average.add(pending);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prefetch::PREFETCHERS;
    use crate::prefetch::PrefetchContext;
    use crate::tests::harness::prefetch_context;

    /// Returns the lines read of a row while a request waits for another row and `pending` requests
    /// are in the channel.
    fn least(prefetcher: &dyn Prefetcher, pending: u32) -> u32 {
        let row = |prefetched| OpenRow { waiting: 1, prefetched, pending };
        (0..).find(|&prefetched| !prefetcher.goes_on(&row(prefetched))).unwrap()
    }

    fn build(text: &str) -> Box<dyn Prefetcher> {
        PREFETCHERS.build(text, &prefetch_context()).unwrap()
    }

    #[test]
    fn a_fixed_threshold_separates_few_requests_from_many() {
        let prefetcher = build("opportunistic(lower=2,higher=5,threshold=10)");
        assert_eq!([0, 9, 10, 11].map(|pending| least(&*prefetcher, pending)), [5, 5, 2, 2]);
        let stop = build("opportunistic(lower=0,higher=0)");
        assert_eq!(least(&*stop, 1), 0);
    }

    #[test]
    fn prefetching_continues_while_no_request_waits() {
        let prefetcher = build("opportunistic(threshold=0)");
        assert!(prefetcher.goes_on(&OpenRow { waiting: 0, prefetched: 1000, pending: 1 }));
    }

    #[test]
    fn an_adaptive_threshold_follows_the_requests_in_the_channel() {
        let mut prefetcher = build("opportunistic");
        assert_eq!([0, 1].map(|pending| least(&*prefetcher, pending)), [8, 8], "nothing arrived");
        (0..2000).for_each(|_| prefetcher.on_arrival(20));
        assert_eq!([18, 21].map(|pending| least(&*prefetcher, pending)), [16, 8]);
        (0..2000).for_each(|_| prefetcher.on_arrival(4));
        assert_eq!([3, 6, 18].map(|pending| least(&*prefetcher, pending)), [16, 8, 8]);
    }

    /// 12800 + 228 = 13028, less a 128th of it.
    #[test]
    fn an_average_moves_by_a_share_of_the_difference() {
        let mut average = Average { scaled: 128 * 100 };
        average.add(228);
        assert_eq!(average.scaled, 12_927);
        assert!(average.is_above(100) && !average.is_above(101));
    }

    #[test]
    fn invalid_thresholds_are_refused() {
        for text in [
            "opportunistic(lower=9,higher=8)",
            "opportunistic(threshold=static)",
            "opportunistic(threshold=-1)",
            "opportunistic(least=3)",
            "opportunistic-stop(lower=3)",
            "opportunistic-stop(cached=maybe)",
            "opportunistic-stop(trigger=writes)",
        ] {
            assert!(PREFETCHERS.build(text, &prefetch_context()).is_err(), "{text}");
        }
    }

    #[test]
    fn prefetching_needs_a_cache_and_at_most_128_lines_per_row() {
        let no_cache = PrefetchContext { l2_enabled: false, ..prefetch_context() };
        let long_rows = PrefetchContext { row_bytes: 2 * 128 * 128, ..prefetch_context() };
        for (machine, key) in [(no_cache, "l2.enabled"), (long_rows, "dram.row_bytes")] {
            for name in ["opportunistic", "opportunistic-stop"] {
                let error = PREFETCHERS.build(name, &machine).err().unwrap().to_string();
                assert!(error.contains(key), "{error}");
            }
            assert!(PREFETCHERS.build("none", &machine).is_ok());
        }
    }
}
