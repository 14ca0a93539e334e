//! Does nothing; its dependencies take part in the unification of features.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
