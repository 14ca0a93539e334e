//! Compares generators with their CUDA versions in `cuda/`.
//!
//! Each launch of a generator's run is repeated from the compiled PTX on the same data. Warp by warp, the global
//! accesses must match in order, kind, width, active lanes and addresses, and both runs must leave the same bytes
//! in memory.

mod compare;
mod device;
mod mutations;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use warpmem_trace::KernelInfo;

use super::registry::{Given, variants};
use super::replay::{self, TracedKernel};
use crate::find;
use crate::parameters::Arguments;
use crate::warp::journal::Event;
use compare::{Matches, compare};
use device::{Call, Device};

/// The CUDA version of a generator.
struct CudaVersion {
    generator: &'static str,
    ptx: &'static str,
    /// Whether the CUDA version implements this variant of the generator.
    covers: fn(&Given) -> bool,
    /// Parameters of further runs, whose sizes leave lanes of some warps without work.
    partial_warps: &'static [&'static [(&'static str, &'static str)]],
    /// The call that repeats a launch of the generator.
    call: fn(&GeneratorLaunch<'_>) -> Call,
    /// Warp accesses to global memory compared over all runs.
    accesses: usize,
}

/// A launch of the generator, and the device memory before it.
struct GeneratorLaunch<'a> {
    /// Index among the launches of the run.
    number: usize,
    info: &'a KernelInfo,
    arguments: &'a Arguments,
    /// Contents of the arrays, in the order of their allocation.
    arrays: Vec<&'a [u8]>,
}

/// The accesses of one launch, by the generator and by its CUDA version.
struct LaunchPair {
    /// Name of the CUDA kernel.
    kernel: String,
    generated: TracedKernel,
    executed: TracedKernel,
}

/// Runs a generator and repeats its launches from `ptx`. Returns the launches and whether both runs left
/// the same bytes in memory.
fn run_both(
    version: &CudaVersion,
    ptx: &str,
    given: &Given,
    folder: &Path,
) -> (Vec<LaunchPair>, bool) {
    let generator = find(version.generator).unwrap();
    let arguments = Arguments::resolve(generator.name, generator.parameters, given).unwrap();
    let run = replay::run(generator, given);
    let mut device = Device::new(ptx, &run.memory);
    let mut events = run.events.iter().peekable();
    let mut launches = Vec::new();
    for (number, (generated, info)) in run.trace.into_iter().zip(&run.infos).enumerate() {
        while let Some(Event::Upload(address, bytes)) =
            events.next_if(|event| matches!(event, Event::Upload(..)))
        {
            device.upload(*address, bytes);
        }
        let lanes = generated.ctas.iter().flatten().flatten().map(|traced| traced.addresses.len());
        events.by_ref().take(lanes.sum()).for_each(drop);
        let arrays = device.contents();
        let launch = GeneratorLaunch { number, info, arguments: &arguments, arrays };
        let call = (version.call)(&launch);
        let executed = device.execute(&call, info, &folder.join("cuda.wmt"));
        launches.push(LaunchPair { kernel: call.kernel, generated, executed });
    }
    (launches, run.memory.values().map(Vec::as_slice).eq(device.contents()))
}

/// Compares one run of a generator with `ptx`; returns the matching accesses of each CUDA kernel.
fn check_run(
    version: &CudaVersion,
    ptx: &str,
    given: &Given,
    folder: &Path,
) -> Result<BTreeMap<String, Matches>, String> {
    let (launches, is_memory_equal) = run_both(version, ptx, given, folder);
    let mut matches: BTreeMap<String, Matches> = BTreeMap::new();
    for (number, LaunchPair { kernel, generated, executed }) in launches.into_iter().enumerate() {
        let compared = compare(&generated, &executed)
            .map_err(|error| format!("launch {number}, {kernel}: {error}"))?;
        *matches.entry(kernel).or_default() += compared;
    }
    match is_memory_equal {
        true => Ok(matches),
        false => Err("memory differs at the end".to_owned()),
    }
}

/// Parameters of every run in which a generator is compared with its CUDA version.
fn runs(version: &CudaVersion) -> Vec<Given> {
    let variants = variants(find(version.generator).unwrap());
    let small = variants[0].clone();
    let partial_warps = version.partial_warps.iter().map(|given| {
        let given = given.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        small.clone().into_iter().chain(given).collect()
    });
    variants.iter().filter(|given| (version.covers)(given)).cloned().chain(partial_warps).collect()
}

/// Compares all runs. Every kernel of the PTX must be reached, some access must have inactive lanes, and the number of
/// accesses compared must be the declared one.
fn check(version: &CudaVersion) {
    let folder = tempfile::tempdir().unwrap();
    let mut matches: BTreeMap<String, Matches> = BTreeMap::new();
    for given in runs(version) {
        match check_run(version, version.ptx, &given, folder.path()) {
            Ok(kernels) => kernels
                .into_iter()
                .for_each(|(kernel, compared)| *matches.entry(kernel).or_default() += compared),
            Err(error) => panic!("{} {given:?}: {error}", version.generator),
        }
    }
    let generator = version.generator;
    let reached = matches.iter().filter(|(_, matches)| matches.accesses > 0);
    let reached: BTreeSet<String> = reached.map(|(name, _)| name.clone()).collect();
    assert_eq!(reached, kernels(version.ptx), "{generator}: kernels compared");
    assert!(matches.values().any(|matches| matches.partial > 0), "{generator}: all lanes active");
    let accesses: usize = matches.values().map(|matches| matches.accesses).sum();
    assert_eq!(accesses, version.accesses, "{generator}: accesses compared");
}

/// Names of the kernels of a module.
fn kernels(ptx: &str) -> BTreeSet<String> {
    let functions = warpmem_ptx::parse(ptx).unwrap().functions;
    functions.into_iter().filter(|f| f.is_kernel).map(|f| f.name).collect()
}
