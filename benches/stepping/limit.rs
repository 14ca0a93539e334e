//! The upper bound on the speed-up of threads, from the balance of work among the regions of a machine.

use super::captured::traces;
use std::path::Path;
use warpmem::gpu::engine::Simulation;
use warpmem::machine::load;
use warpmem_trace::Trace;

const MACHINES: [&str; 3] = ["accelsim-qv100", "accelsim-rtx2060s", "h100"];

/// Shares of a run's host instructions on one thread (callgrind, stream-triad on accelsim-qv100; `System::step_parts`
/// is divided in proportion to its units): channels and slices, SMs, and the serial rest, which is the
/// networks and the exchange between regions.
const MEMORY: f64 = 0.48;
const CORE: f64 = 0.34;
const SERIAL: f64 = 1.0 - MEMORY - CORE;

/// Prints the bound for 2, 4, 8, … threads up to `most`.
pub fn print(most: usize, folder: &Path) {
    println!(
        "upper bound on the speed-up over one thread (work of the busiest region over the mean region: \
         channels and slices, SMs)"
    );
    for path in traces(folder) {
        let trace = Trace::open(&path).expect("the trace opens");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for name_of_machine in MACHINES {
            let machine = load(name_of_machine, &[]).expect("a preset");
            print!("{name_of_machine:10} {name:14}");
            let counts = std::iter::successors(Some(2), |n| Some(2 * n));
            for threads in counts.take_while(|&threads| threads <= most) {
                let simulation = Simulation::new(&machine, &trace).threads(threads);
                let (_, balance) = simulation.run_measuring_balance().expect("the run ends");
                let waited = [balance.memory(), balance.core()].map(|share| share.unwrap_or(1.0));
                let limit = 1.0 / (SERIAL + MEMORY * waited[0] + CORE * waited[1]);
                let [memory, core] = waited.map(|share| share * threads as f64);
                print!("  {threads}: {limit:5.2} ({memory:.2}, {core:.2})");
            }
            println!();
        }
    }
}
