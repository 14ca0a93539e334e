//! Sizes of the inputs of programs and generated workloads, as an option.

use crate::study::reproduce::Size;
use clap::ValueEnum;

/// Size of the workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgramSize {
    /// A quick check that everything works
    Small,
    /// Above an L2 of 768 KB, four CTAs for each of 15 SMs; parts of long programs
    Medium,
    /// The paper's inputs, above an L2 of 6 MB, four CTAs for each of 80 SMs
    Paper,
}

impl From<ProgramSize> for Size {
    fn from(size: ProgramSize) -> Size {
        match size {
            ProgramSize::Small => Size::Small,
            ProgramSize::Medium => Size::Medium,
            ProgramSize::Paper => Size::Paper,
        }
    }
}
