//! `par-bs`: requests are served in batches; within a batch row hits first, then sources with the
//! shortest jobs.

use super::sources::{Sources, ranks_of};
use super::{
    BankSet, BankView, ChannelView, Family, Queue, Queued, Ready, Scheduler, SchedulerContext,
    Slot, Traits,
};
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Shape, params};
use warpmem_sim::{BankId, DramCycle};

const INFO: PolicyInfo = PolicyInfo {
    name: "par-bs",
    summary: "requests of the current batch first, then row hits, then the source with the shortest job in the batch",
    source: "Mutlu and Moscibroda, ISCA 2008",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        let sources = Sources::of(context);
        let dram = &context.dram;
        let (slots, banks) = (context.slots(), dram.banks as usize);
        Ok(Box::new(move |_| {
            Box::new(ParBs {
                cap: if options.marking_cap == 0 { u32::MAX } else { options.marking_cap },
                sources,
                marked: vec![false; slots],
                serves_marked: vec![false; banks],
                waiting: 0,
                left: 0,
                jobs: vec![Job::default(); sources.count()],
                ranks: vec![0; sources.count()],
                began: DramCycle::ZERO,
                count: Counts::default(),
            }) as _
        }))
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// maximum number of requests of one source to one bank in a batch
        marking_cap: u32 = 5, in 0.., zero "no cap", unit "requests";
    }
}

/// Job of a source in a batch.
#[derive(Clone, Copy, Default)]
struct Job {
    /// Marked requests to the current bank.
    in_bank: u32,
    /// Maximum over the banks of marked requests.
    longest: u32,
    total: u32,
}

#[derive(Default)]
struct Counts {
    batches: u64,
    requests: u64,
    cycles: u64,
}

struct ParBs {
    cap: u32,
    sources: Sources,
    /// Whether the request belongs to the batch, by slot.
    marked: Vec<bool>,
    /// Whether the request in service belongs to the batch, by bank.
    serves_marked: Vec<bool>,
    /// Requests in the queue.
    waiting: u32,
    /// Requests of the batch that have not completed.
    left: u32,
    jobs: Vec<Job>,
    /// Rank of each source, shortest job first.
    ranks: Vec<u16>,
    /// Cycle in which the batch was formed.
    began: DramCycle,
    count: Counts,
}

impl ParBs {
    fn form_batch(&mut self, queue: &Queue) {
        self.jobs.fill(Job::default());
        for bank in queue.banks() {
            self.mark(queue, bank);
        }
        let jobs: Vec<_> = self.jobs.iter().map(|job| (job.longest, job.total)).collect();
        self.ranks = ranks_of(&jobs);
    }

    /// Marks the oldest requests of each source to the bank.
    fn mark(&mut self, queue: &Queue, bank: BankId) {
        for (slot, queued) in queue.requests(bank) {
            let job = &mut self.jobs[self.sources.index(&queued.request)];
            if job.in_bank < self.cap {
                job.in_bank += 1;
                job.total += 1;
                self.left += 1;
                self.marked[slot.index()] = true;
            }
        }
        for job in &mut self.jobs {
            job.longest = job.longest.max(job.in_bank);
            job.in_bank = 0;
        }
    }

    fn class(&self, marked: bool, hit: bool, queued: &Queued) -> (bool, bool, u16) {
        (!marked, !hit, self.ranks[self.sources.index(&queued.request)])
    }
}

impl Scheduler for ParBs {
    fn traits(&self) -> Traits {
        Traits { ranks_banks: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        bank.oldest_of_lowest(|slot, queued, hit| {
            self.class(self.marked[slot.index()], hit, queued)
        })
    }

    fn rank(&self, ready: &Ready) -> u64 {
        let Some(queued) = self.sources.ranked(ready) else { return 0 };
        let in_service = || self.serves_marked[queued.request.bank.index()];
        let marked = ready.slot.map_or_else(in_service, |slot| self.marked[slot.index()]);
        let (unmarked, miss, rank) = self.class(marked, ready.kind.is_column(), queued);
        u64::from(unmarked) << 17 | u64::from(miss) << 16 | u64::from(rank)
    }

    fn next_tick(&self) -> DramCycle {
        if self.left == 0 && self.waiting > 0 { DramCycle::ZERO } else { DramCycle::NEVER }
    }

    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        self.form_batch(channel.queue);
        self.began = channel.now;
        self.count.batches += 1;
        self.count.requests += u64::from(self.left);
        channel.banks()
    }

    fn on_arrival(&mut self, slot: Slot, _: &Queued) {
        self.marked[slot.index()] = false;
        self.waiting += 1;
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        self.serves_marked[bank.bank.index()] = self.marked[slot.index()];
        self.waiting -= 1;
    }

    fn on_column(&mut self, queued: &Queued, last: bool, now: DramCycle) {
        if last && self.serves_marked[queued.request.bank.index()] {
            self.left -= 1;
            if self.left == 0 {
                self.count.cycles += now.since(self.began);
            }
        }
    }

    /// Returns the cost of the paper's table, 1412 bits for 8 sources, 128 requests and 8 banks.
    /// Stored are a mark, the source and its rank per request; the requests in total and to each
    /// bank per source; the number of requests in the batch; and the cap in five bits. Compared are
    /// mark and rank.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let (sources, source, count) = (shape.sms, shape.sm_bits(), shape.queue_bits());
        let counters = sources * shape.banks * count + sources * count + count + 5;
        Some(Complexity {
            stored: shape.queue * (1 + 2 * source) + counters,
            compared: shape.row_search() + shape.queue * (1 + source),
        })
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter { name: "batches", value: self.count.batches },
            Counter { name: "batched_requests", value: self.count.requests },
            Counter { name: "batch_cycles", value: self.count.cycles },
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::DramRequest;
    use crate::tests::harness::*;

    /// Returns seven row hits of SM 0, of which five are marked, and one marked request of SM 1.
    fn hits_and_a_victim() -> Vec<DramRequest> {
        (0..7).map(|id| from(0, id, 0, 1)).chain([from(1, 7, 0, 2)]).collect()
    }

    /// SM 1 has the shorter job, so its row goes first; then the marked requests of SM 0, then the
    /// rest.
    #[test]
    fn the_source_with_the_shortest_job_goes_first() {
        let order = order_unlike_fr_fcfs("par-bs", &hits_and_a_victim());
        assert_eq!(order, [7, 0, 1, 2, 3, 4, 5, 6]);
    }

    /// Once row 1 is open its marked requests go first, but unmarked ones wait for SM 1.
    #[test]
    fn marked_row_hits_go_before_ranks_and_ranks_before_unmarked_row_hits() {
        let mut requests = hits_and_a_victim();
        let late: Vec<_> = requests.drain(1..).map(|request| (5, request)).collect();
        let all: Vec<_> = [(0, requests[0])].into_iter().chain(late).collect();
        // Alone at 0, request 0 is the first batch; the second is formed when it completes.
        assert_eq!(timed(&gddr5(), "par-bs", &all).order(), [0, 1, 2, 3, 4, 5, 7, 6]);
        assert_eq!(timed(&gddr5(), "fr-fcfs", &all).order(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn the_cap_bounds_what_a_batch_takes_of_a_source_and_bank() {
        let mut requests = hits_and_a_victim();
        let late: Vec<_> = requests.drain(1..).map(|request| (5, request)).collect();
        let all: Vec<_> = [(0, requests[0])].into_iter().chain(late).collect();
        let order = |policy: &str| timed(&gddr5(), policy, &all).order();
        assert_eq!(order("par-bs(marking_cap=2)"), [0, 1, 2, 7, 3, 4, 5, 6]);
        assert_eq!(order("par-bs(marking_cap=0)"), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    /// SM 0 has at most one request per bank, three in total; SM 1 two to one bank; SM 2 one per
    /// bank, one in total.
    #[test]
    fn jobs_are_ranked_by_the_fullest_bank_and_then_by_the_total() {
        let requests = [
            from(1, 0, 0, 1),
            from(1, 1, 0, 2),
            from(0, 2, 0, 3),
            from(0, 3, 1, 1),
            from(0, 4, 2, 1),
            from(2, 5, 0, 4),
        ];
        let order = order_unlike_fr_fcfs("par-bs", &requests);
        let of_bank_0: Vec<_> = order.into_iter().filter(|id| ![3, 4].contains(id)).collect();
        assert_eq!(of_bank_0, [5, 2, 0, 1]);
    }

    /// All wait for their first ACT; the source with the shorter job gets the bus first.
    #[test]
    fn banks_are_ranked_too() {
        let requests = [from(0, 0, 0, 1), from(0, 1, 0, 1), from(0, 2, 1, 1), from(1, 3, 2, 1)];
        assert_eq!(order_unlike_fr_fcfs("par-bs", &requests)[0], 3);
    }

    /// A request that arrives during a batch waits for the next one, row hit or not.
    #[test]
    fn later_requests_wait_for_the_next_batch() {
        let mut requests = vec![(0, from(0, 0, 0, 1)), (0, from(1, 1, 0, 2))];
        requests.extend((2..6).map(|id| (5, from(0, id, 0, 1))));
        assert_eq!(timed(&gddr5(), "par-bs", &requests).order(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(timed(&gddr5(), "fr-fcfs", &requests).order(), [0, 2, 3, 4, 5, 1]);
    }

    /// A request waits for the rest of one batch and for at most the cap of each source in the
    /// next.
    #[test]
    fn a_stream_of_row_hits_delays_a_request_by_at_most_two_batches() {
        let mut requests: Vec<_> =
            (0..200).map(|id| (u64::from(id) * 3, from(0, id, 0, 1))).collect();
        requests.insert(60, (177, from(1, 1000, 0, 2)));
        let waits = |policy: &str| {
            let run = timed(&gddr5(), policy, &requests);
            let older = run.order().into_iter().take_while(|&id| id != 1000);
            older.filter(|&id| id >= 60).count()
        };
        assert!(waits("par-bs") <= 2 * 5, "{}", waits("par-bs"));
        assert_eq!(waits("fr-fcfs"), 140);
    }

    #[test]
    fn counts_batches() {
        let run = run(&gddr5(), "par-bs", &hits_and_a_victim());
        assert_eq!((run.counted("batches"), run.counted("batched_requests")), (2, 8));
        let last = run.log.last().unwrap().cycle;
        // The second batch is formed in the cycle after the first has completed.
        assert_eq!(run.counted("batch_cycles"), last - 1);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert_refused(&["par-bs(marking_cap=-1)", "par-bs(x=1)"]);
    }
}
