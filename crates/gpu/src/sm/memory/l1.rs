//! The first-level data cache of an SM.

use super::lsu::Sector;
use warpmem_cache::{
    ALL_BYTES, CacheCounts, Geometry, Merge, Mshr, ReadAllocate, ReservationFail, Slot, Tags,
    WriteAllocate, WritePolicy,
};
use warpmem_machine as machine;
use warpmem_sim::{CacheLevel, RequestId, RequestTable};

/// What a read finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    Hit,
    /// The sector is on its way and one more request may wait for it.
    Pending,
    /// The sector must be asked for; a dirty line in the way must be written back first.
    Miss {
        writeback: Option<Dirty>,
    },
    Fail(ReservationFail),
}

/// What a store does beside updating the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// It is done: the data are in the cache, dirty.
    Absorbed {
        writeback: Option<Dirty>,
    },
    /// It goes on to the next level.
    Through,
    /// The data are in the cache; the rest of the sector must be asked for.
    Fetch {
        writeback: Option<Dirty>,
    },
    Fail(ReservationFail),
}

/// Dirty sectors of a line that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dirty {
    pub address: u64,
    pub sectors: u8,
}

/// Which warp, by slot, each line of an L1 was fetched for.
#[derive(Default)]
struct Owners {
    /// By slot in the tags.
    of: Vec<u8>,
    /// The slot allocated last, until a warp claims it, and the line that was evicted from it.
    taken: Option<(Slot, Option<u64>)>,
}

/// L1 of one SM.
pub(super) struct L1 {
    config: machine::L1,
    geometry: Geometry,
    tags: Tags,
    mshr: Mshr,
    /// Kept where the warp scheduler asks for evictions.
    owners: Option<Owners>,
    pub counts: CacheCounts,
}

impl L1 {
    pub fn new(config: &machine::L1) -> L1 {
        L1 {
            geometry: Geometry::new(&config.cache),
            tags: Tags::new(&config.cache, config.cache.size_bytes),
            mshr: Mshr::new(CacheLevel::L1, config.cache.mshr_entries, config.cache.mshr_merges),
            owners: None,
            counts: CacheCounts::default(),
            config: config.clone(),
        }
    }

    /// Empties the cache and gives it a new size, at the start of a kernel.
    pub fn reset(&mut self, size_bytes: u32) {
        debug_assert!(self.mshr.is_empty());
        self.tags.reset(&self.config.cache, size_bytes);
        if self.owners.is_some() {
            self.keep_owners();
        }
    }

    /// Keeps, from now on, for which warp each line was fetched.
    pub fn keep_owners(&mut self) {
        self.owners = Some(Owners { of: vec![0; self.tags.places()], taken: None });
    }

    /// Makes the warp in `slot` the owner of the line that the last access allocated, if it did.
    /// Returns the evicted line and its owner's slot. Does nothing where owners are not kept.
    pub fn claim(&mut self, slot: u32) -> Option<(u32, u64)> {
        let owners = self.owners.as_mut()?;
        let (place, line) = owners.taken.take()?;
        let before = std::mem::replace(&mut owners.of[place.index()], slot as u8);
        line.map(|line| (u32::from(before), line))
    }

    /// Number of the line that holds `address`.
    pub fn line(&self, address: u64) -> u64 {
        self.geometry.line(address)
    }

    /// The bank that serves a sector.
    pub fn bank(&self, address: u64) -> u32 {
        (self.geometry.sector(address) % u64::from(self.config.banks)) as u32
    }

    /// Counts a hit in a perfect cache.
    pub fn find(&mut self, store: bool) {
        let hits = if store { &mut self.counts.write_hits } else { &mut self.counts.read_hits };
        *hits += 1;
    }

    /// Looks a read up. On a miss, reserves what it needs except the request itself; the miss queue
    /// has `room` free entries. Nothing changes on a failure.
    pub fn read(&mut self, sector: &Sector, room: usize) -> Read {
        let (line, part) = self.place(sector.address);
        let slot = self.tags.find(line);
        if let Some(slot) = slot
            && self.tags.holds(slot, part, ALL_BYTES)
        {
            self.tags.touch(slot);
            self.counts.read_hits += 1;
            return Read::Hit;
        }
        if let Some(joinable) = self.mshr.probe(self.geometry.sector(sector.address)) {
            if !joinable {
                return Read::Fail(ReservationFail::MshrMerge);
            }
            if let Some(slot) = slot
                && !self.allocates_on_fill()
            {
                self.tags.touch(slot);
            }
            self.counts.read_pending_hits += 1;
            return Read::Pending;
        }
        match self.take_miss(line, part, slot, room, self.config.cache.read_allocate) {
            Ok(writeback) => {
                match slot {
                    Some(_) => self.counts.read_sector_misses += 1,
                    None => self.counts.read_misses += 1,
                }
                Read::Miss { writeback }
            }
            Err(reason) => Read::Fail(reason),
        }
    }

    /// Reserves what a miss needs, or says what is missing. Its line is allocated now or at the
    /// fill.
    fn take_miss(
        &mut self,
        line: u64,
        part: u32,
        slot: Option<Slot>,
        room: usize,
        allocate: ReadAllocate,
    ) -> Result<Option<Dirty>, ReservationFail> {
        if self.mshr.is_full() {
            return Err(ReservationFail::MshrEntry);
        }
        if room == 0 {
            return Err(ReservationFail::MissQueueFull);
        }
        if allocate == ReadAllocate::OnFill {
            return Ok(None);
        }
        let (slot, writeback) = match slot {
            Some(slot) => (slot, None),
            None => self.allocate(line, room - 1)?,
        };
        // Where fills look for their lines, no line is reserved for one.
        if self.config.cache.read_allocate == ReadAllocate::OnMiss {
            self.tags.reserve(slot, part);
        }
        self.tags.touch(slot);
        Ok(writeback)
    }

    /// Allocates `line`; a dirty victim needs one of the `room` free entries of the miss queue.
    fn allocate(
        &mut self,
        line: u64,
        room: usize,
    ) -> Result<(Slot, Option<Dirty>), ReservationFail> {
        let victim = self.tags.victim(line).ok_or(ReservationFail::LineAlloc)?;
        let leaving = victim.line.filter(|&(_, dirty)| dirty != 0);
        if leaving.is_some() && room == 0 {
            return Err(ReservationFail::MissQueueFull);
        }
        self.counts.evictions += u64::from(victim.line.is_some());
        self.counts.writebacks += u64::from(leaving.is_some());
        let slot = self.tags.replace(victim, line);
        if let Some(owners) = &mut self.owners {
            owners.taken = Some((slot, victim.line.map(|(line, _)| line)));
        }
        let address = |line| self.geometry.line_address(line);
        Ok((slot, leaving.map(|(line, sectors)| Dirty { address: address(line), sectors })))
    }

    /// Opens the MSHR entry of a read that missed.
    pub fn open(&mut self, address: u64, request: RequestId, requests: &mut RequestTable) {
        self.mshr.open(self.geometry.sector(address), None, request, requests);
    }

    /// Lets a request wait for a sector that is on its way.
    pub fn join(&mut self, address: u64, request: RequestId, requests: &mut RequestTable) {
        let merge = self.mshr.merge(self.geometry.sector(address), request, requests);
        debug_assert!(matches!(merge, Merge::Joined { .. }));
    }

    /// A sector arrives. Returns its first waiting request, and a dirty victim that must be written
    /// back, for which the miss queue has `room` free entries. A sector that finds no line is not
    /// kept.
    pub fn fill(&mut self, address: u64, room: usize) -> (RequestId, Option<Dirty>) {
        let (line, part) = self.place(address);
        let found = self.tags.find(line).map(|slot| (slot, None));
        let place = found.or_else(|| self.allocate(line, room).ok());
        if let Some((slot, _)) = place {
            self.tags.fill(slot, part);
            if self.allocates_on_fill() {
                self.tags.touch(slot);
            }
        }
        let waiting = self.mshr.close(self.geometry.sector(address));
        let (first, _) = waiting.expect("a fill answers a miss");
        (first, place.and_then(|(_, writeback)| writeback))
    }

    /// Whether lines are allocated when their sectors come. Then only the fill counts as a use: a
    /// request that waits for a sector does not make its line young (GPGPU-Sim, `tag_array::access`
    /// and `tag_array::fill` under ON_FILL).
    fn allocates_on_fill(&self) -> bool {
        self.config.cache.read_allocate == ReadAllocate::OnFill
    }

    /// A store to local memory (`local`) or other memory; the miss queue has `room` free entries.
    ///
    /// ```text
    ///  write-back (local-write-back: only for local memory)
    ///    line absent, no write-allocate         ─▶ Through
    ///    fetch-on-write, and the store covers
    ///    part of a sector not on its way        ─▶ write the line, Fetch
    ///    else                                   ─▶ write the line, dirty; Absorbed
    ///  write-through: update the line if present, or allocate it (write-allocate) ─▶ Through
    ///  write-evict:   drop the sector if present                                  ─▶ Through
    /// ```
    ///
    /// Any step that lacks room gives `Fail` and changes nothing.
    pub fn write(&mut self, sector: &Sector, local: bool, room: usize) -> Write {
        let (line, part) = self.place(sector.address);
        let slot = self.tags.find(line);
        let present = slot.map(|slot| self.tags.present(slot) >> part & 1 == 1);
        let policy = self.config.cache.write;
        let keeps =
            policy == WritePolicy::WriteBack || policy == WritePolicy::LocalWriteBack && local;
        let outcome = match policy {
            _ if keeps => self.write_back(sector, line, part, slot, room),
            _ if room == 0 => Write::Fail(ReservationFail::MissQueueFull),
            WritePolicy::WriteThrough => self.write_through(sector, line, part, slot),
            _ => {
                if let Some(slot) = slot {
                    self.tags.drop_sector(slot, part);
                }
                Write::Through
            }
        };
        if !matches!(outcome, Write::Fail(_)) {
            match present {
                Some(true) => self.counts.write_hits += 1,
                Some(false) => self.counts.write_sector_misses += 1,
                None => self.counts.write_misses += 1,
            }
        }
        outcome
    }

    fn write_through(
        &mut self,
        sector: &Sector,
        line: u64,
        part: u32,
        slot: Option<Slot>,
    ) -> Write {
        let slot = match slot {
            None if self.config.cache.write_allocate == WriteAllocate::None => {
                return Write::Through;
            }
            // If all lines of the set are reserved, the store bypasses the cache.
            None => self.allocate(line, 0).ok().map(|(slot, _)| slot),
            found => found,
        };
        if let Some(slot) = slot {
            self.tags.write(slot, part, sector.bytes, false);
            self.tags.touch(slot);
        }
        Write::Through
    }

    fn write_back(
        &mut self,
        sector: &Sector,
        line: u64,
        part: u32,
        slot: Option<Slot>,
        room: usize,
    ) -> Write {
        if slot.is_none() && self.config.cache.write_allocate == WriteAllocate::None {
            return if room > 0 {
                Write::Through
            } else {
                Write::Fail(ReservationFail::MissQueueFull)
            };
        }
        let present = slot.is_some_and(|slot| self.tags.holds(slot, part, ALL_BYTES));
        let fetch = self.config.cache.write_allocate == WriteAllocate::FetchOnWrite
            && !present
            && sector.bytes != ALL_BYTES
            && self.mshr.probe(self.geometry.sector(sector.address)).is_none();
        let taken = match (fetch, slot) {
            // The store's data need the line at once.
            (true, _) => self.take_miss(line, part, slot, room, ReadAllocate::OnMiss),
            (false, Some(_)) => Ok(None),
            (false, None) => self.allocate(line, room).map(|(_, writeback)| writeback),
        };
        let writeback = match taken {
            Ok(writeback) => writeback,
            Err(reason) => return Write::Fail(reason),
        };
        let slot = self.tags.find(line).expect("the line has its place");
        self.tags.write(slot, part, sector.bytes, true);
        self.tags.touch(slot);
        if fetch {
            self.counts.write_fetches += 1;
            return Write::Fetch { writeback };
        }
        Write::Absorbed { writeback }
    }

    /// An atomic bypasses L1 on its way to the LLC; a copy of its sector would be stale.
    pub fn pass_atomic(&mut self, address: u64) {
        self.counts.atomics += 1;
        let (line, part) = self.place(address);
        if let Some(slot) = self.tags.find(line) {
            self.tags.drop_sector(slot, part);
        }
    }

    /// A read bypasses L1 (cache operator).
    pub fn pass_read(&mut self) {
        self.counts.bypasses += 1;
    }

    /// Misses outstanding.
    pub fn outstanding(&self) -> usize {
        self.mshr.len()
    }

    /// Misses that could be outstanding beside those that are.
    pub fn free_misses(&self) -> usize {
        self.mshr.free()
    }

    fn place(&self, address: u64) -> (u64, u32) {
        (self.geometry.line(address), self.geometry.sector_in_line(address))
    }
}

#[cfg(test)]
mod tests;
