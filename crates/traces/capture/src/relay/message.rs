//! What the two processes say.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpmem_trace::{CtaBuilder, Instruction, KernelInfo};

/// From the program to the capture. [`Message::Begin`], [`Message::Module`] and
/// [`Message::Launch`] are answered.
#[derive(Debug, Serialize, Deserialize)]
pub enum Message<'a> {
    /// A process has used the runtime for the first time.
    Begin { process: u32 },
    /// A module is loaded; they are numbered from 0. `text` is its PTX.
    Module { text: Cow<'a, str> },
    /// A copy from the host into device memory.
    Copy { address: u64, bytes: u64 },
    /// Lines that are kept in L2 become as others.
    ResetL2,
    /// A kernel of a module begins.
    Launch { info: Cow<'a, KernelInfo>, module: u32 },
    /// A CTA of a kernel that is recorded, and the instructions that it is the first to have.
    Cta { instructions: Cow<'a, [Instruction]>, cta: Cow<'a, CtaBuilder> },
    /// What a kernel that is not recorded has executed so far.
    Progress { ctas: u64, warp_instructions: u64 },
    /// The kernel has ended.
    End(Ended),
    /// The kernel could not be launched, or failed.
    Failed { kernel: Cow<'a, str>, reason: Cow<'a, str> },
    /// What a user should know.
    Note { text: Cow<'a, str> },
}

/// From the capture to the program.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Kernels of this process are recorded.
    Settings(Box<Settings>),
    /// Another process is recorded, the one of this number.
    Busy { process: u32, settings: Box<Settings> },
    /// Registers of a thread by kernel, of kernels for which they are known.
    Registers(BTreeMap<String, u32>),
    /// Whether the launch is recorded.
    Launch { is_recorded: bool },
}

/// What a kernel executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub warps: u64,
    pub warp_instructions: u64,
}

/// How the program's kernels are executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub device: Device,
    /// Most warp instructions of a launch.
    pub max_instructions: u64,
    /// Threads that execute CTAs.
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
    /// Bits of the memory bus.
    pub bus_bits: u32,
    pub l2_bytes: u32,
    /// Of an SM.
    pub registers: u32,
    /// Bytes of an SM.
    pub shared_bytes: u32,
    /// Of an SM.
    pub threads: u32,
    /// Of an SM.
    pub ctas: u32,
}

impl Message<'_> {
    /// Whether the program waits for a [`Reply`].
    pub(crate) fn is_question(&self) -> bool {
        matches!(self, Message::Begin { .. } | Message::Module { .. } | Message::Launch { .. })
    }
}
