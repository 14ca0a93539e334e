//! The columns that distinguish runs: machine, trace, overrides and policies.

/// Columns that name the policy of each slot of the machine.
pub const SLOTS: [&str; 9] = [
    "dram_scheduler",
    "warp_scheduler",
    "cta_scheduler",
    "l2_queue",
    "topology",
    "arbiter",
    "prefetcher",
    "walk_scheduler",
    "ideal",
];

/// Column of the run ids; rows with the same id are the same run.
pub const RUN_ID: &str = "run_id";

/// The column with the machine parameters that a run overrides.
pub const OVERRIDES: &str = "overrides";

/// Name of an absent policy or of absent overrides.
pub const NONE: &str = "none";

const MACHINE: usize = 0;
/// Position of the trace.
pub(crate) const TRACE: usize = 1;

/// The key columns of runs, and those that a comparison varies. The values of a run's key columns
/// are in the order of [`names`](Keys::names).
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// `machine`, `trace`, then overrides and slots.
    names: Vec<String>,
    /// Positions of the compared slots.
    compared: Vec<usize>,
}

impl Keys {
    /// Makes the key columns `machine`, `trace` and `others`, none of them compared.
    pub(crate) fn new<'a>(others: impl IntoIterator<Item = &'a str>) -> Keys {
        let mut names: Vec<String> = Vec::new();
        for name in ["machine", "trace"].into_iter().chain(others) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        Keys { names, compared: Vec::new() }
    }

    /// Compares these slots.
    pub(crate) fn compare(&mut self, slots: Vec<usize>) {
        self.compared = slots;
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Returns the positions of the compared slots.
    pub(crate) fn compared(&self) -> &[usize] {
        &self.compared
    }

    /// Returns the position of the overrides if runs are compared only with runs of the same
    /// overrides.
    fn held_overrides(&self) -> Option<usize> {
        self.position(OVERRIDES).filter(|position| !self.compared.contains(position))
    }

    /// Returns the positions by which runs are ordered: the machine, the overrides if held equal, the
    /// trace, and the compared slots.
    pub(crate) fn order(&self) -> [Vec<usize>; 4] {
        let held = self.held_overrides().into_iter().collect();
        [vec![MACHINE], held, vec![TRACE], self.compared.clone()]
    }

    /// Returns the positions of the columns that runs averaged over workloads share.
    pub(crate) fn group(&self) -> Vec<usize> {
        let place = [MACHINE].into_iter().chain(self.held_overrides());
        place.chain(self.compared.iter().copied()).collect()
    }

    /// Returns the positions of the columns that together identify a run.
    pub(crate) fn identity(&self) -> Vec<usize> {
        let workload = [MACHINE, TRACE].into_iter().chain(self.held_overrides());
        workload.chain(self.compared.iter().copied()).collect()
    }

    /// Returns the machine of a run, and its overrides unless these are compared.
    pub(crate) fn place(&self, values: &[String]) -> String {
        let machine = values[MACHINE].clone();
        match self.held_overrides().map(|position| values[position].as_str()) {
            None | Some("") => machine,
            Some(overrides) => format!("{machine} with {overrides}"),
        }
    }

    /// Returns the values of the compared slots, separated by slashes.
    pub(crate) fn policy(&self, values: &[String]) -> String {
        self.compared.iter().map(|&slot| label(&values[slot])).collect::<Vec<_>>().join("/")
    }
}

/// Returns the trace of a run, given the values of its key columns.
pub(crate) fn trace_of(values: &[String]) -> &str {
    &values[TRACE]
}

/// Returns the name of a value; absent overrides are `none`.
pub(crate) fn label(value: &str) -> &str {
    if value.is_empty() { NONE } else { value }
}
