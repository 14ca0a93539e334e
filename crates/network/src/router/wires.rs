//! The numbers of all inputs and outputs, and how they are connected.

use super::channel::{InputChannel, NONE, OutputChannel, Part};
use super::layout::{End, Layout, Route};
use std::collections::VecDeque;
use warpmem_sim::NetworkCycle;

/// Where a link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    /// An input, counted over all routers.
    Input(u32),
    /// A receiving node.
    Node(u32),
}

/// An input of a router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub router: u32,
    /// Its number in the router.
    pub local: u32,
    /// Output, of a router or source, whose link ends here.
    pub upstream: u32,
}

/// The connections of a network. Inputs and outputs are numbered over all routers, one router after
/// the other; the outputs of the sources follow those of the routers.
pub(super) struct Wires {
    pub routers: usize,
    /// First input and first output of each router, and at the end their numbers.
    pub first_input: Vec<usize>,
    pub first_output: Vec<usize>,
    pub inputs: Vec<Input>,
    /// By output of a router or source, where its link ends.
    pub downstream: Vec<Sink>,
    /// By output, the router or source that it belongs to; sources are numbered after the routers.
    pub unit_of: Vec<u32>,
    routes: Vec<Route>,
    destinations: usize,
}

impl Wires {
    pub fn new(layout: &Layout) -> Wires {
        let inputs = layout.inputs();
        let outputs: Vec<usize> = layout.outputs.iter().map(Vec::len).collect();
        let (first_input, first_output) = (running_sum(&inputs), running_sum(&outputs));
        let at = |router: usize, input: usize| Sink::Input((first_input[router] + input) as u32);
        let links = layout.outputs.iter().flatten().map(|end| match *end {
            End::Router { router, input } => at(router, input),
            End::Node(node) => Sink::Node(node as u32),
        });
        let injections = layout.sources.iter().map(|&(router, input)| at(router, input));
        let downstream: Vec<Sink> = links.chain(injections).collect();
        let of_router = |(router, &count): (u32, &usize)| {
            let input = move |local| Input { router, local, upstream: u32::MAX };
            (0..count as u32).map(input)
        };
        let mut wired: Vec<Input> = (0..).zip(&inputs).flat_map(of_router).collect();
        for (output, sink) in (0..).zip(&downstream) {
            if let Sink::Input(input) = *sink {
                wired[input as usize].upstream = output;
            }
        }
        let sources = vec![1; layout.sources.len()];
        Wires {
            routers: outputs.len(),
            inputs: wired,
            unit_of: owners(&[outputs, sources].concat()),
            first_input,
            first_output,
            downstream,
            routes: layout.routes.concat(),
            destinations: layout.destinations,
        }
    }

    /// Virtual channels of all inputs, `channels` each.
    pub fn input_channels(&self, channels: usize) -> Vec<InputChannel> {
        let count = channels as u32;
        let of_input = |(number, input): (u32, &Input)| {
            let (router, local, upstream) =
                (input.router as u16, input.local as u8, input.upstream);
            (0..count).map(move |index| InputChannel {
                first: Part::NOTHING,
                behind: VecDeque::new(),
                output: NONE,
                left: 0,
                pool: NONE,
                input: number,
                router,
                local,
                index: index as u8,
                upstream: upstream * count + index,
            })
        };
        (0..).zip(&self.inputs).flat_map(of_input).collect()
    }

    /// Virtual channels of all links, `channels` each, with room for `depth` flits at the inputs of
    /// routers.
    pub fn output_channels(&self, channels: usize, depth: u32) -> Vec<OutputChannel> {
        let count = channels as u32;
        let of_link = |((link, sink), &unit): ((u32, &Sink), &u32)| {
            let sink = *sink;
            (0..count).map(move |index| {
                let (credits, downstream) = match sink {
                    Sink::Input(input) => (depth, input * count + index),
                    Sink::Node(_) => (u32::MAX, NONE),
                };
                let (free_since, blocked) = (NetworkCycle::ZERO, false);
                OutputChannel { holder: NONE, credits, free_since, blocked, link, unit, downstream }
            })
        };
        (0..).zip(&self.downstream).zip(&self.unit_of).flat_map(of_link).collect()
    }

    #[inline]
    pub fn route(&self, router: usize, destination: usize) -> Route {
        self.routes[router * self.destinations + destination]
    }

    /// Number of routers on the way from one node to another.
    pub fn hops(&self, source: usize, destination: usize) -> u64 {
        let mut link = self.outputs() + source;
        let mut hops = 0;
        while let Sink::Input(input) = self.downstream[link] {
            let router = self.inputs[input as usize].router as usize;
            let output = usize::from(self.route(router, destination).output);
            link = self.first_output[router] + output;
            hops += 1;
        }
        hops
    }

    /// Outputs of all routers.
    pub fn outputs(&self) -> usize {
        self.first_output[self.routers]
    }

    /// Output of a source.
    #[inline]
    pub fn injection(&self, source: usize) -> usize {
        self.outputs() + source
    }
}

/// The sum of the counts before each, and at the end of all.
pub(super) fn running_sum(counts: &[usize]) -> Vec<usize> {
    let mut sums = vec![0];
    sums.extend(counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    }));
    sums
}

/// The index in `counts` that each item belongs to, if `counts[i]` items belong to index i.
fn owners(counts: &[usize]) -> Vec<u32> {
    let owners = (0..).zip(counts);
    owners.flat_map(|(owner, &count)| std::iter::repeat_n(owner, count)).collect()
}
