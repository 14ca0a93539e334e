//! Tracked async copies: copies from memory into shared memory that go to several CTAs or signal
//! mbarriers.

use super::MemoryPipeline;
use super::access::AccessId;
use super::messages::{ClusterMember, NO_ACCESS, transferred};
use crate::context::Context;
use crate::sm::cluster::ClusterCta;
use crate::sm::code::Static;
use warpmem_sim::{Arrival, Message, Request, RequestId, RequestKind, Signal, SmId};
use warpmem_trace::Mbarrier;

/// A tracked async copy in flight.
pub(super) struct Copy {
    access: AccessId,
    /// Destination CTAs on other SMs.
    remote: Vec<(SmId, ClusterCta)>,
    /// Sectors that have not arrived.
    sectors_left: u32,
    /// Signals to CTAs on this SM, sent at completion.
    local_signals: Vec<Signal>,
    /// Mbarrier offset and arrival signalled to remote CTAs, if the copy signals.
    remote_arrival: Option<(u32, Arrival)>,
}

impl MemoryPipeline {
    /// Starts a copy by `lanes` lanes of `member`.
    pub(super) fn begin_copy(
        &mut self,
        access: AccessId,
        instruction: &Static,
        member: ClusterMember,
        lanes: u32,
    ) {
        let arrival = transferred(lanes.saturating_mul(instruction.width));
        let remote_arrival = match instruction.mbarrier {
            Some(Mbarrier::Signal { offset }) => Some((offset, arrival)),
            _ => None,
        };
        let destinations = match instruction.destinations {
            0 => 1 << member.rank(),
            destinations => destinations,
        };
        let ranks = (0..member.sms.len() as u32).filter(|rank| destinations >> rank & 1 == 1);
        let (local, remote): (Vec<u32>, Vec<u32>) =
            ranks.partition(|&rank| member.sms[rank as usize] == self.config.sm);
        let signal = |&rank: &u32| Some(signal_to(member.of_rank(rank), remote_arrival?));
        let cta = |&rank: &u32| (member.sms[rank as usize], member.of_rank(rank));
        let remote: Vec<_> = remote.iter().map(cta).collect();
        let row = self.accesses.get_mut(access);
        row.is_tracked_copy = true;
        row.is_multicast = !remote.is_empty();
        self.copies.push(Copy {
            access,
            remote,
            sectors_left: row.row.requests,
            local_signals: local.iter().filter_map(signal).collect(),
            remote_arrival,
        });
    }

    /// Forwards the data of a reply to the remote CTAs of a multicast copy. Returns whether the
    /// port had room for all messages. Without mbarriers the copy completes when its data have
    /// arrived everywhere.
    pub(super) fn forward_copy(&mut self, reply: RequestId, ctx: &mut Context) -> bool {
        let Some(messages) = &mut self.messages else { return true };
        let &Request { access, kind, .. } = ctx.requests.get(reply);
        let access = AccessId(access);
        if kind != RequestKind::Read || !self.accesses.get(access).is_multicast {
            return true;
        }
        let copy = self.copies.iter_mut().find(|copy| copy.access == access);
        let copy = copy.expect("a multicast copy is tracked");
        let port = messages.ports.requests_out;
        if ctx.fabric.room(port) < copy.remote.len() {
            return false;
        }
        copy.sectors_left -= 1;
        let arrival = copy.remote_arrival.filter(|_| copy.sectors_left == 0);
        let (now, bytes) = (self.config.clock.at(self.cycle), messages.sector_bytes);
        for &(to, cta) in &copy.remote {
            // Messages to an SM arrive in order, so the last one signals for all.
            let signal = arrival.map(|arrival| signal_to(cta, arrival));
            let message = Message { to, passes: 1, bytes, answer: 0, is_copied: true, signal };
            messages.count(message);
            let row = if copy.remote_arrival.is_some() { NO_ACCESS } else { access.0 };
            let request = ctx.requests.add(message.into_request(self.config.sm, row), now);
            ctx.fabric.push(port, request, now);
        }
        if copy.remote_arrival.is_none() {
            self.accesses.get_mut(access).outstanding += copy.remote.len() as u32;
        }
        true
    }

    /// Ends a completed copy and queues its signals to CTAs on this SM.
    pub(super) fn end_copy(&mut self, access: AccessId) {
        let at = self.copies.iter().position(|copy| copy.access == access);
        let copy = self.copies.swap_remove(at.expect("the copy is tracked"));
        self.signals.extend(copy.local_signals);
    }
}

/// Returns the signal of an arrival at an mbarrier of a CTA.
fn signal_to(ClusterCta { kernel, cta }: ClusterCta, (offset, arrival): (u32, Arrival)) -> Signal {
    Signal { kernel, cta, offset, arrival }
}
