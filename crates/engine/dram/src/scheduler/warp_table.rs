//! Warped-MC's warp alias table and warp entry table, shared by all channels: the number of pending
//! requests of each warp.

use super::shared::Shared;
use super::{DramRequest, Queued, SchedulerContext, Slot};
use std::collections::VecDeque;
use std::sync::MutexGuard;
use warpmem_params::{Counter, choice, params};
use warpmem_sim::{DramCycle, ids};

choice! {
    /// The identity of a warp in the alias table.
    #[derive(PartialEq, Eq)]
    enum Identity {
        /// "A hashed PC of a load, a warp ID in an SM, and an SM ID" (section 4.2).
        Load = "load",
        /// "An SM ID and a warp ID per SM" (section 5.5).
        Warp = "warp",
    }
}

choice! {
    /// The end of the time in which a request counts as pending.
    #[derive(PartialEq, Eq)]
    enum Pending {
        /// Its first command (Algorithm 1, "if schedule request").
        Scheduled = "scheduled",
        /// Its last command ("once a request is serviced from DRAM", section 4.2).
        Served = "served",
    }
}

params! {
    /// The options of the policies that share these tables.
    #[derive(Clone)]
    pub struct Options {
        /// requests counted together: those of one load, warp and SM (`load`), or of one warp and SM
        /// (`warp`)
        identity: Identity = Identity::Load;
        /// width of the hash that identifies them; those with the same hash are not distinguished
        wat_bits: u32 = 0, in 0..=20, zero "as many as number the machine's warps", unit "bits";
        /// a request is pending until it is `scheduled` (its first command) or `served` (its last)
        pending: Pending = Pending::Scheduled;
        /// delay until the arrival or scheduling of a request changes the count of its warp, in
        /// every channel including its own
        wet_latency: u64 = 0, in 0.., zero "immediately", unit "DRAM cycles";
        /// requests that may be assigned to idle banks in one cycle
        pub picks_per_cycle: Option<u32> = None, in ("dram.picks_per_cycle", 0..),
            zero "one for every idle bank", unit "requests";
    }
}

ids! {
    /// Entry of a warp in the table: its number, or its alias.
    pub Entry(u32);
}

/// A request in one of the channels: channel, slot, low half of [`Queued::order`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(u64);

impl Name {
    fn new(channel: usize, slot: Slot, queued: &Queued) -> Name {
        let order = queued.order & u64::from(u32::MAX);
        Name((channel as u64) << 48 | (slot.index() as u64) << 32 | order)
    }

    fn channel(self) -> usize {
        (self.0 >> 48) as usize
    }

    /// Returns the slot of the request while it waits.
    pub fn slot(self) -> Slot {
        Slot((self.0 >> 32) as u16)
    }

    /// Returns whether the request in its slot, with this [`Queued::order`], is the named one.
    pub fn has_order(self, order: u64) -> bool {
        self.0 as u32 == order as u32
    }
}

#[derive(Clone, Copy, Default)]
struct Count {
    /// Pending requests after the changes that have reached the table.
    pending: u32,
    /// Pending requests after all changes.
    posted: u32,
    /// Exclusive or of the names of the requests counted in `pending`: with one left, its name.
    names: u64,
    /// A request has ceased to be pending since the count was last 0.
    started: bool,
}

/// A change in flight to the table.
struct Change {
    at: DramCycle,
    entry: Entry,
    name: Name,
    arrives: bool,
}

/// The tables.
pub struct Table {
    identity: Identity,
    wat_bits: u32,
    latency: u64,
    counts: Vec<Count>,
    /// Changes in order of time.
    changes: VecDeque<Change>,
    /// Last requests of warps that the channel has not read yet, by channel.
    last: Vec<Vec<Name>>,
    reports: Reports,
}

/// Last requests of warps that are reported to their channels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reports {
    None,
    /// Requests left by another request of their warp.
    Left,
    /// In addition, the first request of a warp to arrive.
    All,
}

impl Table {
    /// Applies the changes that reach the table until `now`.
    fn settle(&mut self, now: DramCycle) {
        while let Some(change) = self.changes.pop_front_if(|change| change.at <= now) {
            self.apply(&change);
        }
    }

    fn apply(&mut self, change: &Change) {
        let count = &mut self.counts[change.entry.index()];
        count.pending = if change.arrives { count.pending + 1 } else { count.pending - 1 };
        count.started = count.pending > 0 && (count.started || !change.arrives);
        count.names ^= change.name.0;
        let is_reported = match self.reports {
            Reports::None => false,
            Reports::Left => !change.arrives,
            Reports::All => true,
        };
        if count.pending == 1 && is_reported {
            let last = Name(count.names);
            self.last[last.channel()].push(last);
        }
    }

    /// Returns the pending requests of the request's warp; none without a waiting warp.
    pub fn pending(&self, request: &DramRequest) -> Option<u32> {
        let entry = self.entry(request)?;
        Some(self.counts[entry.index()].pending)
    }

    /// Returns whether the request is the only pending one of its warp, and another has been before.
    pub fn is_left_alone(&self, request: &DramRequest) -> bool {
        let count = self.entry(request).map(|entry| self.counts[entry.index()]);
        count.is_some_and(|count| count.pending == 1 && count.started)
    }

    /// Returns the entry of the request's warp. The paper gives the inputs of the hash. Ours
    /// separates all warps of one load while there are no more of them than aliases.
    fn entry(&self, request: &DramRequest) -> Option<Entry> {
        let (warp, bits) = (request.warp, self.wat_bits);
        if warp == u32::MAX {
            return None;
        }
        // Fibonacci hashing: 2^32 over the golden ratio.
        let pc = match self.identity {
            Identity::Load => request.pc.wrapping_mul(0x9e37_79b9) >> (u32::BITS - bits),
            Identity::Warp => 0,
        };
        let warp = warp ^ warp >> bits;
        Some(Entry((warp ^ pc) & ((1 << bits) - 1)))
    }
}

/// Bits of a count of pending requests: a warp's load makes up to 32 (Jeong et al. 2023, Table 3).
pub const PENDING_BITS: u64 = 6;

/// Access of a channel to the tables.
pub struct WarpTable {
    table: Shared<Table>,
    channel: usize,
    pending: Pending,
    /// Slot that the request in service had while it waited, by bank.
    serving: Vec<Slot>,
    updates: u64,
    stale: u64,
}

/// The tables of a machine.
pub struct WarpTables {
    table: Shared<Table>,
    pending: Pending,
    banks: usize,
}

impl WarpTables {
    /// Builds the tables. Channels take what is reported by [`WarpTable::take_last`].
    pub fn new(context: &SchedulerContext, options: &Options, reports: Reports) -> WarpTables {
        let numbering = context.warps.next_power_of_two().ilog2().max(1);
        let wat_bits = if options.wat_bits == 0 { numbering } else { options.wat_bits };
        let table = Shared::new(Table {
            identity: options.identity,
            wat_bits,
            latency: options.wet_latency,
            counts: vec![Count::default(); 1 << wat_bits],
            changes: VecDeque::new(),
            last: Vec::new(),
            reports,
        });
        WarpTables { table, pending: options.pending, banks: context.dram.banks as usize }
    }

    /// Adds a channel.
    pub fn channel(&self) -> WarpTable {
        let last = &mut self.table.get().last;
        last.push(Vec::new());
        WarpTable {
            table: self.table.clone(),
            channel: last.len() - 1,
            pending: self.pending,
            serving: vec![Slot(0); self.banks],
            updates: 0,
            stale: 0,
        }
    }
}

impl WarpTable {
    /// Returns the number of entries of the table.
    pub fn entries(&self) -> usize {
        self.table.get().counts.len()
    }

    /// Returns the bits of the table, which the paper counts with every controller.
    pub fn bits(&self) -> u64 {
        self.entries() as u64 * PENDING_BITS
    }

    /// Returns the entry of the request's warp; none without a waiting warp.
    pub fn entry(&self, request: &DramRequest) -> Option<Entry> {
        self.table.get().entry(request)
    }

    /// Records an arrival in this channel. Returns the cycle from which its warp's count includes
    /// it.
    pub fn arrived(&mut self, slot: Slot, queued: &Queued, entry: Entry) -> DramCycle {
        self.post(slot, queued, entry, true, queued.arrived)
    }

    /// Records the first command of a request of this channel. Returns the cycle from which its
    /// warp's count excludes it, if this command decides.
    pub fn scheduled(
        &mut self,
        slot: Slot,
        queued: &Queued,
        entry: Entry,
        now: DramCycle,
    ) -> Option<DramCycle> {
        if self.pending == Pending::Served {
            self.serving[queued.request.bank.index()] = slot;
            return None;
        }
        Some(self.post(slot, queued, entry, false, now))
    }

    /// Records the last command of a request of this channel. Returns the entry of its warp and the
    /// cycle from which its count excludes it, if this command decides.
    pub fn served(&mut self, queued: &Queued, now: DramCycle) -> Option<(DramCycle, Entry)> {
        if self.pending == Pending::Scheduled {
            return None;
        }
        let entry = self.entry(&queued.request)?;
        let slot = self.serving[queued.request.bank.index()];
        Some((self.post(slot, queued, entry, false, now), entry))
    }

    fn post(
        &mut self,
        slot: Slot,
        queued: &Queued,
        entry: Entry,
        arrives: bool,
        now: DramCycle,
    ) -> DramCycle {
        let table = &mut *self.table.get();
        table.settle(now);
        let count = &mut table.counts[entry.index()];
        if arrives {
            count.posted += 1;
        } else {
            self.stale += u64::from(count.pending != count.posted);
            count.posted -= 1;
        }
        let name = Name::new(self.channel, slot, queued);
        let at = now + table.latency;
        table.changes.push_back(Change { at, entry, name, arrives });
        table.settle(now);
        self.updates += 1;
        at
    }

    /// Returns the tables as of `now`.
    pub fn at(&self, now: DramCycle) -> MutexGuard<'_, Table> {
        self.table.get().settle(now);
        self.table.get()
    }

    /// Passes on the requests of this channel that have become the last of their warps since the
    /// last call.
    pub fn take_last(&self, now: DramCycle, take: impl FnMut(Name)) {
        let mut table = self.table.get();
        table.settle(now);
        table.last[self.channel].drain(..).for_each(take);
    }

    /// Returns `wet_updates`: changes sent to the table, two per request of a warp; and
    /// `wet_stale`: requests that ceased to be pending while the table's count of their warp was out
    /// of date.
    pub fn counters(&self) -> [Counter; 2] {
        [
            Counter { name: "wet_updates", value: self.updates },
            Counter { name: "wet_stale", value: self.stale },
        ]
    }
}
