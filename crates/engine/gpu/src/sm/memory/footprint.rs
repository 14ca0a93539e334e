//! The channels and banks that a memory instruction accesses.

use warpmem_dram::Dram;
use warpmem_sim::{BankId, ChannelId};

/// Counts the distinct channels and banks among the requests of an instruction.
pub(super) struct Footprint {
    /// Banks per channel.
    banks: usize,
    /// A bit per bank of the memory; all clear between counts.
    seen: Vec<u64>,
    /// Banks whose bit is set.
    touched: Vec<u32>,
}

impl Footprint {
    pub fn new(dram: &Dram) -> Footprint {
        let total = (dram.channels * dram.banks) as usize;
        Footprint {
            banks: dram.banks as usize,
            seen: vec![0; total.div_ceil(64)],
            touched: Vec::new(),
        }
    }

    /// Returns the numbers of distinct channels and of distinct (channel, bank) pairs.
    pub fn count(&mut self, requests: impl Iterator<Item = (ChannelId, BankId)>) -> (u32, u32) {
        self.touched.clear();
        let mut channels = 0u128;
        let mut last = None;
        for (channel, bank) in requests {
            // Neighbouring sectors mostly share a bank.
            if last.replace((channel, bank)) == Some((channel, bank)) {
                continue;
            }
            channels |= 1 << channel.0;
            let bank = channel.index() * self.banks + bank.index();
            if self.seen[bank / 64] >> (bank % 64) & 1 == 0 {
                self.seen[bank / 64] |= 1 << (bank % 64);
                self.touched.push(bank as u32);
            }
        }
        for &bank in &self.touched {
            self.seen[bank as usize / 64] = 0;
        }
        (channels.count_ones(), self.touched.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_starts_from_an_empty_footprint() {
        let dram = warpmem_machine::load("li2015", &[]).unwrap().dram;
        let mut footprint = Footprint::new(&dram);
        for _ in 0..2 {
            let requests = [(0, 3), (0, 3), (0, 4), (5, 3)];
            let requests = requests.map(|(channel, bank)| (ChannelId(channel), BankId(bank)));
            assert_eq!(footprint.count(requests.into_iter()), (2, 3));
        }
    }
}
