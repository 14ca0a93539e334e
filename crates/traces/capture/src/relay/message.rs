//! Messages between the two processes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpmem_trace::{CtaBuilder, Instruction, KernelInfo};

/// A message from the program to the capture. [`Message::Begin`], [`Message::Module`] and [`Message::Launch`]
/// are answered.
#[derive(Debug, Serialize, Deserialize)]
pub enum Message<'a> {
    /// A process uses the runtime for the first time.
    Begin { process: u32 },
    /// A module is loaded. Modules are numbered from 0; `text` is the PTX.
    Module { text: Cow<'a, str> },
    /// A copy from the host into device memory.
    Copy { address: u64, bytes: u64 },
    /// Lines retained in L2 lose their priority (`cudaCtxResetPersistingL2Cache`).
    ResetL2,
    /// A kernel of module `module` starts.
    Launch { info: Cow<'a, KernelInfo>, module: u32 },
    /// A CTA of a recorded kernel, and the instructions that it adds to the dictionary.
    Cta { instructions: Cow<'a, [Instruction]>, cta: Cow<'a, CtaBuilder> },
    /// Progress of a kernel that is not recorded.
    Progress { ctas: u64, warp_instructions: u64 },
    /// The kernel is complete.
    End(Ended),
    /// The kernel failed to launch or to complete.
    Failed { kernel: Cow<'a, str>, reason: Cow<'a, str> },
    /// A note for the user.
    Note { text: Cow<'a, str> },
}

/// A reply from the capture to the program.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// This process's kernels are recorded.
    Settings(Box<Settings>),
    /// Process `process` is recorded instead of this one.
    Busy { process: u32, settings: Box<Settings> },
    /// Registers per thread, for the kernels where they are known.
    Registers(BTreeMap<String, u32>),
    /// Whether the launch is recorded.
    Launch { is_recorded: bool },
}

/// Totals of a completed kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub warps: u64,
    pub warp_instructions: u64,
}

/// Settings for the execution of the program's kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub device: Device,
    /// Maximum warp instructions of a launch.
    pub max_instructions: u64,
    /// Host threads that execute CTAs.
    pub threads: usize,
}

/// The device that the program sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    pub name: String,
    /// Compute capability: major, minor.
    pub capability: (u32, u32),
    pub sms: u32,
    pub clock_khz: u32,
    pub memory_clock_khz: u32,
    /// Width of the memory bus, bits.
    pub bus_bits: u32,
    pub l2_bytes: u32,
    /// Registers per SM.
    pub registers: u32,
    /// Shared memory per SM, bytes.
    pub shared_bytes: u32,
    /// Threads per SM.
    pub threads: u32,
    /// CTAs per SM.
    pub ctas: u32,
}

impl Message<'_> {
    /// Returns whether the program waits for a [`Reply`].
    pub(crate) fn is_question(&self) -> bool {
        matches!(self, Message::Begin { .. } | Message::Module { .. } | Message::Launch { .. })
    }
}
