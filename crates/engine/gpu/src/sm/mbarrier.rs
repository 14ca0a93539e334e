//! Mbarriers: barrier objects in the shared memory of a CTA that count arrivals and transferred
//! bytes (PTX ISA, "mbarrier"). [`Signal`]s update them: from the load/store unit once the banks
//! have served the instruction, from other SMs, and from completed copies.

use super::Sm;
use super::cluster::ClusterCta;
use super::code::Static;
use super::memory::{AccessId, Completed, write_signals};
use super::scheduler::CtaSlot;
use warpmem_sim::{Arrival, CoreCycle, Signal, WarpSlot};
use warpmem_trace::Mbarrier;

/// An initialised mbarrier.
struct State {
    offset: u32,
    /// Arrivals and bytes missing in the current phase.
    pending: i64,
    bytes: i64,
    /// Arrivals expected in each later phase.
    expected: i64,
    /// Parity of the current phase.
    parity: bool,
    /// Warps that wait for the current phase, by slot.
    waiting: u64,
}

/// Mbarriers of a CTA.
#[derive(Default)]
pub(super) struct Mbarriers {
    states: Vec<State>,
}

impl Mbarriers {
    fn at(&mut self, offset: u32) -> Option<&mut State> {
        self.states.iter_mut().find(|state| state.offset == offset)
    }

    /// Updates an mbarrier and returns the released warps. Updates of an uninitialised mbarrier
    /// are ignored.
    fn update(&mut self, offset: u32, arrival: Arrival) -> u64 {
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

    /// Whether the phase of this parity is complete; if not, makes a warp wait for it. Waits on an
    /// uninitialised mbarrier do not block.
    fn wait(&mut self, offset: u32, parity: bool, slot: WarpSlot) -> bool {
        let Some(state) = self.at(offset) else { return true };
        let is_complete = state.parity != parity;
        if !is_complete {
            state.waiting |= slot.bit();
        }
        is_complete
    }

    /// Releases the waiting warps of each mbarrier and returns them, by slot.
    pub fn release_all(&mut self) -> impl Iterator<Item = u64> {
        self.states.iter_mut().map(|state| std::mem::take(&mut state.waiting))
    }
}

/// Mbarriers and phase of a warp's last wait instruction.
#[derive(Default)]
pub(super) struct MbarrierWait {
    parity: bool,
    offsets: Vec<u32>,
}

/// An arrival that waits for async copies of its warp.
pub(super) struct LateArrival {
    signal: Signal,
    copies: Vec<AccessId>,
}

impl Sm {
    /// Starts an instruction of a warp on mbarriers of its own CTA.
    pub(super) fn begin_mbarrier(&mut self, slot: WarpSlot, instruction: &Static) {
        self.sync.activate();
        let warp = self.warps.get_mut(slot);
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

    /// Arrives at mbarriers of the CTA in `slot` once `copies` have completed.
    fn arrive_late(
        &mut self,
        slot: CtaSlot,
        addresses: &[u64],
        increments: bool,
        copies: &[AccessId],
    ) {
        let cta = self.ctas.cta(slot);
        let cta = ClusterCta { kernel: cta.kernel, cta: cta.index };
        let mut signals = Vec::new();
        write_signals(Mbarrier::Arrive { arrivals: 1, bytes: 0 }, addresses, cta, &mut signals);
        for signal in signals {
            let mbarriers = &mut self.ctas.cta_mut(slot).mbarriers;
            if let Some(state) = mbarriers.at(signal.offset).filter(|_| increments) {
                state.pending += i64::from(signal.arrival.count);
            }
            if copies.is_empty() {
                self.memory.signal(signal);
            } else {
                self.sync.late_arrivals.push(LateArrival { signal, copies: copies.to_vec() });
            }
        }
    }

    /// Completes a copy of a warp, and the arrivals that waited only for it.
    pub(super) fn end_copy(&mut self, done: &Completed) {
        self.warps.get_mut(done.warp_slot).copies.retain(|&copy| copy != done.access);
        let memory = &mut self.memory;
        self.sync.late_arrivals.retain_mut(|late| {
            late.copies.retain(|&copy| copy != done.access);
            if late.copies.is_empty() {
                memory.signal(late.signal);
            }
            !late.copies.is_empty()
        });
    }

    /// Makes a warp whose wait instruction has completed in the banks wait for the incomplete
    /// phases, as at a barrier.
    pub(super) fn wait_at_mbarriers(&mut self, slot: WarpSlot) {
        let warp = self.warps.get_mut(slot);
        let MbarrierWait { parity, offsets } = &warp.mbarrier_wait;
        let cta = self.ctas.cta_mut(warp.cta);
        let waits =
            |&&offset: &&u32| !cta.is_terminated && !cta.mbarriers.wait(offset, *parity, slot);
        let unmet = offsets.iter().filter(waits).count() as u32;
        warp.held += unmet;
        if unmet > 0 {
            self.sets.move_to_barrier(slot);
        }
    }

    /// Applies pending signals; warps whose phases complete may issue from `from` on.
    #[inline(never)]
    pub(super) fn take_signals(&mut self, cycle: CoreCycle, from: CoreCycle) {
        while let Some(signal) = self.memory.take_signal() {
            let cta = ClusterCta { kernel: signal.kernel, cta: signal.cta };
            // Signals to ended CTAs are dropped.
            let Some(slot) = self.ctas.slot_of(cta) else { continue };
            let mbarriers = &mut self.ctas.cta_mut(slot).mbarriers;
            let released = mbarriers.update(signal.offset, signal.arrival);
            self.leave_mbarrier(released, cycle, from);
        }
    }

    /// Resumes warps released from an mbarrier.
    fn leave_mbarrier(&mut self, warps: u64, cycle: CoreCycle, from: CoreCycle) {
        for slot in WarpSlot::each(warps) {
            let warp = self.warps.get_mut(slot);
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

    fn initialised(count: u32) -> Mbarriers {
        let mut mbarriers = Mbarriers::default();
        mbarriers.update(8, Arrival { count, begins: true, ..Arrival::default() });
        mbarriers
    }

    fn arrivals(count: u32) -> Arrival {
        Arrival { count, ..Arrival::default() }
    }

    fn bytes(bytes: i32) -> Arrival {
        Arrival { bytes, ..Arrival::default() }
    }

    #[test]
    fn all_waiting_warps_resume_when_the_phase_completes() {
        let mut mbarriers = initialised(2);
        assert!(mbarriers.wait(8, true, FIRST), "the phase preceding the first is complete");
        assert!(!mbarriers.wait(8, false, FIRST) && !mbarriers.wait(8, false, SECOND));
        assert_eq!(mbarriers.update(8, arrivals(1)), 0);
        assert_eq!(mbarriers.update(16, arrivals(1)), 0, "an uninitialised mbarrier");
        assert_eq!(mbarriers.update(8, arrivals(1)), FIRST.bit() | SECOND.bit());
        assert!(mbarriers.wait(8, false, FIRST));
        assert!(!mbarriers.wait(8, true, FIRST), "the next phase expects the same arrivals");
        assert_eq!(mbarriers.update(8, arrivals(2)), FIRST.bit());
    }

    #[test]
    fn arrivals_and_bytes_complete_a_phase_in_any_order() {
        let mut mbarriers = initialised(1);
        assert!(!mbarriers.wait(8, false, FIRST));
        assert_eq!(mbarriers.update(8, bytes(64)), 0);
        assert_eq!(mbarriers.update(8, arrivals(1)), 0);
        assert_eq!(mbarriers.update(8, bytes(-32)), 0);
        assert_eq!(mbarriers.update(8, bytes(-32)), FIRST.bit());
        // Bytes may arrive before they are expected.
        assert!(!mbarriers.wait(8, true, FIRST));
        assert_eq!(mbarriers.update(8, bytes(-64)), 0);
        let expecting = Arrival { count: 1, bytes: 64, ..Arrival::default() };
        assert_eq!(mbarriers.update(8, expecting), FIRST.bit());
    }

    #[test]
    fn dropped_arrivals_count_once_and_lower_the_expected_count() {
        let mut mbarriers = initialised(2);
        assert!(!mbarriers.wait(8, false, FIRST));
        let dropped = Arrival { count: 1, drops: true, ..Arrival::default() };
        assert_eq!(mbarriers.update(8, dropped), 0);
        assert_eq!(mbarriers.update(8, arrivals(1)), FIRST.bit());
        assert!(!mbarriers.wait(8, true, FIRST));
        assert_eq!(mbarriers.update(8, arrivals(1)), FIRST.bit());
    }

    #[test]
    fn reinitialisation_restarts_with_the_first_phase() {
        let mut mbarriers = initialised(1);
        mbarriers.update(8, arrivals(1));
        assert!(mbarriers.wait(8, false, FIRST));
        mbarriers.update(8, Arrival { count: 3, begins: true, ..Arrival::default() });
        assert!(!mbarriers.wait(8, false, FIRST));
        assert_eq!(mbarriers.update(8, arrivals(3)), FIRST.bit());
    }
}
