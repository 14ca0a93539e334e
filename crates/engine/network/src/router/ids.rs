//! Numbers of the parts of a network of routers. All but those of packets are counted over all
//! routers, so that a number finds its part without that of the router.

use warpmem_sim::ids;

ids! {
    pub(super) RouterId(u16);
    /// An input of a router.
    pub(super) InputId(u32);
    /// A link, and the output that it begins at: those of the routers, then those of the sources.
    pub(super) LinkId(u32);
    /// A virtual channel of an input; those of an input follow each other.
    pub(super) InputVc(u32);
    /// A virtual channel of a link; those of a link follow each other.
    pub(super) OutputVc(u32);
    /// Virtual channels of a link any of which serves a packet equally well. Those of a router
    /// follow each other, output by output.
    pub(super) PoolId(u32);
    /// An entry for a packet between its source and its destination.
    pub(super) PacketId(u32);
}

/// Gives ids the absence of one, which takes less room than an `Option` of it.
macro_rules! with_none {
    ($($name:ident),*) => {$(
        impl $name {
            /// The absence of one.
            pub const NONE: $name = $name(u32::MAX);
        }
    )*};
}

with_none!(InputVc, OutputVc, PoolId, PacketId);

/// What a link begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Router(RouterId),
    Source(crate::ids::SourceId),
}
