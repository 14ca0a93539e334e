//! Units driven on their own: DRAM channels by streams and files of requests, networks by synthetic traffic.

pub mod dram;
pub mod network;
