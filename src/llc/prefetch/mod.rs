//! Memory-side prefetchers: what a slice fetches from open rows on its own account.

mod none;

use crate::machine::Llc;
use crate::registry::{Entry, Registry};

/// Decides what to fetch into a slice before it is asked for.
pub trait Prefetcher: Send {}

/// Every prefetcher.
pub static PREFETCHERS: Registry<dyn Prefetcher, Llc> =
    Registry { slot: "prefetcher", entries: &[none::ENTRY] };

type PrefetchEntry = Entry<dyn Prefetcher, Llc>;
