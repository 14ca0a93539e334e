//! The reasons for which a standalone run of a network cannot be set up or continue.

use warpmem_machine::MachineError;
use warpmem_params::PolicyError;

/// An error with its place and the valid values.
#[derive(Debug, thiserror::Error)]
pub enum StandaloneError {
    #[error("`{option}` = {value} is not valid; valid: {valid}")]
    Option { option: &'static str, value: String, valid: String },
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(
        "the network is stuck at cycle {cycle}: {packets} packets are in flight and none can move; this is a bug in the topology, please report it\n  {}",
        state.join("\n  ")
    )]
    Stuck { cycle: u64, packets: u64, state: Vec<String> },
    #[error("stopped before the end")]
    Interrupted,
}

impl StandaloneError {
    pub(super) fn option(
        option: &'static str,
        value: &impl ToString,
        valid: impl Into<String>,
    ) -> StandaloneError {
        StandaloneError::Option { option, value: value.to_string(), valid: valid.into() }
    }
}
