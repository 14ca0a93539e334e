/// Runs that cannot be compared, or columns that a computation cannot use.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A missing column that a computation needs.
    #[error("{table} has no column `{column}`; it has: {}", available.join(", "))]
    MissingColumn { table: String, column: String, available: Vec<String> },

    /// A column that must hold numbers and does not.
    #[error("column `{column}` of {table} holds {dtype}, not numbers")]
    NotNumeric { table: String, column: String, dtype: String },

    /// A baseline that names no value of a varied slot.
    #[error("no run of the baseline `{baseline}`; runs vary in {}", available.join("; "))]
    UnknownBaseline { baseline: String, available: Vec<String> },

    /// A baseline part that is a value of several slots.
    #[error("`{part}` of the baseline is a value of several slots ({}); write slot={part}", slots.join(", "))]
    AmbiguousBaseline { part: String, slots: Vec<String> },

    /// A workload without a run of the baseline.
    #[error("trace `{trace}` on machine `{machine}` has no run of the baseline `{baseline}` to compare `{policy}` with; it was run with: {}; run it with the baseline too, or choose another", available.join(", "))]
    MissingBaseline {
        trace: String,
        machine: String,
        policy: String,
        baseline: String,
        available: Vec<String>,
    },

    /// Several runs where a comparison needs one.
    #[error(
        "{runs} runs of trace `{trace}` on machine `{machine}` with `{policy}`, but a comparison needs exactly one; they differ in {}",
        either(differ)
    )]
    SeveralRuns { trace: String, machine: String, policy: String, runs: usize, differ: Vec<String> },

    /// Runs of different traces, machines or engines under one name.
    #[error(
        "these runs cannot be compared: {}; compare runs that agree, or allow mixed runs (`--allow-mixed` of a report), which are then marked",
        differences.join("; ")
    )]
    Mixed { differences: Vec<String> },

    /// Unreadable parameters of a run.
    #[error("failed to parse `{column}` of a run: {text}")]
    Parameters { column: String, text: String },

    /// No rows to compare.
    #[error("the `runs` table has no rows to compare")]
    NoRuns,
}

fn either(slots: &[String]) -> String {
    if slots.is_empty() { "no slot".to_owned() } else { slots.join(", ") }
}

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;
