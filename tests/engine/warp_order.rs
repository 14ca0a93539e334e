//! The order in which SMs serve their CTAs.

use crate::trace::{Access, Kernel, Step, machine, write};
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{LoadRow, RunSink};
use warpmem_trace::OpClass;

/// Loads of a run: SM, cycle of issue and CTA.
#[derive(Default)]
struct Loads(Vec<(u32, u64, u32)>);

impl RunSink for Loads {
    fn load(&mut self, row: &LoadRow) {
        self.0.push((row.sm, row.issue_cycle, row.cta));
    }
}

/// Returns, for each of three SMs, its CTAs in the order of their loads. CTA c runs on SM c mod 3;
/// each has one warp, which computes until all CTAs are resident.
fn order(policy: &str) -> [Vec<u32>; 3] {
    let cta = |cta: u64| {
        let work = Step::Compute { class: OpClass::Integer, dest: 0, source: 1 };
        let load = Access { dest: Some(2), ..Access::load(4, vec![4096 * cta]) };
        let used = Step::Compute { class: OpClass::Integer, dest: 3, source: 2 };
        let end = [Step::Memory(load), used];
        vec![std::iter::repeat_n(work, 20).chain(end).collect()]
    };
    let file = write(&[Kernel { ctas: (0..9).map(cta).collect(), ..Kernel::default() }]);
    let policy = format!("policy.warp_scheduler={policy}(min_warps=1)");
    let machine = machine("li2015", &["sm.count=3", "sm.schedulers=1", &policy]);
    let mut loads = Loads::default();
    Simulation::new(&machine, &file.trace).run(&mut loads).unwrap();
    loads.0.sort_unstable();
    [0, 1, 2].map(|sm| {
        let of_sm = loads.0.iter().filter(|load| load.0 == sm);
        of_sm.map(|&(_, _, cta)| cta).collect()
    })
}

#[test]
fn owl_rotates_the_first_group_by_sm() {
    assert_eq!(order("cta-aware-locality"), [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
    assert_eq!(order("cta-aware-locality-blp"), [[0, 3, 6], [4, 7, 1], [8, 2, 5]]);
}
