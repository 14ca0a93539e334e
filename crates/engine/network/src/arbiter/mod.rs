//! Arbitration rules: a rule may assign an output to one of the requesting inputs before the
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
use warpmem_params::{Chosen, Complexity, Entry, PolicyError, Registry, Shape};
use warpmem_sim::{NetworkCycle, RowId, bits};

/// A set of input ports, one bit each.
pub type Inputs = [u64; 4];

/// An output of a router, or one of its virtual channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    pub router: usize,
    /// Number over all routers of the network.
    pub index: usize,
}

/// The properties of a packet that a rule may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketView {
    /// First network cycle in which it could enter the network.
    pub since: NetworkCycle,
    /// DRAM bank of its address, counted over all channels.
    pub bank: u32,
    pub row: RowId,
}

/// The inputs that request an output.
pub struct Contest<'a> {
    pub output: Output,
    /// Requesting inputs; not empty.
    pub wanting: &'a Inputs,
    /// Whether the output became free in this cycle, or could not send since it became free: the
    /// last input using it has skipped no usable cycle.
    pub fresh: bool,
    /// Packet with which an input requests the output.
    pub packet: &'a dyn Fn(usize) -> PacketView,
}

/// An arbitration rule over the outputs of one network.
pub trait Arbiter: Send {
    /// Returns the input that the rule assigns the output to, one of the requesting ones; `None` if
    /// the rule does not decide.
    fn designate(&mut self, contest: &Contest) -> Option<usize>;

    /// Reports that `input` has been granted `output` for `packet`, by the rule or otherwise.
    fn granted(&mut self, output: Output, input: usize, packet: PacketView);

    /// Returns whether the rule ever decides; if not, the network never calls it.
    fn decides(&self) -> bool {
        true
    }

    /// Returns the hardware that the rule adds to the request network; `None` if the source does
    /// not state it.
    fn complexity(&self, shape: &Shape) -> Option<Complexity> {
        let _ = shape;
        None
    }
}

/// The properties of the network that a rule is built from.
#[derive(Clone, Copy, Debug)]
pub struct ArbiterContext {
    /// Direction of the network. Rules that hold grants act on requests only, because replies have
    /// no row to keep (Yuan 2009).
    pub direction: Direction,
    pub routers: usize,
    /// Outputs, or output virtual channels, of all routers together.
    pub outputs: usize,
    /// DRAM banks of all channels together.
    pub banks: usize,
}

/// All arbitration rules.
pub static ARBITERS: Registry<dyn Arbiter, ArbiterContext> = Registry::new(
    "arbiter",
    &[
        round_robin::ENTRY,
        hold_grant::ENTRY,
        row_matching_hold_grant::ENTRY,
        hash_matching_hold_grant::ENTRY,
        oldest_first::ENTRY,
        random::ENTRY,
    ],
);

/// Builds the chosen rule; `None` if it never decides.
pub(super) fn build(
    rule: &Chosen<dyn Arbiter, ArbiterContext>,
    context: &ArbiterContext,
) -> Result<Option<Box<dyn Arbiter>>, PolicyError> {
    Ok(Some(rule.build(context)?).filter(|rule| rule.decides()))
}

type ArbiterEntry = Entry<dyn Arbiter, ArbiterContext>;

/// Applies `rule` in the request network, and no rule in the reply network.
fn on_requests<A: Arbiter + 'static>(
    context: &ArbiterContext,
    rule: impl FnOnce() -> A,
) -> Box<dyn Arbiter> {
    match context.direction {
        Direction::Request => Box::new(rule()),
        Direction::Reply => Box::new(RoundRobin),
    }
}

/// Last input granted each output.
struct LastGrants(Vec<Option<usize>>);

impl LastGrants {
    fn new(context: &ArbiterContext) -> LastGrants {
        LastGrants(vec![None; context.outputs])
    }

    /// Returns the last input granted the contested output, if it requests it again and has used it
    /// without a gap.
    fn holder(&self, contest: &Contest) -> Option<usize> {
        let input = self.0[contest.output.index]?;
        (contest.fresh && bits::contains(contest.wanting, input)).then_some(input)
    }

    fn granted(&mut self, output: Output, input: usize) {
        self.0[output.index] = Some(input);
    }
}
