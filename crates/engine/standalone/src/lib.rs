//! Standalone units, without a machine around them: DRAM channels driven by streams and files of
//! requests, networks driven by synthetic traffic.

pub mod dram;
pub mod network;
