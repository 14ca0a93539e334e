//! Mbarriers: counting objects in the shared memory of a CTA, on which warps wait for each other and for
//! copies (PTX ISA, "mbarrier"). What changes one is a [`Signal`]: it comes from the unit when the banks
//! have served the instruction, from another SM, or from a copy that has ended.

use super::Sm;
use super::cluster::ClusterCta;
use super::code::Static;
use super::memory::{AccessId, Completed, write_signals};
use super::scheduler::CtaSlot;
use warpmem_sim::{Arrival, CoreCycle, Signal, WarpSlot};
use warpmem_trace::Mbarrier;

/// An mbarrier whose phases are counted.
struct State {
    offset: u32,
    /// Arrivals, and bytes, that the present phase lacks.
    pending: i64,
    bytes: i64,
    /// Arrivals of each phase to come.
    expected: i64,
    /// Parity of the present phase.
    parity: bool,
    /// Warps that wait for the end of the present phase, by slot.
    waiting: u64,
}

/// The mbarriers of a CTA.
#[derive(Default)]
pub(super) struct Mbarriers {
    states: Vec<State>,
}

impl Mbarriers {
    fn at(&mut self, offset: u32) -> Option<&mut State> {
        self.states.iter_mut().find(|state| state.offset == offset)
    }

    /// Changes an mbarrier; returns the warps that go on. One that nobody has begun is of no account.
    fn change(&mut self, offset: u32, arrival: Arrival) -> u64 {
        if arrival.begins {
            let expected = arrival.count.into();
            self.states.retain(|state| state.offset != offset);
            let (pending, bytes, parity, waiting) = (expected, 0, false, 0);
            self.states.push(State { offset, pending, bytes, expected, parity, waiting });
            return 0;
        }
        let Some(state) = self.at(offset) else { return 0 };
        state.bytes += i64::from(arrival.bytes);
        state.pending -= i64::from(arrival.count);
        state.expected -= if arrival.drops { i64::from(arrival.count) } else { 0 };
        if state.pending > 0 || state.bytes != 0 {
            return 0;
        }
        state.parity = !state.parity;
        state.pending = state.expected;
        std::mem::take(&mut state.waiting)
    }

    /// Whether the phase of this parity is complete; if not, a warp waits for its end.
    fn wait(&mut self, offset: u32, parity: bool, slot: WarpSlot) -> bool {
        let Some(state) = self.at(offset) else { return true };
        let is_complete = state.parity != parity;
        if !is_complete {
            state.waiting |= slot.bit();
        }
        is_complete
    }

    /// The warps that wait at each of them, by slot, wait no longer.
    pub fn give_up(&mut self) -> impl Iterator<Item = u64> {
        self.states.iter_mut().map(|state| std::mem::take(&mut state.waiting))
    }
}

/// What a warp waits for at mbarriers.
#[derive(Default)]
pub(super) struct MbarrierWait {
    parity: bool,
    offsets: Vec<u32>,
}

/// An arrival that waits for copies of its warp.
pub(super) struct LateArrival {
    signal: Signal,
    copies: Vec<AccessId>,
}

impl Sm {
    /// A warp has issued an instruction that is about mbarriers of its own CTA.
    pub(super) fn begin_mbarrier(&mut self, slot: WarpSlot, instruction: &Static) {
        self.has_meetings = true;
        let warp = self.warps[slot.index()].as_mut().expect("the warp is present");
        let addresses = warp.record.active_addresses();
        match instruction.mbarrier {
            Some(Mbarrier::Wait { parity }) => {
                warp.mbarrier_wait.parity = parity;
                let offsets = &mut warp.mbarrier_wait.offsets;
                offsets.clear();
                offsets.extend(addresses.iter().map(|&address| address as u32));
                offsets.sort_unstable();
                offsets.dedup();
            }
            Some(Mbarrier::ArriveAfterCopies { increments }) => {
                let (cta, addresses) = (warp.cta, addresses.to_vec());
                let copies = warp.copies.clone();
                self.arrive_late(cta, &addresses, increments, &copies);
            }
            _ => {}
        }
    }

    /// Arrivals of the CTA in `slot` after copies that are in flight.
    fn arrive_late(
        &mut self,
        slot: CtaSlot,
        addresses: &[u64],
        increments: bool,
        copies: &[AccessId],
    ) {
        let cta = self.residents.cta(slot);
        let cta = ClusterCta { kernel: cta.kernel, cta: cta.index };
        let mut signals = Vec::new();
        write_signals(Mbarrier::Arrive { arrivals: 1, bytes: 0 }, addresses, cta, &mut signals);
        for signal in signals {
            let mbarriers = &mut self.residents.cta_mut(slot).mbarriers;
            if let Some(state) = mbarriers.at(signal.offset).filter(|_| increments) {
                state.pending += i64::from(signal.arrival.count);
            }
            if copies.is_empty() {
                self.memory.signal(signal);
            } else {
                self.late_arrivals.push(LateArrival { signal, copies: copies.to_vec() });
            }
        }
    }

    /// A copy of a warp has ended: what waited for it and no other arrives.
    pub(super) fn end_copy(&mut self, done: &Completed) {
        self.warp_mut(done.warp_slot).copies.retain(|&copy| copy != done.access);
        let memory = &mut self.memory;
        self.late_arrivals.retain_mut(|late| {
            late.copies.retain(|&copy| copy != done.access);
            if late.copies.is_empty() {
                memory.signal(late.signal);
            }
            !late.copies.is_empty()
        });
    }

    /// The banks have answered a wait: the warp waits for the phases that are not complete, as at a
    /// barrier.
    pub(super) fn look_at_mbarriers(&mut self, slot: WarpSlot) {
        let warp = self.warps[slot.index()].as_mut().expect("the warp is present");
        let MbarrierWait { parity, offsets } = &warp.mbarrier_wait;
        let cta = self.residents.cta_mut(warp.cta);
        let waits = |&&offset: &&u32| !cta.ends_early && !cta.mbarriers.wait(offset, *parity, slot);
        let unmet = offsets.iter().filter(waits).count() as u32;
        warp.held += unmet;
        if unmet > 0 {
            self.sets.turn_to_barrier(slot);
        }
    }

    /// Mbarriers change; warps whose phases are complete may issue from `from` on.
    pub(super) fn take_signals(&mut self, cycle: CoreCycle, from: CoreCycle) {
        while let Some(signal) = self.memory.take_signal() {
            let cta = ClusterCta { kernel: signal.kernel, cta: signal.cta };
            // A CTA that has ended left its mbarriers behind.
            let Some(slot) = self.residents.slot_of(cta) else { continue };
            let mbarriers = &mut self.residents.cta_mut(slot).mbarriers;
            let released = mbarriers.change(signal.offset, signal.arrival);
            self.leave_mbarrier(released, cycle, from);
        }
    }

    /// Warps go on that have waited at an mbarrier.
    fn leave_mbarrier(&mut self, warps: u64, cycle: CoreCycle, from: CoreCycle) {
        for slot in WarpSlot::each(warps) {
            let warp = self.warp_mut(slot);
            warp.held -= 1;
            if warp.held == 0 {
                self.leave_barrier(slot.bit(), cycle, from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: WarpSlot = WarpSlot(3);
    const SECOND: WarpSlot = WarpSlot(40);

    fn begun(count: u32) -> Mbarriers {
        let mut mbarriers = Mbarriers::default();
        mbarriers.change(8, Arrival { count, begins: true, ..Arrival::default() });
        mbarriers
    }

    fn arrivals(count: u32) -> Arrival {
        Arrival { count, ..Arrival::default() }
    }

    fn bytes(bytes: i32) -> Arrival {
        Arrival { bytes, ..Arrival::default() }
    }

    #[test]
    fn all_who_wait_for_a_phase_go_on_with_its_end() {
        let mut mbarriers = begun(2);
        assert!(mbarriers.wait(8, true, FIRST), "the phase before the first");
        assert!(!mbarriers.wait(8, false, FIRST) && !mbarriers.wait(8, false, SECOND));
        assert_eq!(mbarriers.change(8, arrivals(1)), 0);
        assert_eq!(mbarriers.change(16, arrivals(1)), 0, "another that nobody has begun");
        assert_eq!(mbarriers.change(8, arrivals(1)), FIRST.bit() | SECOND.bit());
        assert!(mbarriers.wait(8, false, FIRST));
        assert!(!mbarriers.wait(8, true, FIRST), "the next phase expects as many");
        assert_eq!(mbarriers.change(8, arrivals(2)), FIRST.bit());
    }

    #[test]
    fn a_phase_lacks_the_bytes_that_are_expected_whoever_is_first() {
        let mut mbarriers = begun(1);
        assert!(!mbarriers.wait(8, false, FIRST));
        assert_eq!(mbarriers.change(8, bytes(64)), 0);
        assert_eq!(mbarriers.change(8, arrivals(1)), 0);
        assert_eq!(mbarriers.change(8, bytes(-32)), 0);
        assert_eq!(mbarriers.change(8, bytes(-32)), FIRST.bit());
        // Bytes may come before they are expected.
        assert!(!mbarriers.wait(8, true, FIRST));
        assert_eq!(mbarriers.change(8, bytes(-64)), 0);
        let expecting = Arrival { count: 1, bytes: 64, ..Arrival::default() };
        assert_eq!(mbarriers.change(8, expecting), FIRST.bit());
    }

    #[test]
    fn dropped_arrivals_count_once_and_are_not_expected_again() {
        let mut mbarriers = begun(2);
        assert!(!mbarriers.wait(8, false, FIRST));
        let dropped = Arrival { count: 1, drops: true, ..Arrival::default() };
        assert_eq!(mbarriers.change(8, dropped), 0);
        assert_eq!(mbarriers.change(8, arrivals(1)), FIRST.bit());
        assert!(!mbarriers.wait(8, true, FIRST));
        assert_eq!(mbarriers.change(8, arrivals(1)), FIRST.bit());
    }

    #[test]
    fn one_that_begins_again_begins_with_its_first_phase() {
        let mut mbarriers = begun(1);
        mbarriers.change(8, arrivals(1));
        assert!(mbarriers.wait(8, false, FIRST));
        mbarriers.change(8, Arrival { count: 3, begins: true, ..Arrival::default() });
        assert!(!mbarriers.wait(8, false, FIRST));
        assert_eq!(mbarriers.change(8, arrivals(3)), FIRST.bit());
    }
}
