//! The engine: clock domains, the wake wheel, ports, the request table and the run loop.

mod bench;
mod context;
mod feeder;
mod intervals;
mod port;
mod requests;
mod run;
mod side;
mod system;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;
mod time;
mod wheel;
mod wiring;

pub use bench::Bench;
pub use context::{Context, Recording};
pub use port::{Fabric, PortId, UnitId};
#[cfg(test)]
pub use requests::test_request;
pub use requests::{CacheLevel, Insertion, Request, RequestId, RequestKind, RequestTable, Stamps};
pub use run::{
    NoProgress, Progress, ProgressReport, RunError, simulate, simulate_every_cycle,
    simulate_with_commands,
};
pub use side::{CriticalFields, LoadEnds, Sent, SharedMshrs, SideChannels, WarpType};
pub use system::BuildError;
pub use time::{Clock, Domain, Ticks};
