//! The ports between the units of a machine, and the units at their ends.

use super::split::Split;
use crate::controller::MemoryController;
use crate::ideal::Ideal;
use crate::l2::queue::ChosenQueue;
use crate::l2::{Slice, SlicePorts};
use crate::ports::DuplexPorts;
use crate::sm::Sm;
use crate::sm::scheduler::{SmContext, WarpScheduler};
use warpmem_dram::Channel;
use warpmem_dram::prefetch::{PrefetchContext, Prefetcher};
use warpmem_machine::Machine;
use warpmem_network::{
    Direction, LinkTimes, NetworkPolicies, PacketSizes, PeerLinks, SmLinkTimes, SmLinks, Topology,
};
use warpmem_params::{Chosen, PolicyError};
use warpmem_sim::{ChannelId, Clock, Domain, Fabric, Needs, PortId, Region, SliceId, SmId, UnitId};
use warpmem_trace::MAX_CLUSTER;
use warpmem_translation::scheduler::WalkScheduler;
use warpmem_translation::{Mmu, SmPorts};

/// Numbers of the two networks in their domain.
const REQUEST_NETWORK: usize = 0;
const REPLY_NETWORK: usize = 1;
/// Numbers of the links between peer slices, in the same domain.
const PEER_REQUESTS: usize = 2;
const PEER_REPLIES: usize = 3;

/// Returns the numbers of the links between SMs, which follow: requests, replies.
fn sm_link_units(machine: &Machine) -> [usize; 2] {
    let first = if machine.peer_slices().is_some() { PEER_REPLIES + 1 } else { REPLY_NETWORK + 1 };
    [first, first + 1]
}

/// Returns the number of the translation unit, which follows.
fn translation_unit(machine: &Machine) -> usize {
    let [first, last] = sm_link_units(machine);
    if machine.gpcs().is_some() { last + 1 } else { first }
}

/// Returns the number of networks, links and translation units.
fn network_units(machine: &Machine) -> usize {
    translation_unit(machine) + usize::from(machine.vm.enabled)
}

/// All ports of a machine. Nothing else creates ports.
pub(super) struct Wiring {
    pub regions: Vec<Region>,
    split: Split,
    /// SM to request network, reply network to SM.
    sm_ports: Vec<(PortId, PortId)>,
    slice_ports: Vec<SlicePorts>,
    /// By slice, where slices have peers.
    peer_ports: Vec<DuplexPorts>,
    /// By SM, where the machine has clusters.
    message_ports: Vec<DuplexPorts>,
    /// By SM, on a machine with address translation.
    translation_ports: Vec<SmPorts>,
}

impl Wiring {
    /// `node_entries`: queue entries of each node of SMs, in addition to those of the L1s and of the
    /// network.
    pub fn new(machine: &Machine, needs: &Needs, node_entries: u32, split: Split) -> Wiring {
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
            peer_ports: Vec::new(),
            message_ports: Vec::new(),
            translation_ports: Vec::new(),
        };
        wiring.add_sm_ports(machine, sms, node_entries);
        wiring.add_slice_ports(machine, slices, needs);
        if machine.peer_slices().is_some() {
            wiring.add_peer_ports(machine, slices);
        }
        if machine.gpcs().is_some() {
            wiring.add_message_ports(machine, sms);
        }
        if machine.vm.enabled {
            wiring.add_translation_ports(machine, sms);
            wiring.add_walk_ports(machine);
        }
        wiring
    }

    fn add_sm_ports(&mut self, machine: &Machine, sms: usize, entries: u32) {
        // The L1 miss queue and the network's input buffer form one queue.
        let injection = machine.l1.cache.miss_queue + machine.network.input_buffer;
        let sms_per_node = machine.network.sms_per_node;
        for id in SmId::all(sms) {
            // The first SMs of a node get the remainder of the division.
            let odd = u32::from(id.0) % sms_per_node < entries % sms_per_node;
            let injection = injection + entries / sms_per_node + u32::from(odd);
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
        // Where the DRAM scheduler follows merges, misses wait in the slice, which selects the next
        // one.
        let queue = l2.to_dram_queue + l2.cache.miss_queue;
        let misses = if needs.merges.is_some() { 1 } else { queue };
        // The pipeline accepts one request per burst.
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
                walks: None,
            });
        }
    }

    fn add_peer_ports(&mut self, machine: &Machine, slices: usize) {
        let (l2, network) = (&machine.l2, &machine.network);
        // The port behind the link also holds the packets on the link.
        let on_link = l2.copy_link_latency / l2.copy_link_interval + 1;
        let (near, far) = (network.input_buffer as usize, network.output_buffer + on_link);
        for id in SliceId::all(slices) {
            let slice = UnitId { domain: Domain::L2, index: id.0.into() };
            let channel = id.index() / l2.slices_per_channel as usize;
            let region = self.split.region_of_channel(channel);
            let add = &mut self.regions[region].fabric;
            let mut out =
                |name, unit| add.add_port(name, id.index(), near, slice, network_unit(unit));
            let requests_out = out("slice-to-peer", PEER_REQUESTS);
            let replies_out = out("replies-to-peer", PEER_REPLIES);
            let mut back = |name, unit| {
                add.add_port(name, id.index(), far as usize, network_unit(unit), slice)
            };
            let requests_in = back("peer-to-slice", PEER_REQUESTS);
            let replies_in = back("replies-from-peer", PEER_REPLIES);
            self.peer_ports.push(DuplexPorts {
                requests_out,
                requests_in,
                replies_out,
                replies_in,
            });
        }
    }

    fn add_message_ports(&mut self, machine: &Machine, sms: usize) {
        let [requests, replies] = sm_link_units(machine);
        let network = &machine.network;
        // The ports behind the links also hold the messages in flight and the replies of the banks: an
        // SM sends at most one message per cycle.
        let on_way = machine.cluster.latency + 1;
        // A multicast to a whole cluster must fit.
        let near = network.input_buffer.max(MAX_CLUSTER);
        let from_banks = near + machine.sm.shared.latency;
        for id in SmId::all(sms) {
            let sm = UnitId { domain: Domain::Core, index: id.0.into() };
            let add = &mut self.regions[self.split.region_of_sm(id.index())].fabric;
            let far = (network.output_buffer + on_way) as usize;
            let mut out = |name, unit, room: u32| {
                add.add_port(name, id.index(), room as usize, sm, network_unit(unit))
            };
            let requests_out = out("sm-to-sms", requests, near);
            let replies_out = out("replies-to-sms", replies, from_banks);
            let mut back = |name, unit| add.add_port(name, id.index(), far, network_unit(unit), sm);
            self.message_ports.push(DuplexPorts {
                requests_out,
                requests_in: back("sms-to-sm", requests),
                replies_out,
                replies_in: back("replies-from-sms", replies),
            });
        }
    }

    fn add_translation_ports(&mut self, machine: &Machine, sms: usize) {
        let unit = network_unit(translation_unit(machine));
        let room = machine.vm.l1.misses as usize;
        for id in SmId::all(sms) {
            let sm = UnitId { domain: Domain::Core, index: id.0.into() };
            let add = &mut self.regions[self.split.region_of_sm(id.index())].fabric;
            self.translation_ports.push(SmPorts {
                requests: add.add_port("sm-to-translation", id.index(), room, sm, unit),
                replies: add.add_port("translation-to-sm", id.index(), room, unit, sm),
            });
        }
    }

    fn add_walk_ports(&mut self, machine: &Machine) {
        if !machine.vm.walk.memory {
            return;
        }
        let unit = network_unit(translation_unit(machine));
        let room = machine.vm.walk.walkers as usize;
        for (index, ports) in self.slice_ports.iter_mut().enumerate() {
            let slice = UnitId { domain: Domain::L2, index: index as u32 };
            let channel = index / machine.l2.slices_per_channel as usize;
            let add = &mut self.regions[self.split.region_of_channel(channel)].fabric;
            ports.walks = Some(warpmem_translation::SlicePorts {
                requests: add.add_port("walkers-to-slice", index, room, unit, slice),
                replies: add.add_port("slice-to-walkers", index, room, slice, unit),
            });
        }
    }

    /// Returns the fabric of the first region; all regions have the same clocks.
    fn clocks(&self) -> &Fabric {
        &self.regions[0].fabric
    }

    pub fn sms(
        &self,
        machine: &Machine,
        policy: &Chosen<dyn WarpScheduler, SmContext>,
        ideal: Ideal,
    ) -> Result<Vec<Sm>, PolicyError> {
        let clock = self.clocks().clock_of();
        let ports = SmId::all(self.sm_ports.len()).zip(&self.sm_ports);
        let sm = |(id, &(out, back)): (SmId, &(PortId, PortId))| {
            let policy = policy.build(&SmContext::of(machine, id))?;
            let sm = Sm::new(machine, id, clock, out, back, policy);
            let sm = match self.message_ports.get(id.index()) {
                Some(&ports) => sm.with_messages(machine, ports),
                None => sm,
            };
            let sm = match self.translation_ports.get(id.index()) {
                Some(&ports) => sm.with_translation(machine, ports),
                None => sm,
            };
            Ok(if ideal == Ideal::PerfectL1 { sm.with_perfect_l1() } else { sm })
        };
        ports.map(sm).collect()
    }

    pub fn slices(
        &self,
        machine: &Machine,
        queue: &ChosenQueue,
        needs: &Needs,
        ideal: Ideal,
    ) -> Result<Vec<Slice>, PolicyError> {
        let (clock, core) = (self.clocks().clock_of(), self.clocks().clock_of());
        let ports = SliceId::all(self.slice_ports.len()).zip(&self.slice_ports);
        let slice = |(id, &ports): (SliceId, &SlicePorts)| {
            let queue = queue.build(&machine.l2)?;
            let slice = Slice::new(machine, id, clock, core, ports, queue, needs);
            let slice = match machine.peer_slices() {
                Some(peers) => slice.with_peer(peers, self.peer_ports[id.index()]),
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
        prefetcher: &Chosen<dyn Prefetcher, PrefetchContext>,
        ideal: Ideal,
    ) -> Result<Vec<MemoryController>, PolicyError> {
        let clock = self.clocks().clock(Domain::Dram).of();
        let slices = self.slice_ports.chunks(machine.l2.slices_per_channel as usize);
        let controllers = channels.into_iter().zip(slices).enumerate();
        let controller = |(index, (channel, slices)): (usize, (Channel, &[SlicePorts]))| {
            let ports = slices.iter().map(|s| (s.misses, s.fills)).collect();
            let prefetcher = prefetcher.build(&machine.prefetch_context())?;
            let controller =
                MemoryController::new(machine, index, clock, channel, prefetcher, ports);
            Ok(if ideal == Ideal::PerfectDram { controller.perfect() } else { controller })
        };
        controllers.map(controller).collect()
    }

    pub fn networks(
        &self,
        machine: &Machine,
        policies: &NetworkPolicies,
        ideal: Ideal,
    ) -> Result<[Box<dyn Topology>; 2], PolicyError> {
        let clock = self.clocks().clock_of();
        let sms = |port: fn(&(PortId, PortId)) -> PortId| self.sm_ports.iter().map(port).collect();
        let slices = |port: fn(&SlicePorts) -> PortId| self.slice_ports.iter().map(port).collect();
        let unlimited = ideal == Ideal::InfiniteBandwidthNoc;
        let build =
            if unlimited { warpmem_network::build_unlimited } else { warpmem_network::build };
        let spec = machine.network_spec();
        let build =
            |direction, inputs, outputs| build(&spec, policies, direction, clock, inputs, outputs);
        Ok([
            build(Direction::Request, sms(|p| p.0), slices(|p| p.requests))?,
            build(Direction::Reply, slices(|p| p.replies), sms(|p| p.1))?,
        ])
    }
}

impl Wiring {
    /// Builds the links between peer slices: requests, replies.
    pub fn peer_links(&self, machine: &Machine, ideal: Ideal) -> Vec<PeerLinks> {
        let Some(peers) = machine.peer_slices() else { return Vec::new() };
        let packets = PacketSizes::new(&machine.network_spec());
        let l2 = &machine.l2;
        let unlimited = ideal == Ideal::InfiniteBandwidthNoc;
        let interval = if unlimited { 0 } else { l2.copy_link_interval };
        let times = LinkTimes { latency: l2.copy_link_latency, interval };
        let clock = self.clocks().clock_of();
        let links =
            |direction, unit, from: fn(&DuplexPorts) -> PortId, to: fn(&DuplexPorts) -> PortId| {
                let slices = SliceId::all(self.peer_ports.len());
                let ports = slices.map(|slice| {
                    let other = peers.peer(slice).index();
                    (from(&self.peer_ports[slice.index()]), to(&self.peer_ports[other]))
                });
                PeerLinks::new(direction, unit, clock, packets, times, ports)
            };
        vec![
            links(Direction::Request, PEER_REQUESTS, |p| p.requests_out, |p| p.requests_in),
            links(Direction::Reply, PEER_REPLIES, |p| p.replies_out, |p| p.replies_in),
        ]
    }
}

impl Wiring {
    /// Builds the links between SMs: requests, replies.
    pub fn sm_links(&self, machine: &Machine, ideal: Ideal) -> Vec<SmLinks> {
        if self.message_ports.is_empty() {
            return Vec::new();
        }
        let cluster = &machine.cluster;
        let unlimited = ideal == Ideal::InfiniteBandwidthNoc;
        let port_bytes = (!unlimited).then_some(cluster.port_bytes);
        let times = SmLinkTimes { latency: cluster.latency, port_bytes };
        let clock = self.clocks().clock_of();
        let [requests, replies] = sm_link_units(machine);
        let links = |direction, unit, ends: fn(&DuplexPorts) -> (PortId, PortId)| {
            SmLinks::new(direction, unit, clock, times, self.message_ports.iter().map(ends))
        };
        vec![
            links(Direction::Request, requests, |p| (p.requests_out, p.requests_in)),
            links(Direction::Reply, replies, |p| (p.replies_out, p.replies_in)),
        ]
    }
}

impl Wiring {
    /// Builds the translation unit, if the machine has one.
    pub fn mmu(
        &self,
        machine: &Machine,
        scheduler: &Chosen<dyn WalkScheduler, ()>,
    ) -> Result<Option<Mmu>, PolicyError> {
        if !machine.vm.enabled {
            return Ok(None);
        }
        let slices = self.slice_ports.iter().filter_map(|ports| ports.walks).collect();
        let clock = self.clocks().clock_of();
        let (unit, sms) = (translation_unit(machine), self.translation_ports.clone());
        let (vm, warps) = (&machine.vm, machine.sm.max_warps);
        Ok(Some(Mmu::new(vm, warps, unit, clock, scheduler.build(&())?, sms, slices)))
    }
}

fn network_unit(index: usize) -> UnitId {
    UnitId { domain: Domain::Network, index: index as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_node_are_divided_among_its_sms() {
        let machine = crate::testing::machine(&["sm.count=5", "network.sms_per_node=2"]);
        let rooms = |entries| -> Vec<usize> {
            let wiring = Wiring::new(&machine, &Needs::default(), entries, Split::new(&machine, 1));
            wiring.sm_ports.iter().map(|&(out, _)| wiring.regions[0].fabric.room(out)).collect()
        };
        let own = rooms(0)[0];
        assert_eq!(rooms(5), [3, 2, 3, 2, 3].map(|entries| own + entries));
    }
}
