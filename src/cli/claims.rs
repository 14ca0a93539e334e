//! Collects the files named on a command line, by the types of the options.

#[cfg(feature = "capture")]
use super::capture::Saved;
use super::compare::Machines;
use super::files::{
    InputFile, InputResults, NamesFiles, OutputCharts, OutputFile, OutputFolder, OutputResults,
    OutputTraces,
};
use super::machines::MachineName;
#[cfg(feature = "tables")]
use super::query::Word;
use super::suite::SuiteName;
use crate::files::claims::Claims;
use clap::{ArgMatches, Command};

/// Returns the files of a command line.
pub fn of(command: &Command, matches: &ArgMatches) -> Claims {
    let mut claims = Claims::default();
    add_files(command, matches, &mut claims);
    claims
}

fn add_files(command: &Command, matches: &ArgMatches, claims: &mut Claims) {
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let option = argument.get_long().map(|long| format!("--{long}"));
        let value = || argument.get_value_names().map(|names| names[0].to_string());
        let option = option.or_else(value).unwrap_or_default();
        for add in KINDS {
            add(matches, id, &option, claims);
        }
    }
    let Some((name, matches)) = matches.subcommand() else { return };
    if let Some(command) = command.find_subcommand(name) {
        add_files(command, matches, claims);
    }
}

/// Adds the values of an option if they have a given type; returns whether they do.
type Add = fn(&ArgMatches, &str, &str, &mut Claims) -> bool;

fn add<T: NamesFiles>(matches: &ArgMatches, id: &str, option: &str, claims: &mut Claims) -> bool {
    let Ok(values) = matches.try_get_many::<T>(id) else { return false };
    values.into_iter().flatten().for_each(|value| value.claim(option, claims));
    true
}

/// Types of all options that name files.
const KINDS: &[Add] = &[
    add::<InputFile>,
    add::<InputResults>,
    add::<OutputFile>,
    add::<OutputResults>,
    add::<OutputTraces>,
    add::<OutputCharts>,
    add::<OutputFolder>,
    add::<MachineName>,
    add::<Machines>,
    add::<SuiteName>,
    #[cfg(feature = "tables")]
    add::<Word>,
    #[cfg(feature = "capture")]
    add::<Saved>,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::{Arg, ArgAction, CommandFactory, ValueHint};
    use std::ffi::{OsStr, OsString};
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Returns every argument of every command, with the command's name.
    fn arguments(command: &Command) -> Vec<(String, Arg)> {
        let own = command.get_arguments().map(|arg| (command.get_name().to_owned(), arg.clone()));
        own.chain(command.get_subcommands().flat_map(arguments)).collect()
    }

    /// Returns whether the help of an argument refers to a file or folder.
    fn says_file(argument: &Arg) -> bool {
        use ValueHint::{AnyPath, DirPath, FilePath};
        let names = argument.get_value_names().unwrap_or_default();
        let mut words = names.iter().flat_map(|name| name.split(['|', '=', ',', '…', ' ']));
        matches!(argument.get_value_hint(), AnyPath | DirPath | FilePath)
            || words.any(|word| ["FILE", "DIR"].contains(&word))
    }

    /// Makes a command with only this option.
    fn alone(argument: &Arg, id: &'static str) -> Arg {
        let parser = argument.get_value_parser().clone();
        Arg::new(id).long(id).value_parser(parser).action(ArgAction::Append)
    }

    /// Returns the files of the argument with this value; none if its type names no files.
    fn files_of(argument: &Arg, value: &OsStr) -> Option<Claims> {
        let command = Command::new("one").no_binary_name(true).arg(alone(argument, "it"));
        let matches = command.try_get_matches_from([OsStr::new("--it"), value]).ok()?;
        let mut claims = Claims::default();
        let is_known = KINDS.iter().any(|add| add(&matches, "it", "--it", &mut claims));
        is_known.then_some(claims)
    }

    /// Returns values that the argument accepts as a file, in the form that its parser expects,
    /// with their paths.
    fn values_for(argument: &Arg, folder: &Path) -> Vec<(OsString, PathBuf)> {
        let paths = ["a.wmt", "a.svg", "a.json", "results"].map(|name| folder.join(name));
        let value = |path: PathBuf| {
            let forms = [path.clone().into_os_string(), format!("1={}", path.display()).into()];
            let taken = forms.into_iter().find(|value| files_of(argument, value).is_some())?;
            Some((taken, path))
        };
        paths.into_iter().filter_map(value).collect()
    }

    fn tree() -> Vec<(String, Arg)> {
        let mut program = Cli::command();
        program.build();
        arguments(&program)
    }

    #[test]
    fn every_file_option_declares_its_role() {
        let folder = tempfile::tempdir().unwrap();
        let named: Vec<_> = tree().into_iter().filter(|(_, arg)| says_file(arg)).collect();
        assert!(named.len() > 60, "{}", named.len());
        for (command, argument) in named {
            let id = argument.get_id();
            let has_role = !values_for(&argument, folder.path()).is_empty();
            assert!(has_role, "{command} {id}: its type is none of `KINDS`");
        }
    }

    /// Tests a command's outputs against its inputs and other outputs, all naming one file.
    #[test]
    fn no_output_option_accepts_another_options_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut refused = 0;
        let mut program = Cli::command();
        program.build();
        for command in with_subcommands(&program) {
            let named: Vec<&Arg> = command.get_arguments().filter(|arg| says_file(arg)).collect();
            for output in &named {
                for other in named.iter().filter(|other| other.get_id() != output.get_id()) {
                    refused += usize::from(clash(output, other, folder.path()));
                }
            }
        }
        assert!(refused > 40, "{refused}");
    }

    fn with_subcommands(command: &Command) -> Vec<&Command> {
        let below = command.get_subcommands().flat_map(with_subcommands);
        std::iter::once(command).chain(below).collect()
    }

    /// Returns whether an output and another option can name one file, which must be refused.
    fn clash(output: &Arg, other: &Arg, folder: &Path) -> bool {
        let others = values_for(other, folder);
        let common = values_for(output, folder).into_iter().find_map(|(value, path)| {
            let (same, _) = others.iter().find(|(_, other)| *other == path)?;
            Some((value, same, path))
        });
        let Some((value, same, path)) = common else { return false };
        // Two folders may be equal if the files in them differ.
        let are_folders =
            [output, other].iter().all(|arg| arg.get_value_hint() == ValueHint::DirPath);
        if are_folders || !is_output(output, &value, &path) {
            return false;
        }
        let command = Command::new("two").no_binary_name(true);
        let mut command = command.arg(alone(output, "output")).arg(alone(other, "other"));
        fs::write(&path, "content").unwrap();
        let line = ["--output".as_ref(), value.as_os_str(), "--other".as_ref(), same];
        let matches = command.try_get_matches_from_mut(line).unwrap();
        let claims = of(&command, &matches);
        fs::remove_file(&path).unwrap();
        let (output, other) = (output.get_id(), other.get_id());
        assert!(claims.check().is_err(), "{output} {other} {}", path.display());
        true
    }

    /// Returns whether the argument would write the file: it clashes with an input of that name.
    fn is_output(argument: &Arg, value: &OsStr, path: &Path) -> bool {
        fs::write(path, "content").unwrap();
        let mut claims = files_of(argument, value).unwrap_or_default();
        claims.read("IN", path);
        fs::remove_file(path).unwrap();
        claims.check().is_err()
    }
}
