//! Ports: the only way between units.

use super::requests::RequestId;
use super::time::{Clock, Domain, Ticks};
use super::wheel::Wheel;

/// A unit: its clock domain and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitId {
    pub domain: Domain,
    pub index: u32,
}

/// Index of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortId(u32);

/// A fixed-capacity queue of requests, each with the time from which the reader may take it.
struct Port {
    ring: Box<[(Ticks, RequestId)]>,
    head: u32,
    len: u32,
    reader: UnitId,
    writer: UnitId,
    /// The writer found no room and waits.
    writer_blocked: bool,
    name: &'static str,
    /// Which of several like ports this is.
    index: u32,
}

/// All ports and the wake wheels: what a unit sees of the rest of the machine.
pub struct Fabric {
    ports: Vec<Port>,
    wheels: [Wheel; Domain::COUNT],
    clocks: [Clock; Domain::COUNT],
    /// The point in time that is being carried out, and the domain that has its turn.
    turn: (Ticks, Domain),
}

impl Fabric {
    /// `units` is the number of units in each domain.
    pub fn new(clocks: [Clock; Domain::COUNT], units: [usize; Domain::COUNT]) -> Fabric {
        let turn = (Ticks(0), Domain::ALL[0]);
        Fabric { ports: Vec::new(), wheels: units.map(Wheel::new), clocks, turn }
    }

    /// Adds a port that holds `capacity` requests.
    pub fn add_port(
        &mut self,
        name: &'static str,
        index: usize,
        capacity: usize,
        writer: UnitId,
        reader: UnitId,
    ) -> PortId {
        let ring = vec![(Ticks(0), RequestId::NONE); capacity.max(1)].into_boxed_slice();
        let index = index as u32;
        self.ports.push(Port {
            ring,
            head: 0,
            len: 0,
            reader,
            writer,
            writer_blocked: false,
            name,
            index,
        });
        PortId(self.ports.len() as u32 - 1)
    }

    #[inline]
    fn port(&self, port: PortId) -> &Port {
        &self.ports[port.0 as usize]
    }

    /// Free places.
    #[inline]
    pub fn room(&self, port: PortId) -> usize {
        let port = self.port(port);
        port.ring.len() - port.len as usize
    }

    /// Appends a request that the reader may take from `ready` on, and wakes the reader then. There
    /// must be room.
    #[inline]
    pub fn push(&mut self, port: PortId, request: RequestId, ready: Ticks) {
        let p = &mut self.ports[port.0 as usize];
        let capacity = p.ring.len() as u32;
        assert!(p.len < capacity, "port `{}` {} overflows", p.name, p.index);
        let mut tail = p.head + p.len;
        if tail >= capacity {
            tail -= capacity;
        }
        p.ring[tail as usize] = (ready, request);
        p.len += 1;
        // Later entries are found by the reader when it takes the ones before them.
        if p.len == 1 {
            let reader = p.reader;
            self.wake(reader, ready);
        }
    }

    /// The request at the head and the time from which it may be taken.
    #[inline]
    pub fn head(&self, port: PortId) -> Option<(Ticks, RequestId)> {
        let p = self.port(port);
        (p.len > 0).then(|| p.ring[p.head as usize])
    }

    /// The request at the head, if it may be taken now.
    #[inline]
    pub fn ready(&self, port: PortId, now: Ticks) -> Option<RequestId> {
        self.head(port).filter(|&(ready, _)| ready <= now).map(|(_, request)| request)
    }

    /// Takes the request at the head and wakes a writer that waits for room.
    #[inline]
    pub fn pop(&mut self, port: PortId, now: Ticks) -> RequestId {
        let p = &mut self.ports[port.0 as usize];
        assert!(p.len > 0, "port `{}` {} is empty", p.name, p.index);
        let (ready, request) = p.ring[p.head as usize];
        debug_assert!(ready <= now);
        p.len -= 1;
        p.head += 1;
        // An empty ring starts again at its first places, which are in the host's cache.
        if p.len == 0 || p.head == p.ring.len() as u32 {
            p.head = 0;
        }
        if p.writer_blocked {
            p.writer_blocked = false;
            let writer = p.writer;
            self.wake(writer, now);
        }
        request
    }

    /// Whether there is room; if not, the writer is woken when the reader next takes something.
    #[inline]
    pub fn room_or_wake(&mut self, port: PortId) -> bool {
        let p = &mut self.ports[port.0 as usize];
        let room = (p.len as usize) < p.ring.len();
        p.writer_blocked |= !room;
        room
    }

    /// Wakes the writer when the reader next takes something.
    #[inline]
    pub fn wake_writer(&mut self, port: PortId) {
        self.ports[port.0 as usize].writer_blocked = true;
    }

    /// Wakes a unit at the first cycle of its domain at or after `time` in which it can have a turn.
    #[inline]
    pub fn wake(&mut self, unit: UnitId, time: Ticks) {
        let domain = unit.domain as usize;
        let clock = self.clocks[domain];
        let (now, turn) = self.turn;
        // A domain before the one whose turn it is has had its own, whether or not it had anything to do.
        let passed = time <= now && domain < turn as usize;
        let cycle = if passed { clock.cycle_of(now) + 1 } else { clock.cycle_from(time) };
        self.wheels[domain].wake(unit.index as usize, cycle);
    }

    /// Wakes a unit at a cycle of its own domain.
    #[inline]
    pub fn wake_cycle(&mut self, unit: UnitId, cycle: u64) {
        self.wheels[unit.domain as usize].wake(unit.index as usize, cycle);
    }

    /// The clock of a domain.
    #[inline]
    pub fn clock(&self, domain: Domain) -> Clock {
        self.clocks[domain as usize]
    }

    /// Begins the turn of a domain at `now`, the earliest wake-up of all, if some unit of it has one then; its
    /// cycle. [`Wheel::take`] and [`Wheel::end`] follow.
    #[inline]
    pub(super) fn begin_turn(&mut self, domain: Domain, now: Ticks) -> Option<u64> {
        let clock = self.clock(domain);
        let wheel = self.wheel(domain);
        let cycle = wheel.next_cycle().filter(|&cycle| clock.at(cycle) == now)?;
        wheel.begin(cycle);
        self.turn = (now, domain);
        Some(cycle)
    }

    /// The wheel of a domain, for the run loop.
    #[inline]
    pub(super) fn wheel(&mut self, domain: Domain) -> &mut Wheel {
        &mut self.wheels[domain as usize]
    }

    /// The earliest wake-up in all domains.
    pub(super) fn next_time(&self) -> Option<Ticks> {
        (0..Domain::COUNT)
            .filter_map(|d| self.wheels[d].next_cycle().map(|cycle| self.clocks[d].at(cycle)))
            .min()
    }

    /// The ports that hold something, for the deadlock report: name, index, length, capacity, head.
    pub fn occupied(&self) -> impl Iterator<Item = String> {
        self.ports.iter().filter(|p| p.len > 0).map(|p| {
            let (ready, request) = p.ring[p.head as usize];
            format!(
                "port {} {}: {} of {}, head request {} ready at tick {}{}",
                p.name,
                p.index,
                p.len,
                p.ring.len(),
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
        Fabric::new([4, 2, 2, 1].map(Clock::new), [1; Domain::COUNT])
    }

    fn unit(domain: Domain) -> UnitId {
        UnitId { domain, index: 0 }
    }

    /// Domains and cycles of the turns that are left.
    fn turns(fabric: &mut Fabric) -> Vec<(Domain, u64)> {
        turns_with(fabric, |_, _, _| {})
    }

    /// As [`turns`], with what happens in them.
    fn turns_with(
        fabric: &mut Fabric,
        mut step: impl FnMut(&mut Fabric, Domain, Ticks),
    ) -> Vec<(Domain, u64)> {
        let mut turns = Vec::new();
        while let Some(now) = fabric.next_time() {
            for domain in Domain::ALL {
                let Some(cycle) = fabric.begin_turn(domain, now) else { continue };
                while fabric.wheel(domain).take().is_some() {
                    turns.push((domain, cycle));
                    step(fabric, domain, now);
                }
                fabric.wheel(domain).end();
            }
        }
        turns
    }

    #[test]
    fn requests_leave_in_order_and_the_ring_wraps_around() {
        let mut fabric = fabric();
        let port = fabric.add_port("p", 0, 3, unit(Domain::Core), unit(Domain::Llc));
        let mut next = 0..;
        for n in next.by_ref().take(2) {
            fabric.push(port, RequestId(n), Ticks(0));
        }
        for (expected, n) in (0..10).zip(next) {
            fabric.push(port, RequestId(n), Ticks(0));
            assert_eq!(fabric.room(port), 0);
            assert_eq!(fabric.pop(port, Ticks(0)), RequestId(expected));
        }
    }

    #[test]
    #[should_panic(expected = "port `p` 7 overflows")]
    fn a_push_without_room_names_the_port() {
        let mut fabric = fabric();
        let port = fabric.add_port("p", 7, 1, unit(Domain::Core), unit(Domain::Llc));
        fabric.push(port, RequestId(0), Ticks(0));
        fabric.push(port, RequestId(1), Ticks(0));
    }

    #[test]
    fn the_head_is_there_from_its_time_on() {
        let mut fabric = fabric();
        let port = fabric.add_port("p", 0, 2, unit(Domain::Core), unit(Domain::Llc));
        fabric.push(port, RequestId(5), Ticks(9));
        assert_eq!(fabric.head(port), Some((Ticks(9), RequestId(5))));
        assert_eq!(fabric.ready(port, Ticks(8)), None);
        assert_eq!(fabric.ready(port, Ticks(9)), Some(RequestId(5)));
    }

    #[test]
    fn a_first_request_wakes_the_reader_in_its_first_cycle_from_then() {
        let mut fabric = fabric();
        let port = fabric.add_port("p", 0, 2, unit(Domain::Core), unit(Domain::Llc));
        fabric.push(port, RequestId(0), Ticks(9));
        fabric.push(port, RequestId(1), Ticks(20));
        assert_eq!(turns(&mut fabric), [(Domain::Llc, 5)], "the reader asks for later ones itself");
    }

    #[test]
    fn a_pop_wakes_a_writer_that_found_no_room_and_only_that() {
        for (asks, expected) in [(true, &[(Domain::Core, 4)][..]), (false, &[])] {
            let mut fabric = fabric();
            let port = fabric.add_port("p", 0, 1, unit(Domain::Core), unit(Domain::Llc));
            assert!(fabric.room_or_wake(port));
            fabric.push(port, RequestId(0), Ticks(4));
            if asks {
                assert!(!fabric.room_or_wake(port));
            }
            let got = turns_with(&mut fabric, |fabric, domain, now| {
                if domain == Domain::Llc {
                    fabric.pop(port, now);
                }
            });
            assert_eq!(got[0], (Domain::Llc, 2));
            assert_eq!(got[1..], *expected);
        }
    }

    #[test]
    fn who_comes_later_in_the_order_has_its_turn_at_the_same_time() {
        let mut fabric = fabric();
        fabric.wake(unit(Domain::Dram), Ticks(4));
        let got = turns_with(&mut fabric, |fabric, domain, now| {
            if domain == Domain::Dram {
                fabric.wake(unit(Domain::Core), now);
            }
        });
        assert_eq!(got, [(Domain::Dram, 1), (Domain::Core, 4)]);
    }

    #[test]
    fn who_came_before_waits_a_cycle_whether_its_domain_was_busy_or_not() {
        for busy in [true, false] {
            let units = [1, 2, 1, 1];
            let mut fabric = Fabric::new([4, 2, 2, 1].map(Clock::new), units);
            let other_slice = UnitId { domain: Domain::Llc, index: 1 };
            if busy {
                fabric.wake(other_slice, Ticks(4));
            }
            fabric.wake(unit(Domain::Core), Ticks(4));
            let mut got = turns_with(&mut fabric, |fabric, domain, now| {
                if domain == Domain::Core {
                    fabric.wake(unit(Domain::Llc), now);
                }
            });
            got.retain(|&turn| turn != (Domain::Llc, 2));
            assert_eq!(got, [(Domain::Core, 4), (Domain::Llc, 3)], "busy: {busy}");
        }
    }
}
