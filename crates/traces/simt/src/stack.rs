//! Paths of a warp: position and reconvergence point of each group of lanes.
//!
//! ```text
//!  top ▶  pc 7   lanes 0–15    meets at 12     executes
//!         pc 9   lanes 16–31   meets at 12     waits for the top to end
//!         pc 12  lanes 0–31    meets nowhere   waits for both
//! ```
//!
//! A divergent branch moves its path to the reconvergence point, where it waits, and pushes a path for
//! each side. A path that reaches its reconvergence point is popped: its lanes are in the path
//! below. A call pushes a path that is popped when its last lane returns.
//!
//! A path that waits for other lanes of its warp keeps its position; another path runs instead, or the
//! lanes of a path below that are in none above.

/// Instruction number of a path without a reconvergence point.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Lanes that execute together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub pc: u32,
    pub lanes: u32,
    /// Reconvergence point with the path below.
    pub meets: u32,
    /// Call depth.
    pub depth: u32,
    /// Whether it waits at its instruction, a barrier, for the other lanes of the warp.
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

    /// Returns the executing path; `None` when the warp has ended.
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

    /// Returns the top path without popping reconverged paths.
    #[inline]
    pub fn top_unchecked(&mut self) -> Option<&mut Path> {
        self.paths.last_mut()
    }

    /// Returns the paths; the last one executes.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Splits the top path into `ways`, pairs of target and lanes that cover all its lanes. The last way
    /// executes first. They reconverge at `meets`, or at the path's own reconvergence point.
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

    /// Moves lanes of the top path into a function.
    pub fn call(&mut self, lanes: u32) {
        let depth = self.paths.last().map_or(0, |top| top.depth + 1);
        self.paths.push(Path { pc: 0, lanes, meets: NOWHERE, depth, waits: false });
    }

    /// Returns lanes of the top path from their function; returns whether the function has no lane left.
    pub fn leave(&mut self, lanes: u32) -> bool {
        let Some(depth) = self.paths.last().map(|top| top.depth) else { return true };
        self.remove(lanes, depth);
        self.paths.last().is_none_or(|top| top.depth < depth)
    }

    /// Ends lanes; returns whether the function of the top path has no lane left.
    pub fn exit(&mut self, lanes: u32) {
        self.remove(lanes, 0);
    }

    /// Returns the live lanes.
    pub fn lanes(&self) -> u32 {
        self.paths.iter().fold(0, |lanes, path| lanes | path.lanes)
    }

    /// Returns the waiting lanes.
    pub fn waiting(&self) -> u32 {
        let waiting = self.paths.iter().filter(|path| path.waits);
        waiting.fold(0, |lanes, path| lanes | path.lanes)
    }

    /// Makes lanes of the top path wait at its instruction; the others continue after it.
    pub fn wait(&mut self, lanes: u32) {
        let Some(top) = self.paths.last_mut() else { return };
        let others = Path { pc: top.pc + 1, lanes: top.lanes & !lanes, ..*top };
        (top.lanes, top.waits) = (lanes, true);
        if others.lanes != 0 {
            self.paths.push(others);
        }
    }

    /// Selects lanes that neither wait nor are in a path above, and makes them the top path. Lanes of a path
    /// that waits for others below leave it, and rejoin it where it ends. Returns whether there are such
    /// lanes within the same call.
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

    /// Releases the waiting paths, which continue after their instruction.
    pub fn release(&mut self) {
        for path in self.paths.iter_mut().filter(|path| path.waits) {
            path.pc += 1;
            path.waits = false;
        }
    }

    /// Removes lanes from all paths of at least this call depth.
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
    fn both_sides_of_a_branch_execute_before_reconvergence() {
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
    fn lanes_at_the_reconvergence_point_wait_there() {
        let mut stack = PathStack::new(0b11);
        stack.split(&[(5, 0b01), (1, 0b10)], Some(5));
        assert_eq!(stack.paths().len(), 2);
        assert_eq!(top(&mut stack), Some((1, 0b10)));
    }

    #[test]
    fn ended_lanes_leave_all_paths() {
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
    fn a_lane_that_exits_in_a_call_does_not_return() {
        let mut stack = PathStack::new(0b11);
        stack.top().unwrap().pc = 4;
        stack.call(0b11);
        stack.exit(0b01);
        stack.leave(0b10);
        assert_eq!(top(&mut stack), Some((4, 0b10)));
    }

    #[test]
    fn the_other_side_runs_while_one_waits() {
        let mut stack = PathStack::new(0b1111);
        stack.split(&[(7, 0b0011), (3, 0b1100)], Some(9));
        stack.wait(0b1000);
        assert_eq!((top(&mut stack), stack.waiting()), (Some((4, 0b0100)), 0b1000));
        stack.top().unwrap().pc = 9;
        assert_eq!(top(&mut stack), Some((3, 0b1000)));
        assert!(stack.switch());
        assert_eq!(top(&mut stack), Some((7, 0b0011)));
        stack.wait(0b0011);
        assert!(stack.switch(), "a lane must wait at its reconvergence point");
        assert_eq!(top(&mut stack), Some((9, 0b0100)));
        stack.wait(0b0100);
        assert!(!stack.switch() && stack.waiting() == stack.lanes());
        stack.release();
        assert_eq!(top(&mut stack), Some((10, 0b0100)));
    }
}
