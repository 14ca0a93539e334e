//! The walks that wait for a walker.

use crate::scheduler::{InstructionId, PendingWalk, WalkScheduler, WalkView};

/// Pending walks in the order of arrival, each with the page that it is for.
pub(crate) struct WalkQueue {
    scheduler: Box<dyn WalkScheduler>,
    pending: Vec<PendingWalk>,
    /// By position in `pending`.
    pages: Vec<u64>,
    /// Instruction of the walk that has started last.
    last: Option<InstructionId>,
    /// See [`TranslationResult`](crate::TranslationResult).
    pub waiting: u64,
    pub overtakes: u64,
}

impl WalkQueue {
    pub fn new(scheduler: Box<dyn WalkScheduler>) -> WalkQueue {
        let (pending, pages) = (Vec::new(), Vec::new());
        WalkQueue { scheduler, pending, pages, last: None, waiting: 0, overtakes: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Adds a walk to `page`. The walks of an instruction share its score and its first time.
    pub fn push(&mut self, page: u64, mut walk: PendingWalk) {
        let own = |other: &&mut PendingWalk| other.instruction == walk.instruction;
        for other in self.pending.iter_mut().filter(own) {
            walk.issued = walk.issued.min(other.issued);
            walk.instruction_loads = other.instruction_loads;
        }
        self.pending.push(walk);
        self.pages.push(page);
        self.add_loads(walk.instruction, walk.loads as i32);
    }

    /// Takes the walk that the scheduler chooses, with its page.
    pub fn take(&mut self) -> Option<(u64, PendingWalk)> {
        if self.pending.is_empty() {
            return None;
        }
        let at = self.scheduler.choose(&WalkView { pending: &self.pending, last: self.last });
        self.waiting += self.pending.len() as u64;
        self.overtakes += u64::from(at > 0);
        self.pending[..at].iter_mut().for_each(|older| older.overtaken += 1);
        let walk = self.pending.remove(at);
        self.add_loads(walk.instruction, -(walk.loads as i32));
        self.last = Some(walk.instruction);
        Some((self.pages.remove(at), walk))
    }

    fn add_loads(&mut self, instruction: InstructionId, loads: i32) {
        for walk in self.pending.iter_mut().filter(|walk| walk.instruction == instruction) {
            walk.instruction_loads = walk.instruction_loads.saturating_add_signed(loads);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::WALK_SCHEDULERS;
    use warpmem_sim::{NetworkCycle, SmId, Ticks};

    fn walk(access: u32, issued: u64, loads: u32) -> PendingWalk {
        PendingWalk {
            instruction: InstructionId { sm: SmId(0), access },
            issued: Ticks(issued),
            arrived: NetworkCycle::ZERO,
            loads,
            instruction_loads: 0,
            overtaken: 0,
        }
    }

    #[test]
    fn the_score_of_an_instruction_is_that_of_its_pending_walks() {
        let mut queue = WalkQueue::new(WALK_SCHEDULERS.build("fcfs", &()).unwrap());
        for (page, walk) in [walk(1, 8, 2), walk(2, 3, 4), walk(1, 5, 3)].into_iter().enumerate() {
            queue.push(page as u64, walk);
        }
        let scores = |queue: &WalkQueue| -> Vec<u32> {
            queue.pending.iter().map(|walk| walk.instruction_loads).collect()
        };
        assert_eq!(scores(&queue), [5, 4, 5]);
        let (page, first) = queue.take().unwrap();
        assert_eq!((page, first.instruction.access), (0, 1));
        assert_eq!(scores(&queue), [4, 3]);
        assert_eq!(queue.pending[1].issued, Ticks(5));
    }

    #[test]
    fn walks_that_start_later_than_younger_ones_are_overtaken() {
        let mut queue = WalkQueue::new(WALK_SCHEDULERS.build("sjf", &()).unwrap());
        for (page, loads) in [(0, 4), (1, 3), (2, 1)] {
            queue.push(page, walk(page as u32, 0, loads));
        }
        let pages = [2, 1, 0].map(|_| {
            let (page, walk) = queue.take().unwrap();
            (page, walk.overtaken)
        });
        assert_eq!(pages, [(2, 0), (1, 1), (0, 2)]);
        assert_eq!((queue.waiting, queue.overtakes), (6, 2));
        assert!(queue.take().is_none());
    }
}
