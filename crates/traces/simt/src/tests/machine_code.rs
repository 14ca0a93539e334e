//! Machine instructions that execution records.

use warpmem_trace::OpClass;

use super::events::{Event, of_first_warp};
use super::{Machine, kernel};
/// Returns the classes of the compute instructions of a warp, after those of the kernel's start.
fn classes(code: &str) -> Vec<OpClass> {
    let mut machine = Machine::new(256);
    let launch = machine.launch(1, 32);
    let events = of_first_warp(&mut machine, &kernel(code), &launch);
    let classes = events.into_iter().filter_map(|event| match event {
        Event::Compute(class, ..) => Some(class),
        Event::Memory(..) => None,
    });
    classes.collect()
}

/// Returns the instructions of code beyond those of the kernel around it.
fn added(code: &str) -> usize {
    classes(code).len() - classes("").len()
}

#[test]
fn a_predicated_body_issues_without_lanes() {
    let body = |condition: &str| {
        format!(
            "setp.ge.u32 %p1, %r0, {condition};\n@%p1 bra L;\nadd.f32 %f1, %f2, %f3;\n\
             mul.f32 %f4, %f5, %f6;\nst.global.f32 [%rd1], %f1;\nL: bar.sync 0;\n"
        )
    };
    // The comparison, both operations, and without lanes the store too, which is no access then.
    assert_eq!(added(&body("32")), 3);
    assert_eq!(added(&body("0")), 4);
}

#[test]
fn a_branch_that_ends_the_warp_is_its_exit() {
    let branch = |lanes: u32| {
        format!(
            "setp.lt.u32 %p1, %r0, {lanes};\n@%p1 bra L;\n\
        st.global.u32 [%rd1], %r0;\nL: "
        )
    };
    assert_eq!(added(&branch(32)), 1, "the comparison");
    assert_eq!(added(&branch(16)), 2, "and EXIT with a predicate");
}

#[test]
fn the_start_of_a_kernel_depends_on_the_generation() {
    let start = |target: &str| {
        let text = kernel("").replace("sm_80", target);
        let mut machine = Machine::new(256);
        let launch = machine.launch(1, 32);
        let events = of_first_warp(&mut machine, &text, &launch);
        let starts = events.iter().take_while(|event| match event {
            Event::Compute(_, writes, reads) => writes.is_empty() && reads.is_empty(),
            Event::Memory(..) => false,
        });
        starts.count()
    };
    assert_eq!([start("sm_70"), start("sm_75"), start("sm_80")], [2, 1, 2]);
}
