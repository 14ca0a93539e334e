//! Hardware cost of policies, counted as in Yuan et al. (MICRO 2009, section 3.4): bits stored and
//! bits compared. Each scheduler and arbiter computes its own; `docs/policies/complexity.md`
//! defines the counting rules.

use std::iter::Sum;
use std::ops::{Add, Mul};

/// Hardware cost of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Complexity {
    /// Bits stored beyond the waiting requests or packets.
    pub stored: u64,
    /// Most bits compared by the decisions of one cycle.
    pub compared: u64,
}

impl Complexity {
    /// No hardware beyond that of every machine.
    pub const NONE: Complexity = Complexity { stored: 0, compared: 0 };
}

impl Add for Complexity {
    type Output = Complexity;

    fn add(self, other: Complexity) -> Complexity {
        Complexity { stored: self.stored + other.stored, compared: self.compared + other.compared }
    }
}

impl Mul<u64> for Complexity {
    type Output = Complexity;

    /// Returns the cost of `count` copies.
    fn mul(self, count: u64) -> Complexity {
        Complexity { stored: self.stored * count, compared: self.compared * count }
    }
}

impl Sum for Complexity {
    fn sum<I: Iterator<Item = Complexity>>(all: I) -> Complexity {
        all.fold(Complexity::NONE, Add::add)
    }
}

/// The routers of a network, each counted like the largest, as in the paper's upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Routers {
    pub count: u64,
    /// Input-output pairs of a router.
    pub crossings: u64,
    /// Outputs of a router.
    pub outputs: u64,
}

impl Routers {
    /// Returns the cost of holding grants: one bit per input-output pair, stored and compared.
    pub fn held_grants(&self) -> Complexity {
        Complexity { stored: self.crossings, compared: self.crossings } * self.count
    }
}

/// The properties of a machine that costs depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub sms: u64,
    /// Warps of an SM.
    pub warps: u64,
    pub slices: u64,
    /// MSHR entries of a slice; 0 without an L2.
    pub mshr_entries: u64,
    /// DRAM channels.
    pub controllers: u64,
    /// Entries of a controller's queue; only reads if writes have a separate queue.
    pub queue: u64,
    /// Banks of a channel.
    pub banks: u64,
    /// Bits of a row number.
    pub row_bits: u64,
    /// Routers of the request network.
    pub routers: Routers,
}

impl Shape {
    /// Returns the bits of a bank number.
    pub fn bank_bits(&self) -> u64 {
        bits(self.banks)
    }

    /// Returns the bits of an SM number.
    pub fn sm_bits(&self) -> u64 {
        bits(self.sms)
    }

    /// Returns the bits of a count of queued requests.
    pub fn queue_bits(&self) -> u64 {
        bits(self.queue)
    }

    /// Returns the bits compared by a search for row hits: bank and row of every queued request.
    pub fn row_search(&self) -> u64 {
        self.queue * (self.row_bits + self.bank_bits())
    }
}

/// Returns the bits that distinguish `things` values.
pub fn bits(things: u64) -> u64 {
    things.max(1).next_power_of_two().ilog2().into()
}
