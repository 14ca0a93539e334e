//! `warpmem capture … -- PROGRAM`: captures a whole program.

use super::super::exit::{Interrupted, ProgramFailed};
use super::super::interrupt::Interrupt;
use super::super::output::note;
use super::super::output::print;
use super::watch::Bar;
use super::{Args, arguments, summary};
use crate::capture::{
    Program, ProgramCapture, ProgramOptions, ProgramStatus, Settings, capture_program,
};
use crate::device::device_of;
use crate::machine::load;
use anyhow::Context;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Runtime library, built beside the program.
const RUNTIME: &str = "libwarpmem_cudart.so";
/// Name under which `cargo install` copies it.
const INSTALLED_RUNTIME: &str = "libwarpmem_cudart";
/// Environment variable with the path of another runtime library.
const RUNTIME_PLACE: &str = "WARPMEM_CUDART";

/// Compute capability of a device, such as 7.5.
#[derive(Clone, Copy, Debug)]
pub struct Capability(u32, u32);

impl Capability {
    pub fn parse(text: &str) -> Result<Capability, String> {
        let parsed = text.split_once('.').and_then(|(major, minor)| {
            Some(Capability(major.parse().ok()?, minor.parse().ok().filter(|&n: &u32| n < 10)?))
        });
        parsed.ok_or_else(|| "valid: major and minor, as 7.5".into())
    }
}

pub fn run(args: &Args, command: &[OsString]) -> anyhow::Result<()> {
    let program = Program { command: command.to_vec(), runtime: runtime()? };
    let machine = load(&args.machine, &[])?;
    let options = ProgramOptions {
        output: args.output.as_deref().map(Path::to_owned),
        selection: super::selection(args),
        registers: super::registers(args),
        settings: Settings {
            device: device_of(&machine, (args.capability.0, args.capability.1)),
            max_instructions: args.max_instructions,
            threads: super::threads(args),
        },
        command: arguments::command_line(),
    };
    let bar = Bar::new(Interrupt::install()?);
    let captured = capture_program(&program, &options, &bar)
        .with_context(|| format!("failed to capture {}", command[0].display()));
    let seconds = bar.finish();
    report(args, &captured?, seconds)
}

/// Returns the path of the library that replaces the CUDA runtime.
fn runtime() -> anyhow::Result<PathBuf> {
    if let Some(place) = env::var_os(RUNTIME_PLACE) {
        return Ok(place.into());
    }
    let program = env::current_exe().context("failed to find this program")?;
    let folder = program.parent().context("this program is in no folder")?;
    let places = [
        folder.join(RUNTIME),
        folder.join(INSTALLED_RUNTIME),
        folder.join("deps").join(RUNTIME),
        folder.join("../lib").join(RUNTIME),
    ];
    let found = places.iter().find(|place| place.is_file());
    found.cloned().with_context(|| {
        let places: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
        format!(
            "{RUNTIME}, which replaces the CUDA runtime, is missing from {}; `cargo build` makes it, or set {RUNTIME_PLACE} to its path",
            places.join(", ")
        )
    })
}

/// Reports the captured kernels on standard error, because standard output belongs to the captured
/// program; with `--check`, on standard output.
fn report(args: &Args, captured: &ProgramCapture, seconds: f64) -> anyhow::Result<()> {
    for text in &captured.notes {
        note(text);
    }
    let account = summary::program(captured, args.format, args.list)?;
    match args.list || args.check {
        true => print(&account)?,
        false => note(account.trim_end()),
    }
    note(&summary::line_of_program(captured, seconds));
    if captured.interrupted {
        let kept = match &captured.trace {
            Some(trace) => format!("the trace has the finished launches: {}", trace.kernels),
            None => "nothing is written".to_owned(),
        };
        return Err(Interrupted { kept }.into());
    }
    let kept = captured.trace.as_ref().map(|trace| trace.kernels);
    match captured.status {
        ProgramStatus::Exited(0) => {}
        ProgramStatus::Exited(status) => {
            let how = format!("ended with status {status}");
            return Err(ProgramFailed { how, kept, status: status as u8 }.into());
        }
        ProgramStatus::Killed(signal) => {
            let how = format!("was ended by signal {signal}");
            return Err(ProgramFailed { how, kept, status: 128 + signal as u8 }.into());
        }
    }
    anyhow::ensure!(
        args.output.is_none() || captured.trace.is_some(),
        "no kernel was recorded; nothing is written"
    );
    let unsupported = captured.kernels.iter().any(|kernel| kernel.failed > 0);
    anyhow::ensure!(!(args.check && unsupported), "some launches failed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_is_two_numbers() {
        let Capability(major, minor) = Capability::parse("8.6").unwrap();
        assert_eq!((major, minor), (8, 6));
        for malformed in ["8", "8.x", "8.10", ""] {
            assert!(Capability::parse(malformed).is_err(), "{malformed}");
        }
    }
}
