//! CTAs that share DRAM rows, through a whole machine.

use crate::trace::{Access, Kernel, Step, machine, run, write};
use std::collections::BTreeMap;
use warpmem::dram::SharedRows;
use warpmem::gpu::results::RunResult;
use warpmem::machine::Machine;
use warpmem::record::{RunKey, run_row_json};

/// Returns the lines of the DRAM row with index `bank`, in the order of channels, banks and rows.
fn lines(machine: &Machine, bank: usize) -> Vec<u64> {
    let map = machine.address_map().unwrap();
    let place = |line: u64| (map.locate(line).channel, map.locate(line).bank, map.locate(line).row);
    let mut rows: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    (0..1 << 14).for_each(|line| rows.entry(place(line * 128)).or_default().push(line * 128));
    rows.into_values().nth(bank).unwrap()
}

/// Makes a kernel whose CTA c loads `lines[c]`.
fn kernel(lines: &[u64]) -> Kernel {
    let cta = |&line| vec![vec![Step::Memory(Access::load(4, vec![line]))]];
    Kernel { ctas: lines.iter().map(cta).collect(), ..Kernel::default() }
}

fn counted(overrides: &[&str]) -> Machine {
    machine("li2015", &[&["run.count_row_sharing=true"], overrides].concat())
}

/// Returns the shared rows of `ctas` CTAs, `consecutive_ctas` of them consecutive.
fn rows(ctas: u32, rows: u64, consecutive_ctas: u64) -> BTreeMap<u32, SharedRows> {
    BTreeMap::from([(ctas, SharedRows { rows, consecutive_ctas })])
}

#[test]
fn ctas_in_a_row_share_it() {
    let machine = counted(&[]);
    let file = write(&[kernel(&lines(&machine, 0)[..4])]);
    assert_eq!(run(&machine, &file.trace).row_sharing, rows(4, 1, 4));
}

#[test]
fn ctas_alternating_between_two_rows_are_not_consecutive() {
    let machine = counted(&[]);
    let (one, other) = (lines(&machine, 0), lines(&machine, 1));
    let file = write(&[kernel(&[one[0], other[0], one[1], other[1]])]);
    assert_eq!(run(&machine, &file.trace).row_sharing, rows(2, 2, 0));
}

#[test]
fn ctas_of_different_kernels_are_not_neighbours() {
    let machine = counted(&[]);
    let lines = lines(&machine, 0);
    let file = write(&[kernel(&lines[..1]), kernel(&lines[1..2])]);
    assert_eq!(run(&machine, &file.trace).row_sharing, rows(2, 1, 0));
}

#[test]
fn cache_hits_are_not_counted() {
    let lines = lines(&counted(&[]), 0);
    let file = write(&[kernel(&lines[..1]), kernel(&lines[..1])]);
    assert_eq!(run(&counted(&[]), &file.trace).row_sharing, rows(1, 1, 0));
    let without = counted(&["l2.enabled=false"]);
    assert_eq!(run(&without, &file.trace).row_sharing, rows(2, 1, 0));
}

#[test]
fn row_sharing_counters_do_not_change_the_run() {
    let lines = lines(&counted(&[]), 0);
    let file = write(&[kernel(&lines[..4])]);
    let result = run(&counted(&[]), &file.trace);
    let uncounted = RunResult { row_sharing: BTreeMap::new(), ..result.clone() };
    assert_eq!(run(&machine("li2015", &[]), &file.trace), uncounted);
    let row = |machine: Machine, result| run_row_json(&RunKey::new("", 0, machine, ""), result);
    assert_eq!(row(counted(&[]), &result)["ctas_per_row"], 4.0);
    assert_eq!(row(counted(&[]), &result)["consecutive_cta_row_sharing"], 1.0);
    let perfect = counted(&["policy.ideal=perfect-dram"]);
    assert!(row(perfect.clone(), &run(&perfect, &file.trace))["ctas_per_row"].is_null());
}
