//! Async copies from memory into shared memory that others know of: several CTAs, or those who wait at an
//! mbarrier.

use super::MemoryPipeline;
use super::access::AccessId;
use super::messages::{NOBODY, Place, come};
use crate::context::Context;
use crate::sm::cluster::ClusterCta;
use crate::sm::code::Static;
use warpmem_sim::{Arrival, Message, Request, RequestId, RequestKind, Signal, SmId};
use warpmem_trace::Mbarrier;

/// An async copy in flight from memory, whose data go to other CTAs or which signals mbarriers.
pub(super) struct Copy {
    access: AccessId,
    /// CTAs on other SMs.
    others: Vec<(SmId, ClusterCta)>,
    /// Sectors that have not come.
    left: u32,
    /// The signals for CTAs on this SM, and what others are told, if it signals.
    here: Vec<Signal>,
    there: Option<(u32, Arrival)>,
}

impl MemoryPipeline {
    /// An async copy of `lanes` lanes begins, as so many requests.
    pub(super) fn begin_copy(
        &mut self,
        access: AccessId,
        instruction: &Static,
        place: Place,
        lanes: u32,
        requests: u32,
    ) {
        let arrival = come(lanes.saturating_mul(instruction.width));
        let there = match instruction.mbarrier {
            Some(Mbarrier::Signal { offset }) => Some((offset, arrival)),
            _ => None,
        };
        let destinations = match instruction.destinations {
            0 => 1 << place.rank(),
            destinations => destinations,
        };
        let ranks = (0..place.sms.len() as u32).filter(|rank| destinations >> rank & 1 == 1);
        let (here, others): (Vec<u32>, Vec<u32>) =
            ranks.partition(|&rank| place.sms[rank as usize] == self.sm);
        let signal = |&rank: &u32| Some(tell(place.of_rank(rank), there?));
        let other = |&rank: &u32| (place.sms[rank as usize], place.of_rank(rank));
        let (here, others) = (here.iter().filter_map(signal).collect(), others.iter().map(other));
        let others: Vec<_> = others.collect();
        let row = self.accesses.get_mut(access);
        row.is_told = true;
        row.is_multicast = !others.is_empty();
        self.copies.push(Copy { access, others, left: requests, here, there });
    }

    /// The data of a reply go to others, too, as messages from here. Returns whether there was room for
    /// all of them. The copy has ended when its data are everywhere, unless mbarriers tell that.
    pub(super) fn pass_on(&mut self, reply: RequestId, ctx: &mut Context) -> bool {
        let Some(messages) = &mut self.messages else { return true };
        let &Request { access, kind, .. } = ctx.requests.get(reply);
        let access = AccessId(access);
        if kind != RequestKind::Read || !self.accesses.get(access).is_multicast {
            return true;
        }
        let copy = self.copies.iter_mut().find(|copy| copy.access == access);
        let copy = copy.expect("it has begun");
        let asks = messages.ports.asks;
        if ctx.fabric.room(asks) < copy.others.len() {
            return false;
        }
        copy.left -= 1;
        let told = copy.there.filter(|_| copy.left == 0);
        let (now, bytes) = (self.clock.at(self.cycle), messages.sector_bytes);
        for &(to, cta) in &copy.others {
            // The last of its messages arrives last, and tells of all.
            let signal = told.map(|told| tell(cta, told));
            let message = Message { to, passes: 1, bytes, answer: 0, is_copied: true, signal };
            messages.count(message);
            let row = if copy.there.is_some() { NOBODY } else { access.0 };
            let request = ctx.requests.add(message.into_request(self.sm, row), now);
            ctx.fabric.push(asks, request, now);
        }
        if copy.there.is_none() {
            self.accesses.get_mut(access).waiting += copy.others.len() as u32;
        }
        true
    }

    /// An async copy has ended.
    pub(super) fn end_copy(&mut self, access: AccessId) {
        let at = self.copies.iter().position(|copy| copy.access == access);
        let copy = self.copies.swap_remove(at.expect("it has begun"));
        self.signals.extend(copy.here);
    }
}

/// A CTA is told of what has come.
fn tell(ClusterCta { kernel, cta }: ClusterCta, (offset, arrival): (u32, Arrival)) -> Signal {
    Signal { kernel, cta, offset, arrival }
}
