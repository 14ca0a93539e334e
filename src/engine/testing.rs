//! Runs units on their own, with the test as the rest of the machine.

pub use super::bench::Bench;
use super::{Context, UnitId};
use crate::record::{LoadRow, RunSink};

/// Turns after which a test has gone wrong.
const TOO_MANY: usize = 1_000_000;

impl Bench {
    /// Gives every unit its turns, in the engine's order, until nobody is to be woken.
    pub fn run(&mut self, mut step: impl FnMut(UnitId, u64, &mut Context)) {
        for _ in 0..TOO_MANY {
            if self.next().is_none() {
                return;
            }
            self.turn(&mut step);
        }
        panic!("the units do not come to rest");
    }

    /// The rows of the loads finished so far.
    pub fn loads(&mut self) -> Vec<LoadRow> {
        let mut rows = Rows::default();
        self.record.flush(&mut rows);
        rows.0
    }
}

/// Keeps the rows of loads.
#[derive(Default)]
pub struct Rows(pub Vec<LoadRow>);

impl RunSink for Rows {
    fn load(&mut self, row: &LoadRow) {
        self.0.push(*row);
    }
}
