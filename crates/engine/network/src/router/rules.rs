//! The configuration of a network of routers, in the form that its parts use.

use super::ids::{LinkId, OutputVc};
use super::layout::Layout;
use crate::ids::DestinationId;
use crate::{Direction, NetworkContext, PacketSizes, Switching, VcAssignment};
use warpmem_params::{PolicyError, PolicyInfo};
use warpmem_sim::{NetworkClock, NetworkCycle};

/// The constants of a network.
pub(super) struct Rules {
    pub direction: Direction,
    pub clock: NetworkClock,
    pub packets: PacketSizes,
    /// Latency of a router, network cycles.
    router_latency: u64,
    link_latency: u64,
    /// Virtual channels per link.
    pub channels: usize,
    /// Virtual channels per link in one class of routes.
    class_channels: usize,
    /// Pools per link: sets of its virtual channels that serve a packet equally well.
    pub pools: usize,
    pub assignment: VcAssignment,
    pub cut_through: bool,
    /// Buffer of an input virtual channel, flits.
    pub depth: u32,
    /// Banks per DRAM channel.
    pub banks: usize,
}

impl Rules {
    pub fn new(
        layout: &Layout,
        context: &NetworkContext,
        info: &PolicyInfo,
    ) -> Result<Rules, PolicyError> {
        let network = &context.network;
        let (channels, classes) = (network.virtual_channels, u32::from(layout.classes));
        let shares = || format!("a multiple of {classes}");
        let whole = channels.is_multiple_of(classes);
        info.fits(whole, "network.virtual_channels", channels, shares)?;
        let (buffer, largest) = (network.vc_buffer, context.packets.largest(context.direction));
        let cut_through = network.switching == Switching::CutThrough;
        let holds = || {
            format!(
                "at least {largest} flits, the largest packet, with `network.switching` = \"cut-through\""
            )
        };
        info.fits(
            !cut_through || u64::from(buffer) >= largest,
            "network.vc_buffer",
            buffer,
            holds,
        )?;
        Ok(Rules {
            direction: context.direction,
            clock: context.clock,
            packets: context.packets,
            router_latency: network.router_latency.into(),
            link_latency: network.link_latency.into(),
            channels: channels as usize,
            class_channels: (channels / classes) as usize,
            pools: match network.vc_assignment {
                VcAssignment::Dynamic => classes,
                VcAssignment::StaticDestination => channels,
            } as usize,
            assignment: network.vc_assignment,
            cut_through,
            depth: buffer,
            banks: context.banks,
        })
    }

    /// Returns the pool, among those of a link, for a packet to `destination` on a route of
    /// `class`.
    #[inline]
    pub fn pool(&self, class: usize, destination: DestinationId) -> usize {
        match self.assignment {
            VcAssignment::Dynamic => class,
            VcAssignment::StaticDestination => {
                class * self.class_channels + destination.index() % self.class_channels
            }
        }
    }

    /// Returns a virtual channel of a link, by its number within the link.
    #[inline]
    pub fn vc(&self, link: LinkId, index: usize) -> OutputVc {
        OutputVc::new(link.index() * self.channels + index)
    }

    /// Returns the cycle from which the router of a source can serve a flit that is sent in
    /// `cycle`.
    #[inline]
    pub fn served_after_injection(&self, cycle: NetworkCycle) -> NetworkCycle {
        cycle + self.router_latency
    }

    /// Returns the cycle from which the next router can serve a flit that crosses a router in
    /// `cycle`.
    #[inline]
    pub fn served_after_hop(&self, cycle: NetworkCycle) -> NetworkCycle {
        cycle + self.hop_cycles()
    }

    /// Returns the cycle of arrival of a flit that a router can serve from `served` on.
    #[inline]
    pub fn arrival_before(&self, served: NetworkCycle) -> NetworkCycle {
        served - (self.router_latency - 1)
    }

    /// Returns the cycle in which a flit or credit that leaves a router in `cycle` reaches the
    /// other end of the link.
    #[inline]
    pub fn link_end(&self, cycle: NetworkCycle) -> NetworkCycle {
        cycle + 1 + self.link_latency
    }

    /// Returns the cycles of a hop without contention.
    #[inline]
    pub fn hop_cycles(&self) -> u64 {
        self.router_latency + self.link_latency
    }
}
