//! Numbers of the parts that every network has.

use warpmem_sim::ids;

ids! {
    /// A sending node.
    pub SourceId(u16);
    /// A receiving node.
    pub DestinationId(u16);
    /// A port of a sending node, counted over all nodes.
    pub EntranceId(u16);
    /// A port of a receiving node, counted over all nodes.
    pub ExitId(u16);
}
