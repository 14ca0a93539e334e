//! A cache of any level: lookup, reservation, eviction and fill.
//!
//! The controller owns the tags, the MSHRs and the counts. It knows neither time nor ports nor
//! policies: its user supplies the available [`Room`] and carries out the outcome.
//!
//! ```text
//!  read ──┬─▶ Hit
//!         ├─▶ Pending ─▶ join ──────────▶ MSHR entry ─▶ fill ─▶ the waiting requests
//!         └─▶ Miss ────▶ open ──────────────┘  ▲          └───▶ an evicted line
//!  write ───▶ sent on? ─▶ fetch? ─▶ open, join ┘
//! ```
//!
//! All resources of an access are checked before anything changes: a failed access leaves the cache
//! as it was.

mod hints;
mod rules;
mod warm;
mod write;

pub use rules::{FetchUse, Rules, ThroughMiss};
pub use warm::Warmed;
pub use write::{Fetch, Write, WriteAccess};

use crate::mshr::{Closed, Outstanding};
use crate::tags::{ALL_BYTES, Geometry, LineSlot, Tags, Victim};
use crate::{Cache, CacheCounts, Mshr, MshrEntry, ReadAllocate, ReservationFail};
use warpmem_sim::{CacheLevel, Eviction, Insertion, RequestId, RequestTable};

/// The tags, MSHRs and counts of one cache, and its rules.
pub struct CacheController {
    rules: Rules,
    mshr: Mshr,
    tags: Tags,
    geometry: Geometry,
    /// Line cleaned by the last write, until it is taken.
    cleaned: Option<Evicted>,
    pub counts: CacheCounts,
}

/// Resources available to one access, besides the cache's own lines.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Free entries of the queue to the next level.
    pub queue: usize,
    /// Closed MSHR entries that are not free yet, because some of their requests are unanswered
    /// (GPGPU-Sim, `mshr_table::next_access`).
    pub held_mshrs: usize,
    /// Free entries of the queue that a read must leave unless it hits.
    pub read_reserve: usize,
}

impl Room {
    /// Checks that a read that misses, but sends nothing, leaves the reserve.
    fn check_reserve(self) -> Result<(), ReservationFail> {
        let lacks = self.read_reserve > 0 && self.queue <= self.read_reserve;
        if lacks { Err(ReservationFail::MissQueueFull) } else { Ok(()) }
    }

    /// Checks that `sent` requests fit in the queue to the next level.
    fn check(self, sent: usize) -> Result<(), ReservationFail> {
        if self.queue < sent { Err(ReservationFail::MissQueueFull) } else { Ok(()) }
    }
}

/// A read of a whole sector.
#[derive(Clone, Copy, Debug)]
pub struct ReadAccess {
    pub address: u64,
    /// Read-modify-write, which leaves the sector dirty.
    pub atomic: bool,
    /// Position of the line in the replacement order if it is absent.
    pub insertion: Insertion,
    /// Reserves no line before the data arrive, whatever the cache's rule.
    pub on_fill: bool,
}

/// Outcome of a read.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    Hit(LineSlot),
    /// The sector is being fetched: the request must [`CacheController::join`] this entry.
    Pending(MshrEntry),
    /// The sector must be fetched: the request must [`CacheController::open`] an entry. The caller counts
    /// the miss ([`CacheController::count_read_miss`]).
    Miss {
        miss: Miss,
        allocated: Option<Allocation>,
        /// Position of the line in the replacement order; a missing sector of a present line goes
        /// into that line.
        insertion: Insertion,
    },
}

/// The reservation of a miss.
#[derive(Debug, PartialEq, Eq)]
pub struct Miss {
    sector: u64,
    /// The line was present and only the sector missing.
    in_line: bool,
    /// The line that stays reserved until the fill.
    line: Option<LineSlot>,
}

/// An allocated line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    pub slot: LineSlot,
    /// The replaced line.
    pub evicted: Option<Evicted>,
}

impl Allocation {
    /// Returns the replaced line if it must be written back.
    #[inline]
    pub fn dirty(&self) -> Option<Evicted> {
        self.evicted.filter(|evicted| evicted.dirty != 0)
    }
}

/// An evicted line, or one written back while it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    pub address: u64,
    /// Its dirty sectors, one bit each.
    pub dirty: u8,
}

/// Outcome of a fill.
#[derive(Debug, PartialEq, Eq)]
pub struct Fill {
    /// The line that holds the sector; none if the sector bypasses the cache.
    pub slot: Option<LineSlot>,
    pub allocated: Option<Allocation>,
    /// The MSHR entry that the fill closed.
    pub entry: MshrEntry,
    /// The first of the merged requests; the others follow through [`RequestTable::next`].
    pub first: RequestId,
    /// Number of merged requests.
    pub count: u32,
}

/// Outcome of a prefetch.
#[derive(Debug, PartialEq, Eq)]
pub enum Prefetch {
    /// A miss of one of its sectors is already outstanding.
    Late,
    /// The line is present.
    Redundant,
    /// No line can be replaced, or the dirty victim finds no room.
    Dropped(ReservationFail),
    Inserted(Allocation),
}

/// The line and the sector of an address.
struct Place {
    line: u64,
    /// Sector number over all memory, and within the line.
    sector: u64,
    part: u32,
}

/// The reservation made by [`CacheController::reserve`].
struct Reserved {
    miss: Miss,
    /// The line; none if it is allocated at the fill.
    slot: Option<LineSlot>,
    allocated: Option<Allocation>,
}

impl CacheController {
    pub fn new(level: CacheLevel, config: &Cache, rules: Rules) -> CacheController {
        CacheController {
            rules,
            mshr: Mshr::new(level, config.mshr_entries, config.mshr_merges),
            tags: Tags::new(config, config.size_bytes),
            geometry: Geometry::new(config),
            cleaned: None,
            counts: CacheCounts::default(),
        }
    }

    /// Bounds the dirty lines of a set; 0: no bound.
    pub fn with_dirty_ways(mut self, most: u32) -> CacheController {
        self.tags.bound_dirty(most);
        self
    }

    /// Whether the dirty lines of a set are bounded. Every store and every atomic that hits then
    /// needs an entry of the queue to the next level.
    #[inline]
    fn bounds_dirty(&self) -> bool {
        self.tags.bounds_dirty()
    }

    /// Takes the line that the last access cleaned to keep the bound on dirty lines; its dirty
    /// sectors must be written back. The line stays present.
    #[inline]
    pub fn take_cleaned(&mut self) -> Option<Evicted> {
        // Without a bound, no write to memory.
        if self.cleaned.is_some() { self.cleaned.take() } else { None }
    }

    /// Empties and resizes the cache. No miss may be outstanding.
    pub fn reset(&mut self, config: &Cache, size_bytes: u32) {
        debug_assert!(self.mshr.is_empty());
        self.tags.reset(config, size_bytes);
    }

    /// Returns the capacity in lines.
    pub fn lines(&self) -> usize {
        self.tags.capacity()
    }

    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the MSHRs.
    #[inline]
    pub fn mshr(&self) -> &Mshr {
        &self.mshr
    }

    /// Returns the position of the line that holds `address`, if it is present.
    pub fn find(&self, address: u64) -> Option<LineSlot> {
        self.tags.find(self.geometry.line(address))
    }

    /// Returns the MSHR entry of the sector at `address`, if a miss is outstanding.
    #[inline]
    pub fn outstanding(&self, address: u64) -> Option<MshrEntry> {
        self.mshr.find(self.geometry.sector(address))
    }

    /// Looks a read up; a miss reserves its resources. `set_key` maps the number of a line to the
    /// number that selects its set.
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
            Some(slot) => {
                if access.atomic && self.bounds_dirty() {
                    room.check(1)?;
                }
                self.hit(access, &at, slot)
            }
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
    fn hit(&mut self, access: ReadAccess, at: &Place, slot: LineSlot) -> Read {
        self.tags.touch(slot);
        if access.atomic {
            self.tags.write(slot, at.part, ALL_BYTES, true);
            self.keep_dirty_bound(slot);
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
        slot: Option<LineSlot>,
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
        slot: Option<LineSlot>,
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
        self.counts.atomic_misses += u64::from(access.atomic);
        Ok(Read::Miss { miss, allocated, insertion })
    }

    /// Counts the miss of a read, unless another cache counts it.
    #[inline]
    pub fn count_read_miss(&mut self, miss: &Miss) {
        let counts = &mut self.counts;
        let count =
            if miss.in_line { &mut counts.read_sector_misses } else { &mut counts.read_misses };
        *count += 1;
    }

    /// Opens the MSHR entry of a miss, whose first request is `request`.
    #[inline]
    pub fn open(
        &mut self,
        Miss { sector, line, .. }: Miss,
        request: RequestId,
        requests: &mut RequestTable,
    ) -> MshrEntry {
        self.mshr.open(sector, line, request, requests)
    }

    /// Merges `request` into an entry, which must have room.
    #[inline]
    pub fn join(&mut self, entry: MshrEntry, request: RequestId, requests: &mut RequestTable) {
        self.mshr.join(entry, request, requests);
    }

    /// Fills the sector at `address`, which must have an outstanding miss, and closes its MSHR
    /// entry. The line is the reserved or present one; otherwise one is allocated, unless
    /// `insertion` is `Nowhere`.
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

    /// Closes the MSHR entry of the sector at `address` without keeping the data.
    pub fn fill_nothing(&mut self, address: u64) -> Fill {
        let at = self.place(address);
        let miss = self.mshr.outstanding(at.sector).expect("a fill answers a miss");
        self.close(miss, None, None)
    }

    #[inline]
    fn close(
        &mut self,
        miss: Outstanding,
        slot: Option<LineSlot>,
        allocated: Option<Allocation>,
    ) -> Fill {
        let Closed { entry, first, count } = self.mshr.close(miss);
        Fill { slot, allocated, entry, first, count }
    }

    /// Returns all `evict_last` lines to the normal replacement order.
    pub fn release_kept(&mut self) {
        self.tags.release_all();
    }

    /// Sets the eviction priority of the line that holds `address`, if it is present. At most
    /// `most_kept` lines of a set are `evict_last`.
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

    /// Marks the sector at `address` dirty after an atomic in this line. Without room the bound on
    /// dirty lines may be exceeded: a fill that waited for it could deadlock.
    #[inline]
    pub fn modify(&mut self, slot: LineSlot, address: u64, room: Room) {
        self.tags.write(slot, self.geometry.sector_in_line(address), ALL_BYTES, true);
        if room.queue > 0 {
            self.keep_dirty_bound(slot);
        }
    }

    /// Cleans a line if the write to the dirty line at `slot` exceeds the bound on dirty lines.
    #[inline]
    fn keep_dirty_bound(&mut self, slot: LineSlot) {
        if !self.tags.bounds_dirty() {
            return;
        }
        if let Some((line, dirty)) = self.tags.clean_beyond_bound(slot) {
            debug_assert!(self.cleaned.is_none(), "the cleaned line has been taken");
            self.counts.early_writebacks += 1;
            self.cleaned = Some(Evicted { address: self.geometry.line_address(line), dirty });
        }
    }

    /// Inserts the first `sectors` sectors of the line at `address`, which no request has asked
    /// for, unless that would disturb an outstanding or present line.
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

    /// Invalidates the sector at `address`, which must not be dirty. Returns whether it was
    /// present.
    pub fn drop_sector(&mut self, address: u64) -> bool {
        let at = self.place(address);
        let holds = |slot: &LineSlot| self.tags.present(*slot) & 1 << at.part != 0;
        let Some(slot) = self.tags.find(at.line).filter(holds) else { return false };
        self.tags.drop_sector(slot, at.part);
        true
    }

    /// Invalidates every line, dirty ones too, which no counter records. Passes the position and the
    /// address of each line that leaves the cache to `left`; a line whose data are outstanding keeps
    /// its position. Returns the number of dirty sectors.
    pub fn invalidate(&mut self, mut left: impl FnMut(LineSlot, u64)) -> u64 {
        let geometry = self.geometry;
        self.tags.invalidate(|slot, line| left(slot, geometry.line_address(line)))
    }

    /// Counts an atomic that bypasses the cache, and drops the sector that it changes.
    pub fn bypass_atomic(&mut self, address: u64) {
        self.counts.atomics += 1;
        self.bypass_write(address);
    }

    /// Drops the sector at `address`, which an access that bypasses the cache changes.
    pub fn bypass_write(&mut self, address: u64) {
        let at = self.place(address);
        if let Some(slot) = self.tags.find(at.line) {
            self.tags.drop_sector(slot, at.part);
        }
    }

    /// Reserves the resources of a miss that sends `sent` requests to the next level: an MSHR
    /// entry, queue entries and, if the line is allocated now, a line. Fails with the missing
    /// resource.
    #[inline]
    fn reserve(
        &mut self,
        at: &Place,
        slot: Option<LineSlot>,
        allocate: ReadAllocate,
        sent: usize,
        room: Room,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<Reserved, ReservationFail> {
        if self.mshr.free() <= room.held_mshrs {
            return Err(ReservationFail::MshrEntry);
        }
        room.check(sent)?;
        let mut miss = Miss { sector: at.sector, in_line: slot.is_some(), line: None };
        if allocate == ReadAllocate::OnFill {
            return Ok(Reserved { miss, slot: None, allocated: None });
        }
        let (slot, allocated) = self.line_for(at, slot, room.queue - sent, set_key)?;
        // A fill that allocates its line must find one even if every line waits for a later fill.
        if self.rules.read_allocate == ReadAllocate::OnMiss {
            self.tags.reserve(slot, at.part);
            miss.line = Some(slot);
        }
        self.tags.touch(slot);
        Ok(Reserved { miss, slot: Some(slot), allocated })
    }

    /// Returns the line of an address: `slot` if it is present, otherwise an allocated one.
    #[inline]
    fn line_for(
        &mut self,
        at: &Place,
        slot: Option<LineSlot>,
        room: usize,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<(LineSlot, Option<Allocation>), ReservationFail> {
        if let Some(slot) = slot {
            return Ok((slot, None));
        }
        let allocated = self.allocate(at.line, room, set_key)?;
        Ok((allocated.slot, Some(allocated)))
    }

    /// Allocates a line. A dirty victim needs one of `room` free queue entries.
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
        Ok(self.replace(victim, line))
    }

    /// Replaces a victim by a line with no valid sector.
    #[inline]
    fn replace(&mut self, victim: Victim, line: u64) -> Allocation {
        let geometry = self.geometry;
        let evicted = victim
            .line
            .map(|(line, dirty)| Evicted { address: geometry.line_address(line), dirty });
        Allocation { slot: self.tags.replace(victim, line), evicted }
    }

    /// Moves an allocated line, which is the newest of its set, to its position.
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
