//! What policies cost in hardware, counted as Yuan et al. count it (MICRO 2009, section 3.4): bits that are stored, and
//! bits that are compared.
//!
//! A scheduler or arbiter says its own; `docs/policies/complexity.md` has the rules of counting.

use std::iter::Sum;
use std::ops::{Add, Mul};

/// Hardware cost of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Complexity {
    /// Bits kept beside the requests that wait, or the packets.
    pub stored: u64,
    /// Bits compared at most in the choices of one cycle.
    pub compared: u64,
}

impl Complexity {
    /// Nothing beyond what every machine has.
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

    /// As many of the same.
    fn mul(self, count: u64) -> Complexity {
        Complexity { stored: self.stored * count, compared: self.compared * count }
    }
}

impl Sum for Complexity {
    fn sum<I: Iterator<Item = Complexity>>(all: I) -> Complexity {
        all.fold(Complexity::NONE, Add::add)
    }
}

/// The routers of a network, each counted as the largest of them: the paper's upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Routers {
    pub count: u64,
    /// Pairs of an input and an output of a router.
    pub crossings: u64,
    /// Outputs of a router.
    pub outputs: u64,
}

impl Routers {
    /// What it takes to hold grants: one bit for every pair, kept and compared.
    pub fn held_grants(&self) -> Complexity {
        Complexity { stored: self.crossings, compared: self.crossings } * self.count
    }
}

/// The numbers of a machine that costs depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub sms: u64,
    /// Of an SM.
    pub warps: u64,
    pub slices: u64,
    /// MSHR entries of a slice; none without an LLC.
    pub mshr_entries: u64,
    /// DRAM channels.
    pub controllers: u64,
    /// Places of a controller's queue: that of reads, where writes have their own.
    pub queue: u64,
    /// Of a channel.
    pub banks: u64,
    /// Of a row's number.
    pub row_bits: u64,
    /// Of the network that carries requests.
    pub routers: Routers,
}

impl Shape {
    /// Of a bank's number.
    pub fn bank_bits(&self) -> u64 {
        bits(self.banks)
    }

    /// Of an SM's number.
    pub fn sm_bits(&self) -> u64 {
        bits(self.sms)
    }

    /// Of a count of requests in the queue.
    pub fn queue_bits(&self) -> u64 {
        bits(self.queue)
    }

    /// Comparisons of a controller that looks for row hits: bank and row of every request in its queue.
    pub fn row_search(&self) -> u64 {
        self.queue * (self.row_bits + self.bank_bits())
    }
}

/// Bits that tell so many things apart.
pub fn bits(things: u64) -> u64 {
    things.max(1).next_power_of_two().ilog2().into()
}
