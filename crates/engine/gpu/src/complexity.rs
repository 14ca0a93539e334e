//! Hardware cost of DRAM schedulers and arbitration rules on a machine, in bits.

use warpmem_dram::scheduler::SCHEDULERS;
use warpmem_machine::{Machine, MachineError};
use warpmem_network::arbiter::{ARBITERS, ArbiterContext};
use warpmem_network::{self as network, Direction, NetworkPolicies, Ports};
use warpmem_params::{Complexity, Invalid, PolicyError, Routers, Shape};
use warpmem_sim::Field;

/// Reason for not computing a cost.
#[derive(Debug, thiserror::Error)]
pub enum ComplexityError {
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

/// Returns the parameters of `machine` that costs depend on.
///
/// # Errors
/// [`ComplexityError`] if the address map is invalid or the topology unknown.
pub fn shape_of(machine: &Machine) -> Result<Shape, ComplexityError> {
    let spec = machine.network_spec();
    let row_bits = machine.dram.layout()?.bits_of(Field::Row);
    let mshr_entries = if machine.l2.enabled { machine.l2.cache.mshr_entries } else { 0 };
    Ok(Shape {
        sms: machine.sm.count.into(),
        warps: machine.sm.max_warps.into(),
        slices: machine.slices().into(),
        mshr_entries: mshr_entries.into(),
        controllers: machine.dram.channels.into(),
        queue: machine.dram.read_queue.into(),
        banks: machine.dram.banks.into(),
        row_bits: row_bits.into(),
        routers: largest_routers(&network::routers(&spec, &NetworkPolicies::choose(&spec)?)?),
    })
}

/// Counts every router as the largest of them.
fn largest_routers(routers: &[Ports]) -> Routers {
    let most = |of: fn(&Ports) -> usize| routers.iter().map(of).max().unwrap_or(0) as u64;
    Routers {
        count: routers.len() as u64,
        crossings: most(|ports| ports.inputs * ports.outputs),
        outputs: most(|ports| ports.outputs),
    }
}

/// Returns the cost of the DRAM scheduler `policy` in all controllers of the machine; none if the
/// scheduler declares no cost.
///
/// # Errors
/// [`PolicyError`] if the policy is unknown or does not fit the machine.
pub fn of_scheduler(
    policy: &str,
    machine: &Machine,
    shape: &Shape,
) -> Result<Option<Complexity>, PolicyError> {
    Ok(SCHEDULERS.build(policy, &machine.scheduler_context())?.complexity(shape))
}

/// Returns the cost of the arbitration rule `policy` in all routers of the request network; none if
/// the rule declares no cost.
///
/// # Errors
/// [`PolicyError`] if the policy is unknown.
pub fn of_arbiter(policy: &str, shape: &Shape) -> Result<Option<Complexity>, PolicyError> {
    let direction = Direction::Request;
    let context = ArbiterContext { direction, routers: 1, outputs: 1, banks: 1 };
    Ok(ARBITERS.build(policy, &context)?.complexity(shape))
}

#[cfg(test)]
mod tests;
