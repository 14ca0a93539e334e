//! The command line under the name of the running program, which may add policies to Warpmem's.

use super::Cli;
use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory};
use std::env;
use std::path::Path;
use warpmem_support::program;

/// Name in the texts of the commands.
const WRITTEN: &str = "warpmem";

/// Names the program after its file, for help, manual pages, completions and recorded commands.
pub fn name_after_file() {
    let first = env::args_os().next().unwrap_or_default();
    let stem = Path::new(&first).file_stem().and_then(|stem| stem.to_str());
    if let Some(name) = stem.filter(|name| name.chars().all(is_part_of_name)) {
        program::set_name(name);
    }
}

fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Returns all commands of the program.
pub fn command() -> Command {
    let command = Cli::command();
    let name = program::name();
    if name == WRITTEN {
        return command;
    }
    let version = concat!("with warpmem ", env!("CARGO_PKG_VERSION"));
    renamed(command.name(name).version(version), name)
}

/// Returns a command that is completed when it is used, with the program's name in its texts.
pub fn completed(command: Command) -> Command {
    match program::name() {
        WRITTEN => command,
        name => renamed(command, name),
    }
}

/// Returns the command with the program's name in its texts and in those of its arguments and
/// subcommands.
fn renamed(mut command: Command, name: &str) -> Command {
    if let Some(text) = command.get_about().map(|text| in_text(text, name)) {
        command = command.about(text);
    }
    if let Some(text) = command.get_long_about().map(|text| in_text(text, name)) {
        command = command.long_about(text);
    }
    if let Some(text) = command.get_after_help().map(|text| in_text(text, name)) {
        command = command.after_help(text);
    }
    command
        .mut_args(|argument| renamed_argument(argument, name))
        .mut_subcommands(|command| renamed(command, name))
}

fn renamed_argument(mut argument: Arg, name: &str) -> Arg {
    if let Some(text) = argument.get_help().map(|text| in_text(text, name)) {
        argument = argument.help(text);
    }
    if let Some(text) = argument.get_long_help().map(|text| in_text(text, name)) {
        argument = argument.long_help(text);
    }
    match argument.get_help_heading().map(|text| replaced(text, name)) {
        Some(text) => argument.help_heading(text),
        None => argument,
    }
}

fn in_text(text: &StyledStr, name: &str) -> String {
    replaced(&text.to_string(), name)
}

/// Replaces the written name where it is a whole word.
fn replaced(text: &str, name: &str) -> String {
    let mut parts = text.split(WRITTEN);
    let mut new = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'));
        new += if goes_on { WRITTEN } else { name };
        new += part;
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_name_the_program_and_libraries_keep_their_names() {
        let text = "`warpmem list`; warpmem run k.wmt; libwarpmem_cudart.so; _warpmem";
        let expected = "`mine list`; mine run k.wmt; libwarpmem_cudart.so; _mine";
        assert_eq!(replaced(text, "mine"), expected);
    }

    #[test]
    fn no_help_names_another_program() {
        let mut command = renamed(Cli::command().name("mine"), "mine");
        command.clone().debug_assert();
        let texts = with_subcommands(&mut command);
        assert!(texts.len() > 20, "{}", texts.len());
        for text in texts {
            let named = text.replace("libwarpmem_cudart", "");
            assert!(!named.contains("warpmem "), "{text}");
        }
    }

    /// Returns the help of a command and of all its subcommands, generators excepted, which are
    /// completed under the name of this process.
    fn with_subcommands(command: &mut Command) -> Vec<String> {
        let own = command.render_long_help().to_string();
        if command.get_name() == "generate" {
            return vec![own];
        }
        let below = command.get_subcommands_mut().flat_map(with_subcommands);
        std::iter::once(own).chain(below).collect()
    }
}
