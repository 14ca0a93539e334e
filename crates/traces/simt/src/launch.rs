//! What a launch asks for.

use warpmem_ptx::{Function, Module, ThreadLimit};

use crate::access_window::AccessWindow;
use crate::error::LaunchError;

/// A launch of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// CTAs of a cluster; `None`: as the kernel says, or no clusters.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of shared memory beside those of the kernel's own variables.
    pub dynamic_shared: u32,
    pub params: Params,
    /// Address of [`WORKSPACE`] bytes, which are 0, by which the CTAs of a cooperative launch wait
    /// for each other; 0: the launch is no such one.
    pub workspace: u64,
    /// What it says of accesses to some of global memory.
    pub window: Option<AccessWindow>,
}

/// Bytes of memory of a cooperative launch.
pub const WORKSPACE: u64 = 1 << 10;

/// The arguments of a launch: the bytes of each.
#[derive(Clone, Debug, Default)]
pub struct Params(pub Vec<Vec<u8>>);

/// Most CTAs along each dimension of a grid, and threads along each of a CTA.
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Most threads of a CTA.
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

    /// Whether the kernel allows CTAs of this size.
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

    /// Threads of a CTA.
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
    /// The kernel's parameter memory with these arguments in their places.
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

/// The parameters of a kernel as its module declares them: `.u64 a, .f32 b`.
fn signature(module: &Module, kernel: &Function) -> String {
    let params: Vec<String> =
        kernel.params.iter().map(|&id| module.variable(id).declared()).collect();
    params.join(", ")
}
