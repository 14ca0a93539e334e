//! Helpers of the input tests.

use super::Csr;
use crate::WorkloadError;
use crate::parameters::{Arguments, Parameter};

/// Resolves `given` against the parameters `group`.
pub fn arguments(group: &[Parameter], given: &[(&str, &str)]) -> Result<Arguments, WorkloadError> {
    let given = given.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
    Arguments::resolve("test", &[group], &given)
}

/// CRC-32 of the offsets and columns.
pub fn checksum(csr: &Csr) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    csr.offsets.iter().chain(&csr.columns).for_each(|word| hasher.update(&word.to_le_bytes()));
    hasher.finalize()
}
