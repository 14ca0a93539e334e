//! A read-only cache of an SM: instructions or constants. A miss takes a fixed latency and does not
//! travel through the networks. Lines belong to a launch of a kernel, so every kernel starts cold.

use std::collections::VecDeque;
use warpmem_cache::LineTags;
use warpmem_machine::ReadOnlyCache as Config;
use warpmem_sim::CoreCycle;

/// Bits of a line number within a kernel; the kernel's index is above them.
const LINE_BITS: u32 = 44;

/// A cache with a fixed miss latency. Any number of lines may be in flight.
pub(super) struct ReadOnlyCache {
    tags: LineTags,
    line_shift: u32,
    miss_latency: u64,
    /// Lines in flight with their arrival, in order.
    in_flight: VecDeque<(u64, CoreCycle)>,
    misses: u64,
}

impl ReadOnlyCache {
    /// Builds a cache; none if every access hits.
    pub fn new(config: &Config) -> Option<Box<ReadOnlyCache>> {
        let Config { size_bytes, ways, line_bytes, miss_latency } = *config;
        (size_bytes > 0).then(|| {
            Box::new(ReadOnlyCache {
                tags: LineTags::new(size_bytes / line_bytes, ways),
                line_shift: line_bytes.trailing_zeros(),
                miss_latency: u64::from(miss_latency),
                in_flight: VecDeque::new(),
                misses: 0,
            })
        })
    }

    /// Returns the line of a kernel that holds `address`.
    pub fn line_of(&self, kernel: u32, address: u64) -> u64 {
        let within = address >> self.line_shift & ((1 << (LINE_BITS - 1)) - 1);
        u64::from(kernel) << LINE_BITS | within
    }

    /// Reads a line in `cycle`. Returns the cycle of its arrival: `cycle` on a hit.
    pub fn read(&mut self, line: u64, cycle: CoreCycle) -> CoreCycle {
        while self.in_flight.front().is_some_and(|&(_, arrival)| arrival <= cycle) {
            self.in_flight.pop_front();
        }
        if let Some(&(_, arrival)) = self.in_flight.iter().find(|&&(other, _)| other == line) {
            return arrival;
        }
        if self.tags.look_up(line) {
            return cycle;
        }
        let arrival = cycle + self.miss_latency;
        self.in_flight.push_back((line, arrival));
        self.misses += 1;
        arrival
    }

    /// Returns the number of lines that missed.
    pub fn misses(&self) -> u64 {
        self.misses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(size_bytes: u32) -> ReadOnlyCache {
        let config = Config { size_bytes, ways: 0, line_bytes: 64, miss_latency: 30 };
        *ReadOnlyCache::new(&config).expect("a cache with a size")
    }

    fn read(cache: &mut ReadOnlyCache, kernel: u32, address: u64, cycle: u64) -> u64 {
        let line = cache.line_of(kernel, address);
        cache.read(line, CoreCycle::new(cycle)).number() - cycle
    }

    #[test]
    fn a_miss_takes_its_latency_once_per_line_and_kernel() {
        let mut cache = cache(1024);
        assert_eq!(read(&mut cache, 0, 0, 100), 30);
        assert_eq!(read(&mut cache, 0, 63, 110), 20, "in flight");
        assert_eq!(read(&mut cache, 0, 64, 110), 30, "another line");
        assert_eq!(read(&mut cache, 0, 0, 130), 0);
        assert_eq!(read(&mut cache, 1, 0, 200), 30, "another kernel");
        assert_eq!(read(&mut cache, 0, 0, 230), 0);
        assert_eq!(cache.misses(), 3);
    }

    #[test]
    fn lines_beyond_the_capacity_miss_again() {
        let mut cache = cache(128);
        for address in [0, 64, 128] {
            assert_eq!(read(&mut cache, 0, address, 10 * address), 30);
        }
        assert_eq!(read(&mut cache, 0, 0, 5000), 30);
        assert_eq!(read(&mut cache, 0, 128, 6000), 0);
    }

    #[test]
    fn a_cache_without_capacity_does_not_exist() {
        let config = Config { size_bytes: 0, ways: 0, line_bytes: 64, miss_latency: 30 };
        assert!(ReadOnlyCache::new(&config).is_none());
    }
}
