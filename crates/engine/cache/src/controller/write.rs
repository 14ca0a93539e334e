//! Stores: where their data go, and what they fetch.

use super::rules::StoreEffect;
use super::{Allocation, CacheController, Miss, Place, Reserved, Room};
use crate::tags::{ALL_BYTES, LineSlot};
use crate::{MshrEntry, ReadAllocate, ReservationFail, WriteAllocate};

/// A store, or dirty data of the level above.
#[derive(Clone, Copy, Debug)]
pub struct WriteAccess {
    /// Address of the first sector.
    pub address: u64,
    /// Sectors, one bit each; bit 0 is the sector at `address`.
    pub sectors: u8,
    /// Bytes written in each sector, one bit per 1/32.
    pub bytes: u32,
    /// The store is to local memory.
    pub local: bool,
}

/// Outcome of a store, and the work left to the caller.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// All sectors were valid or being fetched.
    pub hit: bool,
    /// The line that holds the data.
    pub slot: Option<LineSlot>,
    pub allocated: Option<Allocation>,
    /// The store must be sent to the next level, before the fetch.
    pub sent_on: bool,
    pub fetch: Option<Fetch>,
}

/// A fetch that a store requires.
#[derive(Debug, PartialEq, Eq)]
pub enum Fetch {
    /// The request must [`CacheController::open`] an entry.
    Open(Miss),
    /// The request must [`CacheController::join`] this entry.
    Join(MshrEntry),
}

impl CacheController {
    /// Carries out a store. Except under [`WriteAllocate::SendAndFetch`]:
    ///
    /// ```text
    ///  write-evict ─▶ drop the sector if present; sent on
    ///  line absent, and not allocated for this store ─▶ sent on
    ///  fetch-on-write, and the store covers part of a sector that is neither valid nor being fetched
    ///    ─▶ allocate an absent line, write into it, fetch the sector
    ///  else
    ///    ─▶ allocate an absent line, write into it; under write-through sent on
    /// ```
    ///
    /// Data written under write-back are dirty. [`super::ThroughMiss`] determines when a store that
    /// is sent on allocates or fetches.
    #[inline]
    pub fn write(
        &mut self,
        store: WriteAccess,
        room: Room,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<Write, ReservationFail> {
        let at = self.place(store.address);
        let slot = self.tags.find(at.line);
        let sends_and_fetches = self.rules.write_allocate == WriteAllocate::SendAndFetch;
        if sends_and_fetches && !self.is_whole(slot, at.part) {
            return self.send_and_fetch(&at, slot, room, set_key);
        }
        let sectors = store.sectors << at.part;
        let present = slot.map(|slot| self.tags.present(slot) & sectors == sectors);
        let write = match self.rules.effect(store.local) {
            StoreEffect::Drop => self.drop_and_send(&at, slot, room)?,
            effect => self.put(&store, &at, slot, effect, room, set_key)?,
        };
        match present {
            Some(true) => self.counts.write_hits += 1,
            Some(false) => self.counts.write_sector_misses += 1,
            None => self.counts.write_misses += 1,
        }
        Ok(Write { hit: present == Some(true), ..write })
    }

    fn drop_and_send(
        &mut self,
        at: &Place,
        slot: Option<LineSlot>,
        room: Room,
    ) -> Result<Write, ReservationFail> {
        room.check(1)?;
        if let Some(slot) = slot {
            self.tags.drop_sector(slot, at.part);
        }
        Ok(Write { sent_on: true, ..Write::default() })
    }

    /// Writes the data of a store into its line, if it has or allocates one.
    #[inline]
    fn put(
        &mut self,
        store: &WriteAccess,
        at: &Place,
        slot: Option<LineSlot>,
        effect: StoreEffect,
        room: Room,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<Write, ReservationFail> {
        if slot.is_none() && !self.rules.allocates(effect) {
            room.check(1)?;
            return Ok(Write { sent_on: true, ..Write::default() });
        }
        let keeps = effect == StoreEffect::Keep;
        let fetches = self.must_fetch(store, at, slot, effect);
        if keeps && self.bounds_dirty() {
            // The line that it may clean; never beside a dirty victim, which is in the same set.
            room.check(1 + usize::from(fetches))?;
        }
        let write = if fetches {
            // The data of the store need the line now.
            let Reserved { miss, slot, allocated } =
                self.reserve(at, slot, ReadAllocate::OnMiss, 1, room, set_key)?;
            self.counts.write_fetches += 1;
            let fetch = Some(Fetch::Open(miss));
            Write { slot, allocated, fetch, ..Write::default() }
        } else if keeps {
            let (slot, allocated) = self.line_for(at, slot, room.queue, set_key)?;
            Write { slot: Some(slot), allocated, ..Write::default() }
        } else {
            room.check(1)?;
            // The store takes the queue entry, so that no dirty line can be evicted; without a line
            // it bypasses the cache.
            let (slot, allocated) = self.line_for(at, slot, 0, set_key).ok().unzip();
            Write { slot, allocated: allocated.flatten(), sent_on: true, ..Write::default() }
        };
        if let Some(slot) = write.slot {
            self.put_bytes(store, at, slot, keeps);
        }
        Ok(write)
    }

    #[inline]
    fn put_bytes(&mut self, store: &WriteAccess, at: &Place, slot: LineSlot, dirty: bool) {
        let mut sectors = store.sectors << at.part;
        while sectors != 0 {
            self.tags.write(slot, sectors.trailing_zeros(), store.bytes, dirty);
            sectors &= sectors - 1;
        }
        self.tags.touch(slot);
        if dirty {
            self.keep_dirty_bound(slot);
        }
    }

    /// Returns whether the rest of the sector of a store must be fetched now.
    #[inline]
    fn must_fetch(
        &self,
        store: &WriteAccess,
        at: &Place,
        slot: Option<LineSlot>,
        effect: StoreEffect,
    ) -> bool {
        self.rules.fetches(effect)
            && store.bytes != ALL_BYTES
            && !self.is_whole(slot, at.part)
            && self.mshr.find(at.sector).is_none()
    }

    #[inline]
    fn is_whole(&self, slot: Option<LineSlot>, part: u32) -> bool {
        slot.is_some_and(|slot| self.tags.holds(slot, part, ALL_BYTES))
    }

    /// Sends a store on whose sector is absent or being fetched, and opens or joins an MSHR entry
    /// with a read of the sector (GPGPU-Sim, `data_cache::wr_miss_wa_naive`).
    fn send_and_fetch(
        &mut self,
        at: &Place,
        slot: Option<LineSlot>,
        room: Room,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Result<Write, ReservationFail> {
        if let Some(entry) = self.mshr.find(at.sector) {
            if !self.mshr.has_room(entry) {
                return Err(ReservationFail::MshrMerge);
            }
            room.check(1)?;
            self.counts.write_hits += 1;
            let fetch = Some(Fetch::Join(entry));
            return Ok(Write { hit: true, sent_on: true, fetch, ..Write::default() });
        }
        let Reserved { miss, allocated, .. } =
            self.reserve(at, slot, ReadAllocate::OnMiss, 2, room, set_key)?;
        self.counts.write_misses += 1;
        self.counts.write_fetches += 1;
        let fetch = Some(Fetch::Open(miss));
        Ok(Write { allocated, sent_on: true, fetch, ..Write::default() })
    }
}
