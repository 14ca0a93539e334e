//! GPCs: groups of SMs with a network of their own.

use std::ops::Range;

use crate::SmId;

/// SMs of a TPC, all in the same GPC.
const PER_TPC: usize = 2;

/// Assignment of SMs to GPCs: consecutive SMs, whole TPCs, as even as possible.
#[derive(Clone, Copy, Debug)]
pub struct Gpcs {
    sms: usize,
    count: usize,
}

impl Gpcs {
    /// Divides `sms` SMs into `count` GPCs, none of them empty.
    pub fn new(sms: u32, count: u32) -> Gpcs {
        Gpcs { sms: sms as usize, count: count as usize }
    }

    /// Returns the largest number of GPCs for `sms` SMs.
    pub fn most(sms: u32) -> u32 {
        sms.div_ceil(PER_TPC as u32)
    }

    pub fn count(self) -> usize {
        self.count
    }

    /// Returns the SMs of a GPC.
    pub fn sms(self, gpc: usize) -> Range<usize> {
        let tpcs = self.sms.div_ceil(PER_TPC);
        let start = |gpc: usize| (tpcs * gpc / self.count * PER_TPC).min(self.sms);
        start(gpc)..start(gpc + 1)
    }

    /// Returns the GPC of an SM.
    pub fn of(self, sm: SmId) -> usize {
        let is_before = |gpc: &usize| self.sms(*gpc).end <= sm.index();
        (0..self.count).take_while(is_before).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tpcs_are_distributed_whole_and_evenly() {
        let sizes = |sms, count| -> Vec<usize> {
            let gpcs = Gpcs::new(sms, count);
            (0..gpcs.count()).map(|gpc| gpcs.sms(gpc).len()).collect()
        };
        assert_eq!(sizes(132, 8), [16, 16, 16, 18, 16, 16, 16, 18]);
        assert_eq!(sizes(5, 2), [2, 3]);
        assert_eq!(sizes(7, Gpcs::most(7)), [2, 2, 2, 1]);
        assert_eq!(sizes(1, 1), [1]);
    }

    #[test]
    fn every_sm_is_in_its_gpc() {
        for (sms, count) in [(132, 8), (5, 2), (7, 4), (1, 1)] {
            let gpcs = Gpcs::new(sms, count);
            for sm in SmId::all(sms as usize) {
                assert!(gpcs.sms(gpcs.of(sm)).contains(&sm.index()), "{sm} of {sms} in {count}");
            }
            let all: Vec<usize> = (0..gpcs.count()).flat_map(|gpc| gpcs.sms(gpc)).collect();
            assert_eq!(all, (0..sms as usize).collect::<Vec<_>>());
        }
    }
}
