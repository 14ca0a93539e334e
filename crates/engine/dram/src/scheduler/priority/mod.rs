//! `priority`: the request of the highest value of a given expression goes first.

mod expression;
mod operation;
mod range;
mod tally;
mod terms;
#[cfg(test)]
mod tests;

use super::{
    BankSet, BankView, ChannelView, Event, Family, Queued, Scheduler, SchedulerContext, Slot,
    Traits,
};
use crate::DramRequest;
use crate::by_bank::ByBank;
use expression::Expression;
use range::Range;
use std::borrow::Cow;
use std::cmp::Reverse;
use tally::Tally;
use terms::{LARGEST_COUNT, Term};
use warpmem_params::{Complexity, Entry, PolicyInfo, Shape, params};
use warpmem_sim::{CountedMerges, DramCycle, Needs};

const INFO: PolicyInfo = PolicyInfo {
    name: "priority",
    summary: "the request of the highest value of an expression first, then the oldest",
    source: "a family of policies, for search",
    params: Options::params,
};

pub const ENTRY: Entry<dyn Family, SchedulerContext> = Entry {
    info: INFO,
    build: |context, params| {
        let Options { by, period } = params.read();
        let by = Expression::parse(&by).map_err(|error| INFO.malformed("by", &by, error))?;
        Ok(Box::new(PriorityFamily { context: context.clone(), by, period }))
    },
};

params! {
    struct Options {
        /// priority of a request, an expression of its terms
        by: Cow<'static, str> = Cow::Borrowed("if(age>=16,2,hit)"), in "an expression";
        /// time in which `age` grows by one
        period: u64 = 64, in 1.., unit "DRAM cycles";
    }
}

struct PriorityFamily {
    context: SchedulerContext,
    by: Expression,
    period: u64,
}

impl Family for PriorityFamily {
    fn scheduler(&self, _: usize) -> Box<dyn Scheduler> {
        Box::new(Priority::new(&self.context, self.by.clone(), self.period))
    }

    fn share_state(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs {
            merges: self.by.reads(Term::Merges).then_some(CountedMerges::All),
            load_ends: self.by.reads(Term::LoadRequests),
            ..Needs::default()
        }
    }
}

/// The SM and warp of a request.
type Source = (u16, u32);

struct Priority {
    by: Expression,
    /// Time in which an age grows by one, DRAM cycles.
    period: u64,
    /// Whether the expression reads ages, so that choices change with time.
    ages: bool,
    /// Whether every arrival, and every service, may change the choice of every bank.
    all_on_arrival: bool,
    all_on_service: bool,
    /// Waiting requests by group, for each term that counts them.
    tallies: Vec<(Term, Tally)>,
    /// Merged requests, by slot.
    merges: Vec<u32>,
    /// Requests served from the row that the bank opened last.
    streaks: ByBank<u64>,
    /// Source of the last request served.
    last: Option<Source>,
    /// Banks to ask again.
    ask: BankSet,
}

impl Priority {
    fn new(context: &SchedulerContext, by: Expression, period: u64) -> Priority {
        let counted = [Term::WarpRequests, Term::SmRequests, Term::LoadRequests];
        let tallies = counted.into_iter().filter(|&term| by.reads(term));
        Priority {
            ages: by.reads(Term::Age),
            all_on_arrival: by.reads(Term::QueueRequests),
            all_on_service: [Term::QueueRequests, Term::SameSm, Term::SameWarp]
                .into_iter()
                .any(|term| by.reads(term)),
            tallies: tallies.map(|term| (term, Tally::default())).collect(),
            merges: vec![1; context.slots()],
            streaks: ByBank::new(0),
            last: None,
            ask: 0,
            by,
            period,
        }
    }

    fn count(&self, term: Term, queued: &Queued) -> u64 {
        let tally = self.tallies.iter().find(|(counted, _)| *counted == term);
        tally.map_or(0, |(_, tally)| tally.count(group(term, queued)))
    }

    fn age(&self, queued: &Queued, now: DramCycle) -> u64 {
        let period = |cycle: DramCycle| cycle.number() / self.period;
        (period(now) - period(queued.arrived)).min(LARGEST_COUNT)
    }

    /// Returns the value of a term for a request of the bank with `position` older ones.
    fn term(&self, term: Term, bank: &BankView, (slot, queued, position): At<'_>) -> u64 {
        let request = &queued.request;
        match term {
            Term::Hit => bank.is_hit(slot).into(),
            Term::Age => self.age(queued, bank.now),
            Term::Position => position,
            Term::RowRequests => bank.queue.row_requests(slot).into(),
            Term::BankRequests => bank.queue.waiting(bank.bank).into(),
            Term::QueueRequests => bank.queue.len() as u64,
            Term::WarpRequests | Term::SmRequests | Term::LoadRequests => self.count(term, queued),
            Term::Streak => self.streaks[bank.bank],
            Term::SameWarp => self.last.is_some_and(|(_, warp)| warp == request.warp).into(),
            Term::SameSm => self.last.is_some_and(|(sm, _)| sm == request.sm).into(),
            Term::Merges => u64::from(self.merges[slot.index()]).min(LARGEST_COUNT),
            Term::Walk => request.walk.into(),
            Term::Write => request.write.into(),
        }
    }

    fn priority(&self, bank: &BankView, at: At<'_>) -> i64 {
        self.by.value(|term| self.term(term, bank, at) as i64)
    }
}

/// A request of a bank: its slot, itself, and the number of older ones.
type At<'a> = (Slot, &'a Queued, u64);

/// Returns the group in which a term counts the request: its warp, SM or load; none if it has none.
fn group(term: Term, queued: &Queued) -> Option<u32> {
    let DramRequest { sm, warp, load, .. } = queued.request;
    let number = match term {
        Term::WarpRequests => warp,
        Term::SmRequests if sm == DramRequest::NO_SOURCE => u32::MAX,
        Term::SmRequests => sm.into(),
        _ => load,
    };
    (number != u32::MAX).then_some(number)
}

impl Scheduler for Priority {
    fn traits(&self) -> Traits {
        Traits { takes_events: self.by.reads(Term::Merges), ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        let places = bank.requests().zip(0..);
        let value = |&((slot, queued), position): &((Slot, &Queued), u64)| {
            (self.priority(bank, (slot, queued, position)), Reverse(position))
        };
        places.max_by_key(value).map(|((slot, _), _)| slot)
    }

    fn changes_at(&self, bank: &BankView) -> Option<DramCycle> {
        let chooses = self.ages && bank.queue.waiting(bank.bank) > 1;
        chooses.then(|| (bank.now + 1).next_multiple_of(self.period))
    }

    fn next_tick(&self) -> DramCycle {
        if self.ask == 0 { DramCycle::NEVER } else { DramCycle::ZERO }
    }

    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        std::mem::take(&mut self.ask) & channel.banks()
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        self.merges[slot.index()] = queued.request.merges.into();
        for (term, tally) in &mut self.tallies {
            self.ask |= tally.arrived(group(*term, queued), queued.request.bank);
        }
        if self.all_on_arrival {
            self.ask = BankSet::MAX;
        }
    }

    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let queued = bank.queue.get(slot);
        for (term, tally) in &mut self.tallies {
            self.ask |= tally.served(group(*term, queued));
        }
        let streak = if bank.is_hit(slot) { self.streaks[bank.bank] + 1 } else { 1 };
        self.streaks[bank.bank] = streak.min(LARGEST_COUNT);
        self.last = Some((queued.request.sm, queued.request.warp));
        if self.all_on_service {
            self.ask = BankSet::MAX;
        }
    }

    fn on_event(&mut self, event: Event, _: DramCycle) {
        if let Event::Merged { slot, merges, .. } = event {
            self.merges[slot.index()] = merges;
        }
    }

    /// Returns the cost: the state of the terms, and a priority for every request, as wide as the
    /// range of the expression.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let range = |term: Term| Range { low: 0, high: term.largest(shape) as i64 };
        let width = self.by.range(range).bits();
        let hits = if self.by.reads(Term::Hit) { shape.row_search() } else { 0 };
        Some(Complexity {
            stored: self.by.terms().map(|term| term.stored(shape)).sum(),
            compared: self.by.terms().map(|term| term.compared(shape)).sum::<u64>()
                + hits
                + shape.queue * width,
        })
    }
}
