//! Reads any text as a list of DRAM schedulers, with their parameters and expressions, and builds them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::gpu::complexity::{of_scheduler, shape_of};
use warpmem::machine::{Machine, load};
use warpmem::slots::split_list;

static MACHINE: LazyLock<Machine> = LazyLock::new(|| load("li2015", &[]).expect("a preset loads"));

fuzz_target!(|text: &str| {
    let shape = shape_of(&MACHINE).expect("a preset has a shape");
    for policy in split_list(text).unwrap_or_default() {
        if SCHEDULERS.choose(&policy).is_ok() {
            let _ = of_scheduler(&policy, &MACHINE, &shape);
        }
    }
});
