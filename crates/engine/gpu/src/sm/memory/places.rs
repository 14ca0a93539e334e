//! How many channels and banks a memory instruction reaches.

use warpmem_dram::Dram;
use warpmem_sim::{BankId, ChannelId};

/// Counts the different channels and banks among a few requests.
pub(super) struct Places {
    banks: usize,
    seen: Vec<u64>,
    touched: Vec<u32>,
}

impl Places {
    pub fn new(dram: &Dram) -> Places {
        let total = (dram.channels * dram.banks) as usize;
        Places {
            banks: dram.banks as usize,
            seen: vec![0; total.div_ceil(64)],
            touched: Vec::new(),
        }
    }

    /// Different channels and different (channel, bank) pairs.
    pub fn count(&mut self, places: impl Iterator<Item = (ChannelId, BankId)>) -> (u32, u32) {
        self.touched.clear();
        let mut channels = 0u128;
        let mut last = None;
        for (channel, bank) in places {
            // Neighbouring sectors mostly lie in one bank.
            if last.replace((channel, bank)) == Some((channel, bank)) {
                continue;
            }
            channels |= 1 << channel.0;
            let place = channel.index() * self.banks + bank.index();
            if self.seen[place / 64] >> (place % 64) & 1 == 0 {
                self.seen[place / 64] |= 1 << (place % 64);
                self.touched.push(place as u32);
            }
        }
        for &place in &self.touched {
            self.seen[place as usize / 64] = 0;
        }
        (channels.count_ones(), self.touched.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_once_each_time() {
        let dram = warpmem_machine::load("li2015", &[]).unwrap().dram;
        let mut places = Places::new(&dram);
        for _ in 0..2 {
            let reached = [(0, 3), (0, 3), (0, 4), (5, 3)];
            let reached = reached.map(|(channel, bank)| (ChannelId(channel), BankId(bank)));
            let got = places.count(reached.into_iter());
            assert_eq!(got, (2, 3));
        }
    }
}
