//! Reads any text as a DRAM command log and checks it, refreshes included, against the standard that it names.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use warpmem::dram::checker::{Checker, POSTPONED_REFRESHES};
use warpmem::dram::standard::Standard;
use warpmem::machine::load_channels;
use warpmem::record::command_log::{CommandLogReader, LoggedCommand};
use warpmem_fuzz::with_file;

fuzz_target!(|bytes: &[u8]| {
    let _ = with_file(bytes, check);
});

fn check(path: &Path) -> Result<(), Box<dyn Error>> {
    let log = CommandLogReader::open(path)?;
    let of_log = log.dram().clone();
    let channels = |machine: &mut warpmem::machine::Machine| {
        machine.dram = of_log;
        Ok(())
    };
    let dram = load_channels("li2015", channels, &[])?.dram;
    let standard = Standard::of(&dram)?;
    let new = || Checker::new(&dram, &standard).with_refresh(&dram, POSTPONED_REFRESHES);
    let mut checkers: BTreeMap<u16, Checker> = BTreeMap::new();
    for row in log {
        let LoggedCommand { channel, command } = row?;
        checkers.entry(channel).or_insert_with(new).take(command);
    }
    Ok(())
}
