//! `warpmem --version --verbose`: the build, for citations and reports of faults.

use super::program;
use crate::dram::page::PAGE_POLICIES;
use crate::machine::preset_names;
use crate::network::allocator::ALLOCATORS;
use crate::record::ENGINE_VERSION;
use crate::slots::SLOTS;
use clap::{Arg, ArgAction};
use std::env;
use warpmem_trace::FORMAT_VERSION;

/// Returns the option that adds the build to the version.
pub fn verbose_option() -> Arg {
    Arg::new("verbose")
        .long("verbose")
        .action(ArgAction::SetTrue)
        .requires("version")
        .display_order(1000)
        .help("With --version: print the commit, the compiler and the features of the build too")
}

/// Returns whether the command line, which names `--version`, also names `--verbose`. The parser
/// stops at the former.
pub fn is_verbose() -> bool {
    env::args_os().any(|argument| argument == "--verbose")
}

/// Describes the build: a line for the version, and a line with a name and a value for each fact.
pub fn verbose() -> String {
    let (major, minor) = FORMAT_VERSION;
    let commit = match env!("WARPMEM_BUILD_COMMIT") {
        "" => "none: built outside a git checkout",
        commit => commit,
    };
    let features = env!("WARPMEM_BUILD_FEATURES").split(',').filter(|name| *name != "default");
    let compiler = env!("WARPMEM_BUILD_RUSTC");
    let facts = [
        ("commit", commit.to_owned()),
        ("engine", ENGINE_VERSION.to_owned()),
        ("rustc", compiler.strip_prefix("rustc ").unwrap_or(compiler).to_owned()),
        ("target", env!("WARPMEM_BUILD_TARGET").to_owned()),
        ("profile", env!("WARPMEM_BUILD_PROFILE").to_owned()),
        ("debug assertions", if cfg!(debug_assertions) { "on" } else { "off" }.to_owned()),
        ("features", features.collect::<Vec<_>>().join(", ")),
        ("policies", policies().to_string()),
        ("machines", preset_names().count().to_string()),
        ("trace format", format!("{major}.{minor}")),
    ];
    let lines = facts.map(|(name, value)| format!("{name}: {value}\n"));
    program::command().render_version() + &lines.concat()
}

/// Returns the number of policies in all slots, of page policies and of allocators.
fn policies() -> usize {
    let of_slots: usize = SLOTS.iter().map(|slot| slot.infos().len()).sum();
    of_slots + PAGE_POLICIES.infos().count() + ALLOCATORS.infos().count()
}
