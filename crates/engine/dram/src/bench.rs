//! Runs a scheduler without the rest of the machine, for its tests.

use crate::scheduler::{Family, SchedulerContext};
use crate::{Channel, DramRequest};
use warpmem_sim::DramCycle;

/// Returns the ids of requests to one channel that arrive together, in the order in which the
/// channel completes them.
///
/// # Panics
/// If the queue has no room for all of them, or the machine's page policy is unknown.
pub fn order_of_service(
    context: &SchedulerContext,
    family: &dyn Family,
    requests: &[DramRequest],
) -> Vec<u32> {
    let channel = Channel::new(&context.dram, family.scheduler(0));
    let mut channel = channel.expect("the page policy is known");
    for request in requests {
        assert!(channel.accepts(request), "the queue has no room for request {}", request.id);
        channel.push(DramCycle::ZERO, *request);
    }
    let mut now = DramCycle::ZERO;
    let mut order = Vec::new();
    while !channel.is_empty() {
        let next = channel.step(now, u32::MAX);
        order.extend(channel.take_completions().map(|done| done.id));
        now = next.unwrap_or(now + 1);
    }
    order
}
