//! Captured traces to measure with, imported from a folder beside the checkout.

use std::path::{Path, PathBuf};
use warpmem::import::{ImportOptions, import_accel_sim};

/// Captured traces, in a folder beside the checkout.
const TRACES: [&str; 10] = [
    "bfs",
    "gemm-tiled",
    "gups",
    "histogram",
    "pointer-chase",
    "spmv",
    "spmv-vector",
    "stream-triad",
    "transpose",
    "vecadd",
];

/// Imports the captured traces that exist into `folder`, and returns their paths.
pub fn traces(folder: &Path) -> Vec<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces");
    let list = |name: &&str| shared.join(format!("accel-sim-{name}/kernelslist.g"));
    let there = TRACES.iter().filter(|name| list(name).exists());
    let import = |name: &&str| {
        let path = folder.join(format!("{name}.wmt"));
        import_accel_sim(&list(name), &path, &ImportOptions::default(), &())
            .expect("a captured trace can be imported");
        path
    };
    there.map(import).collect()
}
