//! Links the program `libwarpmem_cudart` as a shared library (`src/cudart.rs`).

use std::env;

/// Program whose file is a shared library.
const RUNTIME: &str = "libwarpmem_cudart";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_CUDART").is_none() {
        return;
    }
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let exports = format!("-Wl,--version-script={folder}/crates/traces/cudart/exports");
    for argument in ["-shared", &exports] {
        println!("cargo::rustc-link-arg-bin={RUNTIME}={argument}");
    }
}
