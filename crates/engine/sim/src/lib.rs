//! The base of the simulation: time, wake-ups, ports, the request table and the address map. It
//! knows no unit of the machine.

mod address;
mod bench;
pub mod bits;
mod cached_lines;
mod context;
mod counts;
mod due;
mod gpcs;
mod hash;
pub mod hint;
mod histogram;
mod ids;
mod message;
mod names;
mod peers;
mod port;
mod region;
mod requests;
mod side_channels;
mod table;
mod time;
mod times;
mod wheel;

pub use address::{Address, AddressMap, AddressSpace, BitGroup, Field, Layout, Location, test_map};
pub use bench::Bench;
pub use cached_lines::{BankRow, CachedLines, LineSet};
pub use context::Context;
pub use counts::{Since, Total, Weigh, quotient, total};
pub use due::Due;
pub use gpcs::Gpcs;
pub use hash::{Hash, IndexHash, MAX_INDEX_BITS};
pub use histogram::Histogram;
pub use ids::{BankId, ChannelId, RowId, SliceId, SmId, WarpId, WarpSlot};
pub use message::{Arrival, Message, Signal};
pub use names::MAX_REGIONS;
pub use peers::PeerSlices;
pub use port::{Fabric, PortId, UnitId};
pub use region::{Region, free_left, pop};
pub use requests::{
    CacheLevel, Eviction, Insertion, Request, RequestId, RequestKind, RequestTable, Stamps,
    test_request,
};
pub use side_channels::{CountedMerges, EarlyMerges, Needs, WarpTypes};
pub use table::{Id, Table};
pub use time::{
    Clock, ClockDomain, CoreClock, CoreCycle, Cycle, Domain, DramClock, DramCycle, L2Clock,
    L2Cycle, NetworkClock, NetworkCycle, Ticks, domain,
};
pub use times::Times;
