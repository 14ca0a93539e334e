//! The numbers of all inputs and outputs, and their connections.

use super::channel::{BufferedPacket, InputChannel, OutputChannel};
use super::ids::{InputId, InputVc, LinkId, OutputVc, PoolId, RouterId, Sender};
use super::layout::{End, Layout, Route};
use crate::Ports;
use crate::ids::{DestinationId, SourceId};
use std::collections::VecDeque;
use warpmem_sim::{NetworkCycle, Table};

/// The end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    Input(InputId),
    Node(DestinationId),
}

/// An input of a router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub router: RouterId,
    /// Number in the router.
    pub local: u8,
    /// Link that ends here.
    pub upstream: LinkId,
}

/// The inputs and outputs of a router.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouterPorts {
    first_input: InputId,
    first_link: LinkId,
    pub count: Ports,
}

impl RouterPorts {
    /// Returns an input, by its number in the router.
    #[inline]
    pub fn input(&self, local: usize) -> InputId {
        InputId::new(self.first_input.index() + local)
    }

    /// Returns the link at an output, by the output's number in the router.
    #[inline]
    pub fn link(&self, output: usize) -> LinkId {
        LinkId::new(self.first_link.index() + output)
    }

    /// Returns the number in the router of the output at which a link starts.
    #[inline]
    pub fn output(&self, link: LinkId) -> usize {
        link.index() - self.first_link.index()
    }
}

/// The connections of a network.
pub(super) struct Wires {
    pub routers: Table<RouterId, RouterPorts>,
    pub inputs: Table<InputId, Input>,
    pub downstream: Table<LinkId, Sink>,
    pub senders: Table<LinkId, Sender>,
    /// Number of outputs of all routers.
    pub outputs: usize,
    routes: Vec<Route>,
    destinations: usize,
}

impl Wires {
    pub fn new(layout: &Layout) -> Wires {
        let routers = router_ports(layout);
        let at = |router: usize, input| Sink::Input(routers[RouterId::new(router)].input(input));
        let links = layout.outputs.iter().flatten().map(|end| match *end {
            End::Router { router, input } => at(router, input),
            End::Node(node) => Sink::Node(DestinationId::new(node)),
        });
        let injections = layout.sources.iter().map(|&(router, input)| at(router, input));
        let downstream: Table<LinkId, Sink> = links.chain(injections).collect();
        let mut inputs = inputs(&routers);
        for link in downstream.ids() {
            if let Sink::Input(input) = downstream[link] {
                inputs[input].upstream = link;
            }
        }
        let owners = routers.ids().flat_map(|router| {
            std::iter::repeat_n(Sender::Router(router), routers[router].count.outputs)
        });
        let sources = SourceId::all(layout.sources.len()).map(Sender::Source);
        Wires {
            inputs,
            senders: owners.chain(sources).collect(),
            outputs: routers.iter().map(|ports| ports.count.outputs).sum(),
            downstream,
            routes: layout.routes.concat(),
            destinations: layout.destinations,
            routers,
        }
    }

    /// Builds the virtual channels of all inputs, `channels` each.
    pub fn input_channels(&self, channels: usize) -> Table<InputVc, InputChannel> {
        let of_input = |number: InputId| {
            let Input { router, local, upstream } = self.inputs[number];
            (0..channels).map(move |index| InputChannel {
                first: BufferedPacket::NOTHING,
                behind: VecDeque::new(),
                output: OutputVc::NONE,
                left: 0,
                pool: PoolId::NONE,
                input: number,
                router,
                local,
                index: index as u8,
                upstream: OutputVc::new(upstream.index() * channels + index),
            })
        };
        self.inputs.ids().flat_map(of_input).collect()
    }

    /// Builds the virtual channels of all links, `channels` each, with room for `depth` flits at
    /// the inputs of routers.
    pub fn output_channels(&self, channels: usize, depth: u32) -> Table<OutputVc, OutputChannel> {
        let of_link = |link: LinkId| {
            (0..channels).map(move |index| {
                let (credits, downstream) = match self.downstream[link] {
                    Sink::Input(input) => (depth, InputVc::new(input.index() * channels + index)),
                    Sink::Node(_) => (u32::MAX, InputVc::NONE),
                };
                OutputChannel {
                    holder: InputVc::NONE,
                    credits,
                    free_since: NetworkCycle::ZERO,
                    blocked: false,
                    link,
                    sender: self.senders[link],
                    downstream,
                }
            })
        };
        self.downstream.ids().flat_map(of_link).collect()
    }

    #[inline]
    pub fn route(&self, router: RouterId, destination: DestinationId) -> Route {
        self.routes[router.index() * self.destinations + destination.index()]
    }

    /// Returns an input, by its number in the router.
    #[inline]
    pub fn input(&self, router: RouterId, local: usize) -> InputId {
        self.routers[router].input(local)
    }

    /// Returns the number of routers on the path from one node to another.
    pub fn hops(&self, source: SourceId, destination: DestinationId) -> u64 {
        let mut link = self.injection(source);
        let mut hops = 0;
        while let Sink::Input(input) = self.downstream[link] {
            let router = self.inputs[input].router;
            let output = usize::from(self.route(router, destination).output);
            link = self.routers[router].link(output);
            hops += 1;
        }
        hops
    }

    /// Returns the link of a source.
    #[inline]
    pub fn injection(&self, source: SourceId) -> LinkId {
        LinkId::new(self.outputs + source.index())
    }
}

/// Numbers the inputs and outputs of the routers, router by router.
fn router_ports(layout: &Layout) -> Table<RouterId, RouterPorts> {
    let (mut inputs, mut links) = (0, 0);
    let counts = layout.inputs().into_iter().zip(layout.outputs.iter().map(Vec::len));
    let ports = counts.map(|(own_inputs, outputs)| {
        let (first_input, first_link) = (InputId::new(inputs), LinkId::new(links));
        (inputs, links) = (inputs + own_inputs, links + outputs);
        RouterPorts { first_input, first_link, count: Ports { inputs: own_inputs, outputs } }
    });
    ports.collect()
}

/// Builds the inputs of all routers, without their links.
fn inputs(routers: &Table<RouterId, RouterPorts>) -> Table<InputId, Input> {
    let of_router = |router: RouterId| {
        let input = move |local| Input { router, local: local as u8, upstream: LinkId(u32::MAX) };
        (0..routers[router].count.inputs).map(input)
    };
    routers.ids().flat_map(of_router).collect()
}
