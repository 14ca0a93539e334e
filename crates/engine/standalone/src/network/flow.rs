//! Packets at a load: generated, followed and counted.

use super::rig::{Entrance, Terminals};
use super::setup::{Setup, Window};
use super::source::{Chance, Source};
use warpmem_sim::{Histogram, RequestId};
use warpmem_support::random::Random;

/// A packet in flight.
#[derive(Clone, Copy, Default)]
struct Packet {
    source: usize,
    destination: usize,
    /// Cycles of its generation and of its departure from the source.
    born: u64,
    left: u64,
}

/// Times of the packets generated in the window, and the packets that arrived in the window.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Cycles from generation to arrival, for the packets generated in the window.
    pub latency: Histogram,
    /// Sums of two parts of it: the wait at the source, and the cycles from there on in an empty
    /// network.
    pub wait: u64,
    pub zero_load: u64,
    /// Packets generated in the window, and those of them that have not arrived.
    pub generated: u64,
    pub missing: u64,
    /// Packets of each source that arrived in the window.
    pub accepted: Vec<u64>,
}

/// Sources at a load, and all packets in flight.
pub(super) struct Flow<'a> {
    setup: &'a Setup,
    window: Window,
    /// Cycles that a packet takes through the empty network, by source and then destination.
    zero_load_by_pair: &'a [u64],
    address_space: u64,
    sources: Vec<Source>,
    /// Random destinations and addresses, by source.
    choices: Vec<Random>,
    packets: Vec<Packet>,
    /// Sources that have drawn all their packets of the window.
    past: usize,
    sent: u64,
    arrived: u64,
    counts: Counts,
}

impl<'a> Flow<'a> {
    /// Builds the sources. `load` is in flits per source and cycle; `zero_load_by_pair` is the
    /// cycles of a packet in an empty network, by source and destination.
    pub fn new(
        setup: &'a Setup,
        zero_load_by_pair: &'a [u64],
        address_space: u64,
        load: f64,
    ) -> Flow<'a> {
        let sources = setup.pattern.sources;
        let chance = Chance::new(load / setup.packet_flits as f64);
        let random = |number| Random::numbered(setup.seed, number);
        let source = |number| Source::new(random(2 * number), chance, 0);
        Flow {
            setup,
            window: setup.window,
            zero_load_by_pair,
            address_space,
            sources: (0..sources as u64).map(source).collect(),
            choices: (0..sources as u64).map(|number| random(2 * number + 1)).collect(),
            packets: Vec::new(),
            past: 0,
            sent: 0,
            arrived: 0,
            counts: Counts { accepted: vec![0; sources], ..Counts::default() },
        }
    }

    /// Returns the packets that the network or its ports hold.
    pub fn on_way(&self) -> u64 {
        self.sent - self.arrived
    }

    /// Returns the packets that have arrived.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Returns whether all packets of the window have arrived.
    pub fn is_done(&self) -> bool {
        self.past == self.sources.len() && self.counts.missing == 0
    }

    pub fn finish(mut self) -> Counts {
        // Packets that were generated in the window but never entered the network.
        let end = self.window.end();
        for source in &mut self.sources {
            while let Some(born) = source.generate(end) {
                let counted = u64::from(self.window.contains(born));
                self.counts.generated += counted;
                self.counts.missing += counted;
            }
        }
        self.counts
    }

    /// Moves the next packet of a source to its port. Returns whether there is one.
    fn send(&mut self, index: usize, entrance: &mut Entrance) -> bool {
        let (source, end) = (&mut self.sources[index], self.window.end());
        let was_past = source.drawn() >= end;
        let born = source.generate(self.window.limit());
        self.past += usize::from(!was_past && source.drawn() >= end);
        let Some(born) = born else { return false };
        let choices = &mut self.choices[index];
        let destination = self.setup.pattern.destination(index, choices);
        let address = choices.below(self.address_space);
        let id = entrance.push(index, destination, address, born);
        source.in_port.push_back(id);
        let place = id.0 as usize;
        if place >= self.packets.len() {
            self.packets.resize(place + 1, Packet::default());
        }
        self.packets[place] = Packet { source: index, destination, born, left: 0 };
        self.sent += 1;
        let counted = u64::from(self.window.contains(born));
        self.counts.generated += counted;
        self.counts.missing += counted;
        true
    }
}

impl Terminals for Flow<'_> {
    fn taken(&mut self, source: usize, held: usize, cycle: u64, entrance: &mut Entrance) {
        let in_port = &mut self.sources[source].in_port;
        let gone = in_port.len() - held;
        in_port.drain(..gone).for_each(|id| self.packets[id.0 as usize].left = cycle);
        while entrance.has_room() && self.send(source, entrance) {}
    }

    fn arrived(&mut self, packet: RequestId, cycle: u64) {
        let packet = self.packets[packet.0 as usize];
        let counts = &mut self.counts;
        self.arrived += 1;
        counts.accepted[packet.source] += u64::from(self.window.contains(cycle));
        if self.window.contains(packet.born) {
            counts.missing -= 1;
            counts.latency.record(cycle - packet.born);
            counts.wait += packet.left - packet.born;
            let destinations = self.setup.pattern.destinations;
            counts.zero_load +=
                self.zero_load_by_pair[packet.source * destinations + packet.destination];
        }
    }
}
