//! The share of unit steps that change nothing, by kind of unit.

use super::captured::traces;
use std::path::Path;
use warpmem::gpu::engine::{Simulation, Steps};
use warpmem::machine::load;
use warpmem_trace::Trace;

const MACHINES: [&str; 3] = ["accelsim-qv100", "accelsim-rtx2060s", "h100"];

/// Prints the steps of each kind of unit, in millions, and the share that changes nothing.
pub fn print(folder: &Path) {
    println!(
        "millions of steps of channels, slices and SMs, and the share of each that changes nothing"
    );
    for path in traces(folder) {
        let trace = Trace::open(&path).expect("the trace opens");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for name_of_machine in MACHINES {
            let machine = load(name_of_machine, &[]).expect("a preset");
            let simulation = Simulation::new(&machine, &trace);
            let (_, steps) = simulation.run_counting_steps().expect("the run ends");
            print!("{name_of_machine:10} {name:14}");
            for (kind, Steps { all, idle }) in
                [("channels", steps.channels), ("slices", steps.slices), ("SMs", steps.sms)]
            {
                let share = 100.0 * idle as f64 / all.max(1) as f64;
                print!("  {kind} {:7.3} {share:5.1} %", all as f64 / 1e6);
            }
            println!();
        }
    }
}
