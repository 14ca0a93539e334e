//! Arguments of the linker: the program `warpmem` starts faster at a fixed address, and `libwarpmem_cudart` is a shared
//! library (`src/cudart.rs`).

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of_target = |key: &str| env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if of_target("OS") != "linux" {
        return;
    }
    // A position-independent program would relocate 400,000 pointers at every start.
    if env::var_os("CARGO_FEATURE_CLI").is_some() && !of_target("FEATURE").contains("crt-static") {
        println!("cargo::rustc-link-arg-bin=warpmem=-no-pie");
    }
    if env::var_os("CARGO_FEATURE_CUDART").is_some() {
        link_runtime();
    }
}

/// Links the CUDA runtime of captured programs as a shared library that exports its C functions.
fn link_runtime() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let exports = format!("-Wl,--version-script={folder}/crates/traces/cudart/exports");
    for argument in ["-shared", &exports] {
        println!("cargo::rustc-link-arg-bin=libwarpmem_cudart={argument}");
    }
}
