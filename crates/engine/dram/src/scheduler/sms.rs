//! `sms`: the staged memory scheduler. Batches form per source, a batch scheduler sends them one at
//! a time, and banks serve their FIFOs in order.

use super::{
    BankSet, BankView, ChannelView, Family, QueueView, Queued, Scheduler, SchedulerContext, Slot,
    one,
};
use crate::DramRequest;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;
use warpmem_params::{Complexity, Counter, Entry, PolicyInfo, Shape, bits, params};
use warpmem_sim::{BankId, DramCycle, RowId};

const INFO: PolicyInfo = PolicyInfo {
    name: "sms",
    summary: "staged: batches per source to one row, the shortest job or round robin among them, a FIFO per bank",
    source: "Ausavarungnirun et al., ISCA 2012",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        let context = context.clone();
        Ok(Box::new(move |channel| Box::new(Sms::new(options, &context, channel)) as _))
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// probability that the next batch is of the shortest job; otherwise round robin over the
        /// sources
        p: f64 = 0.9, in 0.0..=1.0;
        /// entries of each source's FIFO
        fifo: u32 = 20, in 1.., unit "requests";
        /// age of its oldest request at which a batch becomes ready although it could still grow
        age: u32 = 200, in 0.., unit "DRAM cycles";
        /// number of requests in the channel below which every batch is ready
        bypass: u32 = 16, in 0.., unit "requests";
        /// entries of each bank's FIFO
        bank_fifo: u32 = 15, in 1.., unit "requests";
    }
}

/// Draws an event of this probability.
fn comes_true(probability: f64, random: &mut ChaCha8Rng) -> bool {
    // An f64 holds 53 bits exactly.
    let drawn = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    drawn < probability
}

/// A request in a source's FIFO.
#[derive(Clone, Copy)]
struct Waiting {
    slot: Slot,
    bank: BankId,
    row: RowId,
    arrived: DramCycle,
}

#[derive(Default)]
struct Source {
    /// FIFO of the first stage.
    fifo: VecDeque<Waiting>,
    /// Requests in all stages: the length of its job.
    in_channel: u32,
}

/// The batch that moves from its source's FIFO to the banks' FIFOs, one request per cycle.
struct Moving {
    source: usize,
    left: usize,
}

struct Sms {
    options: Options,
    random: ChaCha8Rng,
    /// State by SM; requests without an SM form one further source.
    sources: Vec<Source>,
    /// Source of the last batch.
    last: usize,
    moving: Option<Moving>,
    /// Cycle in which stage two may move the next request.
    next_move: DramCycle,
    /// FIFOs of the third stage, by bank.
    banks: Vec<VecDeque<Slot>>,
    in_channel: u32,
    /// Whether the channel could accept no request at the last tick.
    full: bool,
    /// Cycle of the next work of stage two; [`DramCycle::NEVER`]: not before another event.
    wakes: DramCycle,
    batches: u64,
    batched: u64,
}

impl Sms {
    fn new(options: Options, context: &SchedulerContext, channel: usize) -> Sms {
        let sources = context.sources as usize + 1;
        Sms {
            options,
            random: ChaCha8Rng::seed_from_u64(channel as u64),
            sources: (0..sources).map(|_| Source::default()).collect(),
            last: sources - 1,
            moving: None,
            next_move: DramCycle::ZERO,
            banks: vec![VecDeque::new(); context.dram.banks as usize],
            in_channel: 0,
            full: false,
            wakes: DramCycle::NEVER,
            batches: 0,
            batched: 0,
        }
    }

    fn source(&self, request: &DramRequest) -> usize {
        usize::from(request.sm).min(self.sources.len() - 1)
    }

    /// Returns whether every batch is ready because the channel is nearly empty, or full.
    fn all_are_ready(&self) -> bool {
        self.in_channel < self.options.bypass || self.full
    }

    /// Returns the cycle from which the source's first batch is ready; none if it has no requests.
    fn ready_from(&self, source: usize) -> Option<DramCycle> {
        let fifo = &self.sources[source].fifo;
        let first = fifo.front()?;
        let full = fifo.len() == self.options.fifo as usize;
        let closed = || first_batch(fifo) < fifo.len();
        let ready = full || self.all_are_ready() || closed();
        Some(if ready { DramCycle::ZERO } else { first.arrived + u64::from(self.options.age) })
    }

    /// Chooses the source whose batch goes next among the sources with a ready batch (stage two).
    fn choose(&mut self, now: DramCycle) -> Option<usize> {
        let count = self.sources.len();
        let in_order = (1..=count).map(|step| (self.last + step) % count);
        let is_ready = |&source: &usize| self.ready_from(source).is_some_and(|ready| ready <= now);
        let mut ready = in_order.filter(is_ready);
        let next = ready.next()?;
        let job = |source: usize| self.sources[source].in_channel;
        let shorter = |best, source| if job(source) < job(best) { source } else { best };
        let shortest = ready.fold(next, shorter);
        Some(if comes_true(self.options.p, &mut self.random) { shortest } else { next })
    }

    /// Returns the moving batch, or else the next one.
    fn batch(&mut self, now: DramCycle) -> Option<Moving> {
        self.moving.take().or_else(|| {
            let source = self.choose(now)?;
            let left = first_batch(&self.sources[source].fifo);
            self.last = source;
            self.batches += 1;
            self.batched += left as u64;
            Some(Moving { source, left })
        })
    }

    /// Moves the batch's next request into its bank's FIFO, if there is room.
    fn advance(&mut self, batch: &mut Moving) -> Option<BankId> {
        let fifo = &mut self.sources[batch.source].fifo;
        let Waiting { slot, bank, .. } = *fifo.front()?;
        let to = &mut self.banks[bank.index()];
        if to.len() == self.options.bank_fifo as usize {
            return None;
        }
        fifo.pop_front();
        to.push_back(slot);
        batch.left -= 1;
        Some(bank)
    }

    /// Returns the cycle in which the first of the growing batches reaches its age.
    fn next_of_age(&self) -> DramCycle {
        let ready = (0..self.sources.len()).filter_map(|source| self.ready_from(source));
        ready.min().unwrap_or(DramCycle::NEVER)
    }
}

/// Returns the number of requests to one row at the head of a FIFO.
fn first_batch(fifo: &VecDeque<Waiting>) -> usize {
    let target = |waiting: &Waiting| (waiting.bank, waiting.row);
    let first = fifo.front().map(target);
    fifo.iter().take_while(|waiting| Some(target(waiting)) == first).count()
}

impl Scheduler for Sms {
    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        self.banks[bank.bank.index()].front().copied()
    }

    fn accepts(&self, queue: &QueueView, request: &DramRequest) -> bool {
        let fifo = &self.sources[self.source(request)].fifo;
        queue.has_room() && fifo.len() < self.options.fifo as usize
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        let DramRequest { bank, row, .. } = queued.request;
        let index = self.source(&queued.request);
        let source = &mut self.sources[index];
        source.fifo.push_back(Waiting { slot, bank, row, arrived: queued.arrived });
        source.in_channel += 1;
        self.in_channel += 1;
        self.wakes = DramCycle::ZERO;
    }

    fn on_service(&mut self, bank: &BankView, _: Slot) {
        self.banks[bank.bank.index()].pop_front();
        self.wakes = DramCycle::ZERO;
    }

    fn on_column(&mut self, queued: &Queued, last: bool, _: DramCycle) {
        if last {
            let source = self.source(&queued.request);
            self.sources[source].in_channel -= 1;
            self.in_channel -= 1;
            self.wakes = DramCycle::ZERO;
        }
    }

    fn next_tick(&self) -> DramCycle {
        self.wakes.max(self.next_move)
    }

    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        (self.wakes, self.full) = (DramCycle::NEVER, channel.full);
        let Some(mut batch) = self.batch(channel.now) else {
            self.wakes = self.next_of_age();
            return 0;
        };
        let moved = self.advance(&mut batch);
        if moved.is_some() {
            (self.wakes, self.next_move) = (DramCycle::ZERO, channel.now + 1);
        }
        self.moving = (batch.left > 0).then_some(batch);
        moved.map_or(0, one)
    }

    /// Returns the cost. Stored are the number of requests and the age of the first request per
    /// source, and the next source. Compared are neighbours in a source's FIFO, to find the ends of
    /// batches, and the lengths of jobs. Banks serve FIFOs.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let ages = bits(u64::from(self.options.age) + 1);
        let (job, row) = (shape.queue_bits(), shape.row_bits + shape.bank_bits());
        Some(Complexity {
            stored: shape.sms * (job + ages) + shape.sm_bits(),
            compared: shape.sms * (row + ages + job),
        })
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter { name: "batches", value: self.batches },
            Counter { name: "batched_requests", value: self.batched },
        ]
    }
}

#[cfg(test)]
#[path = "tests/sms.rs"]
mod tests;
