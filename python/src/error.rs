//! Errors as Python exceptions, with the texts of the command line.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::error::Error as StdError;
use warpmem::gpu::engine::RunError;
use warpmem::standalone::dram::StandaloneError as ChannelError;
use warpmem::standalone::network::StandaloneError as NetworkError;
use warpmem_analysis::Error as AnalysisError;

create_exception!(
    warpmem,
    Error,
    PyException,
    "Bad input: the text states the mistake, its location, and valid input."
);
create_exception!(warpmem, Fault, Error, "A fault of Warpmem: please report it.");

/// Raises errors of the libraries.
pub trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Into<anyhow::Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| exception(error.into().as_ref()))
    }
}

/// Makes the exception for an error, with the chain of its causes.
pub fn exception(error: &(dyn StdError + 'static)) -> PyErr {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let is_fault = causes.clone().any(is_fault);
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    let text = texts.join(": ");
    if is_fault { Fault::new_err(text) } else { Error::new_err(text) }
}

/// Returns whether the failure is the engine's own and not due to its input.
fn is_fault(error: &(dyn StdError + 'static)) -> bool {
    error.downcast_ref().is_some_and(RunError::is_fault)
        || matches!(error.downcast_ref(), Some(ChannelError::Stuck { .. }))
        || matches!(error.downcast_ref(), Some(NetworkError::Stuck { .. }))
        || matches!(error.downcast_ref(), Some(AnalysisError::Frame(_)))
        || error.downcast_ref().is_some_and(warpmem_reproduce::Error::is_fault)
}
