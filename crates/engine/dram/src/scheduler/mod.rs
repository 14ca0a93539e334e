//! DRAM request schedulers: which request a bank serves next.
//!
//! A policy is one file here and one line of [`SCHEDULERS`].

mod atlas;
mod banked_fifo;
mod bliss;
mod core_criticality;
mod delay;
mod div_first;
mod fcfs;
mod fr_fcfs;
mod fr_rr_fcfs;
mod medic;
mod most_pending;
mod mshr;
mod par_bs;
mod shared;
mod sjf_potential;
mod sms;
mod sources;
mod stfm;
mod tcm;
mod warp_groups;
mod warp_table;
mod warped_mc;
// The example of docs/extending.md.
#[cfg(test)]
#[path = "../../../../../docs/examples/warp_batches.rs"]
mod warp_batches;

pub use super::queue::{Queue, Queued, RowView, Slot};
use super::request::{CommandKind, Request};
pub use super::sets::BankSet;
use super::sets::one;
use super::timing::TimingState;
use crate::Dram;
use std::cmp::Reverse;
use warpmem_params::{Complexity, Counter, Registry, Shape};
use warpmem_sim::{BankId, DramCycle, Needs, RowId};

/// All DRAM schedulers.
pub static SCHEDULERS: Registry<dyn Family, SchedulerContext> = Registry {
    slot: "dram_scheduler",
    entries: &[
        fcfs::ENTRY,
        banked_fifo::ENTRY,
        fr_fcfs::ENTRY,
        most_pending::ENTRY,
        mshr::MSHR_M,
        mshr::MSHR_S,
        mshr::MSHR_S_A,
        fr_rr_fcfs::ENTRY,
        sjf_potential::ENTRY,
        sms::ENTRY,
        div_first::ENTRY,
        warped_mc::ENTRY,
        core_criticality::ENTRY,
        medic::ENTRY,
        par_bs::ENTRY,
        atlas::ENTRY,
        tcm::ENTRY,
        bliss::ENTRY,
        stfm::ENTRY,
        warp_groups::WG_ENTRY,
        warp_groups::WG_M_ENTRY,
        warp_groups::WG_BW_ENTRY,
        warp_groups::WG_W_ENTRY,
        delay::ENTRY,
    ],
};

/// What a scheduler may know of the machine it works in.
#[derive(Clone, Debug)]
pub struct SchedulerContext {
    pub dram: Dram,
    /// Sources of requests: SMs. [`Request::sm`] is below it, or [`Request::NO_SOURCE`].
    pub sources: u32,
    /// Warps of the whole machine. [`Request::warp`] is below it, or `u32::MAX`.
    pub warps: u32,
}

impl SchedulerContext {
    /// Slots of the read queue, which [`Slot::index`] is below: its entries, and one for each bank,
    /// whose request may have left them.
    pub fn slots(&self) -> usize {
        (self.dram.read_queue + self.dram.banks) as usize
    }
}

/// The schedulers of one machine. State that they share across channels belongs to the family.
pub trait Family {
    /// The scheduler of a channel.
    fn scheduler(&self, channel: usize) -> Box<dyn Scheduler>;

    /// Whether a scheduler sees what those of other channels do, so that the order in which channels are
    /// stepped matters and one thread steps them all.
    fn share_state(&self) -> bool;

    /// The information from other levels that the schedulers need.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// The cost of what they share, and of what the machine keeps for them elsewhere.
    fn shared_complexity(&self, shape: &Shape) -> Complexity {
        let _ = shape;
        Complexity::NONE
    }

    /// Their cost together; none where it is not known.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let one = self.scheduler(0).complexity(shape)?;
        Some(one * shape.controllers + self.shared_complexity(shape))
    }
}

/// Schedulers that have nothing in common but how they are made.
impl<F: Fn(usize) -> Box<dyn Scheduler>> Family for F {
    fn scheduler(&self, channel: usize) -> Box<dyn Scheduler> {
        self(channel)
    }

    fn share_state(&self) -> bool {
        false
    }
}

/// Schedulers that have nothing in common but how they are made and the state that they share.
struct Together<F>(F);

impl<F: Fn(usize) -> Box<dyn Scheduler>> Family for Together<F> {
    fn scheduler(&self, channel: usize) -> Box<dyn Scheduler> {
        (self.0)(channel)
    }

    fn share_state(&self) -> bool {
        true
    }
}

/// What a scheduler sees of a bank that is free to start a request.
#[derive(Clone, Copy)]
pub struct BankView<'a> {
    pub now: DramCycle,
    /// Bank within the channel.
    pub bank: BankId,
    /// The requests that may start, of all banks; of this one, never empty. Reads or writes, as the
    /// channel now serves, or both where they share a queue.
    pub queue: &'a Queue,
    /// The oldest request of the bank is the oldest that the channel may serve, and no other is in
    /// service (with [`Traits::in_order_dispatch`] others may be). Known only with
    /// [`Traits::strictly_in_order`].
    pub holds_channel_oldest: bool,
    pub(super) timing: &'a TimingState,
}

impl BankView<'_> {
    pub fn open_row(&self) -> Option<RowId> {
        self.queue.open_row(self.bank)
    }

    /// How many requests go to the open row.
    pub fn hits(&self) -> u32 {
        self.queue.hits(self.bank)
    }

    /// The bank's requests, oldest first.
    pub fn requests(&self) -> impl Iterator<Item = (Slot, &Queued)> {
        self.queue.requests(self.bank)
    }

    pub fn oldest(&self) -> Slot {
        self.queue.oldest(self.bank).expect("a bank that may start a request has one")
    }

    /// The oldest request to the open row.
    pub fn oldest_hit(&self) -> Option<Slot> {
        self.queue.oldest_hit(self.bank)
    }

    pub fn is_hit(&self, slot: Slot) -> bool {
        Some(self.queue.get(slot).request.row) == self.open_row()
    }

    /// Row hits first, then the oldest.
    pub fn fr_fcfs(&self) -> Slot {
        self.oldest_hit().unwrap_or_else(|| self.oldest())
    }

    /// The row of the highest score that the bank's requests go to; of equal ones that of the
    /// oldest request.
    pub fn best_row(&self, score: impl Fn(&RowView) -> u64) -> RowView {
        let key = |row: &RowView| (score(row), Reverse(self.queue.get(row.oldest).order));
        let best = self.queue.rows(self.bank).max_by_key(key);
        best.expect("a bank that may start a request has one")
    }

    /// The next command of a request of this bank, and the first cycle at which all timing lets it
    /// issue.
    pub fn next_command(&self, slot: Slot) -> (CommandKind, DramCycle) {
        let request = &self.queue.get(slot).request;
        let kind = next_command(self.open_row(), request);
        (kind, self.timing.earliest(kind, self.bank))
    }
}

/// The next command of a request to a bank with this row open.
pub(super) fn next_command(open_row: Option<RowId>, request: &Request) -> CommandKind {
    match open_row {
        None => CommandKind::Act,
        Some(row) if row != request.row => CommandKind::Pre,
        Some(_) if request.write => CommandKind::Wr,
        Some(_) => CommandKind::Rd,
    }
}

/// What a scheduler sees of a channel in its [`tick`](Scheduler::tick).
#[derive(Clone, Copy)]
pub struct ChannelView<'a> {
    pub now: DramCycle,
    /// Reads, or both kinds where they share a queue.
    pub queue: &'a Queue,
    /// Every entry of the queue is taken: no request arrives before one is free.
    pub full: bool,
    /// Writes that wait or are served, and where a drain begins; 0 where there is one queue.
    pub writes: u32,
    pub write_high_watermark: u32,
    /// Banks that have a request in service.
    pub busy: BankSet,
}

/// What a scheduler sees of a queue that a request wants to enter.
#[derive(Clone, Copy, Debug)]
pub struct QueueView {
    /// Requests in the queue, those in service included.
    pub waiting: u32,
    /// Of these, requests to the bank of the one that wants in.
    pub bank_waiting: u32,
    pub capacity: u32,
    /// What one bank may have of it.
    pub bank_capacity: u32,
    /// Banks of the channel.
    pub banks: u32,
}

impl QueueView {
    /// Whether there is an entry for one more.
    pub fn has_room(&self) -> bool {
        self.waiting < self.capacity && self.bank_waiting < self.bank_capacity
    }
}

/// A command that could issue now, as [`Scheduler::rank`] sees it.
#[derive(Clone, Copy)]
pub struct Ready<'a> {
    pub now: DramCycle,
    pub kind: CommandKind,
    /// The request that it is for; none where it closes or refreshes an idle bank.
    pub queued: Option<&'a Queued>,
    /// Its slot in the queue, until its first command issues.
    pub slot: Option<Slot>,
}

/// What a scheduler is and asks for. Constant: the channel asks once, when it is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traits {
    /// [`pick`](Scheduler::pick) is always [`BankView::fr_fcfs`], and neither
    /// [`accepts`](Scheduler::accepts) nor a hook does anything of its own: the channel then does
    /// the same without asking.
    pub plain_fr_fcfs: bool,
    /// `pick` is asked again just before a candidate's first command issues, because the preference
    /// among requests that need the same command changes with time or with other channels.
    pub repick_at_issue: bool,
    /// `pick` looks at [`BankView::next_command`]: all banks are asked again after every command.
    pub follows_timing: bool,
    /// `pick`, `accepts` and the hooks also rule a separate write queue, which is FR-FCFS
    /// otherwise.
    pub orders_writes: bool,
    /// Only the channel's oldest request is ever picked, and only when no other is in service,
    /// unless `in_order_dispatch`.
    pub strictly_in_order: bool,
    /// Requests are dispatched to their banks in order, and the banks then work at once. Needs
    /// `strictly_in_order` and `picks_per_cycle` above 0.
    pub in_order_dispatch: bool,
    /// [`Scheduler::rank`] orders the banks.
    pub ranks_banks: bool,
    /// The round robins over banks share one pointer: an assignment moves it on by one bank, ACT
    /// and PRE move it behind their bank. Otherwise assignments and each command bus have their
    /// own, which moves behind the bank.
    pub shared_round_robin: bool,
    /// [`Scheduler::on_event`] is called.
    pub takes_events: bool,
    /// The page policy that replaces the machine's.
    pub page: Option<String>,
    /// Replaces the machine's `dram.picks_per_cycle`.
    pub picks_per_cycle: Option<u32>,
}

/// What happens in a channel or around it that few schedulers ask for: see
/// [`Traits::takes_events`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A row of this bank has been opened.
    Activated { bank: BankId },
    /// [`Scheduler::rank`] let another bank issue a command than the round robin would have.
    Overtaken,
    /// More requests wait in the L2 for the data of the request in `slot`: by the updates that
    /// have arrived, `merges` in all, and those that have joined since the last update waited `age`
    /// DRAM cycles together when this one was sent.
    Merged { slot: Slot, merges: u32, age: u64 },
    /// No more requests of this load will come to this channel.
    LoadComplete { load: u32 },
}

/// Orders the requests of a channel.
///
/// A bank without a request in service has a *candidate*: what [`pick`](Scheduler::pick) says. The
/// channel issues the command that the candidate needs as soon as timing and the round robin over
/// banks let it; from then on the request is in service, and the bank's, until its last column
/// command.
///
/// Where reads and writes have a queue each, the hooks tell of reads only, unless the scheduler
/// [orders writes](Traits::orders_writes).
pub trait Scheduler: Send {
    /// What the scheduler is and asks for.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// The request to serve next, of those of `bank.bank`, or none to leave the bank idle for now.
    ///
    /// Decides eligibility and preference only; timing is the channel's. The answer may depend on
    /// the view and on what the hooks below have told, never on how often it is asked: the channel
    /// asks again whenever the bank's requests, its open row, or the kind of request that is served
    /// have changed, when the bank comes to hold the channel's oldest request, and as
    /// [`changes_at`](Scheduler::changes_at), [`tick`](Scheduler::tick),
    /// [`Traits::repick_at_issue`] and [`Traits::follows_timing`] say.
    fn pick(&mut self, bank: &BankView) -> Option<Slot>;

    /// The cycle after `bank.now` from which `pick` may answer otherwise though nothing happens to
    /// the bank.
    fn changes_at(&self, bank: &BankView) -> Option<DramCycle> {
        let _ = bank;
        None
    }

    /// Of the commands that could issue in this cycle one of the lowest rank does; round robin
    /// among these. Asked where [`Traits::ranks_banks`] is set.
    fn rank(&self, ready: &Ready) -> u64 {
        let _ = ready;
        0
    }

    /// Whether the queue takes one more request. Must be true of an empty queue.
    fn accepts(&self, queue: &QueueView, request: &Request) -> bool {
        let _ = request;
        queue.has_room()
    }

    /// The next cycle at which [`tick`](Scheduler::tick) is to be called; asked after every hook.
    /// The past counts as now; [`DramCycle::NEVER`]: not before something else happens.
    fn next_tick(&self) -> DramCycle {
        DramCycle::NEVER
    }

    /// Time for the scheduler's own work, at the cycle that [`next_tick`](Scheduler::next_tick)
    /// named or when the channel is next stepped after it. Returns the banks to ask again.
    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        let _ = channel;
        0
    }

    /// A request has entered the queue.
    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        let _ = (slot, queued);
    }

    /// The first command for the request in `slot` issues, which frees the slot; `bank` is as
    /// `pick` saw it.
    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let _ = (bank, slot);
    }

    /// A column command has issued for a request; `last` if it was its last, after which the
    /// request is gone.
    fn on_column(&mut self, queued: &Queued, last: bool, now: DramCycle) {
        let _ = (queued, last, now);
    }

    /// One of the rarer events, for schedulers that [take them](Traits::takes_events).
    fn on_event(&mut self, event: Event, now: DramCycle) {
        let _ = (event, now);
    }

    /// Its cost in one controller; none where it is not known.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let _ = shape;
        None
    }

    /// The policy's own counts, for the tables.
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}
