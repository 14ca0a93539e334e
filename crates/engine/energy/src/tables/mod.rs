//! Tables of energies, one file each.

mod accelwattch_volta;

pub use accelwattch_volta::ACCELWATTCH_VOLTA;
