//! The warp sorter: requests that wait for the selection of their group.

use super::super::{Queued, Slot};
use rustc_hash::FxHashMap;
use warpmem_sim::{BankId, DramCycle, RowId, ids};

/// A request of a group.
#[derive(Clone, Copy)]
pub struct Member {
    pub slot: Slot,
    pub bank: BankId,
    pub row: RowId,
}

/// The waiting requests of a load, or one request without a load.
#[derive(Default)]
pub struct Group {
    pub load: Option<u32>,
    /// Whether no more requests will arrive.
    pub complete: bool,
    /// Cycle of the arrival of its first request, and the number of that request.
    pub since: DramCycle,
    pub order: u64,
    /// Lowest score received from another controller; `u32::MAX`: none.
    pub remote_score: u32,
    /// Requests, sorted by bank and, within a bank, grouped by row.
    pub members: Vec<Member>,
}

impl Group {
    /// Iterates over its requests, bank by bank.
    pub fn by_bank(&self) -> impl Iterator<Item = &[Member]> {
        self.members.chunk_by(|one, other| one.bank == other.bank)
    }

    fn add(&mut self, member: Member) {
        let last = |of: &dyn Fn(&Member) -> bool| self.members.iter().rposition(of);
        let same_row = last(&|other| (other.bank, other.row) == (member.bank, member.row));
        let neighbour = same_row.or_else(|| last(&|other| other.bank == member.bank));
        let place = neighbour.map_or(self.members.len(), |place| place + 1);
        self.members.insert(place, member);
    }
}

ids! {
    /// A group waiting in the sorter.
    pub GroupId(u16);
}

pub struct Sorter {
    /// Groups by number; entries without members are free.
    groups: Vec<Group>,
    free: Vec<GroupId>,
    /// Group of each load. Numbers of loads are sparse: they combine the SM and a number within it.
    by_load: FxHashMap<u32, GroupId>,
    /// Group of each waiting request, by slot.
    group_of: Vec<GroupId>,
}

impl Sorter {
    pub fn new(capacity: usize) -> Sorter {
        Sorter {
            groups: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
            by_load: FxHashMap::with_capacity_and_hasher(capacity, Default::default()),
            group_of: vec![GroupId(0); capacity],
        }
    }

    pub fn is_empty(&self) -> bool {
        self.free.len() == self.groups.len()
    }

    /// Iterates over the waiting groups with their numbers.
    pub fn groups(&self) -> impl Iterator<Item = (GroupId, &Group)> {
        let groups = GroupId::all(self.groups.len()).zip(&self.groups);
        groups.filter(|(_, group)| !group.members.is_empty())
    }

    pub fn group(&self, id: GroupId) -> &Group {
        &self.groups[id.index()]
    }

    pub fn of_load(&mut self, load: u32) -> Option<&mut Group> {
        self.by_load.get(&load).map(|&id| &mut self.groups[id.index()])
    }

    /// Adds a request to its group; returns whether the group is complete.
    pub fn add(&mut self, slot: Slot, queued: &Queued) -> bool {
        let request = &queued.request;
        let load = Some(request.load).filter(|&load| load != u32::MAX);
        let known = load.and_then(|load| self.by_load.get(&load).copied());
        let id = known.unwrap_or_else(|| self.create(load, queued));
        self.group_of[slot.index()] = id;
        let group = &mut self.groups[id.index()];
        group.add(Member { slot, bank: request.bank, row: request.row });
        group.complete
    }

    fn create(&mut self, load: Option<u32>, queued: &Queued) -> GroupId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.groups.push(Group::default());
            GroupId::new(self.groups.len() - 1)
        });
        let group = &mut self.groups[id.index()];
        let members = std::mem::take(&mut group.members);
        let (since, order) = (queued.arrived, queued.order);
        *group =
            Group { load, complete: load.is_none(), since, order, remote_score: u32::MAX, members };
        if let Some(load) = load {
            self.by_load.insert(load, id);
        }
        id
    }

    /// Removes a group and frees its entry; [`Sorter::give_back`] returns its memory.
    pub fn take(&mut self, id: GroupId) -> Group {
        self.free(id);
        std::mem::take(&mut self.groups[id.index()])
    }

    /// Returns the memory of a removed group for reuse.
    pub fn give_back(&mut self, id: GroupId, mut group: Group) {
        group.members.clear();
        self.groups[id.index()].members = group.members;
    }

    /// Removes a request that is served without the rest of its group.
    pub fn remove(&mut self, slot: Slot) {
        let id = self.group_of[slot.index()];
        let group = &mut self.groups[id.index()];
        group.members.retain(|member| member.slot != slot);
        if group.members.is_empty() {
            self.free(id);
        }
    }

    fn free(&mut self, id: GroupId) {
        if let Some(load) = self.groups[id.index()].load {
            self.by_load.remove(&load);
        }
        self.free.push(id);
    }
}
