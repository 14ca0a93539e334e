//! Prefetches beside schedulers, which never see them.

use super::*;

/// FR-FCFS with every trait set, to check that it never sees prefetches.
#[derive(Default)]
struct Blind {
    served: u64,
}

fn asked_for(queued: &Queued) {
    assert_ne!(queued.request.id, DramRequest::PREFETCH);
}

impl Scheduler for Blind {
    fn traits(&self) -> Traits {
        Traits { repick_at_issue: true, ranks_banks: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        bank.requests().for_each(|(_, queued)| asked_for(queued));
        Some(bank.fr_fcfs())
    }

    fn rank(&self, ready: &Ready) -> u64 {
        ready.queued.into_iter().for_each(asked_for);
        // A row closed for a request belongs to the request.
        assert!(ready.queued.is_some());
        ready.queued.map_or(0, |queued| queued.order)
    }

    fn next_tick(&self) -> DramCycle {
        DramCycle::ZERO
    }

    fn tick(&mut self, channel: &ChannelView) -> u64 {
        assert_eq!(channel.busy, self.served);
        channel.queue.iter().for_each(|(_, queued)| asked_for(queued));
        0
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        assert!(slot.index() < context(&gddr5()).slots());
        asked_for(queued);
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        asked_for(bank.queue.get(slot));
        self.served |= 1 << bank.bank.0;
    }

    fn on_column(&mut self, queued: &Queued, last: bool, _: DramCycle) {
        asked_for(queued);
        if last {
            self.served &= !(1 << queued.request.bank.0);
        }
    }
}

#[test]
fn schedulers_never_see_prefetches() {
    let mut channel =
        equipped(Channel::new(&gddr5(), Box::<Blind>::default()).unwrap(), "opportunistic");
    let requests: Vec<_> =
        random(&gddr5(), 600, 3, 11).into_iter().map(|r| (u64::from(r.id) * 7, r)).collect();
    let run = drive(&mut channel, &requests, Stepping::Events, |_| u32::MAX);
    assert!(run.prefetched().len() > 300);
}

/// Asserts that no line is prefetched twice, or after a request for it since its row was opened.
fn assert_new_lines(run: &Run, requests: &[(u64, DramRequest)]) {
    let mut seen = vec![0u32; 64];
    let mut completions = run.completions.iter();
    for command in &run.log {
        let bank = usize::from(command.bank);
        if command.kind == CommandKind::Act {
            seen[bank] = 0;
        }
        let last = |id: Option<u32>| id.map_or(BURSTS, |id| requests[id as usize].1.bursts) - 1;
        if !command.kind.is_column() || command.burst != last(command.request) {
            continue;
        }
        let done = completions.next().unwrap();
        assert_eq!((done.bank.0, done.is_prefetch()), (command.bank, command.request.is_none()));
        assert!(!done.is_prefetch() || seen[bank] >> done.line & 1 == 0, "{done:?}");
        seen[bank] |= 1 << done.line;
    }
}

#[test]
fn every_scheduler_serves_everything_legally_with_event_stepping() {
    for (seed, dram) in machines().into_iter().enumerate() {
        let mut at = 0;
        let mut random_gap = Random(seed as u64);
        let requests: Vec<(u64, DramRequest)> = random(&dram, 250, 3, seed as u64)
            .into_iter()
            .map(|request| {
                at += random_gap.below(2) * random_gap.below(40);
                let from = random_gap.below(64) as u32;
                let request = DramRequest {
                    write: from.is_multiple_of(4),
                    row: RowId(request.row.0 % 4),
                    bank: BankId(request.bank.0 % 6),
                    line: (from % LINES) as u16,
                    bursts: 1 + (from % 3) as u16,
                    sm: (from % 4) as u16,
                    warp: from % 4 * 32 + from / 16,
                    load: request.id / 3,
                    ..request
                };
                (at, request)
            })
            .collect();
        for policy in policies() {
            for prefetcher in [
                "opportunistic-stop(trigger=all)",
                "opportunistic(lower=2,higher=5)",
                "opportunistic(degree=exactly,lower=0,higher=5,threshold=12,bus=last)",
            ] {
                let play = |stepping| {
                    let mut channel = equipped(channel(&dram, policy), prefetcher);
                    drive(&mut channel, &requests, stepping, |_| u32::MAX)
                };
                let run = play(Stepping::Events);
                assert_eq!(checker::check(&dram, &run.log), [], "{policy}, {prefetcher}");
                assert!(run == play(Stepping::EveryCycle), "{policy}, {prefetcher}");
                let mut served: Vec<u32> =
                    run.order().into_iter().filter(|&id| id != DramRequest::PREFETCH).collect();
                served.sort_unstable();
                assert!(served.into_iter().eq(0..250), "{policy}, {prefetcher}");
                assert_new_lines(&run, &requests);
                let total = run.counts.total();
                assert_eq!(run.prefetched().len() as u64, total.prefetched_lines);
                assert_eq!(total.prefetch_reads, total.prefetched_lines * u64::from(BURSTS));
                let bursts: u64 = requests.iter().map(|(_, r)| u64::from(r.bursts)).sum();
                assert_eq!(total.columns(), bursts + total.prefetch_reads);
                let closes = policy.contains("page=closed");
                assert!(closes || total.prefetched_lines > 0, "{policy}, {prefetcher}");
            }
        }
    }
}
