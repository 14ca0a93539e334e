//! Victim tags: the lines recently lost by each warp.

use warpmem_sim::WarpSlot;

/// Empty entry; line numbers are addresses divided by the line size.
const NO_LINE: u64 = u64::MAX;

/// The last evicted lines of each warp, newest first.
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

    /// Inserts a line as the newest, replacing the oldest; a known line moves to the front.
    pub fn put(&mut self, slot: WarpSlot, line: u64) {
        let lines = self.of(slot);
        let known = lines.iter().position(|&known| known == line);
        let last = known.unwrap_or(lines.len() - 1);
        lines[..=last].rotate_right(1);
        lines[0] = line;
    }

    /// Removes a line that its warp fetches again; returns whether it was present.
    pub fn take(&mut self, slot: WarpSlot, line: u64) -> bool {
        let lines = self.of(slot);
        let Some(at) = lines.iter().position(|&known| known == line) else { return false };
        lines[at..].rotate_left(1);
        lines[lines.len() - 1] = NO_LINE;
        true
    }

    /// Clears the lines of a warp.
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
    fn the_oldest_line_is_replaced_and_warps_have_separate_entries() {
        let mut victims = VictimTags::new(2);
        put_all(&mut victims, 1, &[10, 11, 12]);
        victims.put(WarpSlot(0), 10);
        victims.put(WarpSlot(2), 10);
        assert_eq!([10, 11, 12].map(|line| victims.take(WarpSlot(1), line)), [false, true, true]);
        assert!(victims.take(WarpSlot(0), 10) && victims.take(WarpSlot(2), 10));
    }

    #[test]
    fn taking_a_line_removes_it_and_keeps_the_order_of_the_others() {
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
    fn a_line_lost_twice_has_one_entry_and_is_the_newest() {
        let mut victims = VictimTags::new(2);
        put_all(&mut victims, 0, &[10, 11, 10, 12]);
        assert_eq!([10, 11, 12].map(|line| victims.take(WarpSlot(0), line)), [true, false, true]);
    }

    #[test]
    fn clearing_a_warp_keeps_the_lines_of_others() {
        let mut victims = VictimTags::new(2);
        victims.put(WarpSlot(0), 10);
        victims.put(WarpSlot(1), 10);
        victims.clear(WarpSlot(0));
        assert_eq!([0, 1].map(|slot| victims.take(WarpSlot(slot), 10)), [false, true]);
    }
}
