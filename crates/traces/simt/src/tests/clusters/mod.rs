//! Clusters of CTAs.

mod accesses;
mod algorithms;
mod barrier;
mod errors;
mod launches;
mod traces;
mod transfers;

use super::coverage::{Test, note_all};
use super::{Machine, kernel};
use crate::{Image, Launch, LaunchError, Limits, Run};

pub(super) const TESTS: [&[Test]; 3] = [accesses::TESTS, barrier::TESTS, transfers::TESTS];

/// Sets %r40 to the number of the CTA, %r43 to its rank, %r44 to the CTAs of a cluster, %rd41 to the address
/// of the thread's word of the first array, and %rd40 to that of the third.
const PLACE: &str = "mov.u32 %r40, %ctaid.z;\nmov.u32 %r41, %nctaid.y;\nmov.u32 %r42, %ctaid.y;\n\
    mad.lo.u32 %r40, %r40, %r41, %r42;\nmov.u32 %r41, %nctaid.x;\nmov.u32 %r42, %ctaid.x;\n\
    mad.lo.u32 %r40, %r40, %r41, %r42;\nmov.u32 %r41, %ntid.x;\nmul.lo.u32 %r41, %r40, %r41;\n\
    mul.wide.u32 %rd39, %r41, 8;\nadd.u64 %rd40, %rd3, %rd39;\nadd.u64 %rd41, %rd1, %rd39;\n\
    mov.u32 %r43, %cluster_ctarank;\nmov.u32 %r44, %cluster_nctarank;\n";

/// Sets %r45 to the rank of the next CTA of the cluster.
const NEXT: &str = "add.u32 %r45, %r43, 1;\nrem.u32 %r45, %r45, %r44;\n";

const SYNC: &str = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

/// Waits for the first phase of an mbarrier in the CTA's own memory.
fn wait_at(mbarrier: &str) -> String {
    format!(
        "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p15, [{mbarrier}], 0;\n\
         @!%p15 bra W;\n"
    )
}

/// Launches CTAs along x.
fn launch(machine: &Machine, ctas: u32, block: u32, cluster: u32) -> Launch {
    Launch { cluster: Some([cluster, 1, 1]), ..machine.launch(ctas, block) }
}

/// Executes code after [`PLACE`].
fn run(machine: &mut Machine, code: &str, launch: &Launch) -> Result<(), LaunchError> {
    let text = kernel(&format!("{PLACE}{code}"));
    note_all(&text);
    run_module(machine, &text, launch)
}

fn run_module(machine: &mut Machine, text: &str, launch: &Launch) -> Result<(), LaunchError> {
    let module = warpmem_ptx::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let image = Image::load(module, &mut machine.memory)?;
    let limits = Limits { instructions: 1_000_000, ..Limits::default() };
    Run::new(&image, launch)?.execute(&mut machine.memory, None, limits, &()).map(drop)
}

/// Returns the third array after two clusters of four CTAs of 32 threads.
fn left(code: &str) -> Vec<u64> {
    let mut machine = Machine::new(8 * 32);
    let launch = launch(&machine, 8, 32, 4);
    run(&mut machine, code, &launch).unwrap_or_else(|error| panic!("{error}\n{code}"));
    machine.get(2)
}

/// Builds the third array from the expected value of each CTA and thread.
fn expected(value: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    (0..8)
        .flat_map(|cta| (0..32).map(move |thread| (cta, thread)))
        .map(|(c, t)| value(c, t))
        .collect()
}

/// Returns the CTA of the same cluster of four whose rank is `by` higher.
fn peer(cta: u64, by: u64) -> u64 {
    cta / 4 * 4 + (cta + by) % 4
}
