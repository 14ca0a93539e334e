//! The part of the machine that a network uses during its step.

use crate::port::PortSet;
use crate::{AddressMap, PortId, Region, Request, RequestId, Stamps, Ticks, region};

/// The ports and requests of all regions, and the address map.
pub struct Context<'a> {
    pub regions: &'a mut [Region],
    pub map: &'a AddressMap,
}

impl Context<'_> {
    #[inline]
    pub fn request(&self, id: RequestId) -> &Request {
        self.regions[id.region()].requests.get(id)
    }

    /// Returns when a request was created.
    pub fn created(&self, id: RequestId) -> Ticks {
        self.stamps(id).created
    }

    /// Returns the times of a request so far.
    pub fn stamps(&self, id: RequestId) -> &Stamps {
        self.regions[id.region()].requests.stamps(id)
    }

    /// Adds a request of a unit that belongs to no region.
    pub fn add(&mut self, request: Request, created: Ticks) -> RequestId {
        self.regions[0].requests.add(request, created)
    }

    /// Frees the row of a request.
    pub fn remove(&mut self, id: RequestId) {
        self.regions[id.region()].requests.remove(id);
    }

    /// [`Fabric::take_arrivals`](crate::Fabric::take_arrivals), of all regions.
    #[inline]
    pub fn take_arrivals(&mut self, network: usize) -> PortSet {
        let mut all = PortSet::default();
        for region in &mut *self.regions {
            let arrivals = region.fabric.take_arrivals(network);
            all.iter_mut().zip(arrivals).for_each(|(all, word)| *all |= word);
        }
        all
    }

    /// [`Fabric::head_ready`](crate::Fabric::head_ready).
    #[inline]
    pub fn head_ready(&self, port: PortId) -> Ticks {
        self.regions[port.region()].fabric.head_ready(port)
    }

    /// [`Fabric::head`](crate::Fabric::head).
    #[inline]
    pub fn head(&self, port: PortId) -> Option<(Ticks, RequestId)> {
        self.regions[port.region()].fabric.head(port)
    }

    /// [`Fabric::ready`](crate::Fabric::ready).
    #[inline]
    pub fn ready(&self, port: PortId, now: Ticks) -> Option<RequestId> {
        self.regions[port.region()].fabric.ready(port, now)
    }

    /// [`Fabric::room`](crate::Fabric::room).
    #[inline]
    pub fn room(&self, port: PortId) -> usize {
        self.regions[port.region()].fabric.room(port)
    }

    /// [`Fabric::room_or_wake`](crate::Fabric::room_or_wake).
    #[inline]
    pub fn room_or_wake(&mut self, port: PortId) -> bool {
        self.regions[port.region()].fabric.room_or_wake(port)
    }

    /// [`Fabric::wake_writer`](crate::Fabric::wake_writer).
    #[inline]
    pub fn wake_writer(&mut self, port: PortId) {
        self.regions[port.region()].fabric.wake_writer(port);
    }

    /// Pops as [`Fabric::pop`](crate::Fabric::pop), and prefetches the next request into the host's
    /// caches.
    #[inline]
    pub fn pop(&mut self, port: PortId, now: Ticks) -> RequestId {
        let Region { fabric, requests } = &mut self.regions[port.region()];
        region::pop(fabric, requests, port, now)
    }

    /// Pushes as [`Fabric::push`](crate::Fabric::push), after moving the request to the region of
    /// the port.
    #[inline]
    pub fn push(&mut self, port: PortId, request: RequestId, ready: Ticks) {
        let to = port.region();
        let request = if request.region() == to { request } else { self.cross(request, to) };
        let Region { fabric, requests } = &mut self.regions[to];
        requests.will_be_read(request);
        fabric.push(port, request, ready);
    }

    /// Moves a request to another region; returns its id there.
    #[inline(never)]
    fn cross(&mut self, request: RequestId, to: usize) -> RequestId {
        let pair = self.regions.get_disjoint_mut([request.region(), to]);
        let [from, to] = pair.expect("two regions of the machine");
        let home = to.requests.take_back(&mut from.requests, request);
        home.unwrap_or_else(|| to.requests.add_guest(&from.requests, request))
    }
}
