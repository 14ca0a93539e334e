//! Properties of every policy on every stream.

use super::harness::*;
use crate::scheduler::{BankView, Scheduler, Slot, Traits};
use crate::{Channel, Dram, DramRequest, checker};
use proptest::prelude::*;

/// Generates requests with gaps between their arrivals; few banks and rows cause conflicts.
fn stream() -> impl Strategy<Value = Vec<(u64, DramRequest)>> {
    let request = (0u64..30, 0u16..16, 0u32..4, prop::bool::weighted(0.3), 1u16..4, any::<u16>());
    let pace = prop::sample::select(vec![1u64, 4, 1000]);
    (prop::collection::vec(request, 1..250), pace).prop_map(|(parts, pace)| {
        let mut now = 0;
        let mut requests = Vec::new();
        for (id, (gap, bank, row, write, bursts, from)) in parts.into_iter().enumerate() {
            now += gap / pace;
            let request = DramRequest { write, bursts, ..read(id as u32, bank, row) };
            requests.push((now, sent_by(from, request)));
        }
        requests
    })
}

/// Gives a request one of a few sources, by the bits of `from`; a write may have none.
fn sent_by(from: u16, request: DramRequest) -> DramRequest {
    if request.write && from & 1 == 1 {
        return DramRequest { sm: DramRequest::NO_SOURCE, warp: u32::MAX, ..request };
    }
    let sm = from >> 1 & 3;
    DramRequest {
        sm,
        warp: u32::from(sm) * 32 + u32::from(from >> 3 & 3),
        pc: u32::from(from >> 5 & 1) * 16,
        critical: from >> 6 & 1 == 1,
        hit_prone: from >> 7 & 1 == 1,
        walk: from >> 13 & 3 == 3,
        merges: 1 + (from >> 8 & 31) as u8,
        ..request
    }
}

fn fit(dram: &Dram, requests: &[(u64, DramRequest)]) -> Vec<(u64, DramRequest)> {
    let mut requests = requests.to_vec();
    requests.iter_mut().for_each(|(_, request)| request.bank.0 %= dram.banks as u16);
    requests
}

/// FR-FCFS that the channel asks about every choice.
struct Asked {
    page: &'static str,
    picks: u32,
}

impl Scheduler for Asked {
    fn traits(&self) -> Traits {
        Traits {
            page: Some(self.page.to_owned()),
            picks_per_cycle: Some(self.picks),
            ..Traits::default()
        }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        Some(bank.fr_fcfs())
    }
}

/// If requests are assigned to banks, a queue of four entries holds up to eight with those of its
/// four banks.
#[test]
fn every_request_is_served_when_assignment_frees_entries() {
    let dram = Dram { read_queue: 4, picks_per_cycle: 1, ..gddr3() };
    let requests: Vec<DramRequest> = random(&dram, 300, 2, 5)
        .into_iter()
        .map(|request| DramRequest { load: request.id / 3, ..sent_by(request.id as u16, request) })
        .collect();
    for policy in policies() {
        let run = run(&dram, policy, &requests);
        let beyond = run.counts.occupancy_cycles.iter().skip(5).sum::<u64>();
        assert!(beyond > 0, "{policy}");
        let mut served = run.order();
        served.sort_unstable();
        assert!(served.into_iter().eq(0..300), "{policy}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn every_request_is_served_once_and_legally(requests in stream()) {
        for dram in machines() {
            let requests = fit(&dram, &requests);
            for policy in policies() {
                let run = run_with(&dram, policy, &requests, Stepping::Events, |_| u32::MAX);
                prop_assert_eq!(checker::check(&dram, &run.log), []);
                let mut served = run.order();
                served.sort_unstable();
                let sent: Vec<u32> = requests.iter().map(|(_, request)| request.id).collect();
                prop_assert_eq!(served, sent);
                for done in &run.completions {
                    let request = &requests[done.id as usize];
                    prop_assert!(at(request.0) <= done.arrived && done.arrived <= done.first_command);
                    prop_assert_eq!(request.1.write, done.write);
                }
                let bursts: u64 = requests.iter().map(|(_, request)| u64::from(request.bursts)).sum();
                prop_assert_eq!(run.counts.total().columns(), bursts);
                let again = run_with(&dram, policy, &requests, Stepping::Events, |_| u32::MAX);
                prop_assert_eq!(&again, &run);
                let stepped = run_with(&dram, policy, &requests, Stepping::EveryCycle, |_| u32::MAX);
                prop_assert_eq!(&stepped.log, &run.log);
                prop_assert_eq!(&stepped, &run);
            }
        }
    }

    /// The channel's built-in FR-FCFS makes the same choices as a scheduler that is asked.
    #[test]
    fn plain_fr_fcfs_is_fr_fcfs(
        requests in stream(),
        page in prop::sample::select(vec!["open", "open-adaptive", "closed", "timeout"]),
        picks in 0u32..3,
    ) {
        for dram in machines() {
            let requests = fit(&dram, &requests);
            let mut asked = Channel::new(&dram, Box::new(Asked { page, picks })).unwrap();
            asked.enable_log();
            let asked = drive(&mut asked, &requests, Stepping::Events, |_| u32::MAX);
            let plain = format!("fr-fcfs(page={page},picks_per_cycle={picks})");
            let plain = run_with(&dram, &plain, &requests, Stepping::Events, |_| u32::MAX);
            prop_assert_eq!(asked, plain);
        }
    }

    #[test]
    fn fcfs_allows_no_bypass(requests in stream()) {
        let dram = gddr3();
        let requests = fit(&dram, &requests);
        let run = run_with(&dram, "fcfs", &requests, Stepping::Events, |_| u32::MAX);
        prop_assert!(run.order().is_sorted());
        // Commands of one request never mix with another's.
        let mut owners: Vec<_> = run.log.iter().map(|command| command.request).collect();
        owners.dedup();
        prop_assert!(owners.is_sorted());
    }

    #[test]
    fn banked_fifo_keeps_the_order_of_each_bank(requests in stream()) {
        let dram = hbm2();
        let requests = fit(&dram, &requests);
        let run = run_with(&dram, "banked-fifo", &requests, Stepping::Events, |_| u32::MAX);
        for bank in 0..dram.banks as u16 {
            let of_bank = |id: &u32| requests[*id as usize].1.bank.0 == bank;
            prop_assert!(run.order().into_iter().filter(of_bank).is_sorted());
        }
    }

    /// Counts the served requests that bypassed an older one of their bank, per policy with a
    /// bound.
    #[test]
    fn a_row_hit_cap_bounds_what_passes_the_oldest(requests in stream()) {
        let dram = gddr3();
        let requests = fit(&dram, &requests);
        let run = run_with(&dram, "fr-fcfs(row_hit_cap=2)", &requests, Stepping::Events, |_| u32::MAX);
        for (at, victim) in run.completions.iter().enumerate() {
            let bank = requests[victim.id as usize].1.bank;
            let before = &run.completions[..at];
            // The victim is its bank's oldest from the completion of the last older one on.
            let older = before.iter().rposition(|done| {
                done.id < victim.id && requests[done.id as usize].1.bank == bank
            });
            let passed = before[older.map_or(0, |i| i + 1)..]
                .iter()
                .filter(|done| done.id > victim.id && requests[done.id as usize].1.bank == bank)
                .count();
            prop_assert!(passed <= 2 + 1, "{passed} passed request {}", victim.id);
        }
    }
}
