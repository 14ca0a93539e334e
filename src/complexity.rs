//! What policies cost in hardware, counted as Yuan et al. count it (MICRO 2009, section 3.4): bits that are kept, and
//! bits that are compared.
//!
//! A scheduler or arbiter says its own; `docs/policies/complexity.md` has the rules of counting.

use crate::dram::scheduler::{SCHEDULERS, Scene};
use crate::machine::{Field, Machine, MachineError};
use crate::network::arbiter::{ARBITERS, ArbiterContext};
use crate::network::{self, Direction, Ports};
use crate::registry::PolicyError;
use std::iter::Sum;
use std::ops::{Add, Mul};

/// Why costs could not be counted.
#[derive(Debug, thiserror::Error)]
pub enum ComplexityError {
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

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

    fn of(routers: &[Ports]) -> Routers {
        let most = |of: fn(&Ports) -> usize| routers.iter().map(of).max().unwrap_or(0) as u64;
        Routers {
            count: routers.len() as u64,
            crossings: most(|ports| ports.inputs * ports.outputs),
            outputs: most(|ports| ports.outputs),
        }
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
    /// # Errors
    /// [`ComplexityError`] if the address map is not valid, or there is no such topology.
    pub fn of(machine: &Machine) -> Result<Shape, ComplexityError> {
        let routers = Routers::of(&network::routers(machine)?);
        let row_bits = machine.dram.layout()?.bits_of(Field::Row);
        Ok(Shape {
            sms: machine.sm.count.into(),
            warps: machine.sm.max_warps.into(),
            slices: machine.slices().into(),
            mshr_entries: if machine.llc.enabled { machine.llc.cache.mshr_entries } else { 0 }
                .into(),
            controllers: machine.dram.channels.into(),
            queue: machine.dram.read_queue.into(),
            banks: machine.dram.banks.into(),
            row_bits: row_bits.into(),
            routers,
        })
    }

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

/// What the DRAM scheduler that `policy` names costs in all controllers of the machine; nothing if it does not say.
///
/// # Errors
/// [`PolicyError`] if there is no such policy, or not on this machine.
pub fn of_scheduler(
    policy: &str,
    machine: &Machine,
    shape: &Shape,
) -> Result<Option<Complexity>, PolicyError> {
    Ok(SCHEDULERS.build(policy, &Scene::of(machine))?.complexity(shape))
}

/// What the arbitration rule that `policy` names costs in all routers of the request network; nothing if it does not
/// say.
///
/// # Errors
/// [`PolicyError`] if there is no such policy.
pub fn of_arbiter(policy: &str, shape: &Shape) -> Result<Option<Complexity>, PolicyError> {
    let direction = Direction::Request;
    let context = ArbiterContext { direction, routers: 1, outputs: 1, banks: 1 };
    Ok(ARBITERS.build(policy, &context)?.complexity(shape))
}

#[cfg(test)]
mod tests;
