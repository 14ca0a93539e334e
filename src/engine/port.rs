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
}

impl Fabric {
    /// `units` is the number of units in each domain.
    pub fn new(clocks: [Clock; Domain::COUNT], units: [usize; Domain::COUNT]) -> Fabric {
        Fabric { ports: Vec::new(), wheels: units.map(Wheel::new), clocks }
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

    /// Requests in the port, those not yet ready included.
    #[inline]
    pub fn len(&self, port: PortId) -> usize {
        self.port(port).len as usize
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
        p.head += 1;
        if p.head == p.ring.len() as u32 {
            p.head = 0;
        }
        p.len -= 1;
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
        let cycle = self.clocks[domain].cycle_from(time);
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
