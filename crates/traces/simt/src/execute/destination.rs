//! Where copies to shared memory go: to one CTA of the cluster, or the same places of several.

use warpmem_trace::Mbarrier;

use super::{Context, Outcome, Trap, cluster};
use crate::lanes::lanes_of;
use crate::peers::{address_in, offset_of, rank_of};

/// Where the copy of a lane goes.
#[derive(Clone, Copy)]
pub(super) struct Destination {
    pub to: u64,
    /// At which it completes.
    pub mbarrier: u64,
    /// The CTAs, a bit for each rank, if they are not that of the addresses.
    pub multicast: Option<u32>,
}

impl Destination {
    /// The CTAs, a bit for each rank.
    pub fn ctas(&self) -> u32 {
        let rank = u32::try_from(rank_of(self.to)).unwrap_or(u32::MAX);
        self.multicast.unwrap_or(1u32.checked_shl(rank).unwrap_or_default())
    }

    /// The places in the CTAs, with the mbarriers there.
    pub fn targets(self) -> impl Iterator<Item = (u64, u64)> {
        lanes_of(self.ctas()).map(move |rank| {
            let in_cta = |address: u64| address_in(rank as u64, offset_of(address));
            (in_cta(self.to), in_cta(self.mbarrier))
        })
    }

    /// The CTAs as the trace has them: 0 is the own one.
    pub fn recorded(&self, ctx: &Context<'_>) -> u16 {
        match self.ctas() as u16 {
            ctas if u64::from(ctas) == 1 << rank_of(ctx.shared_base) => 0,
            ctas => ctas,
        }
    }

    /// What a record of the copy does with mbarriers.
    pub fn signal(&self) -> Mbarrier {
        Mbarrier::Signal { offset: offset_of(self.mbarrier) as u32 }
    }

    /// Whether the cluster has the CTAs, and the mbarrier is of the same one.
    pub fn check(&self, ctx: &Context<'_>, lane: usize) -> Outcome {
        if self.multicast.is_none() {
            cluster::check_same_cta(lane, self.to, self.mbarrier)?;
        }
        let (ctas, size) = (self.ctas(), ctx.peers.ctas());
        if ctas != 0 && ctas >> size == 0 {
            return Ok(());
        }
        let what = match self.multicast {
            Some(_) => format!("multicast to CTAs {ctas:#b}"),
            None => format!("bulk copy to {:#x}", self.to),
        };
        Err(Trap::new(lane, format!("{what} in a cluster of {size} CTAs")))
    }
}
