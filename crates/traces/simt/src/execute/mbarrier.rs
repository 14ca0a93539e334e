//! Barriers in shared memory (ISA, "mbarrier"). Their 64 bits are opaque to programs; the layout here is:
//!
//! ```text
//!  63     62           60 … 40                  39 … 20             19 … 0
//!  phase  initialised  bytes expected, signed   expected arrivals   pending arrivals
//! ```
//!
//! A phase completes when no arrival and no byte is pending; the next phase begins at once. Behaviour
//! that the ISA leaves undefined stops the kernel.

use warpmem_ptx::{Arrival, Cache, Mbarrier, Space};
use warpmem_trace::{Kind, OpClass};

use super::memory::{check_alignment, read_lane, write_lane};
use super::request;
use super::spaces::{Group, groups};
use super::{Event, ExecutionContext, Outcome, Trap, peer, record};
use crate::lanes::{Lanes, WARP, alike, lanes_of};
use crate::program::{Dest, Step};
use crate::warp::Warp;

/// Size of an mbarrier, bytes.
pub(super) const BYTES: u64 = 8;
/// Maximum arrivals and bytes of a phase (ISA, "Contents of the mbarrier object").
const MAX: u32 = (1 << 20) - 1;

const INITIALISED: u64 = 1 << 62;
const PHASE: u64 = 1 << 63;

/// An operation and its target.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub f: Mbarrier,
    pub space: Space,
    pub offset: i64,
}

/// Decoded state of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// Parity of the phase; odd phases are `true`.
    phase: bool,
    pending: u32,
    expected: u32,
    bytes: i32,
}

impl State {
    fn new(arrivals: u32) -> Result<State, String> {
        match (1..=MAX).contains(&arrivals) {
            true => Ok(State { phase: false, pending: arrivals, expected: arrivals, bytes: 0 }),
            false => Err(format!("an mbarrier for {arrivals} arrivals; 1 to {MAX} are possible")),
        }
    }

    fn of_bits(bits: u64) -> Option<State> {
        let count = |first: u32| (bits >> first) as u32 & MAX;
        (bits & INITIALISED != 0).then_some(State {
            phase: bits & PHASE != 0,
            pending: count(0),
            expected: count(20),
            bytes: ((bits >> 40 << 11) as u32 as i32) >> 11,
        })
    }

    fn bits(self) -> u64 {
        let phase = if self.phase { PHASE } else { 0 };
        let bytes = u64::from((self.bytes as u32) & ((1 << 21) - 1));
        phase | INITIALISED | bytes << 40 | u64::from(self.expected) << 20 | u64::from(self.pending)
    }

    fn arrive(&mut self, count: u32) -> Result<(), String> {
        if count == 0 {
            return Err("0 arrivals at an mbarrier".into());
        }
        let pending = self.pending.checked_sub(count);
        self.pending = pending.ok_or_else(|| {
            format!("{count} arrivals at an mbarrier with {} pending", self.pending)
        })?;
        self.complete();
        Ok(())
    }

    /// Lowers the expected arrivals of later phases by `count`.
    fn drop(&mut self, count: u32) -> Result<(), String> {
        let expected = self.expected.checked_sub(count);
        self.expected = expected.ok_or_else(|| {
            format!("an mbarrier with {} expected arrivals drops {count}", self.expected)
        })?;
        Ok(())
    }

    fn expect(&mut self, bytes: i64) -> Result<(), String> {
        let sum = i64::from(self.bytes) + bytes;
        match sum.unsigned_abs() <= u64::from(MAX) {
            true => self.bytes = sum as i32,
            false => {
                return Err(format!("{sum} bytes are expected at an mbarrier; at most {MAX}"));
            }
        }
        Ok(())
    }

    fn complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
    }
}

/// Executes `mbarrier` and `cp.async.mbarrier`, lane by lane. A wait never blocks: a warp whose wait fails
/// yields to the others.
pub(super) fn execute(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    operation: Operation,
) -> Result<Event, Trap> {
    if operation.f == Mbarrier::PendingCount {
        record::one(warp, step, OpClass::Integer, mask);
        let states = warp.wide(step.sources[0]);
        warp.set_wide(step.dests[0], &states.map(|state| state & u64::from(MAX)), mask);
        return Ok(Event::None);
    }
    let mut fails = false;
    for group in groups(warp, step.sources[0], operation.offset, operation.space, mask) {
        let group = in_shared(&group, operation.f, step)?;
        check_alignment(&group, BYTES)?;
        fails |= match operation.f {
            Mbarrier::TestWait { parity } | Mbarrier::TryWait { parity } => {
                !wait(warp, ctx, step, &group, parity)?
            }
            f => {
                change(warp, ctx, step, &group, f)?;
                false
            }
        };
    }
    Ok(if fails { Event::Yield } else { Event::None })
}

/// Counts arrived bytes of a bulk copy at an mbarrier.
pub(super) fn complete_bytes(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    address: u64,
    bytes: u64,
) -> Outcome {
    let space = peer::space_of(ctx, address);
    let group = Group { space, lanes: 1 << lane, addresses: [address; WARP] };
    check_alignment(&group, BYTES)?;
    let before = read_lane(warp, ctx, space, lane, address, BYTES)?;
    let count = u32::try_from(bytes).unwrap_or(u32::MAX);
    let after = changed(Mbarrier::CompleteBytes, before, count);
    let after = after.map_err(|reason| Trap::new(lane, reason))?;
    write_lane(warp, ctx, space, lane, address, BYTES, after)
}

/// Checks that an mbarrier is in shared memory. Remote mbarriers only support changes without a result.
fn in_shared(group: &Group, f: Mbarrier, step: &Step) -> Result<Group, Trap> {
    let Some(lane) = lanes_of(group.lanes).next() else {
        return Ok(Group { space: Space::Shared, ..*group });
    };
    let (address, space) = (group.addresses[lane], group.space.name());
    match group.space {
        Space::Shared => Ok(Group { ..*group }),
        Space::Cluster if is_remote(f, step) => Ok(Group { ..*group }),
        Space::Cluster => Err(Trap::new(
            lane,
            "an mbarrier of another CTA only supports arrivals without a result",
        )),
        _ => Err(Trap::new(
            lane,
            format!("an mbarrier at {address:#x} of {space} memory, not of shared memory"),
        )),
    }
}

/// Returns whether an operation is allowed on a remote mbarrier.
fn is_remote(f: Mbarrier, step: &Step) -> bool {
    let has_result = step.dests.iter().any(|dest| *dest != Dest::Sink);
    let is_change = matches!(
        f,
        Mbarrier::Arrive(_)
            | Mbarrier::ArriveDrop(_)
            | Mbarrier::ExpectBytes
            | Mbarrier::CompleteBytes
    );
    is_change && !has_result
}

fn kind(f: Mbarrier, step: &Step) -> Kind {
    match f {
        Mbarrier::Init | Mbarrier::Invalidate => Kind::Store,
        Mbarrier::TestWait { .. } | Mbarrier::TryWait { .. } => Kind::Load,
        _ if step.dests.iter().any(|dest| *dest != Dest::Sink) => Kind::Atomic,
        _ => Kind::Reduction,
    }
}

/// Executes operations that change the mbarrier; those with a result return the previous state.
fn change(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    group: &Group,
    f: Mbarrier,
) -> Outcome {
    let counts = step.sources.get(1).map_or([1; WARP], |&source| warp.narrow(source));
    for lanes in alike(group.lanes, |lane| counts[lane]) {
        let group = Group { lanes, ..*group };
        request::record(warp, ctx, step, kind(f, step), Cache::Default, BYTES, &group);
        if let Some(operation) = recorded(f, counts[lanes.trailing_zeros() as usize]) {
            warp.record(|records| records.with_mbarrier(operation));
        }
    }
    let mut befores: Lanes<u64> = [0; WARP];
    for lane in lanes_of(group.lanes) {
        let address = group.addresses[lane];
        let before = read_lane(warp, ctx, group.space, lane, address, BYTES)?;
        let after = changed(f, before, counts[lane]).map_err(|reason| Trap::new(lane, reason))?;
        write_lane(warp, ctx, group.space, lane, address, BYTES, after)?;
        befores[lane] = before;
        if matches!(f, Mbarrier::AsyncArrive { .. }) {
            warp.copies.arrive_at(address);
        }
    }
    if let Some(&dest) = step.dests.first() {
        warp.set_wide(dest, &befores, group.lanes);
    }
    Ok(())
}

/// Returns the trace record of an operation that changes an mbarrier.
fn recorded(f: Mbarrier, count: u32) -> Option<warpmem_trace::Mbarrier> {
    use warpmem_trace::Mbarrier as Recorded;
    // A count beyond the capacity of an mbarrier is refused.
    let bytes = i32::try_from(count).unwrap_or(i32::MAX);
    let of = |arrival: Arrival| match arrival {
        Arrival::ExpectBytes => (1, bytes),
        _ => (count, 0),
    };
    Some(match f {
        Mbarrier::Init => Recorded::Init { arrivals: count },
        Mbarrier::ExpectBytes => Recorded::Arrive { arrivals: 0, bytes },
        Mbarrier::CompleteBytes => Recorded::Arrive { arrivals: 0, bytes: -bytes },
        Mbarrier::Arrive(arrival) => {
            let (arrivals, bytes) = of(arrival);
            Recorded::Arrive { arrivals, bytes }
        }
        Mbarrier::ArriveDrop(arrival) => {
            let (arrivals, bytes) = of(arrival);
            Recorded::ArriveAndDrop { arrivals, bytes }
        }
        Mbarrier::AsyncArrive { increments } => Recorded::ArriveAfterCopies { increments },
        _ => return None,
    })
}

/// Returns the bits of an mbarrier after an operation.
fn changed(f: Mbarrier, before: u64, count: u32) -> Result<u64, String> {
    if f == Mbarrier::Init {
        return State::new(count).map(State::bits);
    }
    let mut state = initialised(before)?;
    match f {
        Mbarrier::Invalidate => return Ok(0),
        Mbarrier::ExpectBytes => state.expect(count.into())?,
        Mbarrier::CompleteBytes => {
            state.expect(-i64::from(count))?;
            state.complete();
        }
        Mbarrier::Arrive(arrival) => arrive(&mut state, arrival, count, false)?,
        Mbarrier::ArriveDrop(arrival) => arrive(&mut state, arrival, count, true)?,
        // Copies are complete before the next instruction, so the copy arrives at once. With the increment,
        // the count of the phase is unchanged.
        Mbarrier::AsyncArrive { increments: false } => state.arrive(1)?,
        _ => {}
    }
    Ok(state.bits())
}

fn arrive(state: &mut State, arrival: Arrival, count: u32, drops: bool) -> Result<(), String> {
    let count = match arrival {
        Arrival::ExpectBytes => {
            state.expect(count.into())?;
            1
        }
        _ => count,
    };
    if drops {
        state.drop(count)?;
    }
    let phase = state.phase;
    state.arrive(count)?;
    match arrival == Arrival::NoComplete && state.phase != phase {
        true => Err("an arrival with `.noComplete` completes the phase".into()),
        false => Ok(()),
    }
}

fn initialised(bits: u64) -> Result<State, String> {
    State::of_bits(bits).ok_or_else(|| "there is no initialised mbarrier".into())
}

/// Executes `test_wait` and `try_wait`: whether the phase of a state, or the last phase of a parity, is
/// complete, which both mean that the mbarrier is in another phase. Returns whether it is complete in all
/// lanes.
fn wait(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    group: &Group,
    parity: bool,
) -> Result<bool, Trap> {
    let asked = warp.wide(step.sources[1]);
    let mut complete = 0;
    for lane in lanes_of(group.lanes) {
        let address = group.addresses[lane];
        let bits = read_lane(warp, ctx, Space::Shared, lane, address, BYTES)?;
        let state = initialised(bits).map_err(|reason| Trap::new(lane, reason))?;
        let phase = if parity { asked[lane] & 1 == 1 } else { asked[lane] & PHASE != 0 };
        complete |= u32::from(state.phase != phase) << lane;
    }
    let parity_of = |lane: usize| match parity {
        true => asked[lane] & 1 == 1,
        false => asked[lane] & PHASE != 0,
    };
    record_wait(warp, ctx, step, &Group { lanes: complete, ..*group }, parity_of);
    let fails = group.lanes & !complete;
    if fails != 0 {
        record::one(warp, step, OpClass::Integer, fails);
    }
    warp.set_predicate(step.dests[0], complete, group.lanes);
    let copies: usize =
        lanes_of(complete).map(|lane| warp.copies.wait_at(group.addresses[lane])).sum();
    if copies > 0 {
        warp.record(|records| records.wait_async_first(copies));
    }
    Ok(complete == group.lanes)
}

/// Records the lanes whose wait succeeds: in simulation they wait until it does. A failed wait is an ordinary
/// instruction: the simulated machine determines how often it polls.
fn record_wait(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    group: &Group,
    parity: impl Fn(usize) -> bool,
) {
    for lanes in alike(group.lanes, &parity) {
        let parity = parity(lanes.trailing_zeros() as usize);
        let group = Group { lanes, ..*group };
        request::record(warp, ctx, step, Kind::Load, Cache::Default, BYTES, &group);
        warp.record(|records| records.with_mbarrier(warpmem_trace::Mbarrier::Wait { parity }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_encodable() {
        for bytes in [0, 1, -1, MAX as i32, -(MAX as i32)] {
            for (pending, expected) in [(0, 1), (MAX, MAX), (3, 7)] {
                for phase in [false, true] {
                    let state = State { phase, pending, expected, bytes };
                    assert_eq!(State::of_bits(state.bits()), Some(state));
                }
            }
        }
        assert_eq!(State::of_bits(0), None);
    }

    #[test]
    fn a_phase_completes_without_pending_arrivals_and_bytes() {
        let mut state = State::new(2).unwrap();
        state.expect(64).unwrap();
        state.arrive(2).unwrap();
        assert!(!state.phase);
        state.expect(-64).unwrap();
        state.complete();
        assert_eq!(state, State { phase: true, pending: 2, expected: 2, bytes: 0 });
    }
}
