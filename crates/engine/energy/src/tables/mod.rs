//! Tables of energies, a file for each.

mod accelwattch_volta;

pub use accelwattch_volta::ACCELWATTCH_VOLTA;
