//! Sets of small numbers, one bit each: number n is bit n % 64 of word n / 64.

/// Bits of a word of a set.
pub const WORD: usize = u64::BITS as usize;

/// Adds a number to a set.
#[inline]
pub fn insert(set: &mut [u64], number: usize) {
    set[number / WORD] |= 1 << (number % WORD);
}

/// Removes a number from a set.
#[inline]
pub fn remove(set: &mut [u64], number: usize) {
    set[number / WORD] &= !(1 << (number % WORD));
}

/// Whether a number is in a set.
#[inline]
pub fn contains(set: &[u64], number: usize) -> bool {
    set[number / WORD] >> (number % WORD) & 1 == 1
}

/// Returns whether a set is empty. Reads all words, which is faster for short sets than an early
/// exit.
#[inline]
pub fn is_empty(set: &[u64]) -> bool {
    set.iter().fold(0, |all, word| all | word) == 0
}

/// Returns the member of a set with exactly one.
#[inline]
pub fn only(set: &[u64]) -> Option<usize> {
    let word = set.iter().position(|&word| word != 0)?;
    let alone = set[word].is_power_of_two() && is_empty(&set[word + 1..]);
    alone.then(|| word * WORD + lowest(set[word]))
}

/// Returns the first member at or after `first`.
#[inline]
pub fn next_from(set: &[u64], first: usize) -> Option<usize> {
    let start = first / WORD;
    let rest = set.get(start)? >> (first % WORD);
    if rest != 0 {
        return Some(first + lowest(rest));
    }
    let word = (start + 1..set.len()).find(|&word| set[word] != 0)?;
    Some(word * WORD + lowest(set[word]))
}

/// Returns the first member at or after `first`, otherwise the lowest: the next in round-robin
/// order.
#[inline]
pub fn round_robin(set: &[u64], first: usize) -> Option<usize> {
    next_from(set, first).or_else(|| next_from(set, 0))
}

/// Removes the lowest number of a word of a set.
#[inline]
pub fn take_lowest(word: &mut u64) -> Option<usize> {
    if *word == 0 {
        return None;
    }
    let bit = lowest(*word);
    *word &= *word - 1;
    Some(bit)
}

/// Iterates over the numbers in a word of a set, in order.
#[inline]
pub fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || take_lowest(&mut word))
}

/// Iterates over the members of a set, in order.
#[inline]
pub fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    let (mut words, mut base, mut bits) = (set.iter(), 0usize.wrapping_sub(WORD), 0);
    std::iter::from_fn(move || {
        while bits == 0 {
            (bits, base) = (*words.next()?, base.wrapping_add(WORD));
        }
        take_lowest(&mut bits).map(|bit| base + bit)
    })
}

#[inline]
fn lowest(word: u64) -> usize {
    word.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: [u64; 4] = [1 | 1 << 63, 0, 1 << 5, 0];

    #[test]
    fn members_come_in_order() {
        assert_eq!(members(&SET).collect::<Vec<_>>(), [0, 63, 133]);
        assert_eq!(members(&[0, 0]).next(), None);
        assert_eq!(members(&[]).next(), None);
        assert_eq!(ones(SET[0]).collect::<Vec<_>>(), [0, 63]);
        assert_eq!(ones(u64::MAX).count(), 64);
    }

    #[test]
    fn the_next_member_is_at_or_after_a_number() {
        let next = [0, 1, 63, 64, 133, 134, 255, 256].map(|first| next_from(&SET, first));
        let expected = [Some(0), Some(63), Some(63), Some(133), Some(133), None, None, None];
        assert_eq!(next, expected);
    }

    #[test]
    fn round_robin_wraps_around() {
        let next = [0, 1, 64, 134, 256].map(|first| round_robin(&SET, first));
        assert_eq!(next, [0, 63, 133, 0, 0].map(Some));
        assert_eq!(round_robin(&[1 << 3], 4), Some(3), "below it in the same word");
        assert_eq!(round_robin(&[0, 0], 5), None);
    }

    #[test]
    fn numbers_are_added_and_removed_one_by_one() {
        let mut set = [0; 4];
        [133, 0, 63, 133, 64].into_iter().for_each(|number| insert(&mut set, number));
        remove(&mut set, 64);
        assert_eq!(set, SET);
        assert!(contains(&set, 133) && !contains(&set, 64) && !contains(&set, 132));
        [0, 63, 133].into_iter().for_each(|number| remove(&mut set, number));
        assert!(is_empty(&set) && !is_empty(&SET));
    }

    #[test]
    fn only_finds_the_member_of_a_singleton() {
        assert_eq!(only(&[0, 1 << 7, 0]), Some(71));
        assert_eq!([only(&[0, 0]), only(&[0, 3]), only(&[1, 0, 1])], [None; 3]);
    }

    #[test]
    fn the_lowest_of_a_word_is_taken_first() {
        let mut word = 1 << 63 | 1 << 2;
        let taken = [(); 3].map(|()| take_lowest(&mut word));
        assert_eq!(taken, [Some(2), Some(63), None]);
    }
}
