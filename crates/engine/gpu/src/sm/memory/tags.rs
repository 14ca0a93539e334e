//! The tag stage: the L1 banks, their pipelines, and the tags at their ends.

use super::banks::{Banks, L1Bank, Lookup};
use super::entry::{Entry, Work};
use super::l1::L1;
use super::sectors::Sector;
use super::wavefronts::Wavefronts;
use crate::sm::code::bypasses_l1;
use crate::sm::scheduler::WarpScheduler;
use warpmem_cache::{Allocation, Evicted, Fill, ReservationFail};
use warpmem_machine::Machine;
use warpmem_sim::{CoreCycle, WarpSlot};

/// The pipeline of all sectors with wavefronts.
const PIPELINE: L1Bank = L1Bank(0);

/// Returns the lookup of a sector that enters its pipeline in cycle `entered`.
fn lookup(entry: &Entry, sector: Sector, entered: CoreCycle) -> Lookup {
    Lookup {
        sector,
        access: entry.access,
        store: matches!(entry.work, Work::Store { .. }),
        local: entry.work == Work::Store { local: true },
        entered,
    }
}

/// L1 and the pipelines in front of its tags.
pub(super) struct TagStage {
    pub l1: L1,
    pub banks: Banks,
    /// The data path of whole instructions, which share one pipeline; none if each bank accepts a
    /// sector per cycle.
    wavefronts: Option<Wavefronts>,
    is_enabled: bool,
    /// Every access hits.
    is_perfect: bool,
    /// The warp scheduler observes misses and evictions.
    reports_events: bool,
    /// Cycle of the last fill.
    last_fill: CoreCycle,
}

impl TagStage {
    pub fn new(machine: &Machine) -> TagStage {
        let wavefronts = Wavefronts::new(machine);
        TagStage {
            l1: L1::new(&machine.l1),
            banks: match &wavefronts {
                Some(wavefronts) => Banks::new(machine.l1.latency, wavefronts.entries(), 1),
                None => Banks::new(machine.l1.latency, machine.l1.latency, machine.l1.banks),
            },
            wavefronts,
            is_enabled: machine.l1.enabled,
            is_perfect: false,
            reports_events: false,
            last_fill: CoreCycle::NEVER,
        }
    }

    pub fn make_perfect(&mut self) {
        self.is_perfect = true;
    }

    #[inline]
    pub fn is_perfect(&self) -> bool {
        self.is_perfect
    }

    /// Enables or disables the events of the warp scheduler.
    pub fn report_events(&mut self, reports: bool) {
        self.reports_events = reports;
        if reports {
            self.l1.keep_owners();
        }
    }

    /// Whether the requests of an instruction bypass L1.
    #[inline]
    pub fn is_bypassed_by(&self, entry: &Entry) -> bool {
        match entry.work {
            Work::Load if entry.is_multicast => true,
            _ if self.is_perfect => false,
            Work::Atomic => true,
            Work::Store { .. } => !self.is_enabled || entry.bulk,
            _ => !self.is_enabled || bypasses_l1(entry.cache_op),
        }
    }

    /// Moves sectors of an instruction into the pipelines: with wavefronts all of them, or a
    /// [part](Wavefronts::part) of a bulk copy, else in order at most one into each bank. Returns
    /// how many, and the cycle until which the load/store unit is busy with them.
    pub fn enter(&mut self, entry: &Entry, cycle: CoreCycle) -> (usize, CoreCycle) {
        if self.wavefronts.is_some() {
            return self.enter_in_wavefronts(entry, cycle);
        }
        let mut taken = 0u64;
        for &sector in &entry.lists.sectors.as_slice()[entry.sent..] {
            let bank = self.l1.bank(sector.address);
            if taken >> bank.0 & 1 == 1 || !self.banks.has_room(bank, 1) {
                break;
            }
            taken |= 1 << bank.0;
            self.banks.push(bank, lookup(entry, sector, cycle));
        }
        (taken.count_ones() as usize, cycle)
    }

    /// Moves sectors of an instruction into the pipeline, evenly over their wavefronts.
    fn enter_in_wavefronts(&mut self, entry: &Entry, cycle: CoreCycle) -> (usize, CoreCycle) {
        let sectors = Wavefronts::part(entry);
        let Some(wavefronts) = &mut self.wavefronts else { return (0, cycle) };
        if !self.banks.has_room(PIPELINE, sectors.len()) {
            return (0, cycle);
        }
        let cycles = wavefronts.take(sectors, entry.moved_bytes, cycle);
        for (at, &sector) in (0..).zip(sectors) {
            let entered = cycle + at * cycles / sectors.len() as u64;
            self.banks.push(PIPELINE, lookup(entry, sector, entered));
        }
        (sectors.len(), cycle + cycles)
    }

    /// Whether the pipeline of an instruction's next sectors is full.
    #[inline]
    pub fn blocks(&self, entry: &Entry) -> bool {
        let Some(next) = entry.lists.sectors.as_slice().get(entry.sent) else { return false };
        let has_room = || match self.wavefronts {
            Some(_) => self.banks.has_room(PIPELINE, Wavefronts::part(entry).len()),
            None => self.banks.has_room(self.l1.bank(next.address), 1),
        };
        !self.is_bypassed_by(entry) && !has_room()
    }

    /// Returns the lookups that the tags serve per cycle and pipeline.
    #[inline]
    pub fn lookups_per_cycle(&self) -> u32 {
        self.wavefronts.as_ref().map_or(1, Wavefronts::lookups_per_cycle)
    }

    /// Returns the cycles for which the wavefronts have taken the data path; 0 without wavefronts.
    pub fn wavefront_cycles(&self) -> u64 {
        self.wavefronts.as_ref().map_or(0, Wavefronts::cycles)
    }

    /// Whether a lookup that failed before must fail again; `room` returns the free miss-queue
    /// entries. It fails until the next fill, because only its own bank could have fetched its sector
    /// meanwhile. A lookup that lacked a miss-queue entry fails only while there is none.
    #[inline]
    pub fn still_fails(
        &self,
        bank: L1Bank,
        store: bool,
        cycle: CoreCycle,
        room: impl FnOnce() -> usize,
    ) -> bool {
        match self.banks.failing(bank) {
            Some(_) if self.last_fill == cycle => false,
            Some(ReservationFail::MissQueueFull) => room() <= self.l1.reserve(store),
            Some(_) => true,
            None => false,
        }
    }

    /// Counts the cycles of a failure that ends in `cycle`, if the bank had one.
    #[inline]
    pub fn end_fail(&mut self, bank: L1Bank, cycle: CoreCycle) {
        if let Some((reason, cycles)) = self.banks.end_fail(bank, cycle) {
            self.l1.count_fail(reason, cycles);
        }
    }

    /// Fills a sector, with `room` free miss-queue entries.
    pub fn fill(&mut self, address: u64, room: usize, cycle: CoreCycle) -> Fill {
        self.last_fill = cycle;
        self.l1.fill(address, room)
    }

    /// Reports a read miss of the warp in `slot` to a policy that observes them.
    pub fn report_miss(
        &self,
        slot: WarpSlot,
        sector: &Sector,
        cycle: CoreCycle,
        policy: &mut dyn WarpScheduler,
    ) {
        if self.reports_events {
            policy.missed(slot, self.l1.line(sector.address), cycle);
        }
    }

    /// Assigns a newly allocated line to the warp in `slot`, and reports the evicted line to a
    /// policy that observes evictions. Returns evicted dirty data.
    pub fn claim(
        &mut self,
        slot: WarpSlot,
        allocated: Allocation,
        policy: &mut dyn WarpScheduler,
    ) -> Option<Evicted> {
        if self.reports_events
            && let Some((owner, line)) = self.l1.claim(allocated, slot)
        {
            policy.evicted(owner, line);
        }
        allocated.dirty()
    }

    /// Returns the number of misses for which L1 has room; 0 while a lookup stalls at the tags.
    pub fn miss_room(&self) -> usize {
        if self.banks.any_fails() { 0 } else { self.l1.free_misses() }
    }

    /// Whether no lookup is queued and no miss outstanding.
    pub fn is_idle(&self) -> bool {
        self.banks.is_empty() && self.l1.outstanding() == 0
    }
}
