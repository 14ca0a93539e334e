//! The ports between the units of a machine, and the units at their ends.

use super::split::Split;
use crate::controller::Controller;
use crate::ideal::Ideal;
use crate::l2::{Slice, SlicePorts, TwinPorts};
use crate::sm::{MessagePorts, Sm};
use warpmem_dram::Channel;
use warpmem_machine::Machine;
use warpmem_network::{
    Direction, LinkTimes, PacketSizes, SmLinkTimes, SmLinks, Topology, TwinLinks,
};
use warpmem_params::PolicyError;
use warpmem_sim::{ChannelId, Clock, Domain, Fabric, Needs, PortId, Region, SliceId, SmId, UnitId};
use warpmem_trace::MAX_CLUSTER;

/// Numbers of the two networks in their domain.
const REQUEST_NETWORK: usize = 0;
const REPLY_NETWORK: usize = 1;
/// Numbers of the links between twins, in the same domain.
const ASKS: usize = 2;
const ANSWERS: usize = 3;

/// Numbers of the links between SMs, which follow: questions, answers.
fn sm_link_units(machine: &Machine) -> [usize; 2] {
    let first = if machine.twins().is_some() { ANSWERS + 1 } else { REPLY_NETWORK + 1 };
    [first, first + 1]
}

/// Networks, and links between twins and between SMs.
fn network_units(machine: &Machine) -> usize {
    let [first, last] = sm_link_units(machine);
    if machine.gpcs().is_some() { last + 1 } else { first }
}

/// The ports between the units, made in one place.
pub(super) struct Wiring {
    pub regions: Vec<Region>,
    split: Split,
    /// SM to request network, reply network to SM.
    sm_ports: Vec<(PortId, PortId)>,
    slice_ports: Vec<SlicePorts>,
    /// By slice, where slices have twins.
    twin_ports: Vec<TwinPorts>,
    /// By SM, where the machine has clusters.
    message_ports: Vec<MessagePorts>,
}

impl Wiring {
    /// Each cluster of SMs has so many queue entries beside those of the L1s and the network.
    pub fn new(machine: &Machine, needs: &Needs, cluster_entries: u32, split: Split) -> Wiring {
        let periods = machine.clocks.periods();
        let clocks = [periods.dram, periods.l2, periods.network, periods.core].map(Clock::new);
        let (sms, slices) = (machine.sm.count as usize, machine.slices() as usize);
        let channels = machine.dram.channels as usize;
        let units = [channels, slices, network_units(machine), sms + 1];
        let regions = (0..split.regions()).map(|at| Region::new(at, clocks, units)).collect();
        let mut wiring = Wiring {
            regions,
            split,
            sm_ports: Vec::new(),
            slice_ports: Vec::new(),
            twin_ports: Vec::new(),
            message_ports: Vec::new(),
        };
        wiring.add_sm_ports(machine, sms, cluster_entries);
        wiring.add_slice_ports(machine, slices, needs);
        if machine.twins().is_some() {
            wiring.add_twin_ports(machine, slices);
        }
        if machine.gpcs().is_some() {
            wiring.add_message_ports(machine, sms);
        }
        wiring
    }

    fn add_sm_ports(&mut self, machine: &Machine, sms: usize, entries: u32) {
        // The L1 miss queue and the network's input buffer are one queue.
        let injection = machine.l1.cache.miss_queue + machine.network.input_buffer;
        let cluster = machine.network.sms_per_node;
        for id in SmId::all(sms) {
            // The first SMs of a cluster take what does not divide evenly.
            let odd = u32::from(id.0) % cluster < entries % cluster;
            let injection = injection + entries / cluster + u32::from(odd);
            let sm = UnitId { domain: Domain::Core, index: id.0.into() };
            let add = &mut self.regions[self.split.region_of_sm(id.index())].fabric;
            let (out, back) = (network_unit(REQUEST_NETWORK), network_unit(REPLY_NETWORK));
            let requests = add.add_port("sm-to-network", id.index(), injection as usize, sm, out);
            let replies = machine.network.output_buffer as usize;
            let replies = add.add_port("network-to-sm", id.index(), replies, back, sm);
            self.sm_ports.push((requests, replies));
        }
    }

    fn add_slice_ports(&mut self, machine: &Machine, slices: usize, needs: &Needs) {
        let (l2, dram) = (&machine.l2, &machine.dram);
        // Where the DRAM scheduler follows merges, misses wait in the slice, which chooses the
        // next.
        let queue = l2.to_dram_queue + l2.cache.miss_queue;
        let misses = if needs.merges.is_some() { 1 } else { queue };
        // A delay line holds what enters at one request a cycle.
        let pipeline = (dram.timing.tcl + dram.burst_cycles()).div_ceil(dram.burst_cycles());
        let fills = dram.return_queue + pipeline;
        for id in SliceId::all(slices) {
            let slice = UnitId { domain: Domain::L2, index: id.0.into() };
            let channel = ChannelId::new(id.index() / l2.slices_per_channel as usize);
            let region = self.split.region_of_channel(channel.index());
            let channel = UnitId { domain: Domain::Dram, index: channel.0.into() };
            let (out, back) = (network_unit(REQUEST_NETWORK), network_unit(REPLY_NETWORK));
            let requests = machine.network.output_buffer as usize;
            let replies = (l2.reply_queue + machine.network.input_buffer) as usize;
            let add = &mut self.regions[region].fabric;
            self.slice_ports.push(SlicePorts {
                requests: add.add_port("network-to-slice", id.index(), requests, out, slice),
                replies: add.add_port("slice-to-network", id.index(), replies, slice, back),
                misses: add.add_port("slice-to-dram", id.index(), misses as usize, slice, channel),
                fills: add.add_port("dram-to-slice", id.index(), fills as usize, channel, slice),
            });
        }
    }

    fn add_twin_ports(&mut self, machine: &Machine, slices: usize) {
        let (l2, network) = (&machine.l2, &machine.network);
        // What is on the link waits in the port behind it.
        let on_link = l2.copy_link_latency / l2.copy_link_interval + 1;
        let (near, far) = (network.input_buffer as usize, network.output_buffer + on_link);
        for id in SliceId::all(slices) {
            let slice = UnitId { domain: Domain::L2, index: id.0.into() };
            let channel = id.index() / l2.slices_per_channel as usize;
            let region = self.split.region_of_channel(channel);
            let add = &mut self.regions[region].fabric;
            let mut out =
                |name, unit| add.add_port(name, id.index(), near, slice, network_unit(unit));
            let (asks, answers) = (out("slice-to-twin", ASKS), out("answers-to-twin", ANSWERS));
            let mut back = |name, unit| {
                add.add_port(name, id.index(), far as usize, network_unit(unit), slice)
            };
            let (asked, answered) = (back("twin-to-slice", ASKS), back("answers-of-twin", ANSWERS));
            self.twin_ports.push(TwinPorts { asks, asked, answers, answered });
        }
    }

    fn add_message_ports(&mut self, machine: &Machine, sms: usize) {
        let [asks, answers] = sm_link_units(machine);
        let network = &machine.network;
        // What is on its way, and what the banks are about to give, waits in the port behind: an SM
        // sends a message in a cycle at most.
        let on_way = machine.cluster.latency + 1;
        // A copy for a whole cluster finds room.
        let near = network.input_buffer.max(MAX_CLUSTER);
        let from_banks = near + machine.sm.shared.latency;
        for id in SmId::all(sms) {
            let sm = UnitId { domain: Domain::Core, index: id.0.into() };
            let add = &mut self.regions[self.split.region_of_sm(id.index())].fabric;
            let far = (network.output_buffer + on_way) as usize;
            let mut out = |name, unit, room: u32| {
                add.add_port(name, id.index(), room as usize, sm, network_unit(unit))
            };
            let asks_port = out("sm-to-sms", asks, near);
            let answers_port = out("answers-to-sms", answers, from_banks);
            let mut back = |name, unit| add.add_port(name, id.index(), far, network_unit(unit), sm);
            self.message_ports.push(MessagePorts {
                requests_out: asks_port,
                requests_in: back("sms-to-sm", asks),
                replies_out: answers_port,
                replies_in: back("answers-of-sms", answers),
            });
        }
    }

    /// All regions have the same.
    fn clocks(&self) -> &Fabric {
        &self.regions[0].fabric
    }

    pub fn sms(&self, machine: &Machine, ideal: Ideal) -> Result<Vec<Sm>, PolicyError> {
        let clock = self.clocks().clock_of();
        let ports = SmId::all(self.sm_ports.len()).zip(&self.sm_ports);
        let sm = |(id, &(out, back)): (SmId, &(PortId, PortId))| {
            let sm = Sm::new(machine, id, clock, out, back)?;
            let sm = match self.message_ports.get(id.index()) {
                Some(&ports) => sm.with_messages(machine, ports),
                None => sm,
            };
            Ok(if ideal == Ideal::PerfectL1 { sm.with_perfect_l1() } else { sm })
        };
        ports.map(sm).collect()
    }

    pub fn slices(
        &self,
        machine: &Machine,
        needs: &Needs,
        ideal: Ideal,
    ) -> Result<Vec<Slice>, PolicyError> {
        let (clock, core) = (self.clocks().clock_of(), self.clocks().clock_of());
        let ports = SliceId::all(self.slice_ports.len()).zip(&self.slice_ports);
        let slice = |(id, &ports): (SliceId, &SlicePorts)| {
            let slice = Slice::new(machine, id, clock, core, ports, needs)?;
            let slice = match machine.twins() {
                Some(twins) => slice.with_twin(twins, self.twin_ports[id.index()]),
                None => slice,
            };
            Ok(if ideal == Ideal::PerfectL2 { slice.perfect(machine.l2.latency) } else { slice })
        };
        ports.map(slice).collect()
    }

    pub fn controllers(
        &self,
        machine: &Machine,
        channels: Vec<Channel>,
        ideal: Ideal,
    ) -> Result<Vec<Controller>, PolicyError> {
        let clock = self.clocks().clock(Domain::Dram).of();
        let slices = self.slice_ports.chunks(machine.l2.slices_per_channel as usize);
        let controllers = channels.into_iter().zip(slices).enumerate();
        let controller = |(index, (channel, slices)): (usize, (Channel, &[SlicePorts]))| {
            let ports = slices.iter().map(|s| (s.misses, s.fills)).collect();
            let controller = Controller::new(machine, index, clock, channel, ports)?;
            Ok(if ideal == Ideal::PerfectDram { controller.perfect() } else { controller })
        };
        controllers.map(controller).collect()
    }

    pub fn networks(
        &self,
        machine: &Machine,
        ideal: Ideal,
    ) -> Result<[Box<dyn Topology>; 2], PolicyError> {
        let clock = self.clocks().clock_of();
        let sms = |port: fn(&(PortId, PortId)) -> PortId| self.sm_ports.iter().map(port).collect();
        let slices = |port: fn(&SlicePorts) -> PortId| self.slice_ports.iter().map(port).collect();
        let unlimited = ideal == Ideal::InfiniteBandwidthNoc;
        let build =
            if unlimited { warpmem_network::build_unlimited } else { warpmem_network::build };
        let spec = machine.network_spec();
        let build = |direction, inputs, outputs| build(&spec, direction, clock, inputs, outputs);
        Ok([
            build(Direction::Request, sms(|p| p.0), slices(|p| p.requests))?,
            build(Direction::Reply, slices(|p| p.replies), sms(|p| p.1))?,
        ])
    }
}

impl Wiring {
    /// The links between twins: those of requests and those of answers.
    pub fn twin_links(&self, machine: &Machine, ideal: Ideal) -> Vec<TwinLinks> {
        let Some(twins) = machine.twins() else { return Vec::new() };
        let packets = PacketSizes::new(&machine.network_spec());
        let l2 = &machine.l2;
        let unlimited = ideal == Ideal::InfiniteBandwidthNoc;
        let interval = if unlimited { 0 } else { l2.copy_link_interval };
        let times = LinkTimes { latency: l2.copy_link_latency, interval };
        let clock = self.clocks().clock_of();
        let links =
            |direction, unit, from: fn(&TwinPorts) -> PortId, to: fn(&TwinPorts) -> PortId| {
                let slices = SliceId::all(self.twin_ports.len());
                let ports = slices.map(|slice| {
                    let other = twins.twin(slice).index();
                    (from(&self.twin_ports[slice.index()]), to(&self.twin_ports[other]))
                });
                TwinLinks::new(direction, unit, clock, packets, times, ports)
            };
        vec![
            links(Direction::Request, ASKS, |p| p.asks, |p| p.asked),
            links(Direction::Reply, ANSWERS, |p| p.answers, |p| p.answered),
        ]
    }
}

impl Wiring {
    /// The links between SMs: those of questions and those of answers.
    pub fn sm_links(&self, machine: &Machine, ideal: Ideal) -> Vec<SmLinks> {
        if self.message_ports.is_empty() {
            return Vec::new();
        }
        let cluster = &machine.cluster;
        let unlimited = ideal == Ideal::InfiniteBandwidthNoc;
        let port_bytes = (!unlimited).then_some(cluster.port_bytes);
        let times = SmLinkTimes { latency: cluster.latency, port_bytes };
        let clock = self.clocks().clock_of();
        let [asks, answers] = sm_link_units(machine);
        let links = |direction, unit, ends: fn(&MessagePorts) -> (PortId, PortId)| {
            SmLinks::new(direction, unit, clock, times, self.message_ports.iter().map(ends))
        };
        vec![
            links(Direction::Request, asks, |ports| (ports.requests_out, ports.requests_in)),
            links(Direction::Reply, answers, |ports| (ports.replies_out, ports.replies_in)),
        ]
    }
}

fn network_unit(index: usize) -> UnitId {
    UnitId { domain: Domain::Network, index: index as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_cluster_are_shared_among_its_sms() {
        let machine = warpmem_testing::machine(&["sm.count=5", "network.sms_per_node=2"]);
        let rooms = |entries| -> Vec<usize> {
            let wiring = Wiring::new(&machine, &Needs::default(), entries, Split::new(&machine, 1));
            wiring.sm_ports.iter().map(|&(out, _)| wiring.regions[0].fabric.room(out)).collect()
        };
        let own = rooms(0)[0];
        assert_eq!(rooms(5), [3, 2, 3, 2, 3].map(|entries| own + entries));
    }
}
