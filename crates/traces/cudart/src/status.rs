//! Status codes. The runtime and the driver share the numbers of common codes (the manual, `cudaError_t` and
//! `CUresult`).

use std::ffi::CStr;

use warpmem_simt::{LaunchError, TrapKind};

/// Return code of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Status(pub u32);

/// A failed function: its status, and a message for the user unless the status is enough.
#[derive(Debug)]
pub struct Failure {
    pub status: Status,
    pub why: Option<String>,
}

pub type Outcome<T> = Result<T, Failure>;

macro_rules! statuses {
    ($($name:ident = $code:literal, $runtime:literal, $driver:literal, $text:literal;)*) => {
        impl Status {
            $(pub const $name: Status = Status($code);)*

            /// Number, names in the runtime and the driver, description.
            const ALL: &[(u32, &CStr, &CStr, &CStr)] = &[$(($code, $runtime, $driver, $text),)*];
        }
    };
}

statuses! {
    SUCCESS = 0, c"cudaSuccess", c"CUDA_SUCCESS", c"no error";
    INVALID_VALUE = 1, c"cudaErrorInvalidValue", c"CUDA_ERROR_INVALID_VALUE", c"invalid argument";
    OUT_OF_MEMORY = 2, c"cudaErrorMemoryAllocation", c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory";
    NOT_INITIALIZED = 3, c"cudaErrorInitializationError", c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error";
    INVALID_CONFIGURATION = 9, c"cudaErrorInvalidConfiguration", c"CUDA_ERROR_INVALID_VALUE", c"invalid configuration argument";
    INVALID_SYMBOL = 13, c"cudaErrorInvalidSymbol", c"CUDA_ERROR_INVALID_VALUE", c"invalid device symbol";
    INVALID_TEXTURE = 18, c"cudaErrorInvalidTexture", c"CUDA_ERROR_INVALID_VALUE", c"invalid texture reference";
    INVALID_COPY_DIRECTION = 21, c"cudaErrorInvalidMemcpyDirection", c"CUDA_ERROR_INVALID_VALUE", c"invalid copy direction for memcpy";
    INVALID_DEVICE_FUNCTION = 98, c"cudaErrorInvalidDeviceFunction", c"CUDA_ERROR_INVALID_VALUE", c"invalid device function";
    INVALID_DEVICE = 101, c"cudaErrorInvalidDevice", c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal";
    INVALID_CONTEXT = 201, c"cudaErrorDeviceUninitialized", c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context";
    INVALID_IMAGE = 200, c"cudaErrorInvalidKernelImage", c"CUDA_ERROR_INVALID_IMAGE", c"device kernel image is invalid";
    NO_BINARY = 209, c"cudaErrorNoKernelImageForDevice", c"CUDA_ERROR_NO_BINARY_FOR_GPU", c"no kernel image is available for execution on the device";
    PEER_ACCESS = 217, c"cudaErrorPeerAccessUnsupported", c"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", c"peer access is not supported between these two devices";
    INVALID_PTX = 218, c"cudaErrorInvalidPtx", c"CUDA_ERROR_INVALID_PTX", c"a PTX JIT compilation failed";
    FILE_NOT_FOUND = 301, c"cudaErrorFileNotFound", c"CUDA_ERROR_FILE_NOT_FOUND", c"file not found";
    INVALID_HANDLE = 400, c"cudaErrorInvalidResourceHandle", c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle";
    NOT_FOUND = 500, c"cudaErrorSymbolNotFound", c"CUDA_ERROR_NOT_FOUND", c"named symbol not found";
    ILLEGAL_ADDRESS = 700, c"cudaErrorIllegalAddress", c"CUDA_ERROR_ILLEGAL_ADDRESS", c"an illegal memory access was encountered";
    OUT_OF_RESOURCES = 701, c"cudaErrorLaunchOutOfResources", c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"too many resources requested for launch";
    PEER_ACCESS_NOT_ENABLED = 705, c"cudaErrorPeerAccessNotEnabled", c"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", c"peer access has not been enabled";
    TIMEOUT = 702, c"cudaErrorLaunchTimeout", c"CUDA_ERROR_LAUNCH_TIMEOUT", c"the launch timed out and was terminated";
    ASSERT = 710, c"cudaErrorAssert", c"CUDA_ERROR_ASSERT", c"device-side assert triggered";
    ALREADY_REGISTERED = 712, c"cudaErrorHostMemoryAlreadyRegistered", c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", c"part or all of the requested memory range is already mapped";
    NOT_REGISTERED = 713, c"cudaErrorHostMemoryNotRegistered", c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", c"pointer does not correspond to a registered memory region";
    LAUNCH_FAILED = 719, c"cudaErrorLaunchFailure", c"CUDA_ERROR_LAUNCH_FAILED", c"unspecified launch failure";
    NOT_PERMITTED = 800, c"cudaErrorNotPermitted", c"CUDA_ERROR_NOT_PERMITTED", c"operation not permitted";
    NOT_SUPPORTED = 801, c"cudaErrorNotSupported", c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported";
    INVALID_CLUSTER_SIZE = 912, c"cudaErrorInvalidClusterSize", c"CUDA_ERROR_INVALID_CLUSTER_SIZE", c"cluster misconfiguration";
    UNKNOWN = 999, c"cudaErrorUnknown", c"CUDA_ERROR_UNKNOWN", c"unknown error";
}

impl Status {
    fn entry(self) -> Option<&'static (u32, &'static CStr, &'static CStr, &'static CStr)> {
        Status::ALL.iter().find(|(code, ..)| *code == self.0)
    }

    /// Returns the runtime's name.
    pub fn name(self) -> &'static CStr {
        self.entry().map_or(c"unrecognized error code", |&(_, name, ..)| name)
    }

    /// Returns the driver's name, if it has the code.
    pub fn driver_name(self) -> Option<&'static CStr> {
        self.entry().map(|&(_, _, name, _)| name)
    }

    /// Converts to the driver's code, where the runtime has its own number.
    pub fn of_driver(self) -> Status {
        match self {
            Status::INVALID_CONFIGURATION
            | Status::INVALID_TEXTURE
            | Status::INVALID_COPY_DIRECTION => Status::INVALID_VALUE,
            Status::INVALID_SYMBOL => Status::NOT_FOUND,
            Status::INVALID_DEVICE_FUNCTION => Status::INVALID_HANDLE,
            _ => self,
        }
    }

    pub fn description(self) -> &'static CStr {
        self.entry().map_or(c"unrecognized error code", |&(.., text)| text)
    }

    /// Returns whether every later call fails with this status too (the manual, `cudaErrorLaunchFailure`:
    /// "the process must be terminated and relaunched").
    pub fn is_sticky(self) -> bool {
        matches!(
            self,
            Status::ILLEGAL_ADDRESS
                | Status::TIMEOUT
                | Status::ASSERT
                | Status::LAUNCH_FAILED
                | Status::UNKNOWN
        )
    }
}

impl Failure {
    pub fn new(status: Status, why: impl Into<String>) -> Failure {
        Failure { status, why: Some(why.into()) }
    }

    /// Builds the failure of an unsupported function.
    pub fn unsupported(name: &str, family: &str) -> Failure {
        Failure::new(Status::NOT_SUPPORTED, format!("{name}: {family}: not supported"))
    }

    /// Builds the failure of a defect in this library.
    pub fn broken() -> Failure {
        let why = "the runtime failed, with the message above: this is a defect of warpmem";
        Failure::new(Status::UNKNOWN, why)
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Failure {
        Failure { status, why: None }
    }
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Failure {
        let status = match &error {
            LaunchError::NoKernel { .. } => Status::NOT_FOUND,
            LaunchError::Unsupported { .. } | LaunchError::Undefined { .. } => {
                Status::NOT_SUPPORTED
            }
            LaunchError::ArgumentCount { .. } | LaunchError::ArgumentSize { .. } => {
                Status::INVALID_VALUE
            }
            LaunchError::Dimensions { .. } | LaunchError::Shared { .. } => {
                Status::INVALID_CONFIGURATION
            }
            LaunchError::Cluster { .. } => Status::INVALID_CLUSTER_SIZE,
            LaunchError::External { .. } => Status::INVALID_IMAGE,
            LaunchError::OutOfMemory { .. }
            | LaunchError::HostMemory { .. }
            | LaunchError::Variable { .. } => Status::OUT_OF_MEMORY,
            LaunchError::Local { .. } => Status::OUT_OF_RESOURCES,
            LaunchError::Limit { .. } => Status::TIMEOUT,
            LaunchError::Fault { fault, .. } => match fault.kind {
                TrapKind::Memory => Status::ILLEGAL_ADDRESS,
                TrapKind::Assertion => Status::ASSERT,
                TrapKind::Other => Status::LAUNCH_FAILED,
            },
            _ => Status::LAUNCH_FAILED,
        };
        Failure::new(status, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_named() {
        assert_eq!(Status::SUCCESS.name(), c"cudaSuccess");
        assert_eq!(Status(719).description(), c"unspecified launch failure");
        assert_eq!(Status(700).driver_name(), Some(c"CUDA_ERROR_ILLEGAL_ADDRESS"));
        assert_eq!(Status(77).name(), c"unrecognized error code");
        assert!(Status::LAUNCH_FAILED.is_sticky() && !Status::INVALID_VALUE.is_sticky());
        for own_mistake in [Status::OUT_OF_RESOURCES, Status::ALREADY_REGISTERED] {
            assert!(!own_mistake.is_sticky(), "{own_mistake:?}");
        }
        assert_eq!(Status::INVALID_SYMBOL.of_driver(), Status::NOT_FOUND);
        assert_eq!(Status::LAUNCH_FAILED.of_driver(), Status::LAUNCH_FAILED);
    }
}
