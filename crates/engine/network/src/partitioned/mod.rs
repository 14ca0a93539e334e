//! Crossbars of partitions: one switch per partition, joined by links.

mod fabric;
mod shape;

use super::arbiter::{self, ArbiterContext, Inputs};
use super::crossbar::{self, Rule, Switch};
use super::ids::{DestinationId, SourceId};
use super::{Direction, NetworkContext, Ports, Topology, TopologyEntry};
use crate::{LinkResult, NetworkResult};
use fabric::Fabric;
use shape::{Partition, Shape};
use warpmem_params::limits::CYCLES;
use warpmem_params::{PolicyError, PolicyInfo, params};
use warpmem_sim::{Context, NetworkCycle, bits};

const INFO: PolicyInfo = PolicyInfo {
    name: "partitioned-crossbar",
    summary: "one crossbar per partition of SMs and slices, joined by links",
    source: "NVIDIA, A100 white paper, 2020; Jin et al., MICRO 2024",
    params: Parameters::params,
};

pub(super) const ENTRY: TopologyEntry = TopologyEntry {
    info: INFO,
    build: |context, params| Ok(Box::new(Partitioned::new(context, &params.read())?) as _),
};

params! {
    struct Parameters {
        /// partitions of the SMs and the slices, at most as many as slices
        partitions: usize = 2, in 1..=16, unit "partitions";
        /// latency of a link from one partition to another, in addition to the two switches
        link_latency: u32 = 100, in 0..=CYCLES, unit "network cycles";
        /// flits per cycle on the links from one partition to another; with the nodes of a
        /// partition, a switch has at most 256 inputs and 256 outputs
        link_width: usize = 16, in 1..=256, unit "flits";
    }
}

/// The switches of all partitions, stepped in the order of their numbers. A packet that a switch
/// takes from a link or puts onto one is visible to the others from the next cycle on, so the order
/// does not matter.
struct Partitioned {
    switches: Vec<Switch>,
    rule: Rule,
    fabric: Fabric,
}

impl Partitioned {
    fn new(context: &NetworkContext, params: &Parameters) -> Result<Partitioned, PolicyError> {
        crossbar::check_nodes(&INFO, context, "1")?;
        let &Parameters { partitions, link_latency, link_width } = params;
        let nodes = [context.inputs.len(), context.outputs.len()];
        let slices = match context.direction {
            Direction::Request => nodes[1],
            Direction::Reply => nodes[0],
        };
        let valid = format!("at most {slices}, the number of slices");
        INFO.require(partitions <= slices, "partitions", partitions, valid)?;
        let links = (partitions - 1) * link_width;
        let largest = nodes[0].max(nodes[1]).div_ceil(partitions);
        let valid =
            format!("at most 256 inputs and outputs of a switch, of which {largest} for nodes");
        INFO.require(largest + links <= bits_of_set(), "link_width", link_width, valid)?;

        let shape = Shape::new(context.direction, nodes, partitions, link_width);
        let sizes = |p: &Partition| [p.senders.len() + links, p.receivers.len() + links];
        let mut outputs = 0;
        let switch = |(number, partition): (usize, &Partition)| {
            let sizes = sizes(partition);
            let first = outputs;
            outputs += sizes[1];
            let speedup = context.network.input_speedup;
            Switch::new(context.clock, speedup, sizes).numbered(number, first)
        };
        let switches = shape.partitions.iter().enumerate().map(switch).collect();
        let rules = ArbiterContext {
            direction: context.direction,
            routers: partitions,
            outputs,
            banks: context.channels * context.banks,
        };
        Ok(Partitioned {
            switches,
            rule: arbiter::build(&context.policies.arbiter, &rules)?,
            fabric: Fabric::new(shape, context, link_latency.into()),
        })
    }
}

/// Returns the most inputs or outputs of a switch.
fn bits_of_set() -> usize {
    Inputs::default().len() * bits::WORD
}

impl Topology for Partitioned {
    fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let Partitioned { switches, rule, fabric } = self;
        fabric.note_arrivals(ctx);
        let mut next = NetworkCycle::NEVER;
        for (number, switch) in switches.iter_mut().enumerate() {
            let arrivals = fabric.take_arrivals(number);
            let side = &mut fabric.side(number);
            next = next.min(switch.step(&arrivals, cycle, rule, side, ctx));
        }
        next = next.min(fabric.take_next());
        (next < NetworkCycle::NEVER).then_some(next)
    }

    fn so_far(&self, cycles: u64) -> NetworkResult {
        let links = self.links();
        NetworkResult { links, ..self.fabric.tally.so_far(cycles) }
    }

    fn links(&self) -> Vec<LinkResult> {
        self.fabric.results()
    }

    fn describe(&self) -> Vec<String> {
        self.fabric.describe()
    }

    fn hops(&self, source: SourceId, destination: DestinationId) -> u64 {
        if self.fabric.is_near(source, destination) { 1 } else { 2 }
    }

    fn crossing(&self, source: SourceId, destination: DestinationId) -> u64 {
        self.fabric.crossing(source, destination)
    }

    fn routers(&self) -> Vec<Ports> {
        self.switches.iter().map(Switch::ports).collect()
    }
}
