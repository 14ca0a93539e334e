//! The queue of the load/store unit.

use super::access::AccessId;
use warpmem_trace::CacheOp;

/// One sector that a memory instruction touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sector {
    pub address: u64,
    /// Parts read or covered, one bit per 1/32 of the sector.
    pub bytes: u32,
    /// Largest number of lanes of an atomic at one address.
    pub serial: u8,
}

/// The distinct sectors of a memory instruction, in the order in which lanes touch them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sectors {
    items: Vec<Sector>,
}

impl Sectors {
    #[cfg(test)]
    pub fn new() -> Sectors {
        Sectors::default()
    }

    pub fn clear(&mut self) {
        self.items.clear();
    }

    pub fn push(&mut self, sector: Sector) -> usize {
        self.items.push(sector);
        self.items.len() - 1
    }

    pub fn as_slice(&self) -> &[Sector] {
        &self.items
    }

    pub fn at_mut(&mut self, at: usize) -> &mut Sector {
        &mut self.items[at]
    }
}

/// What the unit does for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Shared memory: so many passes over the banks.
    Shared {
        passes: u32,
    },
    Load,
    Store,
    Atomic,
}

/// A memory instruction that has issued and whose requests have not all been sent.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub access: AccessId,
    pub work: Work,
    pub cache_op: CacheOp,
    pub sectors: Sectors,
    /// Sectors sent so far.
    pub sent: usize,
}

impl Entry {
    /// What a place holds before its first instruction.
    pub fn blank() -> Entry {
        Entry {
            access: AccessId(0),
            work: Work::Load,
            cache_op: CacheOp::Default,
            sectors: Sectors::default(),
            sent: 0,
        }
    }
}

/// A queue of memory instructions; the first is being worked on.
pub(super) struct Lsu {
    ring: Vec<Entry>,
    head: usize,
    len: usize,
    /// Until this cycle the unit works on shared-memory passes.
    pub busy_until: u64,
}

impl Lsu {
    pub fn new(capacity: u32) -> Lsu {
        Lsu { ring: vec![Entry::blank(); capacity as usize], head: 0, len: 0, busy_until: 0 }
    }

    pub fn is_full(&self) -> bool {
        self.len == self.ring.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// A place at the end of the queue, to be filled in; its sectors are those of an old entry. There must be room.
    pub fn push(&mut self) -> &mut Entry {
        assert!(!self.is_full(), "the load/store queue overflows");
        let at = (self.head + self.len) % self.ring.len();
        self.len += 1;
        &mut self.ring[at]
    }

    /// The instruction being worked on.
    pub fn head(&mut self) -> Option<&mut Entry> {
        (self.len > 0).then(|| &mut self.ring[self.head])
    }

    pub fn pop(&mut self) {
        debug_assert!(self.len > 0);
        self.head = (self.head + 1) % self.ring.len();
        self.len -= 1;
    }
}
