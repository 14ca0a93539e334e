//! Arbitration rules: which of the inputs that want an output get it.

mod round_robin;

use crate::registry::{Entry, Registry};

/// A set of input ports, one bit each.
pub type Inputs = [u64; 4];

/// Chooses among the inputs that want one output of one network.
pub trait Arbiter: Send {
    /// The input that `output` serves next, one of `wanting`, which is not empty. Called once per grant.
    fn pick(&mut self, output: usize, wanting: &Inputs) -> usize;
}

/// What an arbiter is built for.
#[derive(Clone, Copy, Debug)]
pub struct ArbiterContext {
    pub inputs: usize,
    pub outputs: usize,
}

/// Every arbitration rule.
pub static ARBITERS: Registry<dyn Arbiter, ArbiterContext> =
    Registry { slot: "arbiter", entries: &[round_robin::ENTRY] };

type ArbiterEntry = Entry<dyn Arbiter, ArbiterContext>;
