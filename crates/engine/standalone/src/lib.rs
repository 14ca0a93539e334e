//! Stand-alone units, without the rest of the machine: DRAM channels driven by streams and files of
//! requests, networks driven by synthetic traffic.

pub mod dram;
pub mod network;
