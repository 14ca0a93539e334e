//! Groups of SMs with a network of their own between them (GPCs).

use std::ops::Range;

use crate::SmId;

/// SMs of a TPC, which are in one GPC.
const PER_TPC: usize = 2;

/// Which SMs are in which GPC: consecutive ones, TPCs whole, as evenly as may be.
#[derive(Clone, Copy, Debug)]
pub struct Gpcs {
    sms: usize,
    count: usize,
}

impl Gpcs {
    /// So many SMs in `count` GPCs, of which none is empty.
    pub fn new(sms: u32, count: u32) -> Gpcs {
        Gpcs { sms: sms as usize, count: count as usize }
    }

    /// The most GPCs that as many SMs can be.
    pub fn most(sms: u32) -> u32 {
        sms.div_ceil(PER_TPC as u32)
    }

    pub fn count(self) -> usize {
        self.count
    }

    /// The SMs of a GPC.
    pub fn sms(self, gpc: usize) -> Range<usize> {
        let tpcs = self.sms.div_ceil(PER_TPC);
        let start = |gpc: usize| (tpcs * gpc / self.count * PER_TPC).min(self.sms);
        start(gpc)..start(gpc + 1)
    }

    /// The GPC of an SM.
    pub fn of(self, sm: SmId) -> usize {
        let is_before = |gpc: &usize| self.sms(*gpc).end <= sm.index();
        (0..self.count).take_while(is_before).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tpcs_are_shared_out_whole_and_evenly() {
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
    fn every_sm_is_in_the_gpc_that_has_it() {
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
