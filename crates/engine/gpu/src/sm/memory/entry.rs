//! Memory instructions between their issue and their last request.

use super::access::AccessId;
use super::sectors::Sectors;
use crate::sm::code::Static;
use warpmem_sim::{CoreCycle, Message, Signal, ids};
use warpmem_trace::{CacheOp, Kind, Space};

/// Work of the load/store unit for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Shared memory: `passes` over the banks.
    Shared {
        passes: u32,
    },
    Load,
    Store {
        local: bool,
    },
    Atomic,
    /// Shared memory of a cluster: messages.
    Cluster,
}

impl Work {
    /// Returns the work of an instruction outside the CTA's own shared memory.
    pub fn of(instruction: &Static) -> Work {
        match (instruction.space, instruction.kind) {
            (Space::Cluster, _) => Work::Cluster,
            (space, Kind::Store) => Work::Store { local: space == Space::Local },
            (_, Kind::Atomic | Kind::Reduction) => Work::Atomic,
            _ => Work::Load,
        }
    }
}

/// Requests of an instruction. The vectors are reused from instruction to instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestLists {
    pub sectors: Sectors,
    /// Parts of an access to the shared memory of a cluster, which has no sectors.
    pub messages: Vec<Message>,
    /// Updates of mbarriers of the instruction's own CTA.
    pub signals: Vec<Signal>,
}

impl RequestLists {
    pub fn clear(&mut self) {
        self.sectors.clear();
        self.messages.clear();
        self.signals.clear();
    }

    /// Returns the number of sectors and messages.
    pub fn len(&self) -> usize {
        self.sectors.as_slice().len() + self.messages.len()
    }
}

/// An issued memory instruction with requests to send.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub access: AccessId,
    pub work: Work,
    pub cache_op: CacheOp,
    /// A bulk copy: its lanes move more bytes than registers hold.
    pub bulk: bool,
    /// Its data go to several CTAs.
    pub is_multicast: bool,
    pub lists: RequestLists,
    /// Sectors or messages sent so far.
    pub sent: usize,
    /// First cycle in which the unit may work on it.
    pub from: CoreCycle,
    /// Bytes that its lanes move.
    pub moved_bytes: u64,
}

impl Entry {
    /// Whether all sectors and messages have been sent.
    pub fn is_sent(&self) -> bool {
        self.sent == self.lists.len()
    }
}

ids! {
    /// Index of an [`Entry`] in the load/store unit.
    pub(in crate::sm) EntryId(u32);
}
