//! Notes a run that leaves DRAM idle most of the time.

use super::output::note;
use serde_json::{Map, Value};

/// Columns of `runs`: cycles of a channel with a request pending, and all its cycles.
const COLUMNS: [&str; 2] = ["pending_cycles", "dram_cycles"];

/// Fraction of cycles with a request pending below which the run is noted.
const LEAST: f64 = 0.1;

/// Notes that a run leaves DRAM idle, given its row of `runs`.
pub fn note_of_run(row: &Map<String, Value>) {
    let counts = COLUMNS.map(|column| row.get(column).and_then(Value::as_f64));
    text(busy(counts)).iter().for_each(|text| note(text));
}

/// Returns the fraction of cycles with a request pending; none if no request reaches the channels,
/// as with a perfect DRAM.
fn busy([pending, all]: [Option<f64>; 2]) -> Option<f64> {
    let (pending, all) = (pending.filter(|&pending| pending > 0.0)?, all?);
    Some(pending / all)
}

fn text(busy: Option<f64>) -> Option<String> {
    let share = 100.0 * busy.filter(|&busy| busy < LEAST)?;
    let [pending, all] = COLUMNS;
    Some(format!(
        "note: in this run DRAM has a request pending in {share:.1} % of its cycles ({pending} over {all}), so DRAM schedulers differ little there; larger inputs and smaller machines use DRAM more"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_an_idle_dram_is_noted() {
        assert_eq!(text(Some(0.1)), None);
        let one = text(Some(0.0312)).unwrap();
        assert!(
            one.starts_with("note: in this run DRAM has a request pending in 3.1 % of "),
            "{one}"
        );
        assert_eq!(text(None), None);
    }

    #[test]
    fn a_dram_that_no_request_reaches_is_not_noted() {
        assert_eq!(busy([Some(0.0), Some(100.0)]), None);
        assert_eq!(busy([None, None]), None);
        assert_eq!(busy([Some(25.0), Some(100.0)]), Some(0.25));
    }
}
