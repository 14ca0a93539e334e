//! The distribution of units over regions.

use std::ops::Range;
use warpmem_machine::Machine;
use warpmem_sim::MAX_REGIONS;

/// SMs and channels of each region; slices belong to the region of their channel.
#[derive(Clone)]
pub(super) struct Split {
    pub sms: Vec<Range<usize>>,
    pub channels: Vec<Range<usize>>,
}

impl Split {
    /// Divides a machine as evenly as possible into `regions`, or as many as it has SMs and
    /// channels.
    pub fn new(machine: &Machine, regions: usize) -> Split {
        let (sms, channels) = (machine.sm.count as usize, machine.dram.channels as usize);
        let regions = regions.clamp(1, sms.min(channels).clamp(1, MAX_REGIONS));
        let even = |units: usize| -> Vec<Range<usize>> {
            let start = |region: usize| units * region / regions;
            (0..regions).map(|region| start(region)..start(region + 1)).collect()
        };
        Split { sms: even(sms), channels: even(channels) }
    }

    pub fn regions(&self) -> usize {
        self.sms.len()
    }

    pub fn region_of_sm(&self, sm: usize) -> usize {
        self.sms.partition_point(|range| range.end <= sm)
    }

    pub fn region_of_channel(&self, channel: usize) -> usize {
        self.channels.partition_point(|range| range.end <= channel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_in_one_region_and_none_is_empty() {
        for (sms, channels) in [(1, 1), (5, 3), (80, 32), (30, 6)] {
            let keys = [format!("sm.count={sms}"), format!("dram.channels={channels}")];
            let mut machine = crate::testing::machine(&[&keys[0]]);
            machine.dram.channels = channels;
            for regions in 0..9 {
                let split = Split::new(&machine, regions);
                assert_eq!(split.regions(), regions.clamp(1, sms.min(channels) as usize));
                for (units, of) in [(sms, &split.sms), (channels, &split.channels)] {
                    assert!(of.iter().all(|range| !range.is_empty()));
                    let all: Vec<usize> = of.iter().cloned().flatten().collect();
                    assert_eq!(all, (0..units as usize).collect::<Vec<_>>());
                }
                let regions = (0..sms as usize).map(|sm| split.region_of_sm(sm));
                assert!(regions.enumerate().all(|(sm, region)| split.sms[region].contains(&sm)));
            }
        }
    }
}
