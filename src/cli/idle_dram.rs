//! Notes runs that leave DRAM idle most of the time.

use super::output::note;
use serde_json::{Map, Value};
use warpmem_comparison::{Table, Values};

/// Columns of `runs`: cycles of a channel with a request pending, and all its cycles.
const COLUMNS: [&str; 2] = ["pending_cycles", "dram_cycles"];

/// Fraction of cycles with a request pending below which a run is noted.
const LEAST: f64 = 0.1;

/// Notes that a run leaves DRAM idle, given its row of `runs`.
pub fn note_of_run(row: &Map<String, Value>) {
    let counts = COLUMNS.map(|column| row.get(column).and_then(Value::as_f64));
    text(&[busy(counts)]).iter().for_each(|text| note(text));
}

/// Notes that some of several runs leave DRAM idle, given the rows of `runs`.
pub fn note_of_runs(runs: &Table) {
    let [pending, all] = COLUMNS.map(|column| {
        let counts = runs.column(column).and_then(Values::numbers);
        counts.unwrap_or_default()
    });
    let busy: Vec<_> = pending.into_iter().zip(all).map(|(one, of)| busy([one, of])).collect();
    text(&busy).iter().for_each(|text| note(text));
}

/// Returns the fraction of cycles with a request pending; none if no request reaches the channels,
/// as with a perfect DRAM.
fn busy([pending, all]: [Option<f64>; 2]) -> Option<f64> {
    let (pending, all) = (pending.filter(|&pending| pending > 0.0)?, all?);
    Some(pending / all)
}

fn text(busy: &[Option<f64>]) -> Option<String> {
    let idle: Vec<f64> = busy.iter().flatten().copied().filter(|&busy| busy < LEAST).collect();
    let [which, share] = match (busy.len(), idle.as_slice()) {
        (_, []) => return None,
        (1, [busy]) => ["this run".to_owned(), format!("{:.1} %", 100.0 * busy)],
        (runs, idle) => {
            [format!("{} of {runs} runs", idle.len()), format!("less than {} %", 100.0 * LEAST)]
        }
    };
    let [pending, all] = COLUMNS;
    Some(format!(
        "note: in {which} DRAM has a request pending in {share} of its cycles ({pending} over {all}), so DRAM schedulers differ little there; larger inputs and smaller machines use DRAM more"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_counts_the_runs_with_an_idle_dram() {
        assert_eq!(text(&[Some(0.1), None]), None);
        let one = text(&[Some(0.0312)]).unwrap();
        assert!(
            one.starts_with("note: in this run DRAM has a request pending in 3.1 % of "),
            "{one}"
        );
        let some = text(&[Some(0.099), None, Some(0.0), Some(0.5)]).unwrap();
        let head = "note: in 2 of 4 runs DRAM has a request pending in less than 10 % of ";
        assert!(some.starts_with(head), "{some}");
    }

    #[test]
    fn a_dram_that_no_request_reaches_is_not_noted() {
        assert_eq!(busy([Some(0.0), Some(100.0)]), None);
        assert_eq!(busy([None, None]), None);
        assert_eq!(busy([Some(25.0), Some(100.0)]), Some(0.25));
    }
}
