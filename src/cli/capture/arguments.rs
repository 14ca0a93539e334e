//! Launch arguments on the command line.

use super::Args;
use crate::capture::{Argument, Dimensions, Plan, PlannedBuffer, PlannedLaunch};
use crate::cli::files::NamesFiles;
use crate::cli::files::OutputFile;
use crate::files::claims::Claims;
use std::path::{Path, PathBuf};

/// An argument whose buffer is written to a file.
#[derive(Clone, Debug)]
pub struct Saved {
    /// Index of the argument, from 1.
    argument: usize,
    file: OutputFile,
}

impl Saved {
    /// Parses `3=y.npy`.
    pub fn parse(text: &str) -> Result<Saved, String> {
        let parsed = text.split_once('=').and_then(|(argument, file)| {
            let argument = argument.parse().ok().filter(|&argument: &usize| argument > 0)?;
            Some(Saved { argument, file: PathBuf::from(file).into() })
        });
        parsed.ok_or_else(|| "valid: the number of an argument and a file, such as 3=y.npy".into())
    }
}

impl NamesFiles for Saved {
    fn claim(&self, option: &str, claims: &mut Claims) {
        claims.write(option, &self.file);
    }
}

pub fn plan(args: &Args, ptx: &Path, kernel: &str) -> anyhow::Result<Plan> {
    let [Dimensions(grid), Dimensions(block)] =
        [args.grid, args.block].map(|given| given.unwrap_or(Dimensions([1; 3])));
    let (arguments, buffers) = saved(&args.arguments, &args.saves)?;
    let launch = PlannedLaunch {
        kernel: kernel.to_owned(),
        grid: Dimensions(grid),
        block: Dimensions(block),
        cluster: args.cluster,
        shared: args.shared,
        arguments,
    };
    Ok(Plan {
        module: ptx.to_owned(),
        folder: PathBuf::new(),
        seed: args.seed,
        buffers,
        textures: Vec::new(),
        launches: vec![launch],
    })
}

/// Returns the arguments; buffers that are written to files get names.
fn saved(
    arguments: &[Argument],
    saves: &[Saved],
) -> anyhow::Result<(Vec<Argument>, Vec<PlannedBuffer>)> {
    let mut arguments = arguments.to_vec();
    let mut buffers = Vec::new();
    for Saved { argument: number, file } in saves {
        let Some(argument) = arguments.get_mut(number - 1) else {
            anyhow::bail!("--save {number}: there are {} arguments", arguments.len());
        };
        let name = format!("argument_{number}");
        let given = std::mem::replace(argument, Argument::Named(name.clone(), 0));
        let Argument::Buffer(spec) = given else {
            anyhow::bail!("--save {number}: the argument is not a buffer, or is saved twice");
        };
        buffers.push(PlannedBuffer {
            name,
            spec,
            output: Some(file.to_path_buf()),
            expectation: None,
        });
    }
    Ok((arguments, buffers))
}

/// Returns the command line, with the program's name in place of its path.
pub fn command_line() -> String {
    let arguments = std::env::args_os().skip(1);
    let shown = arguments.map(|argument| quoted(&argument.to_string_lossy()));
    std::iter::once("warpmem".to_owned()).chain(shown).collect::<Vec<_>>().join(" ")
}

/// Quotes an argument for a shell.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@^%".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_needs_it() {
        for (argument, shown) in [
            ("-o", "-o"),
            ("f32=2.0", "f32=2.0"),
            ("", "''"),
            ("a b", "'a b'"),
            ("a'b", "'a'\\''b'"),
        ] {
            assert_eq!(quoted(argument), shown);
        }
    }

    #[test]
    fn only_buffers_of_arguments_are_saved() {
        let arguments: Vec<Argument> =
            ["2.0", "buffer:f32[4]"].map(|text| Argument::parse(text).unwrap()).to_vec();
        let save = |text: &str| saved(&arguments, &[Saved::parse(text).unwrap()]);
        let (given, buffers) = save("2=y.npy").unwrap();
        assert_eq!(given[1], Argument::Named("argument_2".into(), 0));
        assert_eq!(buffers[0].output, Some("y.npy".into()));
        assert!(save("1=y.npy").is_err() && save("3=y.npy").is_err());
        assert!(Saved::parse("0=y").is_err() && Saved::parse("y").is_err());
    }
}
