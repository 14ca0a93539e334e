//! The network's allocator, shared by virtual-channel and switch allocation, and the numbers of the
//! choosers in it.

use super::ids::{InputId, LinkId, OutputVc};
use super::wires::Wires;
use crate::allocator::{Allocator, AllocatorContext, CandidateSet};
use crate::{Direction, NetworkContext};
use warpmem_params::PolicyError;
use warpmem_sim::NetworkCycle;

/// A unit that chooses among candidates.
#[derive(Clone, Copy, Debug)]
pub(super) enum Chooser {
    /// An output virtual channel, among the inputs that request it.
    Channel(OutputVc),
    /// An input, among its virtual channels.
    Input(InputId),
    /// An output, among the inputs that propose to it.
    Output(LinkId),
}

pub(super) struct Choosers {
    allocator: Box<dyn Allocator>,
    /// The allocator's numbers of the first input and of the first output; channels begin at 0.
    first_input: usize,
    first_output: usize,
}

impl Choosers {
    /// Builds the choosers for routers of `wires` with `channels` virtual channels per link.
    pub fn new(
        context: &NetworkContext,
        wires: &Wires,
        channels: usize,
    ) -> Result<Choosers, PolicyError> {
        let first_input = wires.outputs * channels;
        let first_output = first_input + wires.inputs.len();
        let choosers = first_output + wires.outputs;
        // The two networks draw different random numbers.
        let seed = match context.direction {
            Direction::Request => 0,
            Direction::Reply => 1,
        };
        let allocator = AllocatorContext { choosers, seed };
        let allocator = context.policies.allocator.build(&allocator)?;
        Ok(Choosers { allocator, first_input, first_output })
    }

    /// Returns the iterations of a match.
    #[inline]
    pub fn iterations(&self) -> u32 {
        self.allocator.iterations()
    }

    /// Chooses one of the candidates in `set`; `since` gives the cycle since which the packet of a
    /// candidate has waited.
    #[inline]
    pub fn choose(
        &mut self,
        chooser: Chooser,
        set: &[u64],
        since: &dyn Fn(usize) -> NetworkCycle,
    ) -> usize {
        let chooser = self.number(chooser);
        self.allocator.choose(&CandidateSet { chooser, set, since })
    }

    /// Reports that a chooser has been matched with its choice in `iteration`.
    #[inline]
    pub fn matched(&mut self, chooser: Chooser, choice: usize, iteration: u32) {
        self.allocator.accepted(self.number(chooser), choice, iteration);
    }

    #[inline]
    fn number(&self, chooser: Chooser) -> usize {
        match chooser {
            Chooser::Channel(channel) => channel.index(),
            Chooser::Input(input) => self.first_input + input.index(),
            Chooser::Output(output) => self.first_output + output.index(),
        }
    }
}
