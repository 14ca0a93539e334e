//! A network between ports that the test fills and empties.

use crate::NetworkSpec;
use crate::{Direction, NetworkContext, NetworkPolicies, NetworkResult, Placement, Topology};
use warpmem_sim::{
    Bench, Clock, Context, Domain, Location, Message, NetworkClock, NetworkCycle, PortId, Request,
    RequestId, RequestKind, SliceId, SmId, Ticks, UnitId, test_map,
};
use warpmem_support::random::Random;

/// A packet that can leave `input` for `output` at `cycle`.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub input: usize,
    pub cycle: u64,
    pub kind: RequestKind,
    pub output: u16,
    /// Sectors of a write-back, or bytes of a message.
    pub sectors: u32,
    /// Whether the network makes the message as a copy.
    pub is_copied: bool,
}

pub fn read(input: usize, cycle: u64, output: u16) -> Packet {
    Packet { input, cycle, kind: RequestKind::Read, output, sectors: 1, is_copied: false }
}

/// Returns a message of `bytes` bytes from SM `input` to SM `output`.
pub fn message(input: usize, cycle: u64, output: u16, bytes: u32) -> Packet {
    Packet { kind: RequestKind::Message, sectors: bytes, ..read(input, cycle, output) }
}

pub fn write(input: usize, cycle: u64, output: u16) -> Packet {
    Packet { kind: RequestKind::Write, ..read(input, cycle, output) }
}

impl Packet {
    /// Returns the request; its destination has the same number in both directions.
    fn request(self) -> Request {
        let to = SmId(self.output);
        if self.kind == RequestKind::Message {
            let (bytes, is_copied) = (self.sectors, self.is_copied);
            return Message { to, passes: 1, bytes, answer: bytes, is_copied, signal: None }
                .into_request(to, 0);
        }
        let place = Location { slice: SliceId(self.output), ..Location::ZERO };
        let sectors = ((1u32 << self.sectors) - 1) as u8;
        Request { sm: to, sectors, ..Request::of_slice(0, self.kind, place) }
    }
}

/// The way in which the network's readers take packets.
#[derive(Clone, Copy, Debug)]
pub enum Readers {
    /// At once.
    Eager,
    /// At once, except that one output's reader takes nothing before a cycle.
    ClosedUntil { output: u32, cycle: u64 },
    /// At most one packet per cycle, in random cycles.
    Sporadic { seed: u64 },
}

/// A network whose output ports have `entries` entries.
pub struct Rig<'a> {
    pub spec: &'a NetworkSpec,
    pub direction: Direction,
    /// Positions of the inputs and outputs; if absent, the network has as many as the packets name.
    pub placement: Option<Placement>,
    pub entries: usize,
    pub readers: Readers,
    /// Ticks per network cycle; a cycle of the readers is one tick.
    pub period: u64,
}

/// The outcome of a run.
pub struct Outcome {
    /// Arrivals in order: cycle and number of the packet.
    pub arrived: Vec<(u64, usize)>,
    pub result: NetworkResult,
}

impl<'a> Rig<'a> {
    pub fn new(spec: &'a NetworkSpec, direction: Direction) -> Rig<'a> {
        Rig { spec, direction, placement: None, entries: 100, readers: Readers::Eager, period: 1 }
    }

    /// Builds a network between `nodes` that all send and receive.
    pub fn all_to_all(spec: &'a NetworkSpec, nodes: usize) -> Rig<'a> {
        let placement = Some(Placement::all_to_all(nodes));
        Rig { placement, ..Rig::new(spec, Direction::Request) }
    }

    /// Returns the cycle in which the reader can take each packet, in the order of `packets`.
    pub fn arrivals(&self, packets: &[Packet]) -> Vec<u64> {
        let mut arrivals = vec![0; packets.len()];
        let arrived = self.run(packets).arrived;
        arrived.into_iter().for_each(|(cycle, packet)| arrivals[packet] = cycle);
        arrivals
    }

    /// Sends the packets, those of one input in order, and runs until all have arrived.
    pub fn run(&self, packets: &[Packet]) -> Outcome {
        self.run_over(packets, |context| context.connect().unwrap())
    }

    /// Runs as [`Rig::run`] does, over the network that `build` makes.
    pub fn run_over(
        &self,
        packets: &[Packet],
        build: impl FnOnce(&NetworkContext) -> Box<dyn Topology>,
    ) -> Outcome {
        let (inputs, outputs) = self.counts(packets);
        let mut bench = Bench::new(
            [1, 1, self.period, 1].map(Clock::new),
            [0, outputs, 2, inputs],
            test_map(2, 2),
        );
        let network_unit = unit(Domain::Network, self.direction as usize);
        let fabric = &mut bench.region.fabric;
        let ins: Vec<_> = (0..inputs)
            .map(|i| fabric.add_port("in", i, packets.len(), unit(Domain::Core, i), network_unit))
            .collect();
        let outs: Vec<_> = (0..outputs)
            .map(|o| fabric.add_port("out", o, self.entries, network_unit, unit(Domain::L2, o)))
            .collect();
        let clock: NetworkClock = fabric.clock_of();
        let context = self.context(clock, ins.clone(), outs.clone());
        let mut network = build(&context);
        for packet in packets {
            let id = bench.region.requests.add(packet.request(), Ticks(0));
            bench.region.fabric.push(
                ins[packet.input],
                id,
                clock.at(NetworkCycle::new(packet.cycle)),
            );
        }
        let mut arrived = Vec::with_capacity(packets.len());
        let mut readers = self.readers.awake();
        let mut cycles = 0;
        while bench.next().is_some() {
            bench.step(|bench, unit, cycle| {
                let ctx = &mut bench.context();
                if unit.domain == Domain::Network {
                    cycles = cycle + 1;
                    let cycle = NetworkCycle::new(cycle);
                    if let Some(next) = network.step(cycle, ctx) {
                        ctx.regions[0].fabric.wake_at(unit.index, next.max(cycle + 1));
                    }
                    return;
                }
                let port = outs[unit.index as usize];
                let taken = readers.take(unit, port, cycle, ctx);
                for RequestId(id) in taken {
                    assert_eq!(u32::from(packets[id as usize].output), unit.index);
                    arrived.push((cycle, id as usize));
                }
            });
        }
        assert_eq!(network.describe(), Vec::<String>::new(), "nothing is in flight");
        let mut seen = vec![0; packets.len()];
        arrived.iter().for_each(|&(_, packet)| seen[packet] += 1);
        assert!(seen.iter().all(|&times| times == 1), "every packet arrives once");
        Outcome { arrived, result: network.finish(cycles) }
    }

    fn counts(&self, packets: &[Packet]) -> (usize, usize) {
        match &self.placement {
            Some(placement) => (placement.inputs.len(), placement.outputs.len()),
            None => (
                packets.iter().map(|p| p.input + 1).max().unwrap_or(0),
                packets.iter().map(|p| usize::from(p.output) + 1).max().unwrap_or(0),
            ),
        }
    }

    fn context(&self, clock: NetworkClock, ins: Vec<PortId>, outs: Vec<PortId>) -> NetworkContext {
        let policies = NetworkPolicies::choose(self.spec).unwrap();
        let context = NetworkContext::new(self.spec, &policies, self.direction, clock, ins, outs);
        let placement = self.placement.clone().unwrap_or_else(|| context.placement.clone());
        NetworkContext { placement, ..context }
    }
}

/// The state of the readers.
struct Awake {
    readers: Readers,
    random: Random,
}

impl Readers {
    fn awake(self) -> Awake {
        let seed = if let Readers::Sporadic { seed } = self { seed } else { 0 };
        Awake { readers: self, random: Random::new(seed) }
    }
}

impl Awake {
    /// Lets a reader take packets from its port in a cycle; it is woken again if some are left.
    fn take(
        &mut self,
        unit: UnitId,
        port: PortId,
        cycle: u64,
        ctx: &mut Context,
    ) -> Vec<RequestId> {
        let (opens, most) = match self.readers {
            Readers::Eager => (cycle, usize::MAX),
            Readers::ClosedUntil { output, cycle: opens } if output == unit.index => {
                (opens.max(cycle), usize::MAX)
            }
            Readers::ClosedUntil { .. } => (cycle, usize::MAX),
            Readers::Sporadic { .. } => (cycle + u64::from(self.random.index(3)), 1),
        };
        let now = ctx.regions[0].fabric.clock(unit.domain).at(cycle);
        let mut taken = Vec::new();
        while opens == cycle
            && taken.len() < most
            && let Some(request) = ctx.regions[0].fabric.ready(port, now)
        {
            ctx.regions[0].fabric.pop(port, now);
            taken.push(request);
        }
        if let Some((ready, _)) = ctx.regions[0].fabric.head(port) {
            let again = ctx.regions[0].fabric.clock(unit.domain).cycle_from(ready);
            ctx.regions[0]
                .fabric
                .wake_cycle(unit, again.max(opens).max(cycle + u64::from(taken.len() == most)));
        }
        taken
    }
}

fn unit(domain: Domain, index: usize) -> UnitId {
    UnitId { domain, index: index as u32 }
}
