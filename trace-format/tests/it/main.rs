//! The trace format through its public interface.

mod assembler;
mod barriers;
mod clusters;
mod common;
mod damage;
mod golden;
mod l2_policies;
mod mbarriers;
mod round_trip;
mod writer;
