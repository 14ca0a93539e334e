//! The resident warps of an SM.

use super::warp::Warp;
use crate::results::WarpRow;
use warpmem_sim::WarpSlot;

/// Resident warps by slot, and the rows of warps that retire.
pub(super) struct Warps {
    by_slot: Vec<Option<Box<Warp>>>,
    /// Rows of the warps retired in this step.
    retired: Vec<WarpRow>,
}

impl Warps {
    pub fn new(slots: u32) -> Warps {
        Warps { by_slot: (0..slots).map(|_| None).collect(), retired: Vec::new() }
    }

    /// Returns the warp in `slot`, which must be occupied.
    #[inline]
    pub fn get(&self, slot: WarpSlot) -> &Warp {
        self.by_slot[slot.index()].as_ref().expect("the warp is resident")
    }

    /// Returns the warp in `slot`, which must be occupied.
    #[inline]
    pub fn get_mut(&mut self, slot: WarpSlot) -> &mut Warp {
        self.by_slot[slot.index()].as_mut().expect("the warp is resident")
    }

    /// Returns the warp in `slot`, if any.
    pub fn find(&self, slot: WarpSlot) -> Option<&Warp> {
        self.by_slot[slot.index()].as_deref()
    }

    /// Returns the warp in `slot`, if any.
    pub fn find_mut(&mut self, slot: WarpSlot) -> Option<&mut Warp> {
        self.by_slot[slot.index()].as_deref_mut()
    }

    pub fn launch(&mut self, slot: WarpSlot, warp: Warp) {
        self.by_slot[slot.index()] = Some(Box::new(warp));
    }

    /// Removes the warp in `slot` and keeps its row.
    pub fn retire(&mut self, slot: WarpSlot, row: WarpRow) {
        self.by_slot[slot.index()] = None;
        self.retired.push(row);
    }

    /// Returns the rows of the warps retired since the caller last drained them.
    #[inline]
    pub fn retired_mut(&mut self) -> &mut Vec<WarpRow> {
        &mut self.retired
    }
}
