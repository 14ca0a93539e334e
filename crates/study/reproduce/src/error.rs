//! Failures of a reproduction.

use std::io;
use std::num::ParseFloatError;
use std::path::PathBuf;
use warpmem_analysis::polars::error::PolarsError;
use warpmem_gpu::complexity::ComplexityError;
use warpmem_machine::MachineError;
use warpmem_params::PolicyError;
use warpmem_standalone::dram::StandaloneError;
use warpmem_study::reproduce::PaperError;

pub type Result<T> = std::result::Result<T, Error>;

/// Reason why an experiment cannot be reproduced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("claim `{claim}`")]
    Claim { claim: String, source: Box<Error> },
    #[error("figure `{figure}`")]
    Figure { figure: String, source: Box<Error> },
    #[error("`{text}` is not an expression")]
    Expression { text: String, source: Box<warpmem_analysis::Error> },
    #[error("`{metric}`")]
    Metric { metric: String, source: PolarsError },
    #[error("`{text}` is not a number")]
    Number { text: String, source: ParseFloatError },
    #[error("nothing to compare with")]
    NothingToCompare,
    #[error("no configuration")]
    NoConfiguration,
    #[error("no stream `{pattern}`")]
    NoStream { pattern: String },
    #[error("a stream of one channel")]
    NoChannel,
    #[error("no request was pending")]
    NothingPending,
    #[error("a policy does not state its cost")]
    NoCost,
    #[error(
        "the page has no part `{part}`: it lies between `<!-- generated: {part} -->` and `<!-- end of generated: {part} -->`"
    )]
    NoPart { part: String },
    #[error("failed to create folder {}", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error(transparent)]
    Paper(#[from] PaperError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Complexity(#[from] ComplexityError),
    #[error(transparent)]
    Stream(#[from] StandaloneError),
    #[error(transparent)]
    Results(#[from] warpmem_analysis::Error),
    #[error(transparent)]
    Frame(#[from] PolarsError),
    /// A figure or a page that cannot be drawn or written.
    #[error(transparent)]
    Page(#[from] anyhow::Error),
}

impl Error {
    /// Returns whether the failure is the program's own and not due to its input.
    pub fn is_fault(&self) -> bool {
        match self {
            Error::Claim { source, .. } | Error::Figure { source, .. } => source.is_fault(),
            Error::Stream(error) => matches!(error, StandaloneError::Stuck { .. }),
            Error::Results(error) => is_of_frame(error),
            Error::Page(error) => error.chain().any(|error| {
                error.downcast_ref::<warpmem_analysis::Error>().is_some_and(is_of_frame)
            }),
            _ => false,
        }
    }
}

fn is_of_frame(error: &warpmem_analysis::Error) -> bool {
    matches!(error, warpmem_analysis::Error::Frame(_))
}
