//! The two clusters of sources, and the order within each.

use super::monitor::{Monitor, Seen};
use super::{Options, Shuffle};
use crate::scheduler::sources::ranks_of;
use warpmem_params::Counter;
use warpmem_sim::DramCycle;
use warpmem_support::random::Random;

/// Ranks of the sources over time.
pub struct Clusters {
    options: Options,
    /// Number of banks of the machine.
    banks: u32,
    quantum_ends: DramCycle,
    next_shuffle: DramCycle,
    /// Rank of each source, lowest first.
    ranks: Vec<u16>,
    /// Lowest rank of the bandwidth-sensitive sources.
    first_bandwidth_rank: u16,
    /// Bandwidth-sensitive sources with their niceness; the first to be served is at the end.
    by_niceness: Vec<(usize, i32)>,
    /// Whether the order is shuffled by insertion steps in this quantum, rather than at random.
    by_insertion: bool,
    step: usize,
    chance: Random,
    count: Counts,
}

#[derive(Default)]
struct Counts {
    quanta: u64,
    shuffles: u64,
    insertion_quanta: u64,
    /// Latency-sensitive sources, summed over all quanta.
    latency_sources: u64,
}

impl Clusters {
    pub fn new(options: Options, sources: usize, banks: u32) -> Clusters {
        Clusters {
            options,
            banks,
            quantum_ends: DramCycle::new(options.quantum),
            next_shuffle: DramCycle::NEVER,
            ranks: vec![0; sources],
            first_bandwidth_rank: 0,
            by_niceness: Vec::new(),
            by_insertion: false,
            step: 0,
            chance: Random::new(0),
            count: Counts::default(),
        }
    }

    pub fn rank(&self, source: usize) -> u16 {
        self.ranks[source]
    }

    /// Returns the next cycle in which ranks may change.
    pub fn next_change(&self) -> DramCycle {
        self.quantum_ends.min(self.next_shuffle)
    }

    /// Performs the changes due up to `now`.
    pub fn advance(&mut self, now: DramCycle, monitor: &mut Monitor) {
        while now >= self.quantum_ends {
            self.sort(&monitor.take(self.quantum_ends));
            self.next_shuffle = match self.by_niceness.len() {
                0 | 1 => DramCycle::NEVER,
                _ => self.quantum_ends + self.options.shuffle_interval,
            };
            self.quantum_ends += self.options.quantum;
        }
        while now >= self.next_shuffle {
            self.shuffle();
            self.next_shuffle += self.options.shuffle_interval;
        }
    }

    /// Clusters the sources by their behaviour in the past quantum.
    fn sort(&mut self, seen: &[Seen]) {
        let mut order: Vec<usize> = (0..seen.len()).collect();
        order.sort_by_key(|&source| seen[source].requests);
        let total: u64 = seen.iter().map(|seen| seen.service).sum();
        let limit = self.options.cluster_threshold * total as f64;
        let mut used = 0;
        let fits = |source: &&usize| {
            used += seen[**source].service;
            used as f64 <= limit
        };
        let latency = order.iter().take_while(fits).count();
        let (latency, bandwidth) = order.split_at(latency);
        self.count.quanta += 1;
        self.count.latency_sources += latency.len() as u64;
        self.rank_latency(latency, seen);
        self.sort_by_niceness(bandwidth, seen);
    }

    /// Ranks latency-sensitive sources, fewest requests first.
    fn rank_latency(&mut self, sources: &[usize], seen: &[Seen]) {
        let requests: Vec<u64> = sources.iter().map(|&source| seen[source].requests).collect();
        let ranks = ranks_of(&requests);
        self.first_bandwidth_rank = ranks.last().map_or(0, |last| last + 1);
        for (&source, rank) in sources.iter().zip(ranks) {
            self.ranks[source] = rank;
        }
    }

    /// Orders bandwidth-sensitive sources, nicest first.
    fn sort_by_niceness(&mut self, sources: &[usize], seen: &[Seen]) {
        let of = |value: fn(&Seen) -> f64| -> Vec<f64> {
            sources.iter().map(|&source| value(&seen[source])).collect()
        };
        let (parallelism, locality) = (of(Seen::parallelism), of(Seen::row_locality));
        let (fragile, hostile) = (ranks_of(&parallelism), ranks_of(&locality));
        let niceness = fragile.iter().zip(hostile).map(|(&b, r)| i32::from(b) - i32::from(r));
        self.by_niceness = sources.iter().copied().zip(niceness).collect();
        self.by_niceness.sort_by_key(|&(_, niceness)| niceness);
        self.by_insertion = match self.options.shuffle {
            Shuffle::Insertion => true,
            Shuffle::Random => false,
            Shuffle::Dynamic => {
                let threshold = self.options.shuffle_threshold;
                spread(&parallelism) > threshold * f64::from(self.banks)
                    && spread(&locality) > threshold
            }
        };
        self.count.insertion_quanta += u64::from(self.by_insertion && sources.len() > 1);
        self.step = 0;
        // The random numbers of a quantum do not depend on the number of earlier shuffles.
        self.chance = Random::numbered(0, self.quantum_ends.number());
        self.rank_by_niceness();
    }

    fn shuffle(&mut self) {
        self.count.shuffles += 1;
        if self.by_insertion {
            self.insert();
        } else {
            self.chance.shuffle(&mut self.by_niceness);
        }
        self.rank_by_niceness();
    }

    /// Performs one step of the paper's Algorithm 2: the last positions are sorted from nicest to
    /// least nice, one more of them per step; then the first positions in reverse.
    fn insert(&mut self) {
        let sources = self.by_niceness.len();
        if self.step < sources {
            self.by_niceness[sources - 1 - self.step..].sort_by_key(|&(_, niceness)| -niceness);
        } else {
            self.by_niceness[..=self.step - sources].sort_by_key(|&(_, niceness)| niceness);
        }
        self.step = (self.step + 1) % (2 * sources);
    }

    fn rank_by_niceness(&mut self) {
        for (place, &(source, _)) in self.by_niceness.iter().rev().enumerate() {
            self.ranks[source] = self.first_bandwidth_rank + place as u16;
        }
    }

    pub fn counters(&self) -> Vec<Counter> {
        let Counts { quanta, shuffles, insertion_quanta, latency_sources } = self.count;
        vec![
            Counter { name: "quanta", value: quanta },
            Counter { name: "shuffles", value: shuffles },
            Counter { name: "insertion_quanta", value: insertion_quanta },
            Counter { name: "latency_sources", value: latency_sources },
        ]
    }
}

/// Returns the largest difference between two of the values.
fn spread(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    (largest - smallest).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::at;

    /// Builds sources that differ in requests and are served as long as they have requests.
    fn monitor(requests: &[u64]) -> Monitor {
        let mut monitor = Monitor::new(requests.len());
        for (source, &requests) in requests.iter().enumerate() {
            (0..requests).for_each(|_| monitor.request(source, false));
            monitor.served(source, requests);
        }
        monitor
    }

    fn clusters(options: Options, sources: usize) -> Clusters {
        Clusters::new(Options { quantum: 100, shuffle_interval: 10, ..options }, sources, 16)
    }

    fn ranks(clusters: &Clusters) -> Vec<u16> {
        (0..clusters.ranks.len()).map(|source| clusters.rank(source)).collect()
    }

    #[test]
    fn no_source_is_ranked_in_the_first_quantum() {
        let mut clusters = clusters(Options::default(), 3);
        clusters.advance(at(99), &mut monitor(&[5, 1, 2]));
        assert_eq!((ranks(&clusters), clusters.next_change()), (vec![0, 0, 0], at(100)));
    }

    /// 1/6 of 60 cycles of service is 10: sources of 2, 3 and 5 fit, the next does not, and neither
    /// does any later one, however small its service.
    #[test]
    fn sources_with_few_requests_are_latency_sensitive_up_to_a_share_of_the_service() {
        let mut clusters = clusters(Options::default(), 5);
        clusters.advance(at(100), &mut monitor(&[20, 3, 30, 2, 5]));
        assert_eq!(clusters.first_bandwidth_rank, 3);
        assert_eq!(ranks(&clusters)[1], 1);
        assert_eq!((ranks(&clusters)[3], ranks(&clusters)[4]), (0, 2));
        let mut bandwidth: Vec<_> =
            clusters.by_niceness.iter().map(|&(source, _)| source).collect();
        bandwidth.sort_unstable();
        assert_eq!(bandwidth, [0, 2]);
        assert_eq!(clusters.counters()[3], Counter { name: "latency_sources", value: 3 });
    }

    #[test]
    fn the_cluster_threshold_has_effect() {
        let with = |cluster_threshold| {
            let mut clusters = clusters(Options { cluster_threshold, ..Options::default() }, 4);
            clusters.advance(at(100), &mut monitor(&[10, 20, 30, 40]));
            clusters.by_niceness.len()
        };
        assert_eq!([with(0.0), with(0.1), with(0.3), with(1.0)], [4, 3, 2, 0]);
    }

    /// Source 0 spreads its requests over banks and changes rows; source 2 does the opposite.
    fn nice_to_hostile() -> Monitor {
        let mut monitor = Monitor::new(3);
        for source in 0..3 {
            monitor.served(source, 100);
            (0..10).for_each(|n| monitor.request(source, n < 4 * source));
            (0..8 / (source + 1)).for_each(|_| monitor.bank_begins(source, DramCycle::ZERO));
        }
        monitor
    }

    fn sorted_by_niceness(options: Options) -> Clusters {
        let mut clusters = clusters(options, 3);
        clusters.advance(at(100), &mut nice_to_hostile());
        clusters
    }

    #[test]
    fn the_nicest_source_goes_first() {
        assert_eq!(sorted_by_niceness(Options::default()).by_niceness, [(2, -2), (1, 0), (0, 2)]);
        assert_eq!(ranks(&sorted_by_niceness(Options::default())), [0, 1, 2]);
    }

    /// Three sources, 2 the nicest, 0 the least nice: the six orders of Algorithm 2, given as
    /// first, second, last.
    #[test]
    fn insertion_keeps_the_least_nice_last_for_longest() {
        let mut clusters =
            sorted_by_niceness(Options { shuffle: Shuffle::Insertion, ..Options::default() });
        let mut idle = Monitor::new(3);
        let orders: Vec<_> = (0..=6)
            .map(|n| {
                clusters.advance(at(100 + 10 * n), &mut idle);
                clusters.by_niceness.iter().rev().map(|&(source, _)| source).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(
            orders,
            [[0, 1, 2], [0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 1, 0], [2, 0, 1], [0, 1, 2]]
        );
    }

    #[test]
    fn random_shuffles_reach_every_order_and_are_reproducible() {
        let orders = || {
            let options = Options { shuffle: Shuffle::Random, ..Options::default() };
            let mut clusters = clusters(Options { ..options }, 3);
            clusters.options.quantum = 10_000;
            clusters.quantum_ends = at(10_000);
            let mut monitor = nice_to_hostile();
            let swaps = 1000..1100;
            swaps
                .map(|n| {
                    clusters.advance(at(10 * n), &mut monitor);
                    ranks(&clusters)
                })
                .collect::<Vec<_>>()
        };
        let mut different = orders();
        assert_eq!(different, orders());
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 6);
    }

    /// 8 banks against 2 and a hit rate of 0 against 0.8: a tenth of 16 banks is 1.6.
    #[test]
    fn sources_that_differ_are_shuffled_by_insertion() {
        let insertion = |shuffle_threshold, banks| {
            let mut clusters = clusters(Options { shuffle_threshold, ..Options::default() }, 3);
            clusters.banks = banks;
            clusters.advance(at(100), &mut nice_to_hostile());
            clusters.by_insertion
        };
        assert!(insertion(0.1, 16) && insertion(0.3, 16));
        // 6 banks do not exceed 0.1 of 60; 0.8 does not exceed a hit rate of 0.8.
        assert!(!insertion(0.1, 60) && !insertion(0.8, 2));
    }

    /// Ranks advance from quantum to quantum, however many pass between two calls.
    #[test]
    fn ranks_do_not_depend_on_the_cycles_of_calls() {
        let run = |times: &[u64]| {
            let mut clusters =
                sorted_by_niceness(Options { shuffle: Shuffle::Random, ..Options::default() });
            let mut monitor = nice_to_hostile();
            times.iter().for_each(|&now| clusters.advance(at(now), &mut monitor));
            ranks(&clusters)
        };
        assert_eq!(run(&[250]), run(&[110, 130, 199, 200, 201, 230, 250]));
        assert_eq!(run(&[350]), [0, 0, 0]);
    }
}
