//! The configuration of the networks.

use serde::{Deserialize, Serialize};

/// Which virtual channel a packet takes on its way (Yuan 2009, section 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VcAssignment {
    /// The first that is free.
    #[default]
    Dynamic,
    /// The number of its destination modulo the virtual channels.
    StaticDestination,
}

/// When a packet may go on to the next router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switching {
    /// As soon as there is room for a flit.
    #[default]
    Wormhole,
    /// Once there is room for all of it.
    CutThrough,
}

/// The request and reply networks between SMs and LLC slices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Bytes per flit and network cycle.
    pub flit_bytes: u32,
    /// Bytes of address and control in front of a packet; 0 = they take no flits of their own.
    pub header_bytes: u32,
    /// Network cycles from a flit's arrival at a router until it leaves it, without contention.
    pub router_latency: u32,
    /// Network cycles on the link behind each router.
    #[serde(default)]
    pub link_latency: u32,
    /// Virtual channels of every link, in topologies of routers.
    #[serde(default = "one")]
    pub virtual_channels: u32,
    /// Buffer of each virtual channel of a router's input, in flits.
    #[serde(default = "eight")]
    pub vc_buffer: u32,
    /// Which virtual channel a packet takes.
    #[serde(default)]
    pub vc_assignment: VcAssignment,
    /// When a packet may go on to the next router.
    #[serde(default)]
    pub switching: Switching,
    /// How routers match inputs and outputs: the name of an allocator.
    #[serde(default = "islip")]
    pub allocator: String,
    /// SMs that share a node, and with it one input of the request network and one output of the
    /// reply network.
    #[serde(default = "one")]
    pub sms_per_node: u32,
    /// Positions of the LLC slices among the nodes of a mesh or ring; empty = spread evenly.
    #[serde(default)]
    pub memory_nodes: Vec<u32>,
    /// Packets that an input port may send in a network cycle, to different outputs in the order of
    /// their numbers.
    pub input_speedup: u32,
    /// Packets that an input port holds.
    pub input_buffer: u32,
    /// Packets that an output port holds.
    pub output_buffer: u32,
}

fn eight() -> u32 {
    8
}

fn islip() -> String {
    "islip".to_owned()
}

fn one() -> u32 {
    1
}

/// The network, and the properties of the machine that it depends on.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    pub network: Network,
    /// Topology and arbitration rule, as `name` or `name(key=value,...)`.
    pub topology: String,
    pub arbiter: String,
    pub sms: u32,
    /// LLC slices of all channels.
    pub slices: u32,
    /// DRAM channels, and banks of each.
    pub channels: u32,
    pub banks: u32,
    /// Data bytes of a reply.
    pub sector_bytes: u32,
    /// Data bytes of the largest request: a line where L1 writes lines back, else a sector.
    pub largest_request_bytes: u32,
}
