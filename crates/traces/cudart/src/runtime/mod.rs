//! The runtime's C functions, under the names that programs import (the manual, "CUDA Runtime API"; names
//! with two leading underscores are those that compilers of CUDA 9 to 13 call).
//!
//! Each function is unsafe: its C caller guarantees that every pointer is null or as the manual requires. The
//! SAFETY comments refer to this guarantee.

#![allow(non_snake_case, reason = "the names are those of the manual")]

mod attribute;
mod cluster;
mod copy;
mod device;
mod error;
mod event;
mod launch;
mod memory;
mod no_effect;
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

/// Device pointer or handle, as wide as the host's pointers.
pub type Address = u64;
