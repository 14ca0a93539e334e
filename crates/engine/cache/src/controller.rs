//! A cache of any level: what an access finds there, what it reserves and evicts, and what a fill
//! leaves behind.
//!
//! The controller owns the tags, the MSHRs and the counts. It knows neither time nor ports nor
//! policies: its user says how much [`Room`] there is, and carries out what the outcome says.
//!
//! ```text
//!  read ──┬─▶ Hit
//!         ├─▶ Pending ─▶ join ──────────▶ MSHR entry ─▶ fill ─▶ the requests that wait
//!         └─▶ Miss ────▶ open ──────────────┘  ▲          └───▶ an evicted line
//!  write ───▶ sent on? ─▶ fetch? ─▶ open, join ┘
//! ```
//!
//! Everything that an access needs is checked before anything changes: one that fails leaves the
//! cache as it was.

mod rules;
mod write;

pub use rules::{FetchUse, Rules, ThroughMiss};
pub use write::{Fetch, Write, WriteAccess};

use crate::mshr::{Closed, Outstanding};
use crate::tags::{ALL_BYTES, Geometry, Slot, Tags};
use crate::{Cache, CacheCounts, Mshr, MshrEntry, ReadAllocate, ReservationFail};
use warpmem_sim::{CacheLevel, Eviction, Insertion, RequestId, RequestTable};

/// The tags, MSHRs and counts of one cache, and the rules by which they change.
pub struct Controller {
    rules: Rules,
    mshr: Mshr,
    tags: Tags,
    geometry: Geometry,
    pub counts: CacheCounts,
}

/// What is free for one access beside the cache's own lines.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Entries of the queue to the next level.
    pub queue: usize,
    /// MSHR entries that are closed but not free yet, because not all of their requests have been
    /// answered (GPGPU-Sim, `mshr_table::next_access`).
    pub held_mshrs: usize,
    /// Entries of the queue that a read must leave free unless it hits.
    pub read_reserve: usize,
}

impl Room {
    /// Whether a read that does not hit may go on, if it sends nothing.
    fn check_reserve(self) -> Result<(), ReservationFail> {
        let lacks = self.read_reserve > 0 && self.queue <= self.read_reserve;
        if lacks { Err(ReservationFail::MissQueueFull) } else { Ok(()) }
    }

    /// Whether so many requests can be sent to the next level.
    fn check(self, sent: usize) -> Result<(), ReservationFail> {
        if self.queue < sent { Err(ReservationFail::MissQueueFull) } else { Ok(()) }
    }
}

/// A read of a whole sector.
#[derive(Clone, Copy, Debug)]
pub struct ReadAccess {
    pub address: u64,
    /// It is a read-modify-write, which leaves the sector dirty.
    pub atomic: bool,
    /// Where the line is inserted if it is absent.
    pub insertion: Insertion,
    /// Whatever the cache's rule, no line is reserved for it before its data come.
    pub on_fill: bool,
}

/// What a read finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    Hit(Slot),
    /// The sector is on its way: the request must [`Controller::join`] this entry.
    Pending(MshrEntry),
    /// The sector must be fetched: the request must [`Controller::open`] an entry.
    Miss {
        miss: Miss,
        allocated: Option<Allocation>,
        /// Where the line is inserted; a missing sector of a present line goes into that line.
        insertion: Insertion,
    },
}

/// What a miss has reserved.
#[derive(Debug, PartialEq, Eq)]
pub struct Miss {
    sector: u64,
    /// The line that stays reserved until the fill.
    line: Option<Slot>,
}

/// A line has been allocated in this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    pub slot: Slot,
    /// The line that it has replaced.
    pub evicted: Option<Evicted>,
}

impl Allocation {
    /// The replaced line, if it must be written back.
    #[inline]
    pub fn dirty(&self) -> Option<Evicted> {
        self.evicted.filter(|evicted| evicted.dirty != 0)
    }
}

/// A line that has left the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    pub address: u64,
    /// Its dirty sectors, one bit each.
    pub dirty: u8,
}

/// A sector has arrived.
#[derive(Debug, PartialEq, Eq)]
pub struct Fill {
    /// The line that it went into, if it is kept.
    pub slot: Option<Slot>,
    pub allocated: Option<Allocation>,
    /// The MSHR entry that it has closed.
    pub entry: MshrEntry,
    /// The first of the requests that waited; the others follow through [`RequestTable::next`].
    pub first: RequestId,
    /// Number of requests that waited.
    pub count: u32,
}

/// What becomes of a prefetched line.
#[derive(Debug, PartialEq, Eq)]
pub enum Prefetch {
    /// A request has missed one of its sectors already.
    Late,
    /// The line is present.
    Redundant,
    /// There is no line to replace, or no room for its dirty data.
    Dropped(ReservationFail),
    Inserted(Allocation),
}

/// Where an address belongs.
struct Place {
    line: u64,
    /// The sector, counted over all memory, and within its line.
    sector: u64,
    part: u32,
}

/// What [`Controller::reserve`] has reserved.
struct Reserved {
    miss: Miss,
    /// The line, unless it is allocated at the fill.
    slot: Option<Slot>,
    allocated: Option<Allocation>,
}

impl Controller {
    pub fn new(level: CacheLevel, config: &Cache, rules: Rules) -> Controller {
        Controller {
            rules,
            mshr: Mshr::new(level, config.mshr_entries, config.mshr_merges),
            tags: Tags::new(config, config.size_bytes),
            geometry: Geometry::new(config),
            counts: CacheCounts::default(),
        }
    }

    /// Empties the cache and gives it a new size. No miss may be outstanding.
    pub fn reset(&mut self, config: &Cache, size_bytes: u32) {
        debug_assert!(self.mshr.is_empty());
        self.tags.reset(config, size_bytes);
    }

    /// Number of lines that the cache can hold.
    pub fn lines(&self) -> usize {
        self.tags.places()
    }

    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The outstanding misses.
    #[inline]
    pub fn mshr(&self) -> &Mshr {
        &self.mshr
    }

    /// The MSHR entry of the sector at `address`, if a miss of it is outstanding.
    #[inline]
    pub fn outstanding(&self, address: u64) -> Option<MshrEntry> {
        self.mshr.find(self.geometry.sector(address))
    }

    /// Looks a read up. On a miss, reserves what it needs. `set_key` gives the number that selects
    /// the set of a line, from the line's number.
    #[inline]
    pub fn read(
        &mut self,
        access: ReadAccess,
        room: Room,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<Read, ReservationFail> {
        let at = self.place(access.address);
        let slot = self.tags.find(at.line);
        let read = match slot.filter(|&slot| self.tags.holds(slot, at.part, ALL_BYTES)) {
            Some(slot) => self.hit(access, &at, slot),
            None => {
                room.check_reserve()?;
                match self.mshr.find(at.sector) {
                    Some(entry) => self.merge(access, entry, slot)?,
                    None => self.miss(access, &at, slot, room, set_key)?,
                }
            }
        };
        self.counts.atomics += u64::from(access.atomic);
        Ok(read)
    }

    #[inline]
    fn hit(&mut self, access: ReadAccess, at: &Place, slot: Slot) -> Read {
        self.tags.touch(slot);
        if access.atomic {
            self.tags.write(slot, at.part, ALL_BYTES, true);
        }
        self.counts.read_hits += 1;
        self.counts.atomic_hits += u64::from(access.atomic);
        Read::Hit(slot)
    }

    #[inline]
    fn merge(
        &mut self,
        access: ReadAccess,
        entry: MshrEntry,
        slot: Option<Slot>,
    ) -> Result<Read, ReservationFail> {
        if !self.mshr.has_room(entry) {
            return Err(ReservationFail::MshrMerge);
        }
        if let Some(slot) = slot
            && self.rules.fetch_use == FetchUse::Join
        {
            self.tags.touch(slot);
        }
        self.counts.read_pending_hits += 1;
        self.counts.atomic_pending_hits += u64::from(access.atomic);
        Ok(Read::Pending(entry))
    }

    #[inline]
    fn miss(
        &mut self,
        access: ReadAccess,
        at: &Place,
        slot: Option<Slot>,
        room: Room,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<Read, ReservationFail> {
        let insertion = slot.map_or(access.insertion, |_| Insertion::Newest);
        let allocate = match insertion {
            Insertion::Nowhere => ReadAllocate::OnFill,
            _ if access.on_fill => ReadAllocate::OnFill,
            _ => self.rules.read_allocate,
        };
        let Reserved { miss, allocated, .. } =
            self.reserve(at, slot, allocate, 1, room, set_key)?;
        self.insert_at(insertion, allocated);
        match slot {
            Some(_) => self.counts.read_sector_misses += 1,
            None => self.counts.read_misses += 1,
        }
        self.counts.atomic_misses += u64::from(access.atomic);
        Ok(Read::Miss { miss, allocated, insertion })
    }

    /// Opens the MSHR entry of a miss, whose first request is `request`.
    #[inline]
    pub fn open(
        &mut self,
        Miss { sector, line }: Miss,
        request: RequestId,
        requests: &mut RequestTable,
    ) -> MshrEntry {
        self.mshr.open(sector, line, request, requests)
    }

    /// Lets `request` wait in an entry that has room for it.
    #[inline]
    pub fn join(&mut self, entry: MshrEntry, request: RequestId, requests: &mut RequestTable) {
        self.mshr.join(entry, request, requests);
    }

    /// The sector at `address`, a miss of which is outstanding, arrives. Its line is the reserved
    /// or present one, else one that is allocated now, unless `insertion` says that it takes none.
    #[inline]
    pub fn fill(
        &mut self,
        address: u64,
        insertion: Insertion,
        room: Room,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<Fill, ReservationFail> {
        let at = self.place(address);
        let miss = self.mshr.outstanding(at.sector).expect("a fill answers a miss");
        let present = miss.line.or_else(|| self.tags.find(at.line));
        let allocated = if present.is_some() || insertion == Insertion::Nowhere {
            None
        } else {
            Some(self.allocate(at.line, room.queue, set_key)?)
        };
        self.insert_at(insertion, allocated);
        let slot = present.or(allocated.map(|allocated| allocated.slot));
        if let Some(slot) = slot {
            self.tags.fill(slot, at.part);
            if self.rules.fetch_use == FetchUse::Fill {
                self.tags.touch(slot);
            }
        }
        Ok(self.close(miss, slot, allocated))
    }

    /// As [`Controller::fill`], for a sector that is not kept.
    pub fn fill_nothing(&mut self, address: u64) -> Fill {
        let at = self.place(address);
        let miss = self.mshr.outstanding(at.sector).expect("a fill answers a miss");
        self.close(miss, None, None)
    }

    #[inline]
    fn close(
        &mut self,
        miss: Outstanding,
        slot: Option<Slot>,
        allocated: Option<Allocation>,
    ) -> Fill {
        let Closed { entry, first, count } = self.mshr.close(miss);
        Fill { slot, allocated, entry, first, count }
    }

    /// Lines that are kept leave in their turn, as others.
    pub fn release_kept(&mut self) {
        self.tags.release_all();
    }

    /// The line that holds `address`, if it is present, leaves as `eviction` says. At most `most_kept`
    /// lines of a set are kept.
    pub fn set_eviction(&mut self, address: u64, eviction: Eviction, most_kept: u32) {
        let Some(slot) = self.tags.find(self.geometry.line(address)) else { return };
        match eviction {
            Eviction::Normal => self.tags.release(slot),
            Eviction::First => {
                self.tags.release(slot);
                self.tags.demote(slot);
            }
            Eviction::Last => self.tags.keep(slot, most_kept),
        }
    }

    /// An atomic whose sector is in this line has been carried out there.
    #[inline]
    pub fn modify(&mut self, slot: Slot, address: u64) {
        self.tags.write(slot, self.geometry.sector_in_line(address), ALL_BYTES, true);
    }

    /// The first `sectors` sectors of the line at `address` arrive though no request has asked for
    /// them. They are kept if that disturbs nothing.
    pub fn prefetch(
        &mut self,
        address: u64,
        sectors: u32,
        room: usize,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Prefetch {
        let at = self.place(address);
        let mut all = at.sector..at.sector + u64::from(sectors);
        if all.any(|sector| self.mshr.find(sector).is_some()) {
            return Prefetch::Late;
        }
        if self.tags.find(at.line).is_some() {
            return Prefetch::Redundant;
        }
        match self.allocate(at.line, room, set_key) {
            Err(reason) => Prefetch::Dropped(reason),
            Ok(allocated) => {
                (0..sectors).for_each(|part| self.tags.fill(allocated.slot, part));
                Prefetch::Inserted(allocated)
            }
        }
    }

    /// The sector at `address`, if it is present, is no longer valid; whether it was present. It must
    /// not be dirty.
    pub fn drop_sector(&mut self, address: u64) -> bool {
        let at = self.place(address);
        let holds = |slot: &Slot| self.tags.present(*slot) & 1 << at.part != 0;
        let Some(slot) = self.tags.find(at.line).filter(holds) else { return false };
        self.tags.drop_sector(slot, at.part);
        true
    }

    /// An atomic bypasses the cache on its way to the next level.
    pub fn bypass_atomic(&mut self, address: u64) {
        self.counts.atomics += 1;
        self.bypass_write(address);
    }

    /// What changes a sector bypasses the cache on its way to the next level; a copy would be stale.
    pub fn bypass_write(&mut self, address: u64) {
        let at = self.place(address);
        if let Some(slot) = self.tags.find(at.line) {
            self.tags.drop_sector(slot, at.part);
        }
    }

    /// Reserves what a miss needs that sends `sent` requests to the next level, or says what is
    /// missing: an MSHR entry, room below, and, if the line is allocated now, a line.
    #[inline]
    fn reserve(
        &mut self,
        at: &Place,
        slot: Option<Slot>,
        allocate: ReadAllocate,
        sent: usize,
        room: Room,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<Reserved, ReservationFail> {
        if self.mshr.free() <= room.held_mshrs {
            return Err(ReservationFail::MshrEntry);
        }
        room.check(sent)?;
        let mut miss = Miss { sector: at.sector, line: None };
        if allocate == ReadAllocate::OnFill {
            return Ok(Reserved { miss, slot: None, allocated: None });
        }
        let (slot, allocated) = self.line_for(at, slot, room.queue - sent, set_key)?;
        // A fill that looks for a line must find one, though all lines wait for fills behind it.
        if self.rules.read_allocate == ReadAllocate::OnMiss {
            self.tags.reserve(slot, at.part);
            miss.line = Some(slot);
        }
        self.tags.touch(slot);
        Ok(Reserved { miss, slot: Some(slot), allocated })
    }

    /// The line of a place: `slot` if it is present, else one that is allocated.
    #[inline]
    fn line_for(
        &mut self,
        at: &Place,
        slot: Option<Slot>,
        room: usize,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<(Slot, Option<Allocation>), ReservationFail> {
        if let Some(slot) = slot {
            return Ok((slot, None));
        }
        let allocated = self.allocate(at.line, room, set_key)?;
        Ok((allocated.slot, Some(allocated)))
    }

    /// Allocates a line. A dirty victim needs one of `room` free entries of the queue below.
    #[inline]
    fn allocate(
        &mut self,
        line: u64,
        room: usize,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<Allocation, ReservationFail> {
        let victim = self.tags.victim(set_key(line)).ok_or(ReservationFail::LineAlloc)?;
        let is_dirty = victim.line.is_some_and(|(_, dirty)| dirty != 0);
        if is_dirty && room == 0 {
            return Err(ReservationFail::MissQueueFull);
        }
        self.counts.evictions += u64::from(victim.line.is_some());
        self.counts.writebacks += u64::from(is_dirty);
        let geometry = self.geometry;
        let evicted = victim
            .line
            .map(|(line, dirty)| Evicted { address: geometry.line_address(line), dirty });
        Ok(Allocation { slot: self.tags.replace(victim, line), evicted })
    }

    /// A line that was allocated is the newest of its set; moves it where it is to be.
    #[inline]
    fn insert_at(&mut self, insertion: Insertion, allocated: Option<Allocation>) {
        if insertion == Insertion::Oldest
            && let Some(allocated) = allocated
        {
            self.tags.demote(allocated.slot);
        }
    }

    #[inline]
    fn place(&self, address: u64) -> Place {
        Place {
            line: self.geometry.line(address),
            sector: self.geometry.sector(address),
            part: self.geometry.sector_in_line(address),
        }
    }
}

#[cfg(test)]
mod tests;
