//! DRAM channels.
