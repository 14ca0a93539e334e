//! Wall-clock time of runs of one trace on several threads against one, alternated.

use super::captured::traces;
use super::pair::median;
use std::path::Path;
use std::time::Instant;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::machine::{Machine, load};
use warpmem_trace::Trace;

const MACHINES: [&str; 2] = ["accelsim-qv100", "accelsim-rtx2060s"];

/// Number of runs for each number of threads.
const ROUNDS: usize = 5;

/// Compares 2, 4, 8, … threads up to `most` with one.
pub fn compare(most: usize, folder: &Path) {
    let counts: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|&n| n <= most).collect();
    println!("seconds of alternated runs, median of {ROUNDS}; times as fast as one thread");
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); counts.len()];
    for path in traces(folder) {
        let trace = Trace::open(&path).expect("the trace opens");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for name_of_machine in MACHINES {
            let machine = load(name_of_machine, &[]).expect("a preset");
            let seconds = alternated(&machine, &trace, &counts);
            print!("{name_of_machine:10} {name:14} {:9.3}", seconds[0]);
            for (at, &threads) in counts.iter().enumerate().skip(1) {
                let ratio = seconds[0] / seconds[at];
                ratios[at].push(ratio.ln());
                print!("  {threads} threads {:.3} {ratio:5.2}", seconds[at]);
            }
            println!();
        }
    }
    for (threads, ratios) in counts.iter().zip(&ratios).skip(1).filter(|(_, r)| !r.is_empty()) {
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        println!("{threads} threads: geometric mean {:.2} times", mean.exp());
    }
}

/// Measures the median seconds for each number of threads; the results must be equal.
fn alternated(machine: &Machine, trace: &Trace, counts: &[usize]) -> Vec<f64> {
    let run = |threads: usize| -> (RunResult, f64) {
        let start = Instant::now();
        let result = Simulation::new(machine, trace).threads(threads).run(&mut Discard);
        (result.expect("the run ends"), start.elapsed().as_secs_f64())
    };
    let first = run(1).0;
    let rounds: Vec<Vec<f64>> = (0..ROUNDS)
        .map(|_| {
            let timed = |&threads: &usize| {
                let (result, seconds) = run(threads);
                assert!(result == first, "{threads} threads");
                seconds
            };
            counts.iter().map(timed).collect()
        })
        .collect();
    (0..counts.len()).map(|at| median(rounds.iter().map(|round| round[at]))).collect()
}
