//! `div-first`: the request whose warp has the fewest pending requests goes first, regardless of
//! its row.

use super::warp_table::{self, Entry, PENDING_BITS, Reports, WarpTable, WarpTables};
use super::{
    BankSet, BankView, ChannelView, Family, Queued, Scheduler, SchedulerContext, SharingFamily,
    Slot, Traits, one,
};
use std::collections::VecDeque;
use warpmem_params::{Complexity, Counter, PolicyInfo, Shape, choice, params};
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "div-first",
    summary: "the request whose warp has the fewest pending requests first; row hits are ignored",
    source: "Jeong et al., ICPP 2023 (Div-First)",
    params: Options::params,
};

pub const ENTRY: warpmem_params::Entry<dyn Family, SchedulerContext> = warpmem_params::Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        let tables = WarpTables::new(context, &options.warps, Reports::None);
        Ok(Box::new(SharingFamily(move |_| {
            let warps = tables.channel();
            Box::new(DivFirst {
                held: vec![Held::default(); warps.entries()],
                warps,
                changes: VecDeque::new(),
                urgent: options.urgent,
                picks_per_cycle: options.warps.picks_per_cycle,
                reordered: 0,
                passed_hits: 0,
            }) as _
        })))
    },
};

choice! {
    /// The meaning of "urgent transactions" (section 5.2).
    enum Urgent {
        /// The fewer requests of its warp are pending, the more urgent a request is.
        Fewest = "fewest",
        /// The last request of a warp is urgent, as for Warped-MC.
        Last = "last",
    }
}

params! {
    struct Options {
        /// requests that go first: those of the warps with the `fewest` pending requests, or the `last`
        /// pending ones of their warps, then the oldest
        urgent: Urgent = Urgent::Fewest;
        ..warps: warp_table::Options;
    }
}

/// Requests of one warp that wait in this channel.
#[derive(Clone, Copy, Default)]
struct Held {
    count: u32,
    /// Banks that may hold some of them.
    banks: BankSet,
}

struct DivFirst {
    warps: WarpTable,
    /// Waiting requests, by entry of the table.
    held: Vec<Held>,
    /// Times at which the counts of the table include this channel's requests, in order.
    changes: VecDeque<(DramCycle, Entry)>,
    urgent: Urgent,
    picks_per_cycle: Option<u32>,
    reordered: u64,
    passed_hits: u64,
}

impl Scheduler for DivFirst {
    fn traits(&self) -> Traits {
        Traits {
            // Other channels change the counts too.
            repick_at_issue: true,
            picks_per_cycle: self.picks_per_cycle,
            ..Traits::default()
        }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let warps = self.warps.at(bank.now);
        let order =
            |(_, queued): &(Slot, &Queued)| match (warps.pending(&queued.request), self.urgent) {
                (None, _) => u32::MAX,
                (Some(pending), Urgent::Fewest) => pending,
                (Some(pending), Urgent::Last) => u32::from(pending != 1),
            };
        bank.requests().min_by_key(order).map(|(slot, _)| slot)
    }

    fn next_tick(&self) -> DramCycle {
        self.changes.front().map_or(DramCycle::NEVER, |&(at, _)| at)
    }

    /// Returns the banks with requests of the warps whose counts this channel has changed.
    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        let mut banks = 0;
        while let Some((_, entry)) = self.changes.pop_front_if(|&mut (at, _)| at <= channel.now) {
            banks |= self.held[entry.index()].banks;
        }
        banks
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        let Some(entry) = self.warps.entry(&queued.request) else { return };
        let held = &mut self.held[entry.index()];
        held.count += 1;
        held.banks |= one(queued.request.bank);
        let at = self.warps.arrived(slot, queued, entry);
        self.changes.push_back((at, entry));
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let queued = bank.queue.get(slot);
        self.reordered += u64::from(slot != bank.fr_fcfs());
        self.passed_hits += u64::from(bank.hits() > 0 && !bank.is_hit(slot));
        let Some(entry) = self.warps.entry(&queued.request) else { return };
        let held = &mut self.held[entry.index()];
        held.count -= 1;
        if held.count == 0 {
            held.banks = 0;
        }
        if let Some(at) = self.warps.scheduled(slot, queued, entry, bank.now) {
            self.changes.push_back((at, entry));
        }
    }

    fn on_column(&mut self, queued: &Queued, last: bool, now: DramCycle) {
        if last {
            self.changes.extend(self.warps.served(queued, now));
        }
    }

    /// Returns the cost. Stored is the warp entry table of [`warped-mc`](super::warped_mc).
    /// Compared are the counts of all requests' warps, and the banks of the requests with the bank
    /// served.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        Some(Complexity {
            stored: self.warps.bits(),
            compared: shape.queue * (PENDING_BITS + shape.bank_bits()),
        })
    }

    fn counters(&self) -> Vec<Counter> {
        let mut counters = vec![
            Counter { name: "rescheduled_requests", value: self.reordered },
            Counter { name: "passed_row_hits", value: self.passed_hits },
        ];
        counters.extend(self.warps.counters());
        counters
    }
}

#[cfg(test)]
mod tests {
    use crate::scheduler::{SCHEDULERS, SchedulerContext};
    use crate::tests::harness::*;
    use crate::{Channel, CommandKind, Dram, DramRequest};

    #[test]
    fn the_warp_with_fewest_pending_requests_goes_first() {
        let queue = [of_warp(0, 0, 1, 0), of_warp(1, 0, 1, 0), of_warp(2, 0, 2, 1)];
        assert_eq!(order("fr-fcfs", &queue), [0, 1, 2]);
        let run = run(&gddr5(), "div-first", &queue);
        assert_eq!(run.order(), [2, 0, 1]);
        assert_eq!(run.counted("rescheduled_requests"), 1);
        assert_eq!((run.counted("wet_updates"), run.counted("wet_stale")), (6, 0));
    }

    /// Three requests of warp 0 and two of warp 1: one of warp 1 goes first, then warp 0 by age,
    /// although row 1 is open.
    #[test]
    fn counts_fall_as_requests_are_scheduled_and_row_hits_do_not_matter() {
        let queue = [
            of_warp(0, 0, 1, 0),
            of_warp(1, 0, 2, 0),
            of_warp(2, 0, 1, 0),
            of_warp(3, 0, 3, 1),
            of_warp(4, 0, 1, 1),
        ];
        assert_eq!(order("fr-fcfs", &queue), [0, 2, 4, 1, 3]);
        let run = run(&gddr5(), "div-first", &queue);
        assert_eq!(run.order(), [3, 4, 0, 1, 2]);
        assert_eq!(run.counted("passed_row_hits"), 1);
    }

    /// Warp 2 has one pending request, warp 1 two and warp 0 three.
    #[test]
    fn urgent_last_orders_other_requests_by_age() {
        let queue: Vec<_> = [0, 0, 0, 1, 1, 2]
            .into_iter()
            .zip(0..)
            .map(|(warp, id)| of_warp(id, 0, id, warp))
            .collect();
        assert_eq!(order("div-first", &queue), [5, 3, 4, 0, 1, 2]);
        assert_eq!(order("div-first(urgent=last)", &queue), [5, 0, 1, 2, 3, 4]);
    }

    /// Request 0 of bank 1 is in service until 60. Until then warp 0 has two pending requests if
    /// served requests end to be pending only then.
    #[test]
    fn pending_served_counts_requests_in_service() {
        let long = DramRequest { bursts: 12, ..of_warp(0, 1, 4, 0) };
        let queue = [
            (0, of_warp(8, 0, 1, 8)),
            (0, long),
            (20, of_warp(1, 0, 2, 1)),
            (20, of_warp(2, 0, 3, 0)),
        ];
        let order = |pending| {
            let policy = format!("div-first(pending={pending})");
            let mut order = run_beside(&gddr5(), &policy, &queue, &[of_warp(9, 0, 1, 1)]).order();
            order.retain(|&id| id == 1 || id == 2);
            order
        };
        assert_eq!(order("scheduled"), [2, 1]);
        assert_eq!(order("served"), [1, 2]);
    }

    #[test]
    fn among_equal_warps_the_oldest_request_goes_first() {
        let queue = [of_warp(0, 0, 1, 0), of_warp(1, 0, 2, 1), of_warp(2, 0, 1, 2)];
        assert_eq!(order("fr-fcfs", &queue), [0, 2, 1]);
        assert_eq!(order("div-first", &queue), [0, 1, 2]);
    }

    #[test]
    fn requests_in_other_channels_count() {
        let queue = [(0, of_warp(0, 0, 1, 0)), (0, of_warp(1, 0, 2, 1))];
        let beside = |elsewhere: &[DramRequest]| {
            run_beside(&gddr5(), "div-first", &queue, elsewhere).order()
        };
        assert_eq!(beside(&[]), [0, 1]);
        assert_eq!(beside(&[of_warp(9, 0, 1, 0)]), [1, 0]);
    }

    /// A write-back has no waiting warp and waits for all others.
    #[test]
    fn write_backs_go_last_in_one_queue() {
        let back = DramRequest { sm: DramRequest::NO_SOURCE, warp: u32::MAX, ..write(0, 0, 1) };
        let queue = [back, of_warp(1, 0, 2, 0), of_warp(2, 0, 2, 0)];
        assert_eq!(run(&gddr3(), "div-first", &queue).order(), [1, 2, 0]);
    }

    fn first_hit(policy: &str, queue: &[(u64, DramRequest)]) -> u64 {
        let run = run_beside(&gddr5(), policy, queue, &[]);
        let columns = run.log.iter().filter(|command| command.kind == CommandKind::Rd);
        columns.map(|command| command.cycle).nth(1).unwrap()
    }

    /// At 13 warp 1 has one pending request and warp 2 two, one of which the other bank schedules
    /// at 13. From 14 on the older request goes first, a hit in the open row, and not the younger
    /// one, whose row waits for tRAS.
    #[test]
    fn a_bank_chooses_again_when_a_sibling_in_another_is_scheduled() {
        let queue = [
            (0, of_warp(0, 0, 1, 0)),
            (13, of_warp(1, 0, 1, 2)),
            (13, of_warp(2, 0, 2, 1)),
            (13, of_warp(3, 1, 5, 2)),
        ];
        assert_eq!(first_hit("div-first", &queue), 15);
    }

    /// Request 2 goes first, but its row waits for tRAS; at 20 a second request of its warp arrives
    /// in bank 1, which is busy. Then request 1, older and a row hit, has equal rank.
    #[test]
    fn a_bank_chooses_again_when_a_sibling_in_another_arrives() {
        let queue = [
            (0, of_warp(0, 0, 1, 0)),
            (0, DramRequest { bursts: 30, ..of_warp(9, 1, 1, 9) }),
            (13, of_warp(1, 0, 1, 2)),
            (13, of_warp(2, 0, 2, 1)),
            (20, of_warp(3, 1, 1, 1)),
        ];
        let log = run_beside(&gddr5(), "div-first", &queue, &[of_warp(99, 0, 1, 2)]).log;
        let served = log.iter().find(|command| command.request == Some(1)).unwrap();
        assert!((20..23).contains(&served.cycle), "{served:?}");
    }

    /// Bank 0 would close its row for request 1 at 28. Earlier the other channel schedules request
    /// 3, which leaves request 2 as the only one of its warp.
    #[test]
    fn other_channels_change_the_pick_at_issue() {
        let dram = Dram { channels: 2, ..gddr5() };
        let context = SchedulerContext { dram, ..context(&gddr5()) };
        let mut channels = Channel::family(&context, "div-first").unwrap();
        let long = |id, bank, bursts, warp| DramRequest { bursts, ..of_warp(id, bank, 1, warp) };
        let beside =
            [long(10, 0, 3, 9), of_warp(3, 0, 1, 1), long(11, 1, 60, 10), of_warp(12, 1, 1, 0)];
        beside.iter().for_each(|&request| channels[1].push(DramCycle::ZERO, request));
        let queue = [of_warp(0, 0, 9, 8), of_warp(1, 0, 1, 0), of_warp(2, 0, 2, 1)];
        queue.iter().for_each(|&request| channels[0].push(DramCycle::ZERO, request));
        let mut order = Vec::new();
        for now in (0..200).map(at) {
            channels.iter_mut().for_each(|channel| _ = channel.step(now, u32::MAX));
            order.extend(channels[0].take_completions().map(|done| done.id));
        }
        assert_eq!(order, [0, 2, 1]);
    }

    /// The update of cycle 13 arrives at 13 + 5. Until then no warp has anything pending, and the
    /// oldest goes first. Then warp 1 has two pending, and warp 2 one, which hits the open row.
    #[test]
    fn updates_take_effect_after_their_latency() {
        let queue = [
            (0, of_warp(0, 0, 1, 0)),
            (13, of_warp(1, 0, 2, 1)),
            (13, of_warp(2, 0, 1, 2)),
            (13, of_warp(3, 1, 1, 1)),
            (13, of_warp(4, 1, 1, 1)),
        ];
        assert_eq!(first_hit("div-first", &queue), 15);
        assert_eq!(first_hit("div-first(wet_latency=5)", &queue), 18);
        assert_eq!(first_hit("div-first(wet_latency=9)", &queue), 22);
    }

    /// The first request is scheduled before the table knows it; the second waits for the row.
    #[test]
    fn choices_by_stale_counts_are_counted() {
        let queue = [of_warp(0, 0, 1, 0), of_warp(1, 0, 1, 1)];
        let stale = |policy| run(&gddr5(), policy, &queue).counted("wet_stale");
        assert_eq!(stale("div-first"), 0);
        assert_eq!(stale("div-first(wet_latency=5)"), 1);
    }

    /// Warps 0 and 3 share an alias of one bit.
    #[test]
    fn aliases_are_taken_for_one_warp() {
        let queue = [of_warp(0, 0, 1, 0), of_warp(1, 0, 1, 0), of_warp(2, 0, 2, 3)];
        assert_eq!(order("div-first(wat_bits=10)", &queue), [2, 0, 1]);
        assert_eq!(order("div-first(wat_bits=1)", &queue), [0, 1, 2]);
    }

    #[test]
    fn picks_per_cycle_replaces_the_machines() {
        assert_eq!(activation_beside_a_blocked_bank("div-first"), 20);
        assert_eq!(activation_beside_a_blocked_bank("div-first(picks_per_cycle=1)"), 21);
    }

    #[test]
    fn an_alias_of_too_many_bits_is_refused() {
        let error = SCHEDULERS.build("div-first(wat_bits=21)", &context(&gddr5())).err().unwrap();
        assert_eq!(
            error.to_string(),
            "parameters of dram_scheduler `div-first`: `wat_bits` = 21 is not valid: \
             expected a whole number from 0 to 20"
        );
    }

    /// No bound: warps with one pending request pass one with two, as long as they arrive.
    #[test]
    fn a_warp_with_two_pending_starves() {
        let mut queue = vec![(0, of_warp(0, 0, 1, 0))];
        queue.extend(
            (1..40u32).map(|n| (u64::from(n.saturating_sub(2)) * 30, of_warp(n, 0, 1 + n, n))),
        );
        let order = |policy| run_beside(&gddr5(), policy, &queue, &[of_warp(99, 0, 1, 0)]).order();
        assert_eq!(order("fr-fcfs")[0], 0);
        assert_eq!(order("div-first").last(), Some(&0));
    }
}
