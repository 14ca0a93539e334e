//! `warpmem completions`: completion scripts for shells.

use super::Cli;
use super::output::print;
use clap::CommandFactory;
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
    generate(args.shell, &mut Cli::command(), "warpmem", &mut script);
    print(&String::from_utf8(script)?)
}
