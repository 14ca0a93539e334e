//! Loaded modules and the handles of their kernels.

use std::collections::BTreeMap;
use std::ffi::CString;

use warpmem_simt::{AccessWindow, Image, Programs};

use crate::status::{Outcome, Status};

use super::registry::FatBinaryId;

/// Number of a loaded module.
pub type ModuleId = usize;

/// Handle of a kernel: its index in the table plus `FIRST_HANDLE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelId(pub usize);

/// First kernel handle, below any address of a host function.
pub const FIRST_HANDLE: usize = 0x100;

/// A loaded module.
pub struct Loaded {
    pub image: Image,
    pub programs: Programs,
    /// Registers per thread, for kernels where they are known exactly.
    pub registers: BTreeMap<String, u32>,
}

/// A kernel of a module.
#[derive(Clone)]
pub struct Kernel {
    pub module: ModuleId,
    pub name: String,
    /// Name as a C string.
    pub c_name: CString,
    pub cluster: ClusterAttributes,
}

/// Cluster attributes that a program has set for a kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterAttributes {
    /// Required CTAs along x, y and z; 0 if unset.
    pub required: [u32; 3],
    pub allows_largest: bool,
}

impl ClusterAttributes {
    /// Returns the required shape, if the program has set one.
    pub fn required(&self) -> Option<[u32; 3]> {
        self.required.iter().any(|&ctas| ctas > 0).then_some(self.required)
    }
}

/// All loaded modules.
#[derive(Default)]
pub struct Kernels {
    /// Modules by number; `None` if unloaded.
    pub modules: Vec<Option<Loaded>>,
    pub of_binaries: BTreeMap<FatBinaryId, ModuleId>,
    pub kernels: Vec<Kernel>,
    pub by_name: BTreeMap<(ModuleId, String), KernelId>,
}

/// Configuration of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchShape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// CTAs of a cluster, if the launch gives them.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Stream handle.
    pub stream: u64,
    /// Whether CTAs may wait for each other.
    pub is_cooperative: bool,
    /// Access policy window; `None` to use the stream's.
    pub window: Option<AccessWindow>,
}

impl Kernels {
    /// Forgets all modules.
    pub fn forget(&mut self) {
        self.of_binaries.clear();
        self.modules.iter_mut().for_each(|module| *module = None);
        self.by_name.clear();
    }

    pub fn loaded(&self, id: ModuleId) -> Outcome<&Loaded> {
        self.modules.get(id).and_then(Option::as_ref).ok_or(Status::INVALID_HANDLE.into())
    }
}
