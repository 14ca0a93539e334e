//! Ports: the only connection between units.
//!
//! A port is a bounded FIFO queue from one unit, its writer, to another, its reader. The reader
//! must not take an entry before its ready time; the latency between the two units is the time from
//! the push to the ready time.
//!
//! ```text
//!                              tail           head
//!            push(r, ready)   ┌────┬────┬────┬────┐   pop
//!   writer ─────────────────▶ │    │ r3 │ r2 │ r1 │ ────────▶ reader
//!      ▲                      └────┴────┴────┴────┘              ▲
//!      │                        capacity 4, len 3                │
//!      └─ woken by a pop if it             woken at the ready time by a
//!         found the port full              push into an empty port
//! ```
//!
//! A unit that waits for input or for room is therefore not stepped. After a pop, a reader
//! schedules itself for the ready time of the next entry.
//!
//! The rings of all ports lie in one vector, each at a multiple of its length. A ring starts with
//! four entries and doubles up to the capacity of its port, so that deep queues that stay short
//! touch little host memory.

use super::wheel::Wheel;
use crate::bits;
use crate::names;
use crate::{Clock, ClockDomain, Cycle, Domain, Due, RequestId, Ticks};

/// A unit: its clock domain and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitId {
    pub domain: Domain,
    pub index: u32,
}

/// Name of a port: its region and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortId(u32);

impl PortId {
    /// No port, for units that are only described and never stepped.
    pub const NONE: PortId = PortId(u32::MAX);

    #[inline]
    fn index(self) -> usize {
        names::index(self.0)
    }

    /// Returns the number of the region that has the port.
    #[inline]
    pub(crate) fn region(self) -> usize {
        names::of(self.0)
    }
}

/// State of a port for pushes and pops, in half a cache line of the host.
#[repr(align(32))]
struct Port {
    /// Ready time of the head; [`Ticks::NEVER`] if the port is empty.
    head_ready: Ticks,
    /// Index of the head in [`Fabric::entries`]; if the port is empty, of the first entry of the
    /// ring.
    head: u32,
    /// Length of the ring, less one.
    mask: u32,
    len: u32,
    /// Number of entries at which the ring must grow or the port is full.
    limit: u32,
    capacity: u32,
    /// The reader is a network.
    to_network: bool,
    /// The writer found the port full; the next pop wakes it.
    writer_blocked: bool,
}

const _: () = assert!(size_of::<Port>() == 32);

/// The units at the two ends of a port.
#[derive(Clone, Copy)]
struct Ends {
    writer: UnitId,
    reader: UnitId,
}

/// A set of ports, one bit per number of the writer.
pub type PortSet = [u64; 4];

impl Port {
    /// Returns the index in [`Fabric::entries`] of the entry `count` behind the head. A ring lies
    /// at a multiple of its length, so that only the low bits of an index change as it wraps
    /// around.
    #[inline]
    fn behind_head(&self, count: u32) -> usize {
        let (head, at) = (self.head, self.head.wrapping_add(count));
        (head ^ ((head ^ at) & self.mask)) as usize
    }

    /// Returns the index of the first entry of the ring.
    #[inline]
    fn ring(&self) -> u32 {
        self.head & !self.mask
    }
}

/// Entries of a ring before it grows.
const FIRST_RING: u32 = 4;

/// Entries reserved at the start: 1.5 MB of address space. It exceeds the initial rings because a ring
/// that grows moves and leaves its old entries unused.
const FIRST_ENTRIES: usize = 1 << 17;

/// Name of a port in error messages, and its index among the ports of that name.
type Name = (&'static str, u32);

/// The ports of a region and the wake wheels of all domains. A unit sees nothing else of the
/// machine.
pub struct Fabric {
    /// Number of the region.
    region: usize,
    ports: Vec<Port>,
    entries: Vec<Due>,
    ends: Vec<Ends>,
    names: Vec<Name>,
    /// By network, the ports to it that have become non-empty since its last step.
    arrivals: Vec<PortSet>,
    wheels: [Wheel; Domain::COUNT],
    clocks: [Clock; Domain::COUNT],
    /// Time and domain of the current step.
    current: (Ticks, Domain),
    /// Requests popped so far.
    moves: u64,
}

impl Fabric {
    /// `units`: number of units in each domain, over all regions.
    pub fn new(
        region: usize,
        clocks: [Clock; Domain::COUNT],
        units: [usize; Domain::COUNT],
    ) -> Fabric {
        Fabric {
            region,
            ports: Vec::new(),
            entries: Vec::with_capacity(FIRST_ENTRIES),
            ends: Vec::new(),
            names: Vec::new(),
            arrivals: vec![PortSet::default(); units[Domain::Network as usize]],
            wheels: units.map(Wheel::new),
            clocks,
            current: (Ticks(0), Domain::ALL[0]),
            moves: 0,
        }
    }

    /// Adds a port with `capacity` entries.
    pub fn add_port(
        &mut self,
        name: &'static str,
        index: usize,
        capacity: usize,
        writer: UnitId,
        reader: UnitId,
    ) -> PortId {
        let capacity = capacity.max(1) as u32;
        let ring = self.add_ring(FIRST_RING);
        self.names.push((name, index as u32));
        self.ends.push(Ends { writer, reader });
        self.ports.push(Port {
            head_ready: Ticks::NEVER,
            head: ring,
            mask: FIRST_RING - 1,
            len: 0,
            limit: capacity.min(FIRST_RING),
            capacity,
            to_network: reader.domain == Domain::Network,
            writer_blocked: false,
        });
        PortId(names::name(self.region, self.ports.len() - 1))
    }

    /// Takes the set of ports to a network that have become non-empty since the last call.
    #[inline]
    pub fn take_arrivals(&mut self, network: usize) -> PortSet {
        std::mem::take(&mut self.arrivals[network])
    }

    /// Adds a ring of `length` entries, a power of two; returns the index of its first entry.
    fn add_ring(&mut self, length: u32) -> u32 {
        let ring = self.entries.len().next_multiple_of(length as usize);
        self.entries.resize(ring + length as usize, Due { at: Ticks(0), request: RequestId::NONE });
        ring as u32
    }

    /// Doubles the ring of a port, which must have room, and pushes.
    #[cold]
    fn grow_and_push(&mut self, port: PortId, request: RequestId, ready: Ticks) {
        if self.room(port) == 0 {
            self.broken(port, "overflows");
        }
        let length = 2 * (self.port(port).mask + 1);
        let grown = self.add_ring(length);
        let p = &mut self.ports[port.index()];
        for at in 0..p.len {
            self.entries[(grown + at) as usize] = self.entries[p.behind_head(at)];
        }
        (p.head, p.mask, p.limit) = (grown, length - 1, p.capacity.min(length));
        self.push(port, request, ready);
    }

    #[inline]
    fn port(&self, port: PortId) -> &Port {
        &self.ports[port.index()]
    }

    /// Returns the number of free entries.
    #[inline]
    pub fn room(&self, port: PortId) -> usize {
        let port = self.port(port);
        (port.capacity - port.len) as usize
    }

    /// Appends a request with ready time `ready`, and wakes the reader then if the port was empty.
    /// The port must have room.
    #[inline]
    pub fn push(&mut self, port: PortId, request: RequestId, ready: Ticks) {
        let p = &mut self.ports[port.index()];
        if p.len >= p.limit {
            return self.grow_and_push(port, request, ready);
        }
        let at = p.behind_head(p.len);
        p.len += 1;
        // Later entries need no wake-up: the reader schedules itself when it takes the one before.
        let is_first = p.len == 1;
        self.entries[at] = Due { at: ready, request };
        if is_first {
            self.wake_reader(port, ready);
        }
    }

    /// Returns the ready time of the head; [`Ticks::NEVER`] if the port is empty.
    #[inline]
    pub fn head_ready(&self, port: PortId) -> Ticks {
        self.port(port).head_ready
    }

    /// Returns the ready time and the request at the head.
    #[inline]
    pub fn head(&self, port: PortId) -> Option<(Ticks, RequestId)> {
        let p = self.port(port);
        (p.len > 0).then(|| {
            let Due { at, request } = self.entries[p.head as usize];
            (at, request)
        })
    }

    /// Returns the request behind the head.
    #[inline]
    pub(crate) fn second(&self, port: PortId) -> Option<RequestId> {
        let p = self.port(port);
        (p.len > 1).then(|| self.entries[p.behind_head(1)].request)
    }

    /// Returns the request at the head if it is ready at `now`.
    #[inline]
    pub fn ready(&self, port: PortId, now: Ticks) -> Option<RequestId> {
        let p = self.port(port);
        (p.head_ready <= now).then(|| self.entries[p.head as usize].request)
    }

    /// Takes the request at the head, and wakes a writer that waits for room.
    #[inline]
    pub fn pop(&mut self, port: PortId, now: Ticks) -> RequestId {
        let p = &mut self.ports[port.index()];
        if p.len == 0 {
            self.broken(port, "is empty");
        }
        debug_assert!(p.head_ready <= now);
        self.moves += 1;
        let Due { request, .. } = self.entries[p.head as usize];
        p.len -= 1;
        if p.len == 0 {
            // An empty ring restarts at its first entries, which are in the host's caches.
            (p.head, p.head_ready) = (p.ring(), Ticks::NEVER);
        } else {
            let next = p.behind_head(1);
            (p.head, p.head_ready) = (next as u32, self.entries[next].at);
        }
        if p.writer_blocked {
            return self.wake_blocked(port, request, now);
        }
        request
    }

    // Most pushes and pops wake no unit. The wake-ups are in separate functions, called last, to
    // keep the common path short.
    #[inline(never)]
    fn wake_reader(&mut self, port: PortId, ready: Ticks) {
        let p = &mut self.ports[port.index()];
        p.head_ready = ready;
        let Ends { writer, reader } = self.ends[port.index()];
        if p.to_network {
            bits::insert(&mut self.arrivals[reader.index as usize], writer.index as usize);
        }
        self.wake(reader, ready);
    }

    /// Wakes the writer. Returns `request`, so that the call is a tail call.
    #[inline(never)]
    fn wake_blocked(&mut self, port: PortId, request: RequestId, time: Ticks) -> RequestId {
        self.ports[port.index()].writer_blocked = false;
        self.wake(self.ends[port.index()].writer, time);
        request
    }

    #[cold]
    fn broken(&self, port: PortId, what: &str) -> ! {
        let (name, index) = self.names[port.index()];
        panic!("port `{name}` {index} {what}");
    }

    /// Returns whether there is room; if not, the next pop wakes the writer.
    #[inline]
    pub fn room_or_wake(&mut self, port: PortId) -> bool {
        let p = &mut self.ports[port.index()];
        let room = p.len < p.capacity;
        p.writer_blocked |= !room;
        room
    }

    /// Makes the next pop wake the writer.
    #[inline]
    pub fn wake_writer(&mut self, port: PortId) {
        self.ports[port.index()].writer_blocked = true;
    }

    /// Wakes a unit in the first possible cycle of its domain at or after `time`.
    #[inline]
    pub fn wake(&mut self, unit: UnitId, time: Ticks) {
        let domain = unit.domain as usize;
        let clock = self.clocks[domain];
        let (now, current) = self.current;
        // Earlier domains have been passed at `now`, whether or not they had a unit to step.
        let passed = time <= now && domain < current as usize;
        let cycle = if passed { clock.cycle_of(now) + 1 } else { clock.cycle_from(time) };
        self.wheels[domain].wake(unit.index as usize, cycle);
    }

    /// Wakes unit `index` of domain `D` at a cycle.
    #[inline]
    pub fn wake_at<D: ClockDomain>(&mut self, index: u32, cycle: Cycle<D>) {
        self.wheels[D::DOMAIN as usize].wake(index as usize, cycle.number());
    }

    /// Wakes a unit at a cycle of its own domain.
    #[inline]
    pub fn wake_cycle(&mut self, unit: UnitId, cycle: u64) {
        self.wheels[unit.domain as usize].wake(unit.index as usize, cycle);
    }

    /// Returns the number of requests popped so far, as a measure of progress.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Returns the clock of domain `D`.
    #[inline]
    pub fn clock_of<D: ClockDomain>(&self) -> Clock<D> {
        self.clocks[D::DOMAIN as usize].of()
    }

    /// Returns the clock of a domain.
    #[inline]
    pub fn clock(&self, domain: Domain) -> Clock {
        self.clocks[domain as usize]
    }

    /// Begins the cycle of a domain at `now`, the earliest wake-up of all domains, if a unit of it
    /// is due; returns the number of the cycle. The caller steps the units from [`Wheel::take`],
    /// then calls [`Wheel::end`].
    #[inline]
    pub fn begin_cycle(&mut self, domain: Domain, now: Ticks) -> Option<u64> {
        let cycle = self.due_cycle(domain, now)?;
        self.begin(domain, cycle, now);
        Some(cycle)
    }

    /// Returns the cycle of a domain that begins at `now`, the earliest wake-up of all domains and
    /// regions, if a unit of it is due.
    #[inline]
    pub fn due_cycle(&self, domain: Domain, now: Ticks) -> Option<u64> {
        let clock = self.clock(domain);
        self.wheels[domain as usize].next_cycle().filter(|&cycle| clock.at(cycle) == now)
    }

    /// Begins a cycle of a domain at `now`, whether or not a unit is due.
    #[inline]
    pub fn begin(&mut self, domain: Domain, cycle: u64, now: Ticks) {
        self.wheel(domain).begin(cycle);
        self.current = (now, domain);
    }

    /// Returns the number of units of a domain that are due at `now`, the earliest wake-up.
    pub fn due(&self, domain: Domain, now: Ticks) -> u32 {
        let cycle = self.due_cycle(domain, now);
        cycle.map_or(0, |cycle| self.wheels[domain as usize].near(cycle))
    }

    /// Returns the wheel of a domain, for the run loop.
    #[inline]
    pub fn wheel(&mut self, domain: Domain) -> &mut Wheel {
        &mut self.wheels[domain as usize]
    }

    /// Returns the earliest wake-up of all domains.
    pub fn next_time(&self) -> Option<Ticks> {
        (0..Domain::COUNT)
            .filter_map(|d| self.wheels[d].next_cycle().map(|cycle| self.clocks[d].at(cycle)))
            .min()
    }

    /// Describes the non-empty ports for the deadlock report.
    pub fn occupied(&self) -> impl Iterator<Item = String> {
        let named = self.ports.iter().zip(&self.names);
        named.filter(|(p, _)| p.len > 0).map(|(p, (name, index))| {
            let Due { at: ready, request } = self.entries[p.head as usize];
            format!(
                "port {name} {index}: {} of {}, head request {} ready at tick {}{}",
                p.len,
                p.capacity,
                request.0,
                ready.0,
                if p.writer_blocked { ", writer waits" } else { "" }
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fabric of one unit in each domain, with periods of 4, 2, 2 and 1 ticks.
    fn fabric() -> Fabric {
        Fabric::new(0, [4, 2, 2, 1].map(Clock::new), [1; Domain::COUNT])
    }

    fn unit(domain: Domain) -> UnitId {
        UnitId { domain, index: 0 }
    }

    /// Steps units until no wake-up is left; returns the domain and cycle of each step.
    fn steps(fabric: &mut Fabric) -> Vec<(Domain, u64)> {
        steps_with(fabric, |_, _, _| {})
    }

    /// As [`steps`], and calls `step` each time.
    fn steps_with(
        fabric: &mut Fabric,
        mut step: impl FnMut(&mut Fabric, Domain, Ticks),
    ) -> Vec<(Domain, u64)> {
        let mut steps = Vec::new();
        while let Some(now) = fabric.next_time() {
            for domain in Domain::ALL {
                let Some(cycle) = fabric.begin_cycle(domain, now) else { continue };
                while fabric.wheel(domain).take().is_some() {
                    steps.push((domain, cycle));
                    step(fabric, domain, now);
                }
                fabric.wheel(domain).end();
            }
        }
        steps
    }

    #[test]
    fn requests_leave_in_order_as_the_ring_wraps_around_and_grows() {
        for capacity in [1, 3, 50] {
            let mut fabric = fabric();
            let port = fabric.add_port("p", 0, capacity, unit(Domain::Core), unit(Domain::L2));
            let mut next = 0;
            for n in 0..300 {
                fabric.push(port, RequestId(n), Ticks(0));
                while fabric.room(port) == 0 || n % 3 == 0 && next <= n {
                    assert_eq!(fabric.pop(port, Ticks(0)), RequestId(next));
                    next += 1;
                    if n % 9 != 0 {
                        break;
                    }
                }
                assert_eq!(fabric.room(port), capacity - (n + 1 - next) as usize);
            }
        }
    }

    #[test]
    #[should_panic(expected = "port `p` 7 overflows")]
    fn an_overflow_names_the_port() {
        let mut fabric = fabric();
        let port = fabric.add_port("p", 7, 1, unit(Domain::Core), unit(Domain::L2));
        fabric.push(port, RequestId(0), Ticks(0));
        fabric.push(port, RequestId(1), Ticks(0));
    }

    #[test]
    fn the_head_is_available_from_its_ready_time() {
        let mut fabric = fabric();
        let port = fabric.add_port("p", 0, 2, unit(Domain::Core), unit(Domain::L2));
        fabric.push(port, RequestId(5), Ticks(9));
        assert_eq!(fabric.head(port), Some((Ticks(9), RequestId(5))));
        assert_eq!(fabric.ready(port, Ticks(8)), None);
        assert_eq!(fabric.ready(port, Ticks(9)), Some(RequestId(5)));
    }

    #[test]
    fn a_push_into_an_empty_port_wakes_the_reader() {
        let mut fabric = fabric();
        let port = fabric.add_port("p", 0, 2, unit(Domain::Core), unit(Domain::L2));
        fabric.push(port, RequestId(0), Ticks(9));
        fabric.push(port, RequestId(1), Ticks(20));
        assert_eq!(
            steps(&mut fabric),
            [(Domain::L2, 5)],
            "the reader schedules itself for later ones"
        );
    }

    #[test]
    fn a_pop_wakes_only_a_blocked_writer() {
        for (asks, expected) in [(true, &[(Domain::Core, 4)][..]), (false, &[])] {
            let mut fabric = fabric();
            let port = fabric.add_port("p", 0, 1, unit(Domain::Core), unit(Domain::L2));
            assert!(fabric.room_or_wake(port));
            fabric.push(port, RequestId(0), Ticks(4));
            if asks {
                assert!(!fabric.room_or_wake(port));
            }
            let got = steps_with(&mut fabric, |fabric, domain, now| {
                if domain == Domain::L2 {
                    fabric.pop(port, now);
                }
            });
            assert_eq!(got[0], (Domain::L2, 2));
            assert_eq!(got[1..], *expected);
        }
    }

    #[test]
    fn later_domains_are_stepped_at_the_same_time() {
        let mut fabric = fabric();
        fabric.wake(unit(Domain::Dram), Ticks(4));
        let got = steps_with(&mut fabric, |fabric, domain, now| {
            if domain == Domain::Dram {
                fabric.wake(unit(Domain::Core), now);
            }
        });
        assert_eq!(got, [(Domain::Dram, 1), (Domain::Core, 4)]);
    }

    #[test]
    fn earlier_domains_are_stepped_in_their_next_cycle() {
        for busy in [true, false] {
            let units = [1, 2, 1, 1];
            let mut fabric = Fabric::new(0, [4, 2, 2, 1].map(Clock::new), units);
            let other_slice = UnitId { domain: Domain::L2, index: 1 };
            if busy {
                fabric.wake(other_slice, Ticks(4));
            }
            fabric.wake(unit(Domain::Core), Ticks(4));
            let mut got = steps_with(&mut fabric, |fabric, domain, now| {
                if domain == Domain::Core {
                    fabric.wake(unit(Domain::L2), now);
                }
            });
            got.retain(|&step| step != (Domain::L2, 2));
            assert_eq!(got, [(Domain::Core, 4), (Domain::L2, 3)], "busy: {busy}");
        }
    }
}
