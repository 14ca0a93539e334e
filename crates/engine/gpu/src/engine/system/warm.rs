//! Accesses outside simulated time ([`warming`](crate::engine::warming)).

use super::System;
use crate::cta::Gap;
use crate::engine::region_units::RegionUnits;
use crate::l2::Slice;
use crate::sm::ReplayedAccess;
use std::sync::Arc;
use warpmem_sim::{SliceId, SmId};

impl System {
    /// Takes what the dispatcher skipped before the last started CTA.
    pub fn take_gap(&mut self) -> Option<Gap> {
        self.dispatcher.take_gap()
    }

    /// Carries out an access of an SM outside simulated time.
    pub fn warm(&mut self, sm: SmId, address: u64, access: ReplayedAccess) {
        let map = Arc::clone(&self.parts[0].map);
        let place = map.locate(address);
        let home = place.slice;
        if access == ReplayedAccess::Read {
            let entry = self.peers.map_or(home, |peers| peers.entry_slice(sm, home));
            let is_copy = entry != home;
            if !self.slice_mut(entry).warm_read(address, place, &map) && is_copy {
                let home = self.slice_mut(home);
                home.warm_read(address, place, &map);
                home.warm_copied(address);
            }
            return;
        }
        if let Some(peers) = self.peers {
            self.slice_mut(peers.peer(home)).warm_drop(address);
        }
        let home = self.slice_mut(home);
        match access {
            ReplayedAccess::Store(bytes) => home.warm_write(address, bytes, place, &map),
            _ => {
                home.warm_read(address, place, &map);
                home.warm_write(address, u32::MAX, place, &map);
            }
        }
    }

    fn slice_mut(&mut self, id: SliceId) -> &mut Slice {
        let of = |part: &RegionUnits| part.first_slice + part.slices.len() > id.index();
        let part = self.parts.iter_mut().find(|part| of(part)).expect("every slice has a region");
        &mut part.slices[id.index() - part.first_slice]
    }
}
