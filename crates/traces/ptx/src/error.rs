//! Errors in PTX modules and fat binaries.

use thiserror::Error;

/// A part of a module that is not supported or not valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}: `{text}`")]
pub struct PtxError {
    /// Line of the module, from 1.
    pub line: u32,
    /// Text of the line, trimmed.
    pub text: String,
    pub reason: String,
}

/// Maximum characters of a line that a message repeats.
const SHOWN: usize = 120;

impl PtxError {
    /// Returns an error at a line with this text.
    pub(crate) fn at(line: u32, text: &str, reason: impl Into<String>) -> PtxError {
        let text = text.trim();
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        PtxError { line, text: shown.escape_debug().to_string(), reason: reason.into() }
    }
}

/// Reason why a container has no usable PTX.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FatBinaryError {
    #[error("byte {at}: {reason}")]
    Damaged { at: usize, reason: String },
    #[error("it only holds machine code, for {}: compile with `-gencode arch=compute_75,code=compute_75`", listed(.architectures))]
    NoPtx { architectures: Vec<u32> },
    #[error("its PTX is for {}, above sm_{highest}", listed(.architectures))]
    TooNew { architectures: Vec<u32>, highest: u32 },
}

fn listed(numbers: &[u32]) -> String {
    let names: Vec<String> = numbers.iter().map(|number| format!("sm_{number}")).collect();
    if names.is_empty() { "no architecture".into() } else { names.join(", ") }
}
