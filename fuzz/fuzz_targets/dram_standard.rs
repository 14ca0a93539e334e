//! Reads any text as a DRAM standard and evaluates the rules of an accepted one for each of its presets.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use warpmem::dram::standard::Standard;
use warpmem::machine::{Dram, load};

static CHANNELS: LazyLock<Dram> =
    LazyLock::new(|| load("li2015", &[]).expect("it is a preset").dram);

fuzz_target!(|text: &str| Standard::read_and_evaluate(text, &CHANNELS));
