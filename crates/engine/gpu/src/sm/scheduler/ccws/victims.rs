//! The lines that each warp has lost.

use warpmem_sim::WarpSlot;

/// No line: numbers of lines are addresses divided by their size.
const NO_LINE: u64 = u64::MAX;

/// The last few lines of each warp that were evicted, newest first.
pub(super) struct VictimTags {
    entries: usize,
    lines: Vec<u64>,
}

impl VictimTags {
    pub fn new(entries: usize) -> VictimTags {
        VictimTags { entries, lines: vec![NO_LINE; 64 * entries] }
    }

    fn of(&mut self, slot: WarpSlot) -> &mut [u64] {
        let first = slot.index() * self.entries;
        &mut self.lines[first..first + self.entries]
    }

    /// Adds a line, once; it replaces the oldest.
    pub fn put(&mut self, slot: WarpSlot, line: u64) {
        let lines = self.of(slot);
        let known = lines.iter().position(|&known| known == line);
        let last = known.unwrap_or(lines.len() - 1);
        lines[..=last].rotate_right(1);
        lines[0] = line;
    }

    /// Removes a line that its warp has fetched again; whether it was there.
    pub fn take(&mut self, slot: WarpSlot, line: u64) -> bool {
        let lines = self.of(slot);
        let Some(at) = lines.iter().position(|&known| known == line) else { return false };
        lines[at..].rotate_left(1);
        lines[lines.len() - 1] = NO_LINE;
        true
    }

    /// Removes all lines of a warp.
    pub fn clear(&mut self, slot: WarpSlot) {
        self.of(slot).fill(NO_LINE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_all(victims: &mut VictimTags, slot: u16, lines: &[u64]) {
        lines.iter().for_each(|&line| victims.put(WarpSlot(slot), line));
    }

    #[test]
    fn the_oldest_is_forgotten_first_and_each_warp_has_its_own() {
        let mut victims = VictimTags::new(2);
        put_all(&mut victims, 1, &[10, 11, 12]);
        victims.put(WarpSlot(0), 10);
        victims.put(WarpSlot(2), 10);
        assert_eq!([10, 11, 12].map(|line| victims.take(WarpSlot(1), line)), [false, true, true]);
        assert!(victims.take(WarpSlot(0), 10) && victims.take(WarpSlot(2), 10));
    }

    #[test]
    fn a_line_is_taken_once_and_the_others_keep_their_order() {
        let mut victims = VictimTags::new(3);
        put_all(&mut victims, 0, &[10, 11, 12]);
        assert!(victims.take(WarpSlot(0), 11));
        assert!(!victims.take(WarpSlot(0), 11));
        victims.put(WarpSlot(0), 13);
        victims.put(WarpSlot(0), 14);
        assert_eq!(
            [10, 12, 13, 14].map(|line| victims.take(WarpSlot(0), line)),
            [false, true, true, true]
        );
    }

    #[test]
    fn a_line_lost_again_is_the_newest_and_takes_no_second_entry() {
        let mut victims = VictimTags::new(2);
        put_all(&mut victims, 0, &[10, 11, 10, 12]);
        assert_eq!([10, 11, 12].map(|line| victims.take(WarpSlot(0), line)), [true, false, true]);
    }

    #[test]
    fn all_of_a_warp_are_forgotten_when_it_ends() {
        let mut victims = VictimTags::new(2);
        victims.put(WarpSlot(0), 10);
        victims.put(WarpSlot(1), 10);
        victims.clear(WarpSlot(0));
        assert_eq!([0, 1].map(|slot| victims.take(WarpSlot(slot), 10)), [false, true]);
    }
}
