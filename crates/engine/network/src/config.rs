//! The configuration of the networks.

use serde::Serialize;
use warpmem_params::limits::{CYCLES, ENTRIES};
use warpmem_params::{choice, section, serde_choice};

choice! {
    /// Assignment of packets to virtual channels (Yuan 2009, section 3.3).
    #[derive(Debug, PartialEq, Eq)]
    pub enum VcAssignment {
        /// The first free virtual channel.
        Dynamic = "dynamic",
        /// The number of the destination modulo the virtual channels.
        StaticDestination = "static-destination",
    }
}

serde_choice!(VcAssignment);

choice! {
    /// Condition under which a packet advances to the next router.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Switching {
        /// As soon as there is room for a flit.
        Wormhole = "wormhole",
        /// Once there is room for the whole packet.
        CutThrough = "cut-through",
    }
}

serde_choice!(Switching);

section! {
    /// The request and reply networks between SMs and L2 slices.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Network {
        /// Flit size: the data that a port moves per network cycle.
        flit_bytes: u32, in 1..=1024, unit "bytes";
        /// Address and control before the data of a packet; 0 = they take no flits of their own.
        header_bytes: u32, in 0..=1024, unit "bytes";
        /// Latency from a flit's arrival at a router until it leaves, without contention.
        router_latency: u32 = 1, in 1..=CYCLES, unit "network cycles";
        /// Latency of the link after each router, including that to a node.
        link_latency: u32 = 0, in 0..=CYCLES, unit "network cycles";
        /// Virtual channels of every link, in topologies of routers.
        virtual_channels: u32 = 1, in 1..=64, unit "channels";
        /// Buffer of each virtual channel of a router's input. With `cut-through` at least the
        /// longest packet.
        vc_buffer: u32 = 8, in 1..=ENTRIES, unit "flits";
        /// Virtual channel of a packet. `dynamic`: the first free one. `static-destination`: the
        /// number of its destination modulo the number of virtual channels.
        vc_assignment: VcAssignment = VcAssignment::Dynamic;
        /// When a packet may advance to the next router. `wormhole`: as soon as there is room for a
        /// flit. `cut-through`: once there is room for the whole packet.
        switching: Switching = Switching::Wormhole;
        /// Allocator that matches inputs and outputs of a router.
        allocator: String = "islip", in "allocator";
        /// SMs that share a node, and with it one input of the request network and one output of
        /// the reply network.
        sms_per_node: u32 = 1, in 1..=256, unit "SMs";
        /// Positions of the L2 slices among the nodes of a mesh or ring, one per slice; SMs take
        /// the others. Empty: slices are spread evenly.
        memory_nodes: Vec<u32> = &[];
        /// Packets that an input may send per cycle, to different outputs, in order of the outputs'
        /// numbers. The last of them occupies the input for one cycle per flit.
        input_speedup: u32 = 1, in 1..=256, unit "packets";
        /// Capacity of an input port.
        input_buffer: u32, in 1..=ENTRIES, unit "packets";
        /// Capacity of an output port.
        output_buffer: u32, in 1..=ENTRIES, unit "packets";
    }
}

/// The network, and the properties of the machine that it depends on.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    pub network: Network,
    /// Topology and arbitration rule, as `name` or `name(key=value,...)`.
    pub topology: String,
    pub arbiter: String,
    pub sms: u32,
    /// Number of L2 slices of all channels.
    pub slices: u32,
    /// Number of DRAM channels, and of banks per channel.
    pub channels: u32,
    pub banks: u32,
    /// Data bytes of a reply.
    pub sector_bytes: u32,
    /// Data bytes of the largest request: a line if L1 writes lines back, else a sector.
    pub largest_request_bytes: u32,
}
