//! `warpmem completions`: completion scripts for shells.

use super::output::print;
use super::program;
use clap_complete::{Shell, generate};

/// Print the completions of a shell
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem completions bash > ~/.local/share/bash-completion/completions/warpmem
  warpmem completions zsh > ~/.zfunc/_warpmem
  warpmem completions fish > ~/.config/fish/completions/warpmem.fish";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    let mut program = program::command();
    let name = program.get_name().to_owned();
    generate(args.shell, &mut program, name, &mut script);
    print(&String::from_utf8(script)?)
}
