//! The selected CTAs of a trace.

use super::SampleError;
use std::collections::BTreeMap;
use std::sync::Arc;
use warpmem_trace::{Chunk, Kernel, Ranges, Trace};

/// Kernels and CTAs as named by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Launches, numbered from 0 as in `warpmem info`.
    pub kernels: Ranges,
    /// Substring of the names of selected kernels.
    pub kernel_name: Option<String>,
    /// Whether to keep, of each kernel's selected launches, only the one with the most warp
    /// instructions (the first of equals).
    pub longest: bool,
    /// CTAs of each kernel, numbered from 0 in launch order.
    pub ctas: Ranges,
}

/// Some CTAs of some kernels of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Kernels in launch order. A kernel without CTAs has none in the trace either.
    pub kernels: Vec<KernelPart>,
}

/// Some CTAs of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPart {
    /// Number of the kernel in the trace.
    pub kernel: usize,
    /// CTA numbers in launch order, ascending.
    pub ctas: Vec<u32>,
    /// CTAs per cluster, which are selected together; 1 without clusters.
    pub cluster: u32,
}

impl Selection {
    /// Selects everything.
    pub fn all() -> Selection {
        Selection { kernels: Ranges::all(), kernel_name: None, longest: false, ctas: Ranges::all() }
    }

    /// Returns the selected part of `trace`, without kernels that have no CTA left.
    ///
    /// # Errors
    /// If a range names kernels that do not exist or CTAs that no selected kernel has, no kernel
    /// has the name, a cluster is split, or no CTA is left.
    pub fn of(&self, trace: &Trace) -> Result<Part, SampleError> {
        let kernels = trace.kernels();
        self.kernels.check("kernels", kernels.len() as u64)?;
        let in_range = |(number, _): &(usize, &Kernel)| self.kernels.contains(*number as u64);
        let named = |kernel: &Kernel| {
            self.kernel_name.as_ref().is_none_or(|name| kernel.info.name.contains(name))
        };
        let mut chosen: Vec<(usize, &Kernel)> =
            kernels.iter().enumerate().filter(in_range).filter(|(_, k)| named(k)).collect();
        if let Some(name) = self.kernel_name.as_ref().filter(|_| chosen.is_empty()) {
            return Err(no_such_kernel(name, kernels));
        }
        if self.longest {
            keep_longest(&mut chosen);
        }
        let most = chosen.iter().map(|(_, kernel)| kernel.ctas).max().unwrap_or(0);
        self.ctas.check("CTAs", most.into())?;
        let mut parts = Vec::new();
        for (number, kernel) in chosen {
            let part = self.of_kernel(number, kernel)?;
            if !part.ctas.is_empty() || kernel.ctas == 0 {
                parts.push(part);
            }
        }
        let part = Part { kernels: parts };
        if part.ctas() == 0 {
            let reason = format!("of {} kernels none has any of them", kernels.len());
            return Err(SampleError::Empty { reason });
        }
        Ok(part)
    }

    fn of_kernel(&self, number: usize, kernel: &Kernel) -> Result<KernelPart, SampleError> {
        let chosen = |cta: &u32| self.ctas.contains(u64::from(*cta));
        let cluster = kernel.info.ctas_per_cluster();
        let ctas: Vec<u32> = (0..kernel.ctas).filter(chosen).collect();
        let mut clusters = ctas.chunk_by(|one, next| one / cluster == next / cluster);
        match clusters.find(|ctas| ctas.len() < cluster as usize) {
            None => Ok(KernelPart { kernel: number, ctas, cluster }),
            Some(ctas) => {
                let first = ctas[0] / cluster * cluster;
                Err(SampleError::DividedCluster {
                    kernel: number,
                    first,
                    last: first + cluster - 1,
                })
            }
        }
    }
}

/// Keeps one launch of each kernel.
fn keep_longest(launches: &mut Vec<(usize, &Kernel)>) {
    let mut longest: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for &(number, kernel) in launches.iter() {
        let length = kernel.warp_instructions;
        let known = longest.entry(&kernel.info.name).or_insert((number, length));
        if length > known.1 {
            *known = (number, length);
        }
    }
    launches.retain(|(number, kernel)| longest[kernel.info.name.as_str()].0 == *number);
}

fn no_such_kernel(name: &str, kernels: &[Kernel]) -> SampleError {
    /// Maximum number of names listed by an error.
    const LISTED: usize = 20;
    let mut names: Vec<&str> = kernels.iter().map(|kernel| kernel.info.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    SampleError::NoSuchKernel { name: name.to_owned(), kernels: names.join(", ") + &more }
}

impl Part {
    /// Counts the CTAs of all kernels.
    pub fn ctas(&self) -> u64 {
        self.kernels.iter().map(|part| part.ctas.len() as u64).sum()
    }

    /// Returns whether the part is the whole trace.
    pub fn is_whole(&self, trace: &Trace) -> bool {
        let whole: u64 = trace.kernels().iter().map(|kernel| u64::from(kernel.ctas)).sum();
        self.kernels.len() == trace.kernels().len() && self.ctas() == whole
    }
}

impl KernelPart {
    /// Calls `work` for every CTA in launch order, given as a chunk and its index in it. Chunks
    /// without selected CTAs are not read.
    pub(super) fn for_each(
        &self,
        trace: &Trace,
        mut work: impl FnMut(&Arc<Chunk>, usize) -> Result<(), SampleError>,
    ) -> Result<(), SampleError> {
        let mut ctas = self.ctas.iter().peekable();
        for number in trace.kernels()[self.kernel].chunks.clone() {
            let held = trace.chunk_ctas(self.kernel, number)?;
            if ctas.peek().is_none_or(|&&cta| cta >= held.end) {
                continue;
            }
            let chunk = trace.chunk(self.kernel, number)?;
            while let Some(&cta) = ctas.next_if(|&&cta| cta < held.end) {
                work(&chunk, (cta - held.start) as usize)?;
            }
        }
        Ok(())
    }
}
