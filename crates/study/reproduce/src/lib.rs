//! The experiments of papers: the runs they need, and published results next to ours.
//!
//! ```text
//! runs     the plan of a paper's experiments
//!   ▲
//! study    the numbers of its runs, which expressions are evaluated on
//!   ▲
//! classify the classes of its workloads
//!   ▲
//! claims, by_workload   each published number next to ours ─▶ samples, noise, parts, verdict
//!   ▲
//! line     a result as text
//!   ▲
//! experiments   the outcomes, each experiment counted once
//!   ▲
//! figures, table, report, page   charts, tables and the page
//! ```
//!
//! `place` has these runs made, and `outcome` is all that follows from them.
//!
//! `map` covers the small kernels in which a paper's gain appears, `survey` every policy of every
//! slot, and `factorial` experiments with every combination of policies.

mod by_workload;
mod claims;
mod classes;
mod classify;
mod coverage;
mod distributions;
mod error;
mod experiments;
#[cfg(test)]
mod expressions;
mod factorial;
mod figures;
mod line;
mod map;
mod noise;
mod outcome;
mod page;
mod parts;
mod place;
mod report;
mod runs;
mod samples;
mod study;
mod survey;
#[cfg(test)]
mod synthetic;
mod table;
mod verdict;

pub use by_workload::{OfWorkload, by_workload, by_workload_frame, count};
pub use claims::{Answer, Finding, OfPaper, Robustness, findings};
pub use classes::Classes;
pub use classify::open;
pub use coverage::coverage;
pub use error::{Error, Result};
pub use experiments::{experiments, headline, summary};
pub use factorial::Effects;
pub use figures::draw;
pub use line::{HEADINGS, Line, NOTE};
pub use map::{MapResults, Mapped, Placed, mapped, placed, write_map};
pub use noise::Measured;
pub use outcome::{Judged, OnMap, Outcome, Scope, of_kernels};
pub use page::renewed;
pub use parts::{cost, efficiency};
pub use place::{Place, Worker};
pub use report::{FILE, Reproduced, part, write};
pub use runs::{factorial_plan, plan};
pub use study::{Planned, Study, Value, mean};
pub use survey::{Change, changes, survey_frame, survey_shown, write_survey};
pub use table::{frame, legend, overview, robustness, shown, tabled};
pub use verdict::{LEGEND, Verdict, accepted, verdict};
