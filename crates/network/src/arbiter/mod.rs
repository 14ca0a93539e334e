//! Arbitration rules: who of the inputs that want an output keeps or gets it before the network's own choice, which is
//! fair. In a network of routers they act in the allocation of virtual channels (Yuan 2009, section 3.2).

mod hash_matching_hold_grant;
mod hold_grant;
mod oldest_first;
mod random;
mod round_robin;
mod row_matching_hold_grant;
#[cfg(test)]
mod tests;

use super::Direction;
use round_robin::RoundRobin;
use warpmem_params::{Complexity, Entry, PolicyError, Registry, Shape};

/// A set of input ports, one bit each.
pub type Inputs = [u64; 4];

/// An output of a router, or one of its virtual channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    pub router: usize,
    /// Counted over all routers of the network.
    pub index: usize,
}

/// What a rule may know of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Network cycle in which it could first enter the network.
    pub since: u64,
    /// DRAM bank that its address lies in, counted over all channels.
    pub bank: u32,
    pub row: u32,
}

/// Inputs that want an output.
pub struct Contest<'a> {
    pub output: Output,
    /// Not empty.
    pub wanting: &'a Inputs,
    /// The output came free in this cycle, or nothing could leave by it since it did: no cycle has passed in which
    /// its last taker could have gone on and did not.
    pub fresh: bool,
    /// The packet of an input that wants the output.
    pub packet: &'a dyn Fn(usize) -> Packet,
}

/// An arbitration rule over the outputs of one network.
pub trait Arbiter: Send {
    /// The input, one of those that want it, to which the rule gives the output; nothing where it has no say.
    fn designate(&mut self, contest: &Contest) -> Option<usize>;

    /// `input` has got `output` for `packet`, by the rule or not.
    fn granted(&mut self, output: Output, input: usize, packet: Packet);

    /// Whether the rule can have a say at all; where it cannot, nobody asks it or tells it anything.
    fn has_say(&self) -> bool {
        true
    }

    /// What the rule adds to the network of requests; nothing if it is not said.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let _ = shape;
        None
    }
}

/// What a rule is built for.
#[derive(Clone, Copy, Debug)]
pub struct ArbiterContext {
    /// Rules that hold grants act on requests only: replies have no row to keep (Yuan 2009).
    pub direction: Direction,
    pub routers: usize,
    /// Outputs, or output virtual channels, of all routers together.
    pub outputs: usize,
    /// DRAM banks of all channels together.
    pub banks: usize,
}

/// Every arbitration rule.
pub static ARBITERS: Registry<dyn Arbiter, ArbiterContext> = Registry {
    slot: "arbiter",
    entries: &[
        round_robin::ENTRY,
        hold_grant::ENTRY,
        row_matching_hold_grant::ENTRY,
        hash_matching_hold_grant::ENTRY,
        oldest_first::ENTRY,
        random::ENTRY,
    ],
};

/// The rule that `text` names, if it can have a say.
pub(super) fn build(
    text: &str,
    context: &ArbiterContext,
) -> Result<Option<Box<dyn Arbiter>>, PolicyError> {
    Ok(Some(ARBITERS.build(text, context)?).filter(|rule| rule.has_say()))
}

type ArbiterEntry = Entry<dyn Arbiter, ArbiterContext>;

/// `rule` in the network of requests, none in that of replies.
fn on_requests<A: Arbiter + 'static>(
    context: &ArbiterContext,
    rule: impl FnOnce() -> A,
) -> Box<dyn Arbiter> {
    match context.direction {
        Direction::Request => Box::new(rule()),
        Direction::Reply => Box::new(RoundRobin),
    }
}

/// The input that each output was granted to last.
struct Takers(Vec<Option<usize>>);

impl Takers {
    fn new(context: &ArbiterContext) -> Takers {
        Takers(vec![None; context.outputs])
    }

    /// The last taker of the output that is contested, if it wants it again and has not let it go.
    fn holder(&self, contest: &Contest) -> Option<usize> {
        let taker = self.0[contest.output.index]?;
        (contest.fresh && contains(contest.wanting, taker)).then_some(taker)
    }

    fn granted(&mut self, output: Output, input: usize) {
        self.0[output.index] = Some(input);
    }
}

/// Whether `input` is one of `set`.
fn contains(set: &Inputs, input: usize) -> bool {
    set[input / 64] >> (input % 64) & 1 == 1
}
