//! Per-warp memory-instruction traces of GPU kernels and the `.wmt` container they are kept in.

mod record;

pub use record::*;
