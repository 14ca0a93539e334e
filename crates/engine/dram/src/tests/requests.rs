//! Requests, streams of requests, and commands for tests.

use crate::{Command, CommandKind, Dram, DramRequest};
use warpmem_sim::{BankId, RowId};

/// Returns a one-burst read.
pub fn read(id: u32, bank: u16, row: u32) -> DramRequest {
    DramRequest::read(id, BankId(bank), RowId(row))
}

pub fn write(id: u32, bank: u16, row: u32) -> DramRequest {
    DramRequest { write: true, ..read(id, bank, row) }
}

/// Returns a read of an SM.
pub fn from(sm: u16, id: u32, bank: u16, row: u32) -> DramRequest {
    DramRequest { sm, ..read(id, bank, row) }
}

/// Returns a read of a warp.
pub fn of_warp(id: u32, bank: u16, row: u32, warp: u32) -> DramRequest {
    DramRequest { warp, ..read(id, bank, row) }
}

/// Returns a command to row 0 that serves no request.
pub fn command(cycle: u64, kind: CommandKind, bank: u16) -> Command {
    Command { cycle, kind, bank, row: 0, burst: 0, request: None }
}

/// A small deterministic generator (SplitMix64), so that streams are equal on every host.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// Returns uniform random banks and rows with `locality` successive requests to each.
pub fn random(dram: &Dram, count: u32, locality: u32, seed: u64) -> Vec<DramRequest> {
    let mut random = Random(seed);
    let mut place = (0, 0);
    (0..count)
        .map(|id| {
            if id % locality == 0 {
                place = (random.below(dram.banks.into()) as u16, random.below(4096) as u32);
            }
            read(id, place.0, place.1)
        })
        .collect()
}

/// Returns whole rows of all banks in parallel, round robin over the banks.
pub fn sequential(dram: &Dram, count: u32) -> Vec<DramRequest> {
    let columns = dram.row_bytes / (dram.bus_bytes * dram.burst_length);
    (0..count).map(|id| read(id, (id % dram.banks) as u16, id / (dram.banks * columns))).collect()
}
