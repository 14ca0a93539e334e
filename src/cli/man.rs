//! `warpmem man`: manual pages generated from the help of commands.

use super::output::{note, print};
use super::program;
use crate::cli::files::OutputFolder;
use crate::files::staged;
use anyhow::{Context, bail};
use clap::{Command, ValueHint};
use clap_mangen::Man;
use std::fs;
use std::path::Path;

/// Print a manual page, or write those of all commands
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Command whose page to print, such as `run` or `dram check`; by default that of `warpmem`
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Vec<String>,
    /// Directory for the pages of all commands; created if it does not exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<OutputFolder>,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem man run | man -l -
  warpmem man -o ~/.local/share/man/man1";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let mut program = program::command().disable_help_subcommand(true);
    // Sets the full name of every command.
    program.build();
    match &args.output {
        Some(folder) => write_all(&program, folder),
        None => print(&String::from_utf8(page(find(&program, &args.command)?)?)?),
    }
}

/// Finds the command reached by `names`.
fn find<'a>(program: &'a Command, names: &[String]) -> anyhow::Result<&'a Command> {
    let mut command = program;
    for name in names {
        let Some(next) = command.find_subcommand(name) else {
            let valid = command.get_subcommands().map(Command::get_name).collect::<Vec<_>>();
            let of = command.get_bin_name().unwrap_or_default();
            match valid.is_empty() {
                true => bail!("`{of}` has no commands, so there is no page for `{name}`"),
                false => bail!("`{of}` has no command `{name}`; valid: {}", valid.join(", ")),
            }
        };
        command = next;
    }
    Ok(command)
}

fn page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok(text)
}

fn write_all(program: &Command, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let commands = with_subcommands(program);
    for command in &commands {
        let path = folder.join(Man::new((*command).clone()).get_filename());
        let text = page(command)?;
        staged::write(&path, |path| Ok(fs::write(path, &text)?))?;
    }
    note(&format!("{} pages in {}", commands.len(), folder.display()));
    Ok(())
}

/// Returns a command and all its subcommands.
fn with_subcommands(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().flat_map(with_subcommands);
    std::iter::once(command).chain(below).collect()
}
