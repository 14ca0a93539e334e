//! What kernels in CUDA access, compiled to PTX and executed, is what their generators write.
//!
//! Each kernel of a run is launched again from its twin in `cuda/`, on the same data: kernel by
//! kernel and warp by warp, the accesses to global memory must be the same in the same order, lane
//! by lane, and in the end memory must hold the same values.

mod compare;
mod device;
mod irregular;
mod launches;
mod regular;
mod wrong;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use warpmem_trace::KernelInfo;

use super::registry::{Given, variants};
use super::replay::{self, TracedKernel};
use crate::find;
use crate::parameters::Arguments;
use crate::warp::journal::Event;
use compare::{Same, compare};
use device::{Call, Device};

/// A generator in CUDA.
struct Twin {
    generator: &'static str,
    ptx: &'static str,
    /// Whether it is a twin of this variant.
    covers: fn(&Given) -> bool,
    /// Parameters of further runs, in which not all lanes of a warp have work; none if there are no
    /// such runs.
    uneven: &'static [&'static [(&'static str, &'static str)]],
    /// How a kernel of the generator is launched.
    launch: fn(&Kernel<'_>) -> Call,
}

/// A kernel of a run that its twin is to repeat.
struct Kernel<'a> {
    number: usize,
    info: &'a KernelInfo,
    arguments: &'a Arguments,
    given: &'a Given,
    /// The arrays in the order in which they were allocated, and what they hold now.
    arrays: Vec<&'a [u8]>,
}

/// A kernel and what its twin did.
struct Repeated {
    /// Of the twin.
    kernel: String,
    expected: TracedKernel,
    found: TracedKernel,
}

/// Runs a generator, and each of its kernels again from PTX. The result is the kernels, and whether
/// memory held the same in the end.
fn repeat(twin: &Twin, ptx: &str, given: &Given, folder: &Path) -> (Vec<Repeated>, bool) {
    let generator = find(twin.generator).unwrap();
    let arguments = Arguments::resolve(generator.name, generator.parameters, given).unwrap();
    let run = replay::run(generator, given, &folder.join("run.wmt"));
    let mut device = Device::new(ptx, &run.memory);
    let mut events = run.events.iter().peekable();
    let mut repeated = Vec::new();
    for (number, (expected, info)) in run.trace.into_iter().zip(&run.infos).enumerate() {
        while let Some(Event::Upload(address, bytes)) =
            events.next_if(|event| matches!(event, Event::Upload(..)))
        {
            device.upload(*address, bytes);
        }
        let lanes = expected.ctas.iter().flatten().flatten().map(|traced| traced.addresses.len());
        events.by_ref().take(lanes.sum()).for_each(drop);
        let kernel =
            Kernel { number, info, arguments: &arguments, given, arrays: device.contents() };
        let call = (twin.launch)(&kernel);
        let found = device.call(&call, info, &folder.join("twin.wmt"));
        repeated.push(Repeated { kernel: call.kernel, expected, found });
    }
    (repeated, run.memory.values().map(Vec::as_slice).eq(device.contents()))
}

/// By kernel of the twin, the accesses that are the same.
fn check(
    twin: &Twin,
    ptx: &str,
    given: &Given,
    folder: &Path,
) -> Result<BTreeMap<String, Same>, String> {
    let (repeated, is_memory_same) = repeat(twin, ptx, given, folder);
    let mut same: BTreeMap<String, Same> = BTreeMap::new();
    for (number, Repeated { kernel, expected, found }) in repeated.into_iter().enumerate() {
        let compared = compare(&expected, &found)
            .map_err(|error| format!("launch {number}, {kernel}: {error}"))?;
        *same.entry(kernel).or_default() += compared;
    }
    match is_memory_same {
        true => Ok(same),
        false => Err("memory holds other values in the end".to_owned()),
    }
}

/// The runs in which a twin is compared with its generator.
fn cases(twin: &Twin) -> Vec<Given> {
    let variants = variants(find(twin.generator).unwrap());
    let small = variants[0].clone();
    let uneven = twin.uneven.iter().map(|given| {
        let given = given.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        small.clone().into_iter().chain(given).collect()
    });
    variants.iter().filter(|given| (twin.covers)(given)).cloned().chain(uneven).collect()
}

fn check_all(twin: &Twin) {
    let folder = tempfile::tempdir().unwrap();
    let mut same: BTreeMap<String, Same> = BTreeMap::new();
    for given in cases(twin) {
        match check(twin, twin.ptx, &given, folder.path()) {
            Ok(kernels) => kernels
                .into_iter()
                .for_each(|(kernel, compared)| *same.entry(kernel).or_default() += compared),
            Err(error) => panic!("{} {given:?}: {error}", twin.generator),
        }
    }
    let compared: BTreeSet<String> =
        same.iter().filter(|(_, same)| same.accesses > 0).map(|(name, _)| name.clone()).collect();
    assert_eq!(compared, kernels(twin.ptx), "{}: kernels compared", twin.generator);
    let is_divergent = same.values().any(|same| same.divergent > 0);
    assert!(is_divergent || twin.uneven.is_empty(), "{}: all lanes", twin.generator);
    let accesses: usize = same.values().map(|same| same.accesses).sum();
    assert_eq!(accesses, documented(twin.generator), "{}: accesses compared", twin.generator);
}

/// Names of a module's kernels.
fn kernels(ptx: &str) -> BTreeSet<String> {
    let functions = warpmem_ptx::parse(ptx).unwrap().functions;
    functions.into_iter().filter(|f| f.is_kernel).map(|f| f.name).collect()
}

/// Accesses that are compared, as the documentation says.
fn documented(generator: &str) -> usize {
    let page = include_str!("../../../../../../docs/workloads.md");
    let (_, section) = page.split_once("\n## CUDA versions\n").unwrap();
    let row = section.lines().find(|line| line.starts_with(&format!("| `{generator}` |")));
    let number = row.unwrap().trim_end_matches(" |").rsplit("| ").next().unwrap();
    number.replace(',', "").parse().unwrap()
}
