//! For the tests of inputs.

use super::Csr;
use crate::WorkloadError;
use crate::parameters::{Arguments, Parameter};

/// `given` as arguments of a kernel with the parameters `group`.
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
