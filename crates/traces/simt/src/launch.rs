//! Configuration of a launch.

use warpmem_ptx::{Function, Module, ThreadLimit};

use crate::access_window::AccessWindow;
use crate::error::LaunchError;

/// A launch of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// CTAs of a cluster; `None` to use the kernel's declaration, or no clusters.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory, in addition to the kernel's own variables.
    pub dynamic_shared: u32,
    pub params: Params,
    /// Address of [`WORKSPACE`] zeroed bytes with which the CTAs of a cooperative launch synchronize; 0 for
    /// other launches.
    pub workspace: u64,
    /// Access policy window.
    pub window: Option<AccessWindow>,
}

/// Size of the workspace of a cooperative launch, bytes.
pub const WORKSPACE: u64 = 1 << 10;

/// Bytes of each argument of a launch.
#[derive(Clone, Debug, Default)]
pub struct Params(pub Vec<Vec<u8>>);

/// Maximum CTAs of a grid along each axis, and threads of a CTA along each axis.
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Maximum threads of a CTA.
const MAX_THREADS: u64 = 1024;

impl Launch {
    pub(crate) fn check_dimensions(&self) -> Result<(), LaunchError> {
        check("a grid", self.grid, MAX_GRID)?;
        check("a CTA", self.block, MAX_BLOCK)?;
        let threads: u64 = self.block.iter().map(|&n| u64::from(n)).product();
        match threads <= MAX_THREADS {
            true => Ok(()),
            false => Err(LaunchError::Dimensions {
                what: "a CTA",
                value: self.block,
                reason: format!("{threads} threads; a CTA has at most {MAX_THREADS}"),
            }),
        }
    }

    /// Checks that the kernel allows CTAs of this size.
    pub(crate) fn check_threads(&self, kernel: &Function) -> Result<(), LaunchError> {
        let refused = |reason: String| {
            Err(LaunchError::Dimensions { what: "a CTA", value: self.block, reason })
        };
        match kernel.threads {
            ThreadLimit::Exactly(block) if block != self.block => refused(format!(
                "kernel `{}` is compiled for CTAs of {block:?} (.reqntid)",
                kernel.name
            )),
            ThreadLimit::AtMost(block) if self.threads() > block.iter().product() => refused(
                format!("kernel `{}` is compiled for at most {block:?} (.maxntid)", kernel.name),
            ),
            _ => Ok(()),
        }
    }

    /// Returns the threads of a CTA.
    pub(crate) fn threads(&self) -> u32 {
        self.block.iter().product()
    }
}

fn check(what: &'static str, value: [u32; 3], most: [u32; 3]) -> Result<(), LaunchError> {
    let in_range = value.iter().zip(most).all(|(&n, most)| (1..=most).contains(&n));
    match in_range {
        true => Ok(()),
        false => {
            let [x, y, z] = most;
            let reason = format!("every dimension must be from 1 to {x}, {y}, {z}");
            Err(LaunchError::Dimensions { what, value, reason })
        }
    }
}

impl Params {
    /// Returns the kernel's parameter memory, with the arguments in place.
    pub(crate) fn memory(
        &self,
        module: &Module,
        kernel: &Function,
    ) -> Result<Vec<u8>, LaunchError> {
        let expected = kernel.params.len();
        if self.0.len() != expected {
            return Err(LaunchError::ArgumentCount {
                kernel: kernel.name.clone(),
                expected,
                found: self.0.len(),
                signature: signature(module, kernel),
            });
        }
        let mut memory = Vec::new();
        for (at, (&param, argument)) in kernel.params.iter().zip(&self.0).enumerate() {
            let variable = module.variable(param);
            if argument.len() as u64 != variable.bytes {
                return Err(LaunchError::ArgumentSize {
                    kernel: kernel.name.clone(),
                    number: at + 1,
                    name: variable.name.clone(),
                    expected: variable.bytes,
                    found: argument.len() as u64,
                });
            }
            memory.resize(memory.len().next_multiple_of(variable.align.max(1) as usize), 0);
            memory.extend_from_slice(argument);
        }
        Ok(memory)
    }
}

/// Returns the parameters of a kernel as declared: `.u64 a, .f32 b`.
fn signature(module: &Module, kernel: &Function) -> String {
    let params: Vec<String> =
        kernel.params.iter().map(|&id| module.variable(id).declared()).collect();
    params.join(", ")
}
