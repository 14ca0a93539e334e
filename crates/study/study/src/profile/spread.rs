//! Spread of accesses over a machine's DRAM channels, banks and rows, according to its address map.

use super::access::Geometry;
use super::footprint::Line;
use super::sampled::{Estimate, Sampled};
use super::sharing::{Sharing, Used, sharing};
use serde::Serialize;
use warpmem_machine::{Machine, MachineError};
use warpmem_record::metrics::quotient;
use warpmem_sim::{AddressMap, Location};

/// Evenness of a distribution over channels or banks. In a sample, each kept key is weighted by the
/// number of keys that it represents, and all values are estimates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evenness {
    pub min: u64,
    pub mean: f64,
    pub max: u64,
    /// Standard deviation over mean, without the contribution of sampling; null if all are 0.
    pub coefficient_of_variation: Option<f64>,
    /// Entropy of the shares relative to equal shares: 1 if all are equal, 0 if everything is in
    /// one; null if all are 0 or there is only one.
    pub entropy_share: Option<f64>,
}

impl Evenness {
    /// Computes the evenness of counts of keys that represent `weight` keys each. A sampled count
    /// is binomial: its variance is its mean times the fraction outside the sample. Over n counts,
    /// sampling adds (n - 1) / n of that to the variance about their common mean.
    fn of(counts: &[u64], weight: u64) -> Evenness {
        let (n, sum) = (counts.len() as f64, counts.iter().sum::<u64>() as f64);
        let mean = sum / n.max(1.0);
        let variance = counts.iter().map(|&c| (c as f64 - mean).powi(2)).sum::<f64>() / n.max(1.0);
        let of_sampling = mean * (1.0 - 1.0 / weight as f64) * (1.0 - 1.0 / n.max(1.0));
        let variance = (variance - of_sampling).max(0.0);
        let shares = counts.iter().filter(|&&count| count > 0).map(|&count| count as f64 / sum);
        let entropy: f64 = shares.map(|share| -share * libm::log(share)).sum();
        Evenness {
            min: weight * counts.iter().copied().min().unwrap_or(0),
            mean: weight as f64 * mean,
            max: weight * counts.iter().copied().max().unwrap_or(0),
            coefficient_of_variation: (sum > 0.0).then(|| variance.sqrt() / mean),
            entropy_share: (sum > 0.0 && n > 1.0).then(|| (entropy / libm::log(n)).clamp(0.0, 1.0)),
        }
    }
}

/// Global accesses of some kernels on the machine. An access is a distinct line of a warp
/// instruction, located by its first byte.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelSpread {
    pub accesses: u64,
    /// Accesses by channel.
    pub accesses_per_channel: Vec<u64>,
    /// Evenness of accesses over channels.
    pub channels: Evenness,
    /// Evenness of accesses over all channels' banks.
    pub banks: Evenness,
    /// Distinct channels per warp instruction, mean over those with several lines.
    pub channels_per_divergent_instruction: Option<f64>,
}

/// Global lines and rows of the whole trace on the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    pub machine: String,
    /// Sampling: one in this many lines was kept, and line counts are estimates; 1 means all, and
    /// counts are exact.
    pub lines_per_kept: u64,
    /// Distinct lines by channel.
    pub lines_per_channel: Vec<u64>,
    /// Evenness of distinct lines over channels.
    pub line_channels: Evenness,
    /// Evenness of distinct lines over all channels' banks.
    pub line_banks: Evenness,
    /// Distinct DRAM rows.
    pub rows: Estimate,
    /// Mean number of accesses to a row of a bank before an access to another row of that bank, in
    /// the order in which the trace is read: without caches, one CTA at a time.
    pub accesses_per_row_visit: Option<f64>,
    /// Sharing of rows among CTAs.
    pub row_sharing: Sharing,
}

/// Mapping of lines to a machine's banks.
pub(super) struct Places {
    map: AddressMap,
    geometry: Geometry,
    channels: usize,
    banks: usize,
}

impl Places {
    pub fn new(machine: &Machine, geometry: Geometry) -> Result<Places, MachineError> {
        let map = machine.address_map()?;
        let (channels, banks) = (machine.dram.channels as usize, machine.dram.banks as usize);
        Ok(Places { map, geometry, channels, banks })
    }

    pub fn of(&self, line: u64) -> Location {
        self.map.locate(self.geometry.address(line))
    }

    /// Returns the number of the bank over all channels.
    pub fn bank(&self, place: &Location) -> usize {
        place.channel.index() * self.banks + place.bank.index()
    }

    fn per_channel(&self, by_bank: &[u64]) -> Vec<u64> {
        by_bank.chunks(self.banks).map(|banks| banks.iter().sum()).collect()
    }
}

/// Accesses of some kernels by bank.
#[derive(Clone, Debug)]
pub(super) struct SpreadTally {
    by_bank: Vec<u64>,
    /// Instructions with several lines, and the sum of their channels.
    divergent: u64,
    channels: u64,
}

impl SpreadTally {
    pub fn new(places: &Places) -> SpreadTally {
        SpreadTally { by_bank: vec![0; places.channels * places.banks], divergent: 0, channels: 0 }
    }

    pub fn access(&mut self, bank: usize) {
        self.by_bank[bank] += 1;
    }

    /// Counts an instruction with several lines that accesses `channels` channels.
    pub fn divergent(&mut self, channels: u32) {
        self.divergent += 1;
        self.channels += u64::from(channels);
    }

    pub fn merge(&mut self, other: &SpreadTally) {
        self.by_bank.iter_mut().zip(&other.by_bank).for_each(|(mine, theirs)| *mine += theirs);
        self.divergent += other.divergent;
        self.channels += other.channels;
    }

    pub fn figures(&self, places: &Places) -> ChannelSpread {
        let per_channel = places.per_channel(&self.by_bank);
        ChannelSpread {
            accesses: self.by_bank.iter().sum(),
            channels: Evenness::of(&per_channel, 1),
            accesses_per_channel: per_channel,
            banks: Evenness::of(&self.by_bank, 1),
            channels_per_divergent_instruction: quotient(self.channels, self.divergent),
        }
    }
}

/// Accessed rows, and the CTAs that access them.
pub(super) struct RowTally {
    rows: Sampled<Used>,
    /// Row of the latest access to each bank.
    open: Vec<Option<u32>>,
    accesses: u64,
    visits: u64,
}

impl RowTally {
    pub fn new(places: &Places, limit: usize) -> RowTally {
        let open = vec![None; places.channels * places.banks];
        RowTally { rows: Sampled::new(limit), open, accesses: 0, visits: 0 }
    }

    pub fn access(&mut self, bank: usize, row: u32, cta: u64) {
        self.accesses += 1;
        self.visits += u64::from(self.open[bank].replace(row) != Some(row));
        let key = (bank as u64) << u32::BITS | u64::from(row);
        if !self.rows.keeps(key) {
            return;
        }
        let (used, is_new) = self.rows.entry(key, Used::default);
        used.accesses += 1;
        used.by.add(cta);
        if is_new {
            self.rows.shrink(|_| ());
        }
    }

    /// Computes the figures, together with the touched lines.
    pub fn figures(&self, machine: &Machine, places: &Places, lines: &Sampled<Line>) -> Spread {
        let mut by_bank = vec![0; self.open.len()];
        for (line, _) in lines.iter() {
            by_bank[places.bank(&places.of(line))] += 1;
        }
        let (kept, weight) = (places.per_channel(&by_bank), lines.weight());
        Spread {
            machine: machine.name.clone(),
            lines_per_kept: weight,
            line_channels: Evenness::of(&kept, weight),
            lines_per_channel: kept.iter().map(|lines| lines * weight).collect(),
            line_banks: Evenness::of(&by_bank, weight),
            rows: self.rows.sum(|_| 1),
            accesses_per_row_visit: quotient(self.accesses, self.visits),
            row_sharing: sharing(&self.rows, |&used| used),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Options;
    use crate::testing::machine;

    #[test]
    fn evenness_by_hand() {
        let even = Evenness::of(&[5, 5, 5, 5], 1);
        assert_eq!((even.min, even.mean, even.max), (5, 5.0, 5));
        assert_eq!((even.coefficient_of_variation, even.entropy_share), (Some(0.0), Some(1.0)));
        let one = Evenness::of(&[0, 8], 1);
        assert_eq!((one.min, one.mean, one.max), (0, 4.0, 8));
        assert_eq!((one.coefficient_of_variation, one.entropy_share), (Some(1.0), Some(0.0)));
        // Half, a quarter, a quarter: 1.5 bits of 2.
        let skewed = Evenness::of(&[4, 2, 2, 0], 1);
        assert!((skewed.entropy_share.unwrap() - 0.75).abs() < 1e-12);
        assert!((skewed.coefficient_of_variation.unwrap() - 0.5f64.sqrt()).abs() < 1e-12);
        let none = Evenness::of(&[0, 0], 1);
        assert_eq!((none.coefficient_of_variation, none.entropy_share), (None, None));
        assert_eq!(Evenness::of(&[3], 1).entropy_share, None);
    }

    #[test]
    fn sampled_counts_are_scaled_and_smoothed() {
        // Mean 10; variance 16, of which 10 (1 - 1/4) (1 - 1/2) is due to sampling.
        let counts = [6, 14];
        let sampled = Evenness::of(&counts, 4);
        assert_eq!((sampled.min, sampled.mean, sampled.max), (24, 40.0, 56));
        let variance = 16.0 - 10.0 * 0.75 * 0.5;
        assert_eq!(sampled.coefficient_of_variation, Some(f64::sqrt(variance) / 10.0));
        assert_eq!(Evenness::of(&counts, 1).coefficient_of_variation, Some(0.4));
        assert_eq!(Evenness::of(&[9, 11], 4).coefficient_of_variation, Some(0.0));
    }

    /// 64,000 lines, round robin over channels: the counts of the sample differ, those of the trace
    /// do not.
    #[test]
    fn sampled_lines_are_weighted() {
        let (machine, places) = places();
        let rows = RowTally::new(&places, 10);
        let mut lines = Sampled::new(1000);
        for line in 0..64_000 {
            if lines.keeps(line) && lines.entry(line, Line::default).1 {
                lines.shrink(|_| ());
            }
        }
        let figures = rows.figures(&machine, &places, &lines);
        assert!(figures.lines_per_kept >= 64 && figures.lines_per_kept == lines.weight());
        let Evenness { mean, min, max, .. } = figures.line_channels;
        assert!((mean - 32_000.0).abs() < 3000.0, "{figures:?}");
        assert_eq!(figures.lines_per_channel.iter().min(), Some(&min));
        assert_eq!(figures.lines_per_channel.iter().max(), Some(&max));
        let counts: Vec<u64> =
            figures.lines_per_channel.iter().map(|lines| lines / figures.lines_per_kept).collect();
        assert_eq!(figures.line_channels, Evenness::of(&counts, figures.lines_per_kept));
        assert_eq!(counts.iter().sum::<u64>(), lines.len() as u64);
    }

    /// Maps two channels interleaved by 256 bytes; two banks per channel would suffice.
    fn places() -> (Machine, Places) {
        let machine = machine(&["dram.address.interleave_bytes=256"]);
        let places = Places::new(&machine, Geometry::new(&Options::default())).unwrap();
        (machine, places)
    }

    #[test]
    fn lines_follow_the_machines_address_map() {
        let (_, places) = places();
        let map = &places.map;
        for line in [0u64, 1, 2, 3, 1000, 12_345_678] {
            assert_eq!(places.of(line), map.locate(line * 128));
        }
        let mut tally = SpreadTally::new(&places);
        for line in 0..64 {
            tally.access(places.bank(&places.of(line)));
        }
        tally.divergent(2);
        tally.divergent(1);
        let figures = tally.figures(&places);
        assert_eq!((figures.accesses, figures.accesses_per_channel), (64, vec![32, 32]));
        assert_eq!(figures.channels_per_divergent_instruction, Some(1.5));
        assert_eq!(figures.banks.mean, 64.0 / (2.0 * places.banks as f64));
    }

    #[test]
    fn a_visit_ends_with_another_row_of_the_bank() {
        let (machine, places) = places();
        let mut rows = RowTally::new(&places, 100);
        // Bank 0: row 7 twice, row 8, row 7; bank 1 between them: row 7 three times by two CTAs.
        for (bank, row, cta) in
            [(0, 7, 0), (1, 7, 0), (0, 7, 0), (0, 8, 0), (1, 7, 0), (0, 7, 1), (1, 7, 3)]
        {
            rows.access(bank, row, cta);
        }
        let mut lines = Sampled::new(10);
        for line in [0, 1, 2] {
            lines.entry(line, Line::default);
        }
        let figures = rows.figures(&machine, &places, &lines);
        assert_eq!(figures.rows, Estimate { value: 3, standard_error: 0.0 });
        assert_eq!(figures.accesses_per_row_visit, Some(7.0 / 4.0));
        assert_eq!(figures.row_sharing.mean_ctas, Some(5.0 / 3.0));
        // Row 7 of bank 0 is shared by neighbours, row 7 of bank 1 by CTAs 0 and 3.
        assert_eq!(figures.row_sharing.consecutive_share, Some(1.0 / 3.0));
        assert_eq!(figures.lines_per_channel, [2, 1], "lines 0 and 1 lie side by side");
    }
}
