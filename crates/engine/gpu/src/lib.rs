//! The memory system of a whole GPU: SMs, CTA schedulers, L2 slices, and the run loop over them.
//!
//! # The life of a load
//! Units never call each other. They push requests into ports, and `engine/system.rs` steps every
//! unit that is due.
//!
//! ```text
//!        SM                       slice                     channel
//!   1 coalescer              5 arrival, queue
//!   2 load/store unit        6 tags, MSHR  ── miss ──▶ 7 controller, DRAM
//!   3 L1 tags, MSHR          8 fill, replies ◀─────────────┘
//!   4 miss queue ─▶ request network ─▶ 5        8 ─▶ reply network ─▶ 9 L1 fill, write-back
//! ```
//!
//! 1. `sm/memory/coalescer.rs`: the lanes' addresses become sectors.
//! 2. `sm/memory/mod.rs`: the load gets a row in the access table and an entry in the load/store
//!    queue; the unit sends one sector a cycle to each L1 bank.
//! 3. `sm/memory/lookup.rs`, `sm/memory/l1.rs`: a sector reaches the tags `l1.latency` cycles
//!    later. A hit completes it; a miss on an outstanding sector merges into its MSHR entry; any
//!    other miss opens an entry.
//! 4. `sm/memory/lookup.rs`: the miss leaves through the miss queue, one request a cycle, into the
//!    port of the request network (crate `warpmem-network`).
//! 5. `l2/arrival.rs`: the slice accepts the request from its port; after `l2.input_latency` it
//!    enters the queue, whose policy is in `l2/queue/`.
//! 6. `l2/access.rs`: at the tags a hit becomes a reply after `l2.latency`; a miss opens or joins
//!    an MSHR entry and enters the port to DRAM.
//! 7. `controller.rs`: the channel (crate `warpmem-dram`) schedules the read; its data enter the
//!    port back to the slice.
//! 8. `l2/fill.rs`: the fill writes the line, closes the MSHR entry, and answers every request merged
//!    into it, through the port of the reply network.
//! 9. `sm/memory/reply.rs`: the reply fills L1 and completes all requests merged into its sector.
//!    When the last request of the load has returned and its data have passed the write-back port,
//!    the load completes and its warp may issue the first instruction that uses the result.

pub mod complexity;
mod context;
mod controller;
pub mod cta;
pub mod engine;
pub mod ideal;
pub mod l2;
mod ports;
pub mod results;
mod sampling;
mod side;
pub mod slots;
pub mod sm;
#[cfg(test)]
mod testing;
