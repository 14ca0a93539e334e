//! Arbitration rules: a rule may assign an output to one of the inputs that want it, before the
//! network's own fair choice. In a network of routers, rules act in virtual-channel allocation
//! (Yuan 2009, section 3.2).

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
use warpmem_sim::{NetworkCycle, RowId, bits};

/// A set of input ports, one bit each.
pub type Inputs = [u64; 4];

/// An output of a router, or one of its virtual channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    pub router: usize,
    /// Counted over all routers of the network.
    pub index: usize,
}

/// The properties of a packet that a rule may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Network cycle in which it could first enter the network.
    pub since: NetworkCycle,
    /// DRAM bank that its address lies in, counted over all channels.
    pub bank: u32,
    pub row: RowId,
}

/// The inputs that want an output.
pub struct Contest<'a> {
    pub output: Output,
    /// Not empty.
    pub wanting: &'a Inputs,
    /// The output became free in this cycle, or nothing could be sent through it since it became
    /// free. So there was no cycle in which the input that used it last could have gone on and did
    /// not.
    pub fresh: bool,
    /// The packet of an input that wants the output.
    pub packet: &'a dyn Fn(usize) -> Packet,
}

/// An arbitration rule over the outputs of one network.
pub trait Arbiter: Send {
    /// The input that the rule assigns the output to, one of those that want it; `None` if the rule
    /// does not decide.
    fn designate(&mut self, contest: &Contest) -> Option<usize>;

    /// Reports that `input` has been granted `output` for `packet`, by the rule or otherwise.
    fn granted(&mut self, output: Output, input: usize, packet: Packet);

    /// Whether the rule ever decides; if not, the network never calls it.
    fn has_say(&self) -> bool {
        true
    }

    /// The hardware that the rule adds to the request network; `None` if the source does not say.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let _ = shape;
        None
    }
}

/// What a rule is built from.
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

/// The rule that `text` names; `None` if it never decides.
pub(super) fn build(
    text: &str,
    context: &ArbiterContext,
) -> Result<Option<Box<dyn Arbiter>>, PolicyError> {
    Ok(Some(ARBITERS.build(text, context)?).filter(|rule| rule.has_say()))
}

type ArbiterEntry = Entry<dyn Arbiter, ArbiterContext>;

/// `rule` in the request network, no rule in the reply network.
fn on_requests<A: Arbiter + 'static>(
    context: &ArbiterContext,
    rule: impl FnOnce() -> A,
) -> Box<dyn Arbiter> {
    match context.direction {
        Direction::Request => Box::new(rule()),
        Direction::Reply => Box::new(RoundRobin),
    }
}

/// The input that each output was last granted to.
struct LastGrants(Vec<Option<usize>>);

impl LastGrants {
    fn new(context: &ArbiterContext) -> LastGrants {
        LastGrants(vec![None; context.outputs])
    }

    /// The input that the contested output was last granted to, if it wants it again and has used
    /// it without a gap.
    fn holder(&self, contest: &Contest) -> Option<usize> {
        let input = self.0[contest.output.index]?;
        (contest.fresh && bits::contains(contest.wanting, input)).then_some(input)
    }

    fn granted(&mut self, output: Output, input: usize) {
        self.0[output.index] = Some(input);
    }
}
