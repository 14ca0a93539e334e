//! The configuration of the networks.

use serde::Serialize;
use warpmem_params::limits::{CYCLES, ENTRIES};
use warpmem_params::{choice, section, serde_choice};

choice! {
    /// Which virtual channel a packet takes on its way (Yuan 2009, section 3.3).
    #[derive(Debug, PartialEq, Eq)]
    pub enum VcAssignment {
        /// The first that is free.
        Dynamic = "dynamic",
        /// The number of its destination modulo the virtual channels.
        StaticDestination = "static-destination",
    }
}

serde_choice!(VcAssignment);

choice! {
    /// When a packet may go on to the next router.
    #[derive(Debug, PartialEq, Eq)]
    pub enum Switching {
        /// As soon as there is room for a flit.
        Wormhole = "wormhole",
        /// Once there is room for all of it.
        CutThrough = "cut-through",
    }
}

serde_choice!(Switching);

section! {
    /// The request and reply networks between SMs and L2 slices.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Network {
        /// Flit: what a port moves in a network cycle.
        flit_bytes: u32, in 1..=1024, unit "bytes";
        /// Address and control in front of a packet; 0 = they take no flits of their own.
        header_bytes: u32, in 0..=1024, unit "bytes";
        /// From a flit's arrival at a router until it leaves, without contention.
        router_latency: u32 = 1, in 1..=CYCLES, unit "network cycles";
        /// On the link behind each router, including that to a node.
        link_latency: u32 = 0, in 0..=CYCLES, unit "network cycles";
        /// Virtual channels of every link, in topologies of routers.
        virtual_channels: u32 = 1, in 1..=64, unit "channels";
        /// Buffer of each virtual channel of a router's input. With `cut-through` at least the
        /// longest packet.
        vc_buffer: u32 = 8, in 1..=ENTRIES, unit "flits";
        /// Virtual channel of a packet. `dynamic`: the first that is free. `static-destination`:
        /// the number of its destination modulo the number of virtual channels.
        vc_assignment: VcAssignment = VcAssignment::Dynamic;
        /// When a packet may advance to the next router. `wormhole`: as soon as there is room for a
        /// flit. `cut-through`: once there is room for the whole packet.
        switching: Switching = Switching::Wormhole;
        /// How routers match inputs and outputs.
        allocator: String = "islip", in "allocator";
        /// SMs that share a node, and with it one input of the request network and one output of
        /// the reply network.
        sms_per_node: u32 = 1, in 1..=256, unit "SMs";
        /// Positions of the L2 slices among the nodes of a mesh or ring, one for each slice; SMs
        /// take the others. Empty: slices are spread evenly.
        memory_nodes: Vec<u32> = &[];
        /// Packets that an input may send in a cycle, to different outputs, in order of the
        /// outputs' numbers. After that many, it is busy for as many cycles as the last one has
        /// flits.
        input_speedup: u32 = 1, in 1..=256, unit "packets";
        /// Packets that an input port holds.
        input_buffer: u32, in 1..=ENTRIES, unit "packets";
        /// Packets that an output port holds.
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
    /// L2 slices of all channels.
    pub slices: u32,
    /// DRAM channels, and banks of each.
    pub channels: u32,
    pub banks: u32,
    /// Data bytes of a reply.
    pub sector_bytes: u32,
    /// Data bytes of the largest request: a line where L1 writes lines back, else a sector.
    pub largest_request_bytes: u32,
}
