//! The plan of a capture: a module, its buffers, and its launches in order.

use std::path::PathBuf;
use std::str::FromStr;

use warpmem_params::parse_whole;
use warpmem_support::files::claims::Claims;

use crate::argument::Argument;
use crate::buffer::BufferSpec;
use crate::expectation::Expectation;
use crate::fill::Fill;
use crate::texture::TextureSpec;

/// A capture to execute.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Path of the PTX or fat binary.
    pub module: PathBuf,
    /// Folder to which the names of array files are relative.
    pub folder: PathBuf,
    /// Seed of random values.
    pub seed: u64,
    pub buffers: Vec<PlannedBuffer>,
    /// Textures by name.
    pub textures: Vec<(String, TextureSpec)>,
    pub launches: Vec<PlannedLaunch>,
}

impl Plan {
    /// Adds the files that the plan reads.
    pub fn claim_inputs(&self, claims: &mut Claims) {
        claims.read("module", &self.module);
        for planned in &self.buffers {
            self.claim_fill(&planned.spec, claims);
            if let Some(expectation) = &planned.expectation {
                claims.read("expected array", &self.folder.join(&expectation.file));
            }
        }
        let arguments = self.launches.iter().flat_map(|launch| &launch.arguments);
        for argument in arguments.flat_map(Argument::addresses) {
            if let Argument::Buffer(spec) = argument {
                self.claim_fill(spec, claims);
            }
        }
    }

    fn claim_fill(&self, spec: &BufferSpec, claims: &mut Claims) {
        if let Fill::File(file) = &spec.fill {
            claims.read("array", &self.folder.join(file));
        }
    }

    /// Adds the files into which buffers are written.
    pub fn claim_outputs(&self, claims: &mut Claims) {
        for planned in &self.buffers {
            if let Some(output) = &planned.output {
                claims.write("output of a buffer", &self.folder.join(output));
            }
        }
    }
}

/// A named buffer.
#[derive(Clone, Debug)]
pub struct PlannedBuffer {
    pub name: String,
    pub spec: BufferSpec,
    /// File for its values after the last launch.
    pub output: Option<PathBuf>,
    pub expectation: Option<Expectation>,
}

/// A planned launch.
#[derive(Clone, Debug)]
pub struct PlannedLaunch {
    pub kernel: String,
    pub grid: Dimensions,
    pub block: Dimensions,
    /// CTAs of a cluster; `None` to use the kernel's declaration, or no clusters.
    pub cluster: Option<Dimensions>,
    /// Bytes of dynamic shared memory, in addition to the kernel's own variables.
    pub shared: u32,
    pub arguments: Vec<Argument>,
}

/// Sizes along x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions(pub [u32; 3]);

impl FromStr for Dimensions {
    type Err = String;

    /// Parses `256`, `16,16`, `2^10` or `8,8,4`.
    fn from_str(text: &str) -> Result<Dimensions, String> {
        let mut sizes = [1; 3];
        let parts: Vec<&str> = text.split([',', 'x']).collect();
        let size = |part: &str| u32::try_from(parse_whole(part.trim())?).ok().filter(|&n| n > 0);
        let malformed = || format!("`{text}` are no dimensions; valid: 256, 16,16 or 8,8,4");
        if parts.len() > 3 {
            return Err(malformed());
        }
        for (to, part) in sizes.iter_mut().zip(&parts) {
            *to = size(part).ok_or_else(malformed)?;
        }
        Ok(Dimensions(sizes))
    }
}
