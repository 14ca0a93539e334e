//! Destinations of copies to shared memory: one CTA of the cluster, or equal offsets in several.

use warpmem_trace::Mbarrier;

use super::{ExecutionContext, Outcome, Trap, cluster};
use crate::lanes::lanes_of;
use crate::peers::{address_in, offset_of, rank_of};

/// Destination of a lane's copy.
#[derive(Clone, Copy)]
pub(super) struct Destination {
    pub to: u64,
    /// Mbarrier that counts its bytes.
    pub mbarrier: u64,
    /// Destination CTAs, one bit per rank, if not that of the address.
    pub multicast: Option<u32>,
}

impl Destination {
    /// Returns the destination CTAs, one bit per rank.
    pub fn ctas(&self) -> u32 {
        let rank = u32::try_from(rank_of(self.to)).unwrap_or(u32::MAX);
        self.multicast.unwrap_or(1u32.checked_shl(rank).unwrap_or_default())
    }

    /// Returns the address and mbarrier in each destination CTA.
    pub fn targets(self) -> impl Iterator<Item = (u64, u64)> {
        lanes_of(self.ctas()).map(move |rank| {
            let in_cta = |address: u64| address_in(rank as u64, offset_of(address));
            (in_cta(self.to), in_cta(self.mbarrier))
        })
    }

    /// Returns the destination CTAs in the trace's encoding; 0 is the CTA itself.
    pub fn recorded(&self, ctx: &ExecutionContext<'_>) -> u16 {
        match self.ctas() as u16 {
            ctas if u64::from(ctas) == 1 << rank_of(ctx.shared_base) => 0,
            ctas => ctas,
        }
    }

    /// Returns the mbarrier signal that the copy records.
    pub fn signal(&self) -> Mbarrier {
        Mbarrier::Signal { offset: offset_of(self.mbarrier) as u32 }
    }

    /// Checks that the CTAs are in the cluster, and that the mbarrier belongs to the same CTA.
    pub fn check(&self, ctx: &ExecutionContext<'_>, lane: usize) -> Outcome {
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
