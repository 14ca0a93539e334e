//! The paths of a warp: which lanes are where, and where they meet again.
//!
//! ```text
//!  top ▶  pc 7   lanes 0–15    meets at 12     executes
//!         pc 9   lanes 16–31   meets at 12     waits for the top to end
//!         pc 12  lanes 0–31    meets nowhere   waits for both
//! ```
//!
//! A branch that separates lanes turns its path into the one that waits at the reconvergence point,
//! and puts a path for each side above it. A path that gets to its meeting point ends: its lanes are
//! in the one below. A call puts a path above that ends when its last lane returns.
//!
//! A path that waits for other lanes of its warp stays where it is; another one, or the lanes of a
//! path below that are in none above, go on in its place.

/// The instruction number at which no path meets.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Lanes that execute together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub pc: u32,
    pub lanes: u32,
    /// Where it meets the path below.
    pub meets: u32,
    /// Calls that it is within.
    pub depth: u32,
    /// It waits at its instruction, a barrier, for the other lanes of the warp.
    pub waits: bool,
}

/// All paths of a warp.
#[derive(Clone, Debug)]
pub(crate) struct PathStack {
    paths: Vec<Path>,
}

impl PathStack {
    pub fn new(lanes: u32) -> PathStack {
        PathStack { paths: vec![Path { pc: 0, lanes, meets: NOWHERE, depth: 0, waits: false }] }
    }

    /// The path that executes; `None` when the warp has ended.
    #[inline]
    pub fn top(&mut self) -> Option<&mut Path> {
        while let Some(top) = self.paths.last() {
            if top.lanes != 0 && top.pc != top.meets {
                break;
            }
            self.paths.pop();
        }
        self.paths.last_mut()
    }

    /// The path that was found to execute.
    #[inline]
    pub fn top_unchecked(&mut self) -> Option<&mut Path> {
        self.paths.last_mut()
    }

    /// The paths, the one that executes last.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The lanes of the top path go to several places: `ways` has where and which, together all of
    /// them. The last way is executed first. They meet at `meets`, or where their path did.
    pub fn split(&mut self, ways: &[(u32, u32)], meets: Option<u32>) {
        let Some(top) = self.paths.pop() else { return };
        if let [(pc, _)] = ways {
            self.paths.push(Path { pc: *pc, ..top });
            return;
        }
        if let Some(meets) = meets {
            self.paths.push(Path { pc: meets, ..top });
        }
        let meets = meets.unwrap_or(top.meets);
        for &(pc, lanes) in ways {
            if pc != meets {
                self.paths.push(Path { pc, lanes, meets, ..top });
            }
        }
    }

    /// Lanes of the top path enter a function.
    pub fn call(&mut self, lanes: u32) {
        let depth = self.paths.last().map_or(0, |top| top.depth + 1);
        self.paths.push(Path { pc: 0, lanes, meets: NOWHERE, depth, waits: false });
    }

    /// Lanes of the top path leave their function; whether it has no lane left.
    pub fn leave(&mut self, lanes: u32) -> bool {
        let Some(depth) = self.paths.last().map(|top| top.depth) else { return true };
        self.remove(lanes, depth);
        self.paths.last().is_none_or(|top| top.depth < depth)
    }

    /// Lanes end; whether the function of the top path has no lane left.
    pub fn exit(&mut self, lanes: u32) {
        self.remove(lanes, 0);
    }

    /// The lanes that have not ended.
    pub fn lanes(&self) -> u32 {
        self.paths.iter().fold(0, |lanes, path| lanes | path.lanes)
    }

    /// The lanes that wait.
    pub fn waiting(&self) -> u32 {
        let waiting = self.paths.iter().filter(|path| path.waits);
        waiting.fold(0, |lanes, path| lanes | path.lanes)
    }

    /// Lanes of the top path wait at its instruction; the others go on behind it.
    pub fn wait(&mut self, lanes: u32) {
        let Some(top) = self.paths.last_mut() else { return };
        let others = Path { pc: top.pc + 1, lanes: top.lanes & !lanes, ..*top };
        (top.lanes, top.waits) = (lanes, true);
        if others.lanes != 0 {
            self.paths.push(others);
        }
    }

    /// Lets lanes go on that neither wait nor are in a path above: they become the top path. Those
    /// of a path that waits below for others leave it, and meet them where it ends. Whether there
    /// are such lanes within the same call.
    pub fn switch(&mut self) -> bool {
        let Some(depth) = self.paths.last().map(|top| top.depth) else { return false };
        let mut above = 0;
        for at in (0..self.paths.len()).rev() {
            let path = self.paths[at];
            let free = path.lanes & !above;
            if free != 0 && !path.waits && path.depth == depth {
                self.paths[at].lanes &= !free;
                self.paths.retain(|path| path.lanes != 0);
                self.paths.push(Path { lanes: free, ..path });
                return true;
            }
            above |= path.lanes;
        }
        false
    }

    /// Paths that wait go on behind their instruction.
    pub fn release(&mut self) {
        for path in self.paths.iter_mut().filter(|path| path.waits) {
            path.pc += 1;
            path.waits = false;
        }
    }

    /// Takes lanes out of all paths that are at least so deep within calls.
    fn remove(&mut self, lanes: u32, depth: u32) {
        for path in self.paths.iter_mut().rev().take_while(|path| path.depth >= depth) {
            path.lanes &= !lanes;
        }
        self.paths.retain(|path| path.lanes != 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn top(stack: &mut PathStack) -> Option<(u32, u32)> {
        stack.top().map(|path| (path.pc, path.lanes))
    }

    #[test]
    fn both_sides_of_a_branch_are_executed_before_they_meet() {
        let mut stack = PathStack::new(0b1111);
        stack.split(&[(7, 0b0011), (3, 0b1100)], Some(9));
        assert_eq!(top(&mut stack), Some((3, 0b1100)));
        stack.top().unwrap().pc = 9;
        assert_eq!(top(&mut stack), Some((7, 0b0011)));
        stack.top().unwrap().pc = 9;
        assert_eq!(top(&mut stack), Some((9, 0b1111)));
        assert_eq!(stack.paths().len(), 1);
    }

    #[test]
    fn lanes_that_go_straight_to_the_meeting_point_wait_there() {
        let mut stack = PathStack::new(0b11);
        stack.split(&[(5, 0b01), (1, 0b10)], Some(5));
        assert_eq!(stack.paths().len(), 2);
        assert_eq!(top(&mut stack), Some((1, 0b10)));
    }

    #[test]
    fn lanes_that_end_are_in_no_path() {
        let mut stack = PathStack::new(0b111);
        stack.split(&[(5, 0b011), (1, 0b100)], Some(8));
        stack.exit(0b100);
        assert_eq!(top(&mut stack), Some((5, 0b011)));
        stack.exit(0b011);
        assert_eq!(top(&mut stack), None);
    }

    #[test]
    fn a_call_ends_when_its_last_lane_returns() {
        let mut stack = PathStack::new(0b11);
        stack.top().unwrap().pc = 4;
        stack.call(0b11);
        stack.split(&[(2, 0b01), (3, 0b10)], None);
        assert!(!stack.leave(0b10));
        assert_eq!(top(&mut stack), Some((2, 0b01)));
        assert!(stack.leave(0b01));
        assert_eq!(top(&mut stack), Some((4, 0b11)));
    }

    #[test]
    fn a_lane_that_ends_within_a_call_does_not_come_back() {
        let mut stack = PathStack::new(0b11);
        stack.top().unwrap().pc = 4;
        stack.call(0b11);
        stack.exit(0b01);
        stack.leave(0b10);
        assert_eq!(top(&mut stack), Some((4, 0b10)));
    }

    #[test]
    fn the_other_side_goes_on_when_one_waits() {
        let mut stack = PathStack::new(0b1111);
        stack.split(&[(7, 0b0011), (3, 0b1100)], Some(9));
        stack.wait(0b1000);
        assert_eq!((top(&mut stack), stack.waiting()), (Some((4, 0b0100)), 0b1000));
        stack.top().unwrap().pc = 9;
        assert_eq!(top(&mut stack), Some((3, 0b1000)));
        assert!(stack.switch());
        assert_eq!(top(&mut stack), Some((7, 0b0011)));
        stack.wait(0b0011);
        assert!(stack.switch(), "the lane that is to meet the others does not wait for them");
        assert_eq!(top(&mut stack), Some((9, 0b0100)));
        stack.wait(0b0100);
        assert!(!stack.switch() && stack.waiting() == stack.lanes());
        stack.release();
        assert_eq!(top(&mut stack), Some((10, 0b0100)));
    }
}
