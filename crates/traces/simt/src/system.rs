//! Functions that a kernel may call and no module defines: the device has them (CUDA C++ Programming
//! Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation"; PTX Writer's Guide to
//! Interoperability, "System Calls").

/// A function of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemCall {
    /// `vprintf(format, arguments)`
    Print,
    /// `__assertfail(message, file, line, function, bytes of a character)`
    Assert,
    /// `malloc(bytes)`
    Allocate,
    /// `free(address)`
    Free,
}

impl SystemCall {
    pub fn named(name: &str) -> Option<SystemCall> {
        match name {
            "vprintf" => Some(SystemCall::Print),
            "__assertfail" => Some(SystemCall::Assert),
            "malloc" => Some(SystemCall::Allocate),
            "free" => Some(SystemCall::Free),
            _ => None,
        }
    }

    /// Bytes of what it takes.
    pub fn arguments(self) -> &'static [u64] {
        match self {
            SystemCall::Print => &[8, 8],
            SystemCall::Assert => &[8, 8, 4, 8, 8],
            SystemCall::Allocate | SystemCall::Free => &[8],
        }
    }

    /// Bytes of what it returns.
    pub fn result(self) -> u64 {
        match self {
            SystemCall::Print => 4,
            SystemCall::Allocate => 8,
            SystemCall::Assert | SystemCall::Free => 0,
        }
    }

    /// Whether CTAs can tell by it in which order they are executed.
    pub fn reaches_other_ctas(self) -> bool {
        matches!(self, SystemCall::Allocate | SystemCall::Free)
    }
}
