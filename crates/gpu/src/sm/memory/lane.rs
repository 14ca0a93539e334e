//! The stages between a scheduler and the load/store unit.
//!
//! ```text
//!  issue ─▶ dispatch register ─▶ operand collectors ─▶ unit's register ─▶ load/store unit
//! ```

use super::entry::{Entry, EntryId};
use std::collections::VecDeque;
use warpmem_machine as machine;
use warpmem_sim::CoreCycle;

/// Stages that an instruction passes: into a collector, into the unit's register, out of it, into
/// the unit.
const STAGES: u32 = 4;

/// What each stage costs at least.
#[derive(Clone, Copy)]
pub(super) struct Pipe {
    collectors: usize,
    collect: u64,
    dispatch: u64,
    leave: u64,
    enter: u64,
}

impl Pipe {
    pub fn new(config: &machine::Sm) -> Pipe {
        // A cycle for each stage, from the first on, as far as `sm.operand_latency` goes.
        let latency = config.operand_latency.min(STAGES);
        let cycles = |stage| u64::from(latency > stage);
        Pipe {
            collectors: config.collectors as usize,
            collect: cycles(0),
            dispatch: cycles(1),
            leave: cycles(2),
            enter: cycles(3),
        }
    }

    /// Whether the unit takes an instruction in the cycle before it works on it.
    pub fn takes_ahead(self) -> bool {
        self.collectors > 0 && self.enter > 0
    }
}

/// An operand collector, or the unit's register.
#[derive(Clone, Copy)]
struct Holder {
    entry: Option<EntryId>,
    /// Cycle in which its last instruction left it.
    freed: CoreCycle,
}

/// Memory instructions of one scheduler that wait for the unit: in its dispatch register, in
/// operand collectors, and in the unit's register, which takes from the first collector that has
/// one. So the instruction in the last collector waits as long as others keep coming (GPGPU-Sim,
/// `dispatch_unit_t::find_ready` and `opndcoll_rfu_t::allocate_cu`). Without collectors they wait
/// in the order of their issue.
pub(super) struct Lane {
    pipe: Pipe,
    waiting: VecDeque<EntryId>,
    collectors: Vec<Holder>,
    register: Holder,
    len: usize,
}

impl Lane {
    pub fn new(pipe: Pipe) -> Lane {
        let empty = Holder { entry: None, freed: CoreCycle::ZERO };
        Lane {
            pipe,
            waiting: VecDeque::new(),
            collectors: vec![empty; pipe.collectors],
            register: empty,
            len: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn push(&mut self, id: EntryId) {
        self.waiting.push_back(id);
        self.len += 1;
    }

    /// The instruction that the unit takes next, if it may work on it in `cycle`.
    pub fn first(&self, cycle: CoreCycle, entries: &[Entry]) -> Option<EntryId> {
        let id = self.next_id()?;
        (self.enters_at(&entries[id.index()]) <= cycle).then_some(id)
    }

    fn next_id(&self) -> Option<EntryId> {
        match self.collectors.is_empty() {
            true => self.waiting.front().copied(),
            false => self.register.entry,
        }
    }

    /// When the unit may work on the instruction that it takes next.
    fn enters_at(&self, entry: &Entry) -> CoreCycle {
        match self.collectors.is_empty() {
            true => entry.from,
            false => entry.from.max(entry.since + self.pipe.leave + self.pipe.enter),
        }
    }

    /// The unit takes the next instruction, in `cycle`.
    pub fn take(&mut self, cycle: CoreCycle) -> EntryId {
        self.len -= 1;
        let id = match self.collectors.is_empty() {
            true => self.waiting.pop_front(),
            false => self.register.leave(cycle),
        };
        id.expect("something waits")
    }

    /// A cycle before which the unit cannot work on any of these; never, if there is none.
    pub fn next(&self, entries: &[Entry]) -> CoreCycle {
        let from = |&id: &EntryId| entries[id.index()].from;
        match self.next_id() {
            Some(id) => self.enters_at(&entries[id.index()]),
            None if self.len == 0 => CoreCycle::NEVER,
            None => {
                let collected = self.collectors.iter().filter_map(|holder| holder.entry.as_ref());
                collected.chain(self.waiting.front()).map(from).min().unwrap_or(CoreCycle::NEVER)
            }
        }
    }

    /// The cycle from which every collector holds an instruction with its operands that cannot
    /// leave.
    pub fn holds_collectors_from(&self, entries: &[Entry]) -> CoreCycle {
        if self.register.entry.is_none() || self.collectors.is_empty() {
            return CoreCycle::NEVER;
        }
        let from = |id: EntryId| entries[id.index()].from;
        let of = |holder: &Holder| holder.entry.map_or(CoreCycle::NEVER, from);
        self.collectors.iter().map(of).max().unwrap_or(CoreCycle::NEVER)
    }

    /// Moves instructions through the stages until the end of `cycle`.
    pub fn advance(&mut self, cycle: CoreCycle, entries: &mut [Entry]) {
        if self.len == 0 || self.collectors.is_empty() {
            return;
        }
        loop {
            let (dispatch, collect) = (self.next_dispatch(entries), self.next_collect(entries));
            match (dispatch, collect) {
                (Some((at, from)), _)
                    if at <= cycle && collect.is_none_or(|(other, _)| at <= other) =>
                {
                    let id = self.collectors[from].leave(at).expect("it is there");
                    self.register.entry = Some(id);
                    entries[id.index()].since = at;
                }
                (_, Some((at, to))) if at <= cycle => {
                    let id = self.waiting.pop_front().expect("it waits");
                    self.collectors[to].entry = Some(id);
                    entries[id.index()].since = at;
                }
                _ => return,
            }
        }
    }

    /// When the unit's register takes the next instruction from a collector, and from which.
    fn next_dispatch(&self, entries: &[Entry]) -> Option<(CoreCycle, usize)> {
        if self.register.entry.is_some() || self.held() == 0 {
            return None;
        }
        let due = |id: EntryId| entries[id.index()].since + self.pipe.dispatch;
        let held = self.collectors.iter().enumerate();
        first_due(
            held.filter_map(|(at, holder)| Some((due(holder.entry?), at))),
            self.register.freed,
        )
    }

    /// When the first waiting instruction enters a collector, and which.
    fn next_collect(&self, entries: &[Entry]) -> Option<(CoreCycle, usize)> {
        let first = *self.waiting.front()?;
        if self.held() == self.collectors.len() {
            return None;
        }
        let due = entries[first.index()].since + self.pipe.collect;
        let free = self.collectors.iter().enumerate().filter(|(_, holder)| holder.entry.is_none());
        first_due(free.map(|(at, holder)| (holder.freed, at)), due)
    }

    /// Collectors that hold an instruction.
    fn held(&self) -> usize {
        self.len - self.waiting.len() - usize::from(self.register.entry.is_some())
    }
}

/// The earliest of some events that cannot be before `from`, and the first of those at that time.
#[inline]
fn first_due(
    events: impl Iterator<Item = (CoreCycle, usize)>,
    from: CoreCycle,
) -> Option<(CoreCycle, usize)> {
    let mut earliest: Option<(CoreCycle, usize)> = None;
    for (due, at) in events {
        if due <= from {
            return Some((from, at));
        }
        if earliest.is_none_or(|(time, _)| due < time) {
            earliest = Some((due, at));
        }
    }
    earliest
}

impl Holder {
    fn leave(&mut self, cycle: CoreCycle) -> Option<EntryId> {
        self.freed = cycle;
        self.entry.take()
    }
}
