//! SMs that take turns at a TLB.

use crate::SmPorts;
use std::ops::Range;
use warpmem_sim::{Context, PortId, Ticks, bits};

/// The ports of consecutive SMs, and the one that is served first.
pub(crate) struct Turns {
    sms: Range<usize>,
    /// One bit each.
    own: [u64; 4],
    first: usize,
}

/// The state of the requests at some ports.
pub(crate) enum Head {
    /// A request may be served: its port and the SM.
    Ready(PortId, usize),
    /// None before this time.
    At(Ticks),
}

impl Turns {
    pub fn new(sms: Range<usize>) -> Turns {
        let mut own = [0; 4];
        sms.clone().for_each(|sm| bits::insert(&mut own, sm));
        Turns { first: sms.start, own, sms }
    }

    /// Returns the next request. `waiting`: SMs that may have requests, one bit each; those without
    /// are removed.
    pub fn next(
        &self,
        ports: &[SmPorts],
        waiting: &mut [u64; 4],
        now: Ticks,
        ctx: &Context,
    ) -> Head {
        let mut next = Ticks::NEVER;
        let own: [u64; 4] = std::array::from_fn(|word| waiting[word] & self.own[word]);
        for sm in self.in_turn(&own) {
            let port = ports[sm].requests;
            let ready = ctx.head_ready(port);
            if ready <= now {
                return Head::Ready(port, sm);
            }
            if ready == Ticks::NEVER {
                bits::remove(waiting, sm);
            }
            next = next.min(ready);
        }
        Head::At(next)
    }

    /// Reports that a request of `sm` has been served.
    pub fn served(&mut self, sm: usize) {
        self.first = if sm + 1 == self.sms.end { self.sms.start } else { sm + 1 };
    }

    /// Returns the members of a set from `first` on, then those before it.
    fn in_turn<'a>(&self, set: &'a [u64; 4]) -> impl Iterator<Item = usize> + use<'a> {
        let first = self.first;
        let after = bits::members(set).filter(move |&sm| sm >= first);
        after.chain(bits::members(set).filter(move |&sm| sm < first))
    }
}
