//! Bank conflicts of shared memory.

use warpmem_machine as machine;
use warpmem_trace::WARP_SIZE;

/// Counts the passes of shared-memory instructions over the banks.
pub(super) struct SharedPasses {
    banks: Banks,
    /// Recent instructions, by address of the instruction.
    recent: Box<[Pattern; PATTERNS]>,
}

/// Number of patterns kept.
const PATTERNS: usize = 16;
/// Lanes at addresses from here on are never kept: differences of lower ones fit into 32 bits.
const KEPT_ADDRESSES: u64 = 1 << 31;

impl SharedPasses {
    pub fn new(shared: &machine::SharedMemory) -> SharedPasses {
        SharedPasses { banks: Banks::new(shared), recent: Box::new([Pattern::EMPTY; PATTERNS]) }
    }

    /// Returns the passes of the instruction at `pc`: the number of distinct words in its busiest
    /// bank. Executions of an instruction mostly differ by the address of their first lane only,
    /// which rotates the banks and leaves the number of passes as it is.
    pub fn of_instruction(&mut self, pc: u64, addresses: &[u64], width: u32) -> u32 {
        let recent = &mut self.recent[(pc / 8) as usize % PATTERNS];
        let offset_in_bank = addresses.first().map_or(0, |first| self.banks.offset(*first));
        let key = Key { lanes: addresses.len() as u32, width, offset_in_bank };
        if !recent.matches(key, addresses) {
            let passes = self.banks.passes(addresses.iter().copied(), width);
            if !recent.keep(key, addresses, passes) {
                return passes;
            }
        }
        recent.passes
    }

    /// Returns the passes of lanes at `addresses`, and the bytes of their distinct words.
    pub fn of(&mut self, addresses: impl IntoIterator<Item = u64>, width: u32) -> (u32, u32) {
        let passes = self.banks.passes(addresses, width);
        (passes, self.banks.word_bytes())
    }

    /// Returns the bytes that all banks provide per pass.
    pub fn bytes(&self) -> u32 {
        self.banks.bytes()
    }
}

/// The parameters of an instruction's passes besides the distances between its lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    lanes: u32,
    /// Bytes per lane.
    width: u32,
    /// Position of the first lane's address in its word, bytes.
    offset_in_bank: u32,
}

/// Distances of an instruction's lanes from its first lane, with its passes.
#[derive(Clone, Copy)]
struct Pattern {
    key: Key,
    passes: u32,
    offsets: [u32; WARP_SIZE],
}

impl Pattern {
    /// A pattern that matches no instruction: no instruction has bytes but no lanes.
    const EMPTY: Pattern = Pattern {
        key: Key { lanes: 0, width: 1, offset_in_bank: 0 },
        passes: 1,
        offsets: [0; WARP_SIZE],
    };

    /// Whether lanes at `addresses` have the distances of this pattern.
    fn matches(&self, key: Key, addresses: &[u64]) -> bool {
        if self.key != key || addresses.is_empty() {
            return false;
        }
        let first = addresses[0] as u32;
        // No early exit, so that the compiler compares several lanes at once.
        let (differences, all) = (addresses.iter().zip(&self.offsets)).fold(
            (0, 0),
            |(differences, all), (&address, &offset)| {
                let distance = (address as u32).wrapping_sub(first);
                (differences | (distance ^ offset), all | address)
            },
        );
        differences == 0 && all < KEPT_ADDRESSES
    }

    /// Keeps the distances between lanes at `addresses`, if they fit; returns whether they do.
    fn keep(&mut self, key: Key, addresses: &[u64], passes: u32) -> bool {
        let all = addresses.iter().fold(0, |all, address| all | address);
        if addresses.is_empty() || all >= KEPT_ADDRESSES {
            return false;
        }
        (self.key, self.passes) = (key, passes);
        let first = addresses[0] as u32;
        for (offset, &address) in self.offsets.iter_mut().zip(addresses) {
            *offset = (address as u32).wrapping_sub(first);
        }
        true
    }
}

/// Largest number of banks.
const MAX_BANKS: usize = 64;
const NONE: u16 = u16::MAX;

/// The banks of shared memory, with the distinct words that an instruction accesses in each: the
/// first word, and a linked list of the others.
struct Banks {
    count: u64,
    /// `count` - 1 if `count` is a power of two.
    mask: Option<u64>,
    /// Log2 of the width of a bank in bytes.
    shift: u32,
    /// Banks with a word.
    used: u64,
    first: [u64; MAX_BANKS],
    /// Head of the list of each used bank, and its number of words.
    others: [u16; MAX_BANKS],
    counts: [u16; MAX_BANKS],
    /// Words of all lists, each with the next of its list.
    words: Vec<(u64, u16)>,
}

impl Banks {
    fn new(shared: &machine::SharedMemory) -> Banks {
        let count = u64::from(shared.banks);
        Banks {
            count,
            mask: count.is_power_of_two().then(|| count - 1),
            shift: shared.bank_bytes.trailing_zeros(),
            used: 0,
            first: [0; MAX_BANKS],
            others: [NONE; MAX_BANKS],
            counts: [0; MAX_BANKS],
            words: Vec::new(),
        }
    }

    /// Returns the number of distinct words in the busiest bank, at least 1.
    fn passes(&mut self, addresses: impl IntoIterator<Item = u64>, width: u32) -> u32 {
        self.used = 0;
        self.words.clear();
        let words_per_lane = width.div_ceil(1 << self.shift).max(1);
        let mut passes = 1;
        for address in addresses {
            let first = address >> self.shift;
            for word in (0..words_per_lane).map(|k| first.wrapping_add(k.into())) {
                passes = passes.max(self.add(word));
            }
        }
        passes.into()
    }

    /// Adds a word; returns the number of distinct words in its bank if it is new, else 1.
    #[inline]
    fn add(&mut self, word: u64) -> u16 {
        let bank = self.bank_of(word);
        if self.used >> bank & 1 == 0 {
            self.used |= 1 << bank;
            (self.first[bank], self.others[bank], self.counts[bank]) = (word, NONE, 1);
            return 1;
        }
        if self.first[bank] == word { 1 } else { self.add_other(bank, word) }
    }

    fn add_other(&mut self, bank: usize, word: u64) -> u16 {
        let mut at = self.others[bank];
        while at != NONE {
            let (other, next) = self.words[usize::from(at)];
            if other == word {
                return 1;
            }
            at = next;
        }
        let place = self.words.len() as u16;
        self.words.push((word, std::mem::replace(&mut self.others[bank], place)));
        self.counts[bank] += 1;
        self.counts[bank]
    }

    #[inline]
    fn bank_of(&self, word: u64) -> usize {
        let bank = self.mask.map_or_else(|| word % self.count, |mask| word & mask);
        bank as usize % MAX_BANKS
    }

    /// Returns the position of an address in its word, bytes.
    fn offset(&self, address: u64) -> u32 {
        (address & ((1 << self.shift) - 1)) as u32
    }

    /// Returns the bytes of the distinct words of the last instruction.
    fn word_bytes(&self) -> u32 {
        (self.used.count_ones() + self.words.len() as u32) << self.shift
    }

    fn bytes(&self) -> u32 {
        (self.count as u32) << self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn passes_of(banks: u32, bank_bytes: u32) -> SharedPasses {
        SharedPasses::new(&machine::SharedMemory { latency: 20, banks, bank_bytes })
    }

    /// Returns the passes and bytes of an instruction by counting the words of each bank.
    fn counted(addresses: &[u64], width: u32, banks: u32, bank_bytes: u32) -> (u32, u32) {
        let per_lane = u64::from(width.div_ceil(bank_bytes).max(1));
        let first = |address: &u64| address / u64::from(bank_bytes);
        let words =
            addresses.iter().flat_map(|a| (0..per_lane).map(move |k| first(a).wrapping_add(k)));
        let words: BTreeSet<u64> = words.collect();
        let in_bank = |bank| words.iter().filter(|&&word| word % u64::from(banks) == bank).count();
        let busiest = (0..banks.into()).map(in_bank).max().unwrap_or(0);
        (busiest.max(1) as u32, words.len() as u32 * bank_bytes)
    }

    prop_compose! {
        /// Addresses of lanes: multiples of a width from a base on, some of them high.
        fn lanes()(
            base in prop_oneof![0u64..1 << 10, (1u64 << 31) - 200..1 << 31, u64::MAX - 900..u64::MAX],
            offsets in prop_oneof![
                prop::collection::vec(0u64..64, 0..=32),
                (0u64..40, 0usize..=32).prop_map(|(stride, lanes)| {
                    (0..lanes as u64).map(|lane| lane * stride).collect()
                }),
            ],
            unit in 1u64..=8,
        ) -> Vec<u64> {
            offsets.into_iter().map(|offset| base.wrapping_add(offset * unit)).collect()
        }
    }

    proptest! {
        /// Patterns are repeated at other addresses, as an instruction of a loop repeats them, at few
        /// instructions.
        #[test]
        fn passes_equal_a_direct_count(
            (banks, bank_shift) in (1u32..=64, 0u32..=4),
            programs in prop::collection::vec((lanes(), 1u32..=20), 1..4),
            executions in prop::collection::vec((0usize..4, 0u64..200, 0u64..3), 1..24),
        ) {
            let bank_bytes = 1 << bank_shift;
            let mut shared = passes_of(banks, bank_bytes);
            for (program, shift, pc) in executions {
                let (addresses, width) = &programs[program % programs.len()];
                let moved: Vec<u64> = addresses.iter().map(|a| a.wrapping_add(shift)).collect();
                let expected = counted(&moved, *width, banks, bank_bytes);
                prop_assert_eq!(shared.of_instruction(8 * pc, &moved, *width), expected.0);
                prop_assert_eq!(shared.of(moved.iter().copied(), *width), expected);
            }
        }
    }

    #[test]
    fn shared_memory_conflicts_take_passes() {
        let mut shared = passes_of(32, 4);
        let mut passes = |f: &dyn Fn(u64) -> u64, width| {
            let addresses: Vec<u64> = (0..32).map(f).collect();
            shared.of_instruction(0, &addresses, width)
        };
        assert_eq!(passes(&|lane| lane * 4, 4), 1);
        assert_eq!(passes(&|_| 64, 4), 1, "broadcast");
        assert_eq!(passes(&|lane| lane * 8, 4), 2, "stride of two words");
        assert_eq!(passes(&|lane| lane * 128, 4), 32, "one bank");
        assert_eq!(passes(&|lane| lane * 8, 8), 2, "twice the bandwidth of the banks");
        assert_eq!(passes(&|lane| lane * 16, 16), 4, "four times");
        assert_eq!(passes(&|lane| lane / 16 * 64, 16), 1, "two adjacent broadcasts");
    }
}
