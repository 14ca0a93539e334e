//! `sjf-potential`: the shortest job goes first, unless closing a row for it would cost more than
//! it gains.

use super::{
    BankSet, BankView, ChannelView, Family, Queued, Scheduler, SchedulerContext, Slot, one,
};
use warpmem_params::{Complexity, Entry, PolicyInfo, Shape, params};
use warpmem_sim::DramCycle;

const INFO: PolicyInfo = PolicyInfo {
    name: "sjf-potential",
    summary: "the shortest job first if it is short enough to justify closing a row with hits; otherwise FR-FCFS",
    source: "Lakshminarayana et al., IEEE CAL 2012",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let Options { alpha } = params.read();
        let warps = context.warps as usize;
        Ok(Box::new(move |_| {
            let jobs = vec![Job::default(); warps + 1];
            Box::new(SjfPotential { alpha, jobs, ask: 0 }) as _
        }))
    },
};

params! {
    struct Options {
        /// share of the requests of a row hit's job below which a job goes before the row hit; 0 =
        /// never
        alpha: f64 = 0.5, in 0.0..=1.0;
    }
}

/// The requests of a warp in the channel.
#[derive(Clone, Copy, Default)]
struct Job {
    /// Waiting requests.
    waiting: u32,
    /// Banks in which requests have arrived since the warp last had none.
    banks: BankSet,
}

struct SjfPotential {
    alpha: f64,
    /// Jobs, by warp; requests without a warp form one further job.
    jobs: Vec<Job>,
    /// Banks whose jobs have become longer or shorter.
    ask: BankSet,
}

impl SjfPotential {
    fn job(&self, queued: &Queued) -> usize {
        (queued.request.warp as usize).min(self.jobs.len() - 1)
    }

    fn waiting(&self, queued: &Queued) -> u32 {
        self.jobs[self.job(queued)].waiting
    }

    /// Returns whether a request may close the row that another one hits.
    fn is_worth(&self, short: &Queued, hit: &Queued) -> bool {
        f64::from(self.waiting(short)) < self.alpha * f64::from(self.waiting(hit))
    }
}

impl Scheduler for SjfPotential {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let misses = |queued: &Queued| Some(queued.request.row) != bank.open_row();
        // `min_by_key` returns the first of equal elements, which is the oldest.
        let (short, queued) =
            bank.requests().min_by_key(|(_, queued)| (self.waiting(queued), misses(queued)))?;
        let Some(hit) = bank.oldest_hit() else { return Some(short) };
        let takes = !misses(queued) || self.is_worth(queued, bank.queue.get(hit));
        Some(if takes { short } else { hit })
    }

    fn on_arrival(&mut self, _: Slot, queued: &Queued) {
        let job = self.job(queued);
        let Job { waiting, banks } = &mut self.jobs[job];
        *waiting += 1;
        *banks |= one(queued.request.bank);
        self.ask |= *banks;
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let job = self.job(bank.queue.get(slot));
        let job = &mut self.jobs[job];
        job.waiting -= 1;
        self.ask |= job.banks;
        if job.waiting == 0 {
            job.banks = 0;
        }
    }

    fn next_tick(&self) -> DramCycle {
        if self.ask == 0 { DramCycle::NEVER } else { DramCycle::ZERO }
    }

    fn tick(&mut self, _: &ChannelView) -> BankSet {
        std::mem::take(&mut self.ask)
    }

    /// Returns the cost: a count of requests per warp of the machine is stored; the count of each
    /// request's warp is compared.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let compared = shape.row_search() + shape.queue * shape.queue_bits();
        Some(Complexity { stored: shape.sms * shape.warps * shape.queue_bits(), compared })
    }
}

#[cfg(test)]
mod tests {
    use crate::DramRequest;
    use crate::scheduler::SCHEDULERS;
    use crate::tests::harness::*;

    fn of(warp: u32, request: DramRequest) -> DramRequest {
        DramRequest { warp, ..request }
    }

    /// Returns the orders under `sjf-potential` and under `fr-fcfs`.
    fn orders(requests: &[DramRequest]) -> [Vec<u32>; 2] {
        ["sjf-potential", "fr-fcfs"].map(|policy| run(&gddr5(), policy, requests).order())
    }

    #[test]
    fn without_a_row_hit_the_shortest_job_goes_first() {
        let requests = [
            of(0, read(0, 0, 1)),
            of(0, read(1, 0, 2)),
            of(0, read(2, 0, 3)),
            of(1, read(3, 0, 4)),
            of(1, read(4, 0, 5)),
            of(2, read(5, 0, 6)),
        ];
        assert_eq!(orders(&requests), [[5, 3, 4, 0, 1, 2], [0, 1, 2, 3, 4, 5]]);
    }

    /// A job covers a warp's requests to the whole channel.
    #[test]
    fn requests_to_other_banks_make_a_job_longer() {
        let requests = [
            of(0, read(0, 0, 1)),
            of(1, read(1, 0, 2)),
            of(0, read(2, 1, 1)),
            of(0, read(3, 2, 1)),
        ];
        let [short, first_come] = orders(&requests)
            .map(|order| order.into_iter().filter(|id| [0, 1].contains(id)).collect::<Vec<_>>());
        assert_eq!((short, first_come), (vec![1, 0], vec![0, 1]));
    }

    /// Once warp 0's requests to other banks have been served, its job is the shorter: bank 0
    /// chooses again.
    #[test]
    fn service_in_other_banks_makes_a_job_shorter() {
        let mut dram = gddr5();
        // Bank 0 is busy from 0 to 60 with a row that must stay open.
        dram.timing.tras = 60;
        dram.timing.trc = 72;
        let requests = [
            (0, of(9, read(0, 0, 1))),
            (1, of(1, read(1, 0, 2))),
            (1, of(1, read(2, 0, 3))),
            (1, of(0, read(3, 0, 4))),
            (1, of(0, read(4, 1, 1))),
            (1, of(0, read(5, 1, 1))),
        ];
        let run = run_with(&dram, "sjf-potential", &requests, Stepping::Events, |_| u32::MAX);
        assert_eq!(run.order(), [0, 4, 5, 3, 1, 2]);
    }

    /// With row hits of warp 0 waiting, a job of one request goes before three of them, not before
    /// two.
    #[test]
    fn a_row_is_closed_for_a_job_below_half_of_its_owners() {
        let queue = |hits: u32| {
            let mut requests = vec![(0, of(5, read(0, 0, 1)))];
            requests.extend((1..=hits).map(|id| (20, of(0, read(id, 0, 1)))));
            requests.push((20, of(1, read(9, 0, 2))));
            requests
        };
        let order = |policy, hits| {
            run_with(&gddr5(), policy, &queue(hits), Stepping::Events, |_| u32::MAX).order()
        };
        assert_eq!(order("sjf-potential", 3), [0, 9, 1, 2, 3]);
        assert_eq!(order("fr-fcfs", 3), [0, 1, 2, 3, 9]);
        assert_eq!(order("sjf-potential", 2), [0, 1, 2, 9]);
        assert_eq!(order("sjf-potential(alpha=1)", 2), [0, 9, 1, 2]);
        assert_eq!(order("sjf-potential(alpha=0)", 3), [0, 1, 2, 3, 9]);
    }

    #[test]
    fn among_row_hits_that_of_the_shortest_job_goes_first() {
        let requests = [
            of(0, read(0, 0, 1)),
            of(0, read(1, 0, 1)),
            of(0, read(2, 0, 1)),
            of(1, read(3, 0, 1)),
        ];
        assert_eq!(orders(&requests), [[3, 0, 1, 2], [0, 1, 2, 3]]);
    }

    /// In a shared queue write-backs, which have no warp, form one job.
    #[test]
    fn requests_without_a_warp_form_one_job() {
        let requests = [
            of(u32::MAX, write(0, 0, 1)),
            of(u32::MAX, write(1, 0, 2)),
            of(u32::MAX, write(2, 0, 3)),
            of(7, read(3, 0, 4)),
            of(7, read(4, 0, 5)),
        ];
        assert_eq!(run(&gddr3(), "sjf-potential", &requests).order(), [3, 4, 0, 1, 2]);
    }

    /// No bound: a longer job waits as long as shorter ones arrive.
    #[test]
    fn short_jobs_starve_a_long_one() {
        let mut requests =
            vec![(0, of(9, read(0, 0, 0))), (0, of(0, read(1, 0, 1))), (0, of(0, read(2, 0, 2)))];
        requests.extend((3..60).map(|id| (u64::from(id - 2) * 10, of(id + 10, read(id, 0, id)))));
        let order =
            |policy| run_with(&gddr5(), policy, &requests, Stepping::Events, |_| u32::MAX).order();
        assert_eq!(order("fr-fcfs")[..3], [0, 1, 2]);
        assert_eq!(order("sjf-potential")[58..], [1, 2]);
    }

    #[test]
    fn alpha_is_a_share() {
        let error = SCHEDULERS.build("sjf-potential(alpha=1.5)", &context(&gddr5())).err().unwrap();
        assert!(error.to_string().contains("expected a number from 0 to 1"), "{error}");
        assert!(SCHEDULERS.build("sjf-potential(alpha=-1)", &context(&gddr5())).is_err());
        assert!(SCHEDULERS.build("sjf-potential(beta=1)", &context(&gddr5())).is_err());
    }
}
