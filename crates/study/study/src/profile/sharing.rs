//! Which lines and rows the CTAs of a kernel share.

use super::sampled::Sampled;
use serde::Serialize;
use warpmem_record::metrics::quotient;

/// The CTAs that use something, added in ascending order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Users {
    ctas: u32,
    /// CTAs whose predecessor or successor uses it too.
    consecutive: u32,
    /// The last CTA; CTAs of different kernels never have consecutive numbers.
    latest: u64,
    /// Whether the last CTA is counted as consecutive.
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

/// Something that CTAs use, and how often.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub by: Users,
    pub accesses: u64,
}

/// How CTAs share lines or rows. CTAs of different kernels are different CTAs. All accesses of the
/// trace count, including those that caches would keep from DRAM.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sharing {
    /// One in this many lines or rows was kept, and the figures are those of the kept ones; 1: all.
    pub all_per_kept: u64,
    /// By number of CTAs: 1, 2, 3 to 4, 5 to 8, …; up to the largest that occurs.
    pub by_ctas: Vec<SharedBin>,
    /// Share of all that two or more CTAs use; null without any.
    pub shared_share: Option<f64>,
    /// Accesses to those, of all accesses; null without any.
    pub shared_access_share: Option<f64>,
    /// CTAs, mean over all.
    pub mean_ctas: Option<f64>,
    /// Of the CTAs that use a line or row, the fraction whose predecessor or successor uses it too;
    /// mean over all, 0 for one that a single CTA uses (Jog et al., ASPLOS 2013, Table 4).
    pub consecutive_share: Option<f64>,
}

/// The lines or rows used by this many CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SharedBin {
    pub from_ctas: u64,
    /// Included.
    pub to_ctas: u64,
    /// Of all lines or rows.
    pub share: f64,
    /// Of all accesses.
    pub access_share: f64,
}

/// The shares over a table; if it is a sample, those of the sample.
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
        // One line of one CTA, one of two neighbours, one of three of which two are neighbours, one
        // of five apart.
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
    fn a_sample_says_that_it_is_one() {
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
    fn nothing_is_shared_where_nothing_is_used() {
        let sharing = sharing(&Sampled::new(10), |&used: &Used| used);
        assert_eq!((sharing.shared_share, sharing.mean_ctas), (None, None));
        assert_eq!((sharing.consecutive_share, sharing.by_ctas), (None, vec![]));
    }
}
