//! Sharing of lines and rows among the CTAs of a kernel.

use super::sampled::Sampled;
use serde::Serialize;
use warpmem_record::metrics::quotient;

/// CTAs that use an item, added in ascending order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Users {
    ctas: u32,
    /// CTAs whose predecessor or successor uses the item too.
    consecutive: u32,
    /// Latest CTA; CTAs of different kernels never have consecutive numbers.
    latest: u64,
    /// Whether the latest CTA is counted as consecutive.
    is_counted: bool,
}

impl Users {
    pub fn add(&mut self, cta: u64) {
        if self.ctas > 0 && self.latest == cta {
            return;
        }
        let follows = self.ctas > 0 && self.latest + 1 == cta;
        self.consecutive += u32::from(follows) + u32::from(follows && !self.is_counted);
        self.is_counted = follows;
        self.latest = cta;
        self.ctas += 1;
    }

    pub fn consecutive_share(&self) -> Option<f64> {
        quotient(self.consecutive.into(), self.ctas.into())
    }
}

/// An item used by CTAs, and its number of accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub by: Users,
    pub accesses: u64,
}

/// Sharing of lines or rows among CTAs. CTAs of different kernels are distinct. All accesses of the
/// trace count, including those that caches would keep from DRAM.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sharing {
    /// Sampling: one in this many lines or rows was kept, and the figures describe the kept ones; 1
    /// means all.
    pub all_per_kept: u64,
    /// Bins by number of CTAs: 1, 2, 3 to 4, 5 to 8, …; up to the largest that occurs.
    pub by_ctas: Vec<SharedBin>,
    /// Share of items used by two or more CTAs; null without items.
    pub shared_share: Option<f64>,
    /// Share of accesses that go to shared items; null without accesses.
    pub shared_access_share: Option<f64>,
    /// Mean number of CTAs per item.
    pub mean_ctas: Option<f64>,
    /// Fraction of an item's CTAs whose predecessor or successor uses it too; mean over all items,
    /// 0 for an item used by a single CTA (Jog et al., ASPLOS 2013, Table 4).
    pub consecutive_share: Option<f64>,
}

/// Lines or rows used by a range of numbers of CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SharedBin {
    pub from_ctas: u64,
    /// End of the range, inclusive.
    pub to_ctas: u64,
    /// Share of all lines or rows.
    pub share: f64,
    /// Share of all accesses.
    pub access_share: f64,
}

/// Computes the shares over a table; of a sample, the shares of the sample.
pub(super) fn sharing<T>(table: &Sampled<T>, used: impl Fn(&T) -> Used) -> Sharing {
    let (mut bins, mut ctas, mut consecutive) = (Vec::<(u64, u64)>::new(), 0, 0.0);
    for Used { by, accesses } in table.values().map(used) {
        let bin = by.ctas.max(1).next_power_of_two().ilog2() as usize;
        if bin >= bins.len() {
            bins.resize(bin + 1, (0, 0));
        }
        bins[bin].0 += 1;
        bins[bin].1 += accesses;
        ctas += u64::from(by.ctas);
        consecutive += by.consecutive_share().unwrap_or(0.0);
    }
    let all: u64 = bins.iter().map(|bin| bin.0).sum();
    let accesses: u64 = bins.iter().map(|bin| bin.1).sum();
    let single = bins.first().copied().unwrap_or_default();
    let of = |part: u64, whole: u64| quotient(part, whole).unwrap_or(0.0);
    let shared_bin = |(bin, &(count, used)): (usize, &(u64, u64))| SharedBin {
        from_ctas: (1 << bin >> 1) + 1,
        to_ctas: 1 << bin,
        share: of(count, all),
        access_share: of(used, accesses),
    };
    Sharing {
        all_per_kept: table.weight(),
        by_ctas: bins.iter().enumerate().map(shared_bin).collect(),
        shared_share: quotient(all - single.0, all),
        shared_access_share: quotient(accesses - single.1, accesses),
        mean_ctas: quotient(ctas, all),
        consecutive_share: (all > 0).then(|| consecutive / all as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(ctas: &[u64]) -> Used {
        let mut used = Used::default();
        for &cta in ctas {
            used.by.add(cta);
            used.accesses += 1;
        }
        used
    }

    #[test]
    fn consecutive_ctas_have_a_neighbour() {
        let of = |ctas: &[u64]| (used(ctas).by.ctas, used(ctas).by.consecutive);
        assert_eq!(of(&[1, 2, 3, 4]), (4, 4), "the paper's example: all");
        assert_eq!(of(&[1, 3, 5]), (3, 0));
        assert_eq!(of(&[0, 1, 9, 20, 21, 22]), (6, 5));
        assert_eq!(of(&[0, 0, 0]), (1, 0));
        assert_eq!(of(&[0, 1, 1, 2]), (3, 3));
        assert_eq!(of(&[]), (0, 0));
    }

    #[test]
    fn shares_by_hand() {
        let mut table = Sampled::new(10);
        // One line used by one CTA, one by two neighbours, one by three CTAs of which two are
        // neighbours, one by five scattered CTAs.
        let all: [&[u64]; 4] = [&[7], &[1, 2, 2], &[4, 5, 8], &[0, 2, 4, 6, 8]];
        for (key, ctas) in all.into_iter().enumerate() {
            table.entry(key as u64, || used(ctas));
        }
        let sharing = sharing(&table, |&used| used);
        let bins: Vec<_> = sharing
            .by_ctas
            .iter()
            .map(|bin| (bin.from_ctas, bin.to_ctas, bin.share, bin.access_share))
            .collect();
        let twelfth = 1.0 / 12.0;
        let expected = [
            (1, 1, 0.25, twelfth),
            (2, 2, 0.25, 3.0 * twelfth),
            (3, 4, 0.25, 3.0 * twelfth),
            (5, 8, 0.25, 5.0 / 12.0),
        ];
        assert_eq!(bins, expected);
        assert_eq!(
            (sharing.shared_share, sharing.shared_access_share),
            (Some(0.75), Some(11.0 / 12.0))
        );
        assert_eq!(sharing.mean_ctas, Some(11.0 / 4.0));
        assert_eq!(sharing.consecutive_share, Some((0.0 + 1.0 + 2.0 / 3.0 + 0.0) / 4.0));
    }

    #[test]
    fn samples_are_marked_as_such() {
        let mut table = Sampled::new(10);
        for key in 0..40 {
            table.entry(key, || used(&[1, 2]));
        }
        assert_eq!(sharing(&table, |&used| used).all_per_kept, 1);
        table.shrink(|_| ());
        let sharing = sharing(&table, |&used| used);
        assert!(sharing.all_per_kept >= 4 && sharing.all_per_kept == table.weight());
        assert_eq!(sharing.shared_share, Some(1.0));
    }

    #[test]
    fn unused_lines_have_no_sharing() {
        let sharing = sharing(&Sampled::new(10), |&used: &Used| used);
        assert_eq!((sharing.shared_share, sharing.mean_ctas), (None, None));
        assert_eq!((sharing.consecutive_share, sharing.by_ctas), (None, vec![]));
    }
}
