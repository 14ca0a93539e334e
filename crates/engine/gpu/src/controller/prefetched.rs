//! The addresses of prefetched lines.

use crate::context::Context;
use warpmem_dram::Completion;
use warpmem_machine::Machine;
use warpmem_sim::{DramClock, Request, RequestId, RequestKind};

/// Addresses in the open rows, the base of those of prefetched lines.
pub(super) struct OpenRows {
    /// By bank, the byte address of the request served last. It lies in the open row and determines
    /// which of the addresses that map to this row are in use.
    served: Box<[u64]>,
    columns_per_line: u32,
    /// Sectors of a line, one bit each.
    sectors: u8,
}

impl OpenRows {
    pub fn new(machine: &Machine) -> OpenRows {
        let cache = &machine.l2.cache;
        OpenRows {
            served: vec![0; machine.dram.banks as usize].into(),
            columns_per_line: cache.line_bytes / machine.dram.burst_bytes(),
            sectors: u8::MAX >> (u8::BITS - cache.line_bytes / cache.sector_bytes),
        }
    }

    /// Returns the finished request: that of a slice, or a new one that carries a prefetched line.
    pub fn request(&mut self, done: &Completion, clock: DramClock, ctx: &mut Context) -> RequestId {
        let served = &mut self.served[done.bank.index()];
        if !done.is_prefetch() {
            let id = RequestId(done.id);
            *served = ctx.requests.get(id).address;
            return id;
        }
        let column = (u32::from(done.line) * self.columns_per_line) as u16;
        // Where the row extends beyond the last address, the line is redundant.
        let address = ctx.map.beside(*served, column).unwrap_or(*served);
        let line = Request::of_slice(address, RequestKind::Prefetch, ctx.map.locate(address));
        ctx.requests.add(Request { sectors: self.sectors, ..line }, clock.at(done.first_command))
    }
}
