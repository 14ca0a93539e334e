//! Numbers of the parts of a network of routers. All but those of packets are counted over all
//! routers, so a number identifies its part without that of the router.

use warpmem_sim::ids;

ids! {
    pub(super) RouterId(u16);
    /// An input of a router.
    pub(super) InputId(u32);
    /// A link, and the output that it starts at: first those of the routers, then those of the
    /// sources.
    pub(super) LinkId(u32);
    /// A virtual channel of an input; those of an input are contiguous.
    pub(super) InputVc(u32);
    /// A virtual channel of a link; those of a link are contiguous.
    pub(super) OutputVc(u32);
    /// Virtual channels of a link that serve a packet equally well, contiguous within a router and
    /// ordered by output.
    pub(super) PoolId(u32);
    /// An entry for a packet between its source and its destination.
    pub(super) PacketId(u32);
}

/// Adds to ids a value for absence, which takes less memory than an `Option`.
macro_rules! with_none {
    ($($name:ident),*) => {$(
        impl $name {
            /// Absence of an id.
            pub const NONE: $name = $name(u32::MAX);
        }
    )*};
}

with_none!(InputVc, OutputVc, PoolId, PacketId);

/// The start of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Router(RouterId),
    Source(crate::ids::SourceId),
}
