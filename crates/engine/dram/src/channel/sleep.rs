//! Sleep of an idle channel. Without requests, open rows or work of a policy, only refreshes of
//! single banks happen, each when it falls due. The channel requests no step for them: it performs
//! them when it is next used.

use super::Channel;
use warpmem_sim::DramCycle;

impl Channel {
    /// Returns whether nothing but refreshes can happen after `now` before the channel is next used,
    /// each when it falls due. Every command is logged when it issues, so a channel with a log does
    /// not sleep.
    pub(super) fn may_sleep(&self, now: DramCycle) -> bool {
        self.queues.pending() == 0
            && self.rows.open_banks() == 0
            && self.service.busy() == 0
            && self.refresh.awaits_single()
            && self.spec.refresh_delay.is_some_and(|delay| now + delay <= self.refresh.next())
            && self.next_policy_work() == DramCycle::NEVER
            && !self.log.is_enabled()
    }

    /// Performs the refreshes of a sleeping channel that fall due before `now`.
    #[cold]
    pub(super) fn wake(&mut self, now: DramCycle) {
        self.asleep = false;
        let mut cycle = self.refresh.next();
        if cycle < now {
            self.refresh.skip(self.refreshes_without_effect(now));
            cycle = self.refresh.next();
        }
        while cycle < now {
            cycle = self.advance(cycle, u32::MAX).unwrap_or(self.refresh.next());
        }
        self.asleep = false;
    }

    /// Returns how many of the next refreshes delay no command from `now` on. The last one before
    /// `now` is not among them, because the buses serve the banks round robin.
    fn refreshes_without_effect(&self, now: DramCycle) -> u64 {
        let over = self.refresh.due_before(now.saturating_sub(self.spec.longest_delay));
        over.min(self.refresh.due_before(now) - 1)
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::harness::*;
    use crate::{Channel, ChannelResult, Completion, Dram, DramRequest, Timing};
    use proptest::prelude::*;

    fn refreshed_by_bank() -> Dram {
        let timing = Timing { trefi: 0, trefipb: 110, trfcpb: 90, trrefd: 23, ..gddr5().timing };
        Dram { timing, ..gddr5() }
    }

    /// HBM3 with pseudo channels, two command buses and commands on a grid, refreshed more often.
    fn hbm3() -> Dram {
        let dram = preset("h100");
        Dram { timing: Timing { trefipb: 50, ..dram.timing }, ..dram }
    }

    /// Runs a channel in every cycle, or in those that it requests and in which requests arrive,
    /// up to cycle `end`. Returns its completions, its counts and the number of steps.
    fn run(
        dram: &Dram,
        policy: &str,
        requests: &[(u64, DramRequest)],
        end: u64,
        in_every_cycle: bool,
    ) -> (Vec<Completion>, ChannelResult, u64) {
        let channels = Channel::family(&context(dram), policy);
        let mut channel = channels.unwrap().remove(0);
        let (mut completions, mut waiting) = (Vec::new(), requests.iter().peekable());
        let (mut cycle, mut steps) = (0, 0);
        while cycle < end {
            while let Some((_, request)) = waiting.next_if(|(arrival, _)| *arrival <= cycle) {
                channel.push(at(cycle), *request);
            }
            let next = channel.step(at(cycle), u32::MAX);
            steps += 1;
            completions.extend(channel.take_completions());
            let next = if in_every_cycle { Some(at(cycle + 1)) } else { next };
            let arrival = waiting.peek().map(|(arrival, _)| at(*arrival));
            cycle = next.into_iter().chain(arrival).min().map_or(end, |next| next.number());
        }
        (completions, channel.counts(at(end)), steps)
    }

    #[test]
    fn an_idle_channel_requests_no_step() {
        let requests = [(5, read(0, 3, 7)), (50_000, read(1, 3, 7))];
        let (_, counts, steps) = run(&refreshed_by_bank(), "fr-fcfs", &requests, 100_000, false);
        assert_eq!(counts.bank_refreshes, 99_999 / 110);
        assert!(steps < 200, "{steps} steps");
    }

    proptest! {
        #[test]
        fn a_channel_that_slept_is_as_one_that_did_not(
            gaps in prop::collection::vec((prop_oneof![0u64..40, 0u64..6000], 0u16..16, 0u32..3, any::<bool>()), 1..40),
            policy in prop::sample::select(vec!["fr-fcfs", "fcfs", "fr-fcfs(page=closed)", "mshr-s+a", "tcm(quantum=300,shuffle_interval=40)"]),
            rest in 0u64..6000,
            dram in prop::sample::select(vec![refreshed_by_bank(), hbm3()]),
        ) {
            let mut arrival = 0;
            let requests: Vec<(u64, DramRequest)> = (0..).zip(&gaps).map(|(id, &(gap, bank, row, is_write))| {
                arrival += gap;
                (arrival, DramRequest { write: is_write, ..read(id, bank, row) })
            }).collect();
            let end = arrival + rest + 1;
            let (slept, slept_counts, _) = run(&dram, policy, &requests, end, false);
            let (stepped, counts, _) = run(&dram, policy, &requests, end, true);
            prop_assert_eq!(slept, stepped);
            prop_assert_eq!(slept_counts, counts);
        }
    }
}
