//! Arguments of the linker, and facts of the build that `warpmem --version --verbose` prints: the program `warpmem`
//! starts faster at a fixed address, and `libwarpmem_cudart` is a shared library (`src/cudart.rs`).

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_program = env::var_os("CARGO_FEATURE_CLI").is_some();
    if is_program {
        describe_build();
    }
    let of_target = |key: &str| env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if of_target("OS") != "linux" {
        return;
    }
    // A position-independent program would relocate 400,000 pointers at every start.
    if is_program && !of_target("FEATURE").contains("crt-static") {
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
    // The compiler asks for a position-independent program, which some linkers refuse beside `-shared`.
    for argument in ["-no-pie", "-shared", &exports] {
        println!("cargo::rustc-link-arg-bin=libwarpmem_cudart={argument}");
    }
}

/// Passes the commit, the compiler, the target, the profile and the features to `src/cli/version.rs`.
fn describe_build() {
    let rustc = env::var("RUSTC").expect("cargo sets it");
    let mut compiler = Command::new(rustc);
    let facts = [
        ("COMMIT", commit().unwrap_or_default()),
        ("RUSTC", output(compiler.arg("--version")).unwrap_or_default()),
        ("TARGET", env::var("TARGET").unwrap_or_default()),
        ("PROFILE", env::var("PROFILE").unwrap_or_default()),
        ("FEATURES", env::var("CARGO_CFG_FEATURE").unwrap_or_default()),
    ];
    for (name, value) in facts {
        println!("cargo::rustc-env=WARPMEM_BUILD_{name}={value}");
    }
}

/// Returns the commit that is checked out and its date; none if this folder is not the root of a git checkout.
///
/// Cargo runs this program again after another commit is checked out, and compiles only this package again.
fn commit() -> Option<String> {
    let is_root = git(&["rev-parse", "--show-prefix"])?.is_empty();
    let commit = is_root.then(|| git(&["log", "-1", "--format=%H %cs"])).flatten()?;
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
    // The log of HEAD covers a branch that has no file of its own. A missing file would mean a build each time.
    for name in ["HEAD", &branch, "logs/HEAD"].into_iter().filter(|name| !name.is_empty()) {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).is_file() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    Some(commit)
}

/// Returns the output of git about this folder; none if git is absent or fails.
fn git(arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    // A hook of another repository sets these.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(name);
    }
    output(git.args(arguments))
}

/// Returns the output of a command that succeeds, without white space at its ends.
fn output(command: &mut Command) -> Option<String> {
    let made = command.output().ok().filter(|made| made.status.success())?;
    String::from_utf8(made.stdout).ok().map(|text| text.trim().to_owned())
}
