//! The runtime's C functions, by the names that programs import (the manual, "CUDA Runtime API", and,
//! of those that begin with two underscores, what compilers of CUDA 9 to 13 call).
//!
//! Each of them is unsafe as functions of C are: their callers give pointers that are null or as the
//! manual says, and this is what the reasons at unsafe blocks call the caller's promise.

#![allow(non_snake_case, reason = "the names are those of the manual")]

mod attribute;
mod cluster;
mod copy;
mod device;
mod error;
mod event;
mod launch;
mod memory;
mod nothing;
mod pool;
mod registration;
mod stream;
mod symbol;
mod texture;
mod unsupported;

pub use attribute::{LaunchAttribute, LaunchAttributes, PolicyWindow, WINDOW};
pub use copy::{ANY, Direction, ON_DEVICE, Rows, TO_DEVICE, TO_HOST, copy};
pub use device::{DEVICE_LIMITS, PCI_BUS_ID, check as check_device};
pub use launch::{FunctionAttributes, arguments};
pub use pool::{
    Access, Location, PoolProperties, check_allocation_type, create_pool, put_pool_access,
    put_pool_attribute, set_pool_access, set_pool_attribute,
};
pub use registration::container;
pub use stream::{PRIORITIES as STREAM_PRIORITIES, set_attribute};

/// Pointers of the device, and handles: as wide as the host's.
pub type Address = u64;
