//! `opportunistic`: reads a minimum number of lines of an open row unconditionally, then more until
//! a request waits for another row.

use super::{Bus, Cached, Lines, OpenRow, PrefetchEntry, Prefetcher, Trigger, fits};
use warpmem_params::{Adaptive, PolicyInfo, choice, params};

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

choice! {
    /// The meaning of the prefetch degree.
    #[derive(PartialEq, Eq)]
    enum Degree {
        /// "At least a minimum number of cache lines" (section 4.4); 0 is "no prefetching" (section
        /// 5.2).
        AtLeast = "at-least",
        /// The degree is the number of lines.
        Exactly = "exactly",
    }
}

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// prefetch degree while many requests wait; 0 = no prefetching
        lower: u32 = 8, in 0.., unit "lines";
        /// prefetch degree while few requests wait; at least `lower`
        higher: u32 = 16, in 0.., unit "lines";
        /// lines read from a row: as many as the degree, then more until a request waits for another
        /// row (`at-least`), or as many as the degree (`exactly`)
        degree: Degree = Degree::AtLeast;
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
    /// Returns the prefetch degree with `pending` requests in the channel.
    fn degree(&self, pending: u32) -> u32 {
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

    fn bus(&self) -> Bus {
        self.options.lines.bus
    }

    /// With `at-least` and degrees above 0, a row that no request waits for is always read.
    fn follows_completions(&self) -> bool {
        self.options.degree == Degree::Exactly || self.options.lower == 0
    }

    fn goes_on(&self, row: &OpenRow) -> bool {
        let degree = self.degree(row.pending);
        let continues = self.options.degree == Degree::AtLeast && degree > 0 && row.waiting == 0;
        continues || row.prefetched < degree
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
    }

    #[test]
    fn prefetching_continues_while_no_request_waits_unless_the_degree_is_exact() {
        let goes_on = |text: &str, prefetched, pending| {
            build(text).goes_on(&OpenRow { waiting: 0, prefetched, pending })
        };
        assert!(goes_on("opportunistic(threshold=0)", 1000, 1));
        let exact = "opportunistic(degree=exactly,lower=2,higher=5,threshold=10)";
        let last = |pending| (0..).find(|&prefetched| !goes_on(exact, prefetched, pending));
        assert_eq!([9, 10].map(last), [Some(5), Some(2)]);
    }

    #[test]
    fn a_degree_of_0_is_no_prefetching() {
        for degree in ["at-least", "exactly"] {
            let none = build(&format!("opportunistic(lower=0,higher=0,degree={degree})"));
            let some =
                build(&format!("opportunistic(lower=0,higher=4,threshold=10,degree={degree})"));
            for waiting in [0, 1] {
                let row = |pending| OpenRow { waiting, prefetched: 0, pending };
                assert!(!none.goes_on(&row(1)), "{degree}");
                assert_eq!([9, 10].map(|pending| some.goes_on(&row(pending))), [true, false]);
            }
        }
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
            "opportunistic(degree=3)",
            "opportunistic(bus=first)",
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
