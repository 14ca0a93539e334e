//! CTA schedulers: which SM gets the next CTA.

mod round_robin;

use crate::machine::Machine;
use crate::registry::{Entry, Registry};

/// Chooses the SM of the next CTA.
pub trait CtaScheduler: Send {
    /// One of the SMs for which `has_room` holds and that may still start a CTA this cycle; `None` to
    /// wait although some SM has room. Called until it answers `None`.
    fn pick(&mut self, has_room: &dyn Fn(usize) -> bool) -> Option<usize>;
}

/// Every CTA scheduler.
pub static CTA_SCHEDULERS: Registry<dyn CtaScheduler, Machine> =
    Registry { slot: "cta_scheduler", entries: &[round_robin::ENTRY] };

type CtaEntry = Entry<dyn CtaScheduler, Machine>;
