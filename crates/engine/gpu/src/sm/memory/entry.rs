//! Memory instructions between their issue and the last of their requests.

use super::access::AccessId;
use super::sectors::Sectors;
use warpmem_sim::{CoreCycle, Message, Signal, ids};
use warpmem_trace::CacheOp;

/// What the unit does for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Shared memory: so many passes over the banks.
    Shared {
        passes: u32,
    },
    Load,
    Store {
        local: bool,
    },
    Atomic,
    /// Shared memory of a cluster: so many messages.
    Cluster,
}

/// A memory instruction that has issued and whose requests have not all been sent.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub access: AccessId,
    pub work: Work,
    pub cache_op: CacheOp,
    /// It is a bulk copy, whose lanes move more than registers hold.
    pub bulk: bool,
    pub sectors: Sectors,
    /// Parts of an access to the shared memory of a cluster, which has no sectors.
    pub messages: Vec<Message>,
    /// What it changes of its own CTA's mbarriers.
    pub signals: Vec<Signal>,
    /// Its data go to several CTAs.
    pub is_multicast: bool,
    /// Sectors or messages sent so far.
    pub sent: usize,
    /// Cycle from which the unit may work on it.
    pub from: CoreCycle,
    /// Instructions that issued before it.
    pub age: u64,
}

impl Entry {
    /// An entry that has not been used.
    pub fn blank() -> Entry {
        Entry {
            access: AccessId(0),
            work: Work::Load,
            cache_op: CacheOp::Default,
            bulk: false,
            sectors: Sectors::default(),
            messages: Vec::new(),
            signals: Vec::new(),
            is_multicast: false,
            sent: 0,
            from: CoreCycle::ZERO,
            age: 0,
        }
    }

    /// Whether all its sectors or messages have been sent.
    pub fn is_sent(&self) -> bool {
        self.sent == self.sectors.as_slice().len() + self.messages.len()
    }
}

ids! {
    /// The place of an [`Entry`] in the load/store unit.
    pub(in crate::sm) EntryId(u32);
}
