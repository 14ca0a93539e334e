//! Upper bound of the speed-up by threads, from the balance of the work of each time step over the parts.

use super::pair::traces;
use std::path::Path;
use warpmem::gpu::engine::simulate_in_windows;
use warpmem::machine::load;
use warpmem_trace::Trace;

const MACHINES: [&str; 3] = ["v100", "rtx2060s", "h100"];

/// Shares of the instructions of a run on one thread: channels and slices, SMs, and the rest, which one
/// thread does: networks and what brings the parts together (callgrind, stream-triad on v100; what
/// `System::step_parts` takes beside units is divided as the units are).
const MEMORY: f64 = 0.48;
const CORE: f64 = 0.34;
const SERIAL: f64 = 1.0 - MEMORY - CORE;

/// Prints the limit of 2, 4, 8, … threads up to `most`.
pub fn print(most: usize, folder: &Path) {
    println!(
        "times as fast as one thread at most; work of the busiest part over the mean part, channels and \
         slices, SMs"
    );
    for path in traces(folder) {
        let trace = Trace::open(&path).expect("the trace opens");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for name_of_machine in MACHINES {
            let machine = load(name_of_machine, &[]).expect("a preset");
            print!("{name_of_machine:10} {name:14}");
            let counts = std::iter::successors(Some(2), |n| Some(2 * n));
            for threads in counts.take_while(|&threads| threads <= most) {
                let (_, windows) =
                    simulate_in_windows(&machine, &trace, threads).expect("the run ends");
                let waited = [windows.memory(), windows.core()].map(|share| share.unwrap_or(1.0));
                let limit = 1.0 / (SERIAL + MEMORY * waited[0] + CORE * waited[1]);
                let [memory, core] = waited.map(|share| share * threads as f64);
                print!("  {threads}: {limit:5.2} ({memory:.2}, {core:.2})");
            }
            println!();
        }
    }
}
