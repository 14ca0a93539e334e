//! Accesses outside simulated time: they change lines, but cause no traffic, take no time and are not
//! counted. Lines that they evict are not written back again.

use super::rules::StoreEffect;
use super::{Allocation, CacheController, Place};
use crate::WriteAllocate;
use crate::tags::{ALL_BYTES, LineSlot};

/// Effect of such an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warmed {
    /// The data were valid or pending.
    pub hit: bool,
    /// The position of the line, and its allocation if it was absent.
    pub slot: LineSlot,
    pub allocated: Option<Allocation>,
}

impl CacheController {
    /// Reads the sector at `address`. None if every line of its set is reserved.
    pub fn warm_read(&mut self, address: u64, set_key: impl FnOnce(u64) -> u64) -> Option<Warmed> {
        let at = self.place(address);
        let (slot, allocated) = self.warm_line(&at, set_key)?;
        self.tags.touch(slot);
        let is_pending = self.tags.is_pending(slot, at.part);
        let hit = is_pending || self.tags.holds(slot, at.part, ALL_BYTES);
        if !hit {
            self.tags.fill(slot, at.part);
        }
        Some(Warmed { hit, slot, allocated })
    }

    /// Stores `bytes` of the sector at `address`. None if the store leaves no line.
    pub fn warm_write(
        &mut self,
        address: u64,
        bytes: u32,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Option<Warmed> {
        let at = self.place(address);
        let effect = self.rules.effect(false);
        let present = self.tags.find(at.line);
        if effect == StoreEffect::Drop {
            self.warm_drop(address);
            return None;
        }
        if present.is_none() && !self.rules.allocates(effect) {
            return None;
        }
        let (slot, allocated) = self.warm_line(&at, set_key)?;
        self.tags.touch(slot);
        let hit = self.tags.present(slot) >> at.part & 1 == 1;
        if !self.tags.is_pending(slot, at.part) {
            let (valid, is_sent_on) = match self.rules.write_allocate {
                WriteAllocate::SendAndFetch => (ALL_BYTES, !hit),
                WriteAllocate::FetchOnWrite => (ALL_BYTES, false),
                _ => (bytes, false),
            };
            let is_dirty = effect == StoreEffect::Keep && !is_sent_on;
            self.tags.write(slot, at.part, valid, is_dirty);
            if is_dirty && self.bounds_dirty() {
                self.tags.clean_beyond_bound(slot);
            }
        }
        Some(Warmed { hit, slot, allocated })
    }

    /// Drops the sector at `address`, unless it is pending.
    pub fn warm_drop(&mut self, address: u64) {
        let at = self.place(address);
        if let Some(slot) =
            self.tags.find(at.line).filter(|&slot| !self.tags.is_pending(slot, at.part))
        {
            self.tags.drop_sector(slot, at.part);
        }
    }

    /// Finds or allocates the line of an access.
    fn warm_line(
        &mut self,
        at: &Place,
        set_key: impl FnOnce(u64) -> u64,
    ) -> Option<(LineSlot, Option<Allocation>)> {
        if let Some(slot) = self.tags.find(at.line) {
            return Some((slot, None));
        }
        let victim = self.tags.victim(set_key(at.line))?;
        let allocated = self.replace(victim, at.line);
        Some((allocated.slot, Some(allocated)))
    }
}
