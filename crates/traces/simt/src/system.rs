//! System functions, which the device provides to kernels (CUDA C++ Programming Guide, "Formatted Output",
//! "Assertion", "Dynamic Global Memory Allocation"; PTX Writer's Guide to Interoperability, "System Calls").

/// A system function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemCall {
    /// `vprintf(format, arguments)`
    Print,
    /// `__assertfail(message, file, line, function, character size)`
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

    /// Returns the size of each argument, bytes.
    pub fn arguments(self) -> &'static [u64] {
        match self {
            SystemCall::Print => &[8, 8],
            SystemCall::Assert => &[8, 8, 4, 8, 8],
            SystemCall::Allocate | SystemCall::Free => &[8],
        }
    }

    /// Returns the size of the result, bytes.
    pub fn result(self) -> u64 {
        match self {
            SystemCall::Print => 4,
            SystemCall::Allocate => 8,
            SystemCall::Assert | SystemCall::Free => 0,
        }
    }

    /// Returns whether CTAs can observe their execution order through it.
    pub fn reaches_other_ctas(self) -> bool {
        matches!(self, SystemCall::Allocate | SystemCall::Free)
    }
}
