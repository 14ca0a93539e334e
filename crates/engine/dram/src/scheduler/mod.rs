//! DRAM request schedulers: which request a bank serves next.
//!
//! A policy is one file in this directory and one line of [`SCHEDULERS`].

mod atlas;
mod banked_fifo;
mod bliss;
mod core_criticality;
mod delay;
mod div_first;
mod fcfs;
mod fr_fcfs;
mod fr_rr_fcfs;
mod mask;
mod medic;
mod most_pending;
mod mshr;
mod par_bs;
mod priority;
mod shared;
mod sjf_potential;
mod sms;
mod sources;
mod stfm;
mod tcm;
mod warp_groups;
mod warp_table;
mod warped_mc;
pub use super::queue::{Queue, Queued, RowView, Slot};
use super::request::{CommandKind, DramRequest};
pub use super::sets::BankSet;
use super::sets::one;
use super::timing::TimingState;
use crate::Dram;
pub use shared::Shared;
use std::cmp::Reverse;
use warpmem_params::{Complexity, Counter, Registry, Shape, choice};
use warpmem_sim::{BankId, DramCycle, Needs, RowId};

/// All DRAM schedulers.
pub static SCHEDULERS: Registry<dyn Family, SchedulerContext> = Registry::new(
    "dram_scheduler",
    &[
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
        mask::ENTRY,
        par_bs::ENTRY,
        atlas::ENTRY,
        tcm::ENTRY,
        bliss::ENTRY,
        stfm::ENTRY,
        warp_groups::WG_ENTRY,
        warp_groups::WG_M_ENTRY,
        warp_groups::WG_BW_ENTRY,
        warp_groups::WG_W_ENTRY,
        priority::ENTRY,
        delay::ENTRY,
    ],
);

/// The properties of the machine that a scheduler may use.
#[derive(Clone, Debug)]
pub struct SchedulerContext {
    pub dram: Dram,
    /// Number of SMs, the sources of requests. [`DramRequest::sm`] is below it, or
    /// [`DramRequest::NO_SOURCE`].
    pub sources: u32,
    /// Number of warps of the whole machine. [`DramRequest::warp`] is below it, or `u32::MAX`.
    pub warps: u32,
}

impl SchedulerContext {
    /// Returns the number of slots of the read queue, an upper bound of [`Slot::index`]: its
    /// entries, and one per bank for a request in service that has freed its entry.
    pub fn slots(&self) -> usize {
        (self.dram.read_queue + self.dram.banks) as usize
    }
}

/// The schedulers of one machine. State shared across channels belongs to the family.
pub trait Family {
    /// Builds the scheduler of a channel.
    fn scheduler(&self, channel: usize) -> Box<dyn Scheduler>;

    /// Returns whether the schedulers share state across channels, so that the order in which
    /// channels are stepped matters and one thread steps them all.
    fn share_state(&self) -> bool;

    /// Returns the information from other levels that the schedulers need.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Returns the cost of the shared state and of the state that the machine keeps for them
    /// elsewhere.
    fn shared_complexity(&self, shape: &Shape) -> Complexity {
        let _ = shape;
        Complexity::NONE
    }

    /// Returns the total cost; none if unknown.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let one = self.scheduler(0).complexity(shape)?;
        Some(one * shape.controllers + self.shared_complexity(shape))
    }
}

/// A family of independent schedulers, given by their constructor.
impl<F: Fn(usize) -> Box<dyn Scheduler>> Family for F {
    fn scheduler(&self, channel: usize) -> Box<dyn Scheduler> {
        self(channel)
    }

    fn share_state(&self) -> bool {
        false
    }
}

/// A family of schedulers with shared state, given by their constructor.
pub struct SharingFamily<F>(pub F);

impl<F: Fn(usize) -> Box<dyn Scheduler>> Family for SharingFamily<F> {
    fn scheduler(&self, channel: usize) -> Box<dyn Scheduler> {
        (self.0)(channel)
    }

    fn share_state(&self) -> bool {
        true
    }
}

/// A bank that is free to start a request, as the scheduler sees it.
#[derive(Clone, Copy)]
pub struct BankView<'a> {
    pub now: DramCycle,
    /// Bank within the channel.
    pub bank: BankId,
    /// The requests of all banks that may start; those of this bank are never empty. Reads or
    /// writes, as the channel currently serves, or both in a shared queue.
    pub queue: &'a Queue,
    /// Whether the oldest request of the bank is the oldest that the channel may serve, with no
    /// other in service (with [`Traits::in_order_dispatch`] others may be). Valid only with
    /// [`Traits::strictly_in_order`].
    pub holds_channel_oldest: bool,
    pub(super) timing: &'a TimingState,
}

impl BankView<'_> {
    pub fn open_row(&self) -> Option<RowId> {
        self.queue.open_row(self.bank)
    }

    /// Returns the number of requests to the open row.
    pub fn hits(&self) -> u32 {
        self.queue.hits(self.bank)
    }

    /// Iterates over the bank's requests, oldest first.
    pub fn requests(&self) -> impl Iterator<Item = (Slot, &Queued)> {
        self.queue.requests(self.bank)
    }

    pub fn oldest(&self) -> Slot {
        self.queue.oldest(self.bank).expect("a bank that may start a request has one")
    }

    /// Returns the oldest request to the open row.
    pub fn oldest_hit(&self) -> Option<Slot> {
        self.queue.oldest_hit(self.bank)
    }

    pub fn is_hit(&self, slot: Slot) -> bool {
        Some(self.queue.get(slot).request.row) == self.open_row()
    }

    /// Returns the oldest row hit, or else the oldest request.
    pub fn fr_fcfs(&self) -> Slot {
        self.oldest_hit().unwrap_or_else(|| self.oldest())
    }

    /// Returns the waiting row with the highest score; among equals that of the oldest request.
    pub fn best_row(&self, score: impl Fn(&RowView) -> u64) -> RowView {
        self.best_row_or(Tie::Oldest, score)
    }

    /// Returns the waiting row with the highest score; among equals, `tie` decides.
    pub fn best_row_or(&self, tie: Tie, score: impl Fn(&RowView) -> u64) -> RowView {
        let place = |row: &RowView| match tie {
            Tie::Oldest => self.queue.get(row.oldest).order,
            Tie::LowestRow => row.row.0.into(),
        };
        let key = |row: &RowView| (score(row), Reverse(place(row)));
        let best = self.queue.rows(self.bank).max_by_key(key);
        best.expect("a bank that may start a request has one")
    }

    /// Returns the next command of a request of this bank, and the first cycle in which timing
    /// allows it.
    pub fn next_command(&self, slot: Slot) -> (CommandKind, DramCycle) {
        let request = &self.queue.get(slot).request;
        let kind = next_command(self.open_row(), request);
        (kind, self.timing.earliest(kind, self.bank))
    }
}

choice! {
    /// The row opened among those of equal score.
    pub enum Tie {
        /// The row of the oldest request.
        Oldest = "oldest",
        /// The row with the lowest number, which a scan of the rows finds first.
        LowestRow = "lowest-row",
    }
}

/// Returns the next command of a request to a bank with this open row.
pub(super) fn next_command(open_row: Option<RowId>, request: &DramRequest) -> CommandKind {
    match open_row {
        None => CommandKind::Act,
        Some(row) if row != request.row => CommandKind::Pre,
        Some(_) if request.write => CommandKind::Wr,
        Some(_) => CommandKind::Rd,
    }
}

/// A channel as the scheduler sees it in its [`tick`](Scheduler::tick).
#[derive(Clone, Copy)]
pub struct ChannelView<'a> {
    pub now: DramCycle,
    /// Reads, or both kinds in a shared queue.
    pub queue: &'a Queue,
    /// Whether every entry of the queue is occupied: no request arrives before one is free.
    pub full: bool,
    /// Writes waiting or in service, and the high watermark of the drain; 0 with a shared queue.
    pub writes: u32,
    pub write_high_watermark: u32,
    /// Banks with a request in service.
    pub busy: BankSet,
}

/// A queue that a request is about to enter, as the scheduler sees it.
#[derive(Clone, Copy, Debug)]
pub struct QueueView {
    /// Requests in the queue, including those in service.
    pub waiting: u32,
    /// Requests of these to the bank of the arriving request.
    pub bank_waiting: u32,
    pub capacity: u32,
    /// Entries that one bank may occupy.
    pub bank_capacity: u32,
    /// Number of banks of the channel.
    pub banks: u32,
}

impl QueueView {
    /// Returns whether an entry is free.
    pub fn has_room(&self) -> bool {
        self.waiting < self.capacity && self.bank_waiting < self.bank_capacity
    }
}

/// A command that could issue now, as [`Scheduler::rank`] sees it.
#[derive(Clone, Copy)]
pub struct Ready<'a> {
    pub now: DramCycle,
    pub kind: CommandKind,
    /// The request that it serves; none if it closes or refreshes an idle bank.
    pub queued: Option<&'a Queued>,
    /// Its slot in the queue, until its first command issues.
    pub slot: Option<Slot>,
}

/// The constant properties of a scheduler. The channel reads them once, at construction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traits {
    /// [`pick`](Scheduler::pick) is always [`BankView::fr_fcfs`], and neither
    /// [`accepts`](Scheduler::accepts) nor a hook has an effect: the channel then does the same
    /// without a call.
    pub plain_fr_fcfs: bool,
    /// `pick` is called again just before a candidate's first command issues, because the
    /// preference among requests that need the same command changes with time or with other
    /// channels.
    pub repick_at_issue: bool,
    /// `pick` reads [`BankView::next_command`]: all banks are asked again after every command.
    pub follows_timing: bool,
    /// `pick`, `accepts` and the hooks also apply to a separate write queue, which is FR-FCFS
    /// otherwise.
    pub orders_writes: bool,
    /// Only the channel's oldest request is ever picked, and, without `in_order_dispatch`, only
    /// when no other is in service.
    pub strictly_in_order: bool,
    /// Requests are dispatched to their banks in order, and the banks then work in parallel.
    /// Requires `strictly_in_order` and `picks_per_cycle` above 0.
    pub in_order_dispatch: bool,
    /// [`Scheduler::rank`] orders the banks.
    pub ranks_banks: bool,
    /// The round robins over banks share one pointer: an assignment advances it by one bank, ACT
    /// and PRE move it past their bank. Otherwise assignments and each command bus have separate
    /// pointers, which move past the bank.
    pub shared_round_robin: bool,
    /// [`Scheduler::on_event`] is called.
    pub takes_events: bool,
    /// Page policy that replaces the machine's.
    pub page: Option<String>,
    /// Value that replaces the machine's `dram.picks_per_cycle`.
    pub picks_per_cycle: Option<u32>,
}

/// Events of interest to few schedulers, see [`Traits::takes_events`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A row of this bank was opened.
    Activated { bank: BankId },
    /// [`Scheduler::rank`] let another bank issue than the round robin would have.
    Overtaken,
    /// More requests wait in the L2 for the data of the request in `slot`: `merges` in total by the
    /// updates received. The requests added since the last update had waited `age` DRAM cycles in
    /// total when this one was sent.
    Merged { slot: Slot, merges: u32, age: u64 },
    /// No more requests of this load will arrive in this channel.
    LoadComplete { load: u32 },
}

/// Orders the requests of a channel.
///
/// A bank without a request in service has a *candidate*, chosen by [`pick`](Scheduler::pick). The
/// channel issues the command that the candidate needs as soon as timing and the round robin over
/// banks allow; from then until its last column command the request is in service and occupies the
/// bank.
///
/// With separate queues for reads and writes, the hooks report reads only, unless the scheduler
/// [orders writes](Traits::orders_writes).
pub trait Scheduler: Send {
    /// Returns the constant properties of the scheduler.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// Returns the request of `bank.bank` to serve next, or none to leave the bank idle for now.
    ///
    /// Decides eligibility and preference only; the channel owns timing. The result may depend on
    /// the view and on earlier hooks, never on the number of calls: the channel calls again
    /// whenever the bank's requests, its open row, or the kind of request served have changed, when
    /// the bank becomes the holder of the channel's oldest request, and as
    /// [`changes_at`](Scheduler::changes_at), [`tick`](Scheduler::tick),
    /// [`Traits::repick_at_issue`] and [`Traits::follows_timing`] require.
    fn pick(&mut self, bank: &BankView) -> Option<Slot>;

    /// Returns the cycle after `bank.now` from which `pick` may differ without an event at the
    /// bank.
    fn changes_at(&self, bank: &BankView) -> Option<DramCycle> {
        let _ = bank;
        None
    }

    /// Returns the rank of a command. Among the commands that could issue in a cycle one of the
    /// lowest rank issues, by round robin. Called if [`Traits::ranks_banks`] is set.
    fn rank(&self, ready: &Ready) -> u64 {
        let _ = ready;
        0
    }

    /// Returns whether the queue takes one more request. Must be true for an empty queue.
    fn accepts(&self, queue: &QueueView, request: &DramRequest) -> bool {
        let _ = request;
        queue.has_room()
    }

    /// Returns the next cycle in which to call [`tick`](Scheduler::tick); read after every hook. A
    /// past cycle counts as now; [`DramCycle::NEVER`]: not before another event.
    fn next_tick(&self) -> DramCycle {
        DramCycle::NEVER
    }

    /// Performs the scheduler's periodic work, in the cycle of [`next_tick`](Scheduler::next_tick)
    /// or in the next step of the channel after it. Returns the banks to ask again.
    fn tick(&mut self, channel: &ChannelView) -> BankSet {
        let _ = channel;
        0
    }

    /// Called after a request has entered the queue.
    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        let _ = (slot, queued);
    }

    /// Called when the first command for the request in `slot` issues, which frees the slot; `bank`
    /// is as `pick` saw it.
    fn on_service(&mut self, bank: &BankView, slot: Slot) {
        let _ = (bank, slot);
    }

    /// Called when a column command has issued for a request; `last` marks its last one, after
    /// which the request is complete.
    fn on_column(&mut self, queued: &Queued, last: bool, now: DramCycle) {
        let _ = (queued, last, now);
    }

    /// Called for the rarer events, for schedulers that [take them](Traits::takes_events).
    fn on_event(&mut self, event: Event, now: DramCycle) {
        let _ = (event, now);
    }

    /// Returns the cost in one controller; none if unknown.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let _ = shape;
        None
    }

    /// Returns the policy's own counts, for the tables.
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}
